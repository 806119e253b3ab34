/* SPDX-License-Identifier: MIT */
/*
 * Results of several threads, each for one slice of a copy of a buffer: the
 * records of a walk over it, and how many of them only have to be emitted.
 */
#ifndef PFD_WALK_SLICES_H
#define PFD_WALK_SLICES_H

#include "core/decode/walk.h"

enum {
    PFD_WALK_SLICES = 32, /* that are walked over together */
    PFD_WALK_SLICE_BYTES =
        32 * 1024, /* of each, but for the entry it ends in */
    /* Of a batch, room for the smallest entries, which are of 8 bytes. */
    PFD_WALK_SLICE_RECORDS = PFD_WALK_SLICE_BYTES / 8 + PFD_BATCH_SPARE,
};

struct pfd_walk_slice {
    struct pfd_batch batch;
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

/* NULL: out of memory. They take PFD_WALK_SLICES_BYTES. */
struct pfd_walk_slices *pfd_walk_slices_new(void);
/* NULL is allowed. */
void pfd_walk_slices_free(struct pfd_walk_slices *walk_slices);

/* Its walk is a copy of `of`, in the same state. False: out of memory. */
bool pfd_walk_slice_begin(struct pfd_walk_slice *walk_slice,
                          const struct pfd_walk *of, size_t n_state);

#endif
