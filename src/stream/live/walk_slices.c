/* SPDX-License-Identifier: MIT */
#include "stream/live/walk_slices.h"

#include <stdlib.h>
#include <string.h>

struct pfd_stretches *pfd_stretches_new(void)
{
    struct pfd_stretches *ret = calloc(1, sizeof *ret);
    bool ok = ret;
    for (size_t i = 0; ok && i < PFD_STRETCHES; i++)
        ok = pfd_batch_init(&ret->at[i].batch, PFD_STRETCH_RECORDS);
    if (ok)
        return ret;
    pfd_stretches_free(ret);
    return NULL;
}

void pfd_stretches_free(struct pfd_stretches *stretches)
{
    for (size_t i = 0; stretches && i < PFD_STRETCHES; i++) {
        pfd_batch_deinit(&stretches->at[i].batch);
        free(stretches->at[i].state);
    }
    free(stretches);
}

bool pfd_stretch_begin(struct pfd_stretch *stretch, const struct pfd_walk *of,
                       size_t n_state)
{
    if (stretch->n_state < n_state) {
        void *state = realloc(stretch->state, n_state);
        if (!state)
            return false;
        stretch->state = state;
        stretch->n_state = n_state;
    }
    pfd_batch_clear(&stretch->batch);
    stretch->walk = *of;
    stretch->walk.batch = &stretch->batch;
    stretch->walk.state = stretch->state;
    memcpy(stretch->state, of->state, n_state);
    return true;
}
