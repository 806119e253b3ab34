/* SPDX-License-Identifier: MIT */
/*
 * Windows on a stream: each begins at the walk's position and ends with newly
 * read bytes. A window is reference-counted, since batches point into it; at
 * most one for each worker exists beside the current one.
 */
#ifndef PFD_STREAM_WINDOW_H
#define PFD_STREAM_WINDOW_H

#include <stdatomic.h>

#include <printfdecode/convert.h>

struct pfd_window {
    atomic_uint n_users;
    uint64_t base; /* of data in the stream */
    size_t n;
    bool last; /* data reaches the stream's end */
    uint8_t data[];
};

struct pfd_windows {
    pfd_read_fn read;
    void *user;
    struct pfd_window *current; /* NULL before the first */
};

/*
 * Replaces the current window by one that begins at `from` (an offset in the
 * current one, or its end). PFD_OK; PFD_ERR_IO; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_windows_advance(struct pfd_windows *windows, uint64_t from,
                                    struct pfd_error *err);

void pfd_window_use(struct pfd_window *window);
/* NULL is allowed. */
void pfd_window_drop(struct pfd_window *window);

#endif
