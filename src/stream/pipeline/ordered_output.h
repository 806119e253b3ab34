/* SPDX-License-Identifier: MIT */
/*
 * Numbered products that threads complete in any order, and that are written in
 * the order of their numbers, by one thread at a time. A product whose turn has
 * not come is left in a slot, if there is one for its number. The thread that
 * writes goes on to the slots that are next, so that no thread has to wake up
 * between two products. If writing is the bottleneck, all slots fill, and
 * threads sleep until theirs is free: no more of them work than the reader of
 * the output keeps up with.
 */
#ifndef PFD_ORDERED_OUTPUT_H
#define PFD_ORDERED_OUTPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFD_ORDERED_OUTPUT_TURNS = 64
};

struct pfd_ordered_slot {
    void *product; /* borrowed; NULL: none yet */
    bool is_ready; /* awaits its turn */
};

struct pfd_ordered_output {
    void (*write)(void *user, void *product); /* without the lock */
    void *user;
    pthread_mutex_t lock;                            /* guards these: */
    pthread_cond_t turned[PFD_ORDERED_OUTPUT_TURNS]; /* by number: it may have
                                                        its turn, or a slot */
    struct pfd_ordered_slot *slots; /* [n_slots], by number; owned */
    size_t n_slots;
    uint64_t n_written; /* products: the number that has its turn */
    bool is_stopped;
};

/* False: out of memory. */
bool pfd_ordered_output_init(struct pfd_ordered_output *o, size_t n_slots,
                             void (*write)(void *user, void *product),
                             void *user);
/* After all threads. */
void pfd_ordered_output_deinit(struct pfd_ordered_output *o);

/* Writes the product and those behind it, if it is the turn of its number; else
 * leaves it in a slot, or waits for its turn where none will do. Returns a
 * product for the caller to fill next: that of the slot, or the same one. After a stop nothing happens. */
void *pfd_ordered_output_put(struct pfd_ordered_output *o, uint64_t number,
                             void *product, bool slot_will_do);

/* True: all products before this number are written. */
bool pfd_ordered_output_has(struct pfd_ordered_output *o, uint64_t number);

/* Waits until all products before this number are written, or for a stop. */
void pfd_ordered_output_await(struct pfd_ordered_output *o, uint64_t number);

/* Wakes all threads: no more products are written. */
void pfd_ordered_output_stop(struct pfd_ordered_output *o);

#endif
