/* SPDX-License-Identifier: MIT */
/*
 * Collapses runs of entries of one format string into a line with the values
 * that vary:
 *
 *   assert failed at reduce.cu:41  thread: [0–31, 128–200]  ×105
 *
 *   pfd_collapse_new(), then pfd_convert_*() with an output and
 *   pfd_collapse_consumer(); pfd_collapse_end()
 *
 * An entry with a finding that is no note always has a line of its own.
 *
 * Thread rule: one thread at a time.
 */
#ifndef PFD_COLLAPSE_H
#define PFD_COLLAPSE_H

#include <printfdecode/convert.h>

struct pfd_collapse;
struct pfd_row;

/* Borrowed for the call, write_user until the collapse is freed. */
struct pfd_collapse_spec {
    const char *output; /* "text" or "json" */
    bool equal;         /* collapse only entries with equal messages */
    /* Entries of a run may have up to window - 1 others between them: 1 allows
     * none; 0: as 1000. At most window + 1000 lines wait behind a run; then it
     * ends. */
    uint64_t window;
    size_t n_bytes_max; /* limit for waiting bytes, about; 0: 64 MiB. At the
                           limit lines end sooner, and are less exact */
    pfd_write_fn write;
    /* Instead of write: takes each line [n] with the row of its first entry.
     * False: it wants no more. */
    bool (*write_line)(void *user, const struct pfd_row *row, const char *line,
                       size_t n);
    void *write_user;
};

/* PFD_OK; PFD_ERR_USAGE: not such an output; PFD_ERR_NOMEM. */
enum pfd_status pfd_collapse_new(const struct pfd_collapse_spec *spec,
                                 struct pfd_collapse **ret,
                                 struct pfd_error *err);

/* NULL is allowed. */
void pfd_collapse_free(struct pfd_collapse *collapse);

/* Bytes of memory that it holds, about: up to 15/8 of n_bytes_max and 10 KiB
 * between calls. */
size_t pfd_collapse_memory(const struct pfd_collapse *collapse);
/* Sets n_bytes_max from the next row on. */
void pfd_collapse_set_room(struct pfd_collapse *collapse, size_t n);

/* A pfd_write_fn; user: the collapse. False: write() returned false, or out of
 * memory. */
bool pfd_collapse_write(void *user, const void *bytes, size_t n);

/* For pfd_convert.consumer, which gives it what pfd_collapse_write() takes; owned by
 * the collapse. */
const struct pfd_consumer *pfd_collapse_consumer(
    const struct pfd_collapse *collapse);

/* Ends all runs and writes their lines: to be called behind a buffer, or after
 * a while without rows. PFD_OK; PFD_ERR_STOPPED; PFD_ERR_NOMEM. */
enum pfd_status pfd_collapse_end(struct pfd_collapse *collapse);

#endif
