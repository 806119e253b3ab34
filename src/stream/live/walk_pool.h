/* SPDX-License-Identifier: MIT */
/*
 * Threads that help to follow a buffer that is written faster than one thread
 * reads it: they copy slices of a reading, walk over the entries in them, and do
 * the caller's work on these.
 *
 * Thread rule: any number of sources and tails, of any threads, may share a
 * pool; a caller that finds it busy works alone.
 */
#ifndef PFD_WALK_POOL_H
#define PFD_WALK_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/tail.h>

#include "core/base/thread.h"
#include "core/decode/walk.h"

struct pfd_walk_pool;

/* Threads start with the first work. threads: 16 at most; 0:
 * pfd_walk_pool_for() all processors. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_walk_pool_new(unsigned threads, struct pfd_walk_pool **ret,
                                  struct pfd_error *err);

/* No source or tail may use it any more. NULL is allowed. */
void pfd_walk_pool_free(struct pfd_walk_pool *h);

/* How many threads are worth having on so many processors: a fourth, 3 at most,
 * and perhaps none. */
unsigned pfd_walk_pool_for(unsigned processors);

/* Bytes of memory that it holds; *most: that it holds at most, once its threads
 * walk over entries, some 6 MiB. NULL is allowed: 0 both. */
size_t pfd_walk_pool_memory(struct pfd_walk_pool *h, size_t *most);

/* Reserves the pool for this caller, until it is let go. False: it is NULL, has
 * no threads, or another caller holds it. */
bool pfd_walk_pool_hold(struct pfd_walk_pool *walk_pool);
void pfd_walk_pool_let_go(struct pfd_walk_pool *h);

/* The slices for the holder's walks. NULL: out of memory. */
struct pfd_walk_slices *pfd_walk_pool_slices(struct pfd_walk_pool *h);

/* Calls piece(user, i) for each i below n, here and on the threads, in any
 * order; returns when all calls are done. Only for the holder. */
void pfd_walk_pool_share(struct pfd_walk_pool *h, size_t n,
                         void (*piece)(void *user, size_t i), void *user);

/*
 * Results of several threads, each for one slice of a copy of a buffer: the
 * records of a walk over it, and how many of them only have to be emitted.
 */

enum {
    PFD_WALK_SLICES = 32, /* that are walked over together */
    PFD_WALK_SLICE_BYTES =
        32 * 1024, /* of each, but for the entry it ends in */
    /* Of a batch, room for the smallest entries, which are of 8 bytes. */
    PFD_WALK_SLICE_RECORDS = PFD_WALK_SLICE_BYTES / 8 + PFD_RECORD_BATCH_SPARE,
};

struct pfd_walk_slice {
    struct pfd_record_batch batch;
    struct pfd_walk walk;
    void *state; /* [n_state] bytes, of the walk; owned */
    size_t n_state;
    uint64_t from; /* the walk covers bytes [from, to) of the buffer */
    uint64_t to;
    size_t n_plain; /* first records of the batch that only have to be
                       emitted */
};

struct pfd_walk_slices {
    struct pfd_walk_slice at[PFD_WALK_SLICES];
};

#define PFD_WALK_SLICES_BYTES         \
    (sizeof(struct pfd_walk_slices) + \
     PFD_WALK_SLICES * PFD_WALK_SLICE_RECORDS * sizeof(struct pfd_record))

/* Its walk is a copy of `of`, in the same state. False: out of memory. */
bool pfd_walk_slice_begin(struct pfd_walk_slice *walk_slice,
                          const struct pfd_walk *of, size_t n_state);

#endif
