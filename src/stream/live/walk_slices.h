/* SPDX-License-Identifier: MIT */
/*
 * What several threads have found, each in one stretch of a copy of a buffer:
 * the records of a walk over it, and how many of them need no second thought.
 */
#ifndef PFD_WALK_SLICES_H
#define PFD_WALK_SLICES_H

#include "core/decode/decoder.h"

enum {
    PFD_STRETCHES = 32,            /* that are walked over together */
    PFD_STRETCH_BYTES = 32 * 1024, /* of each, but for the entry it ends in */
    /* Of a batch, room for the smallest entries, which are of 8 bytes. */
    PFD_STRETCH_RECORDS = PFD_STRETCH_BYTES / 8 + PFD_BATCH_SPARE,
};

struct pfd_stretch {
    struct pfd_batch batch;
    struct pfd_walk walk;
    void *state; /* [n_state] bytes, of the walk; owned */
    size_t n_state;
    uint64_t from; /* bytes [from, to) of the buffer are walked over */
    uint64_t to;
    size_t n_plain; /* the first records of the batch */
};

struct pfd_stretches {
    struct pfd_stretch at[PFD_STRETCHES];
};

#define PFD_STRETCHES_BYTES         \
    (sizeof(struct pfd_stretches) + \
     PFD_STRETCHES * PFD_STRETCH_RECORDS * sizeof(struct pfd_record))

/* NULL: out of memory. They take PFD_STRETCHES_BYTES. */
struct pfd_stretches *pfd_stretches_new(void);
/* NULL is allowed. */
void pfd_stretches_free(struct pfd_stretches *stretches);

/* Its walk is a copy of `of`, in the same state. False: out of memory. */
bool pfd_stretch_begin(struct pfd_stretch *stretch, const struct pfd_walk *of,
                       size_t n_state);

#endif
