/* SPDX-License-Identifier: MIT */
/*
 * The part of the memory budget that a follower (follower.h) takes. Memory for
 * its tail's copy of the buffer is requested when the buffer comes, memory for
 * a read pass before the pass begins. Loop thread only.
 */
#ifndef PFDD_FOLLOWER_MEMORY_H
#define PFDD_FOLLOWER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct pfdd_resource_account;
struct pfdd_memory_budget;

struct pfdd_follower_memory {
    struct pfdd_memory_budget *budget;     /* of all parts */
    struct pfdd_resource_account *account; /* charged with it; NULL: none */
    /* Limits; set once. */
    size_t n_session; /* bytes of the follower itself */
    size_t n_image;   /* bytes of the buffer that the tail remembers */
    size_t n_window;  /* bytes that a read pass reads */
    size_t n_piece;   /* bytes of chunks that a read pass builds until the loop
                         has taken them */
    /* Present sizes. */
    size_t n_tail;    /* bytes of the tail */
    size_t n_written; /* bytes of a buffer in our own memfd */
    size_t n_whole;   /* bytes of a buffer that is read at once, at its end */
    /* Charged sizes. */
    size_t n_charged;        /* in the budget's `sessions`, */
    size_t n_granted;        /* and of these in its `looks` */
    size_t n_buffer_charged; /* in its `buffers` */
    struct pfdd_resource_account
        *pass_account; /* account of the read pass in flight; NULL: none */
    size_t n_held;     /* charged to the account */
};

/* True: the budget suffices for the thread pool's memory, too
 * (pfd_walk_pool_memory()). Its threads then walk the bytes that a read pass
 * has read. */
bool pfdd_follower_memory_is_ample(const struct pfdd_memory_budget *budget);

/* Chooses the limits by the memory that is left now. */
void pfdd_follower_memory_init(struct pfdd_follower_memory *m,
                               struct pfdd_memory_budget *budget,
                               struct pfdd_resource_account *account,
                               size_t n_session);

/* Charges another account from now on. */
void pfdd_follower_memory_move(struct pfdd_follower_memory *m,
                               struct pfdd_resource_account *account);

/* Charges the present sizes. */
void pfdd_follower_memory_charge(struct pfdd_follower_memory *m);
/* Charges nothing any more. */
void pfdd_follower_memory_release(struct pfdd_follower_memory *m);

/* Bytes that a read pass of a buffer of n_buffer bytes may take beyond the
 * present ones. */
size_t pfdd_follower_memory_wants(const struct pfdd_follower_memory *m,
                                  size_t n_buffer);

/* How many bytes of a buffer of n bytes, which could not be followed, may be
 * read at once. Charged until they are given back. */
size_t pfdd_follower_memory_whole(struct pfdd_follower_memory *m, size_t n);
void pfdd_follower_memory_give_whole_back(struct pfdd_follower_memory *m);

/* A read pass with n bytes more begins, and has ended. False: too many read
 * passes of the same account are in flight. */
bool pfdd_follower_memory_grant(struct pfdd_follower_memory *m, size_t n);
void pfdd_follower_memory_give_back(struct pfdd_follower_memory *m);

#endif
