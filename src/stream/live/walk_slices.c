/* SPDX-License-Identifier: MIT */
#include "stream/live/walk_slices.h"

#include <stdlib.h>
#include <string.h>

struct pfd_walk_slices *pfd_walk_slices_new(void)
{
    struct pfd_walk_slices *ret = calloc(1, sizeof *ret);
    bool ok = ret;
    for (size_t i = 0; ok && i < PFD_WALK_SLICES; i++)
        ok = pfd_batch_init(&ret->at[i].batch, PFD_WALK_SLICE_RECORDS);
    if (ok)
        return ret;
    pfd_walk_slices_free(ret);
    return NULL;
}

void pfd_walk_slices_free(struct pfd_walk_slices *walk_slices)
{
    for (size_t i = 0; walk_slices && i < PFD_WALK_SLICES; i++) {
        pfd_batch_deinit(&walk_slices->at[i].batch);
        free(walk_slices->at[i].state);
    }
    free(walk_slices);
}

bool pfd_walk_slice_begin(struct pfd_walk_slice *walk_slice,
                          const struct pfd_walk *of, size_t n_state)
{
    if (walk_slice->n_state < n_state) {
        void *state = realloc(walk_slice->state, n_state);
        if (!state)
            return false;
        walk_slice->state = state;
        walk_slice->n_state = n_state;
    }
    pfd_batch_clear(&walk_slice->batch);
    walk_slice->walk = *of;
    walk_slice->walk.batch = &walk_slice->batch;
    walk_slice->walk.state = walk_slice->state;
    memcpy(walk_slice->state, of->state, n_state);
    return true;
}
