/* SPDX-License-Identifier: MIT */
/*
 * Runs of entries of one format string as one line that says what varies:
 *
 *   assert failed at reduce.cu:41  thread: [0–31, 128–200]  ×105
 *
 *   pfd_collapse_new(), then pfd_convert_*() with `rows`, `row_pieces`, an
 *   output and pfd_collapse_write(); pfd_collapse_end()
 *
 * An entry with a finding that is no note always has a line of its own.
 *
 * Thread rule: one thread at a time.
 */
#ifndef PRINTFDECODE_COLLAPSE_H
#define PRINTFDECODE_COLLAPSE_H

#include <printfdecode/convert.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_collapse;

/* Borrowed for the call, write_user until the collapse is freed. */
struct pfd_collapse_spec {
    const char *output; /* "text" or "json" */
    bool equal;         /* only entries of equal messages */
    /* Entries of a run may have so many others between them, less one: 1 is
     * nothing between; 0: as for 1000. At most so many lines and 1000 more wait
     * behind a run; then it ends. */
    uint64_t window;
    size_t n_bytes_max; /* of what waits, about; 0: 64 MiB. Lines end sooner,
                           and are less exact, where that is not enough */
    pfd_write_fn write;
    void *write_user;
};

/* PFD_OK; PFD_ERR_USAGE: not such an output; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_collapse_new(const struct pfd_collapse_spec *spec,
                                         struct pfd_collapse **ret,
                                         struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_collapse_free(struct pfd_collapse *collapse);

/* Bytes that it holds, about. */
PFD_API size_t pfd_collapse_memory(const struct pfd_collapse *collapse);
/* From the next row on, n_bytes_max is this. */
PFD_API void pfd_collapse_set_room(struct pfd_collapse *collapse, size_t n);

/* A pfd_write_fn; user: the collapse. False: write() said so, or memory is
 * out. */
PFD_API bool pfd_collapse_write(void *user, const void *bytes, size_t n);

/* Ends all runs and writes their lines: behind a buffer, or when nothing has
 * come for a while. PFD_OK; PFD_ERR_STOPPED; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_collapse_end(struct pfd_collapse *collapse);

#ifdef __cplusplus
}
#endif

#endif
