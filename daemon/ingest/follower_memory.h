/* SPDX-License-Identifier: MIT */
/*
 * What a session (follower.h) takes of the memory that all parts have together:
 * what its tail remembers of the buffer is asked for when the buffer comes, and
 * what a look may come to before the look begins. Loop thread only.
 */
#ifndef PFDD_FOLLOWER_MEMORY_H
#define PFDD_FOLLOWER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct pfdd_resource_account;
struct pfdd_memory_budget;

struct pfdd_follower_memory {
    struct pfdd_memory_budget *budget; /* of all */
    struct pfdd_resource_account
        *account; /* whose it is; NULL: nobody counts */
    /* What there may be; set once. */
    size_t n_session; /* bytes of itself */
    size_t n_image;   /* of the buffer that the tail remembers */
    size_t n_window;  /* that a look reads */
    size_t n_piece;   /* of chunks that a look makes until the loop has taken
                         them */
    /* What there is. */
    size_t n_tail;    /* bytes of the tail */
    size_t n_written; /* of a buffer that is kept here */
    size_t n_whole;   /* of one that is read at once at its end */
    /* What is counted. */
    size_t n_charged;        /* in the daemon's session_bytes, */
    size_t n_granted;        /* and of these in its look_bytes */
    size_t n_buffer_charged; /* in its buffer_bytes, */
    struct pfdd_resource_account
        *looker;   /* whose look is on its way; NULL: nobody's */
    size_t n_held; /* and to the holder */
};

/* Is there enough for helpers' memory, too (pfd_thread_pool_memory())? Then they walk
 * over what a look has read. */
bool pfdd_follower_memory_is_ample(const struct pfdd_memory_budget *budget);

/* By what room there is now. */
void pfdd_follower_memory_init(struct pfdd_follower_memory *m,
                               struct pfdd_memory_budget *budget,
                               struct pfdd_resource_account *account,
                               size_t n_session);

/* It is somebody else's from now on. */
void pfdd_follower_memory_move(struct pfdd_follower_memory *m,
                               struct pfdd_resource_account *account);

/* Counts what there is. */
void pfdd_follower_memory_charge(struct pfdd_follower_memory *m);
/* There is nothing any more. */
void pfdd_follower_memory_release(struct pfdd_follower_memory *m);

/* More than it has that a look at n_buffer bytes may come to. */
size_t pfdd_follower_memory_wants(const struct pfdd_follower_memory *m,
                                  size_t n_buffer);

/* A buffer of n bytes that could not be followed is to be read at once: how many
 * of them may be. Charged until it is given back. */
size_t pfdd_follower_memory_whole(struct pfdd_follower_memory *m, size_t n);
void pfdd_follower_memory_give_whole_back(struct pfdd_follower_memory *m);

/* A look with n bytes more begins, and has ended. False: too many of the same
 * holder's are on their way. */
bool pfdd_follower_memory_grant(struct pfdd_follower_memory *m, size_t n);
void pfdd_follower_memory_give_back(struct pfdd_follower_memory *m);

#endif
