/* SPDX-License-Identifier: MIT */
#include "core/decode/stream_window.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

enum {
    WINDOW = 1 << 20
}; /* bytes read anew for each window */

void pfd_window_use(struct pfd_window *window)
{
    atomic_fetch_add(&window->n_users, 1);
}

void pfd_window_drop(struct pfd_window *window)
{
    if (window && atomic_fetch_sub(&window->n_users, 1) == 1)
        free(window);
}

enum pfd_status pfd_windows_advance(struct pfd_windows *windows, uint64_t from,
                                    struct pfd_error *err)
{
    struct pfd_window *old = windows->current;
    size_t at = old ? (size_t)(from - old->base) : 0;
    size_t kept = old ? old->n - at : 0;
    struct pfd_window *next = malloc(sizeof *next + kept + WINDOW);
    if (!next)
        return pfd_fail(err, PFD_ERR_NOMEM, from, "out of memory");
    atomic_init(&next->n_users, 1);
    next->base = from;
    next->n = kept;
    next->last = false;
    if (kept)
        memcpy(next->data, old->data + at, kept);
    while (next->n < kept + WINDOW && !next->last) {
        long n = windows->read(windows->user, next->data + next->n,
                               kept + WINDOW - next->n);
        if (n < 0) {
            free(next);
            return pfd_fail(err, PFD_ERR_IO, from, "%s", strerror((int)-n));
        }
        next->n += (size_t)n;
        next->last = n == 0;
    }
    pfd_window_drop(old);
    windows->current = next;
    return PFD_OK;
}
