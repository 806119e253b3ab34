/* SPDX-License-Identifier: MIT */
/*
 * Finds printf entries in any bytes: a core, a device core dump, a memory
 * image. An entry has a known id, and exactly the size that its string needs;
 * consecutive entries are one run. A single entry counts if its id is as long
 * as real ids are, since 64 bits then agree by chance once in 2^64 places for
 * each string.
 */
#ifndef PFD_RECOVER_H
#define PFD_RECOVER_H

#include <printfdecode/printfdecode.h>

#include "core/decode/format.h"

/* A run of entries. Positions are bytes from the start of the input. */
struct pfd_recover_run {
    uint64_t from;
    uint64_t to;
    uint64_t n_entries;
    uint64_t header; /* of the buffer that begins here, or PFD_NO_OFFSET */
    uint64_t used;   /* where that buffer's entries end, by its header */
};

struct pfd_recover {
    const struct pfd_strings *strings;
    const char *source;            /* the input's name */
    const struct pfd_range *holes; /* [n_holes] of the input, in order: known to
                                      be zero, passed over unread */
    size_t n_holes;
    /* Takes each run, before its entries; false: leave it out. NULL: take
     * all. */
    bool (*run)(void *user, const struct pfd_recover_run *run);
    /* Takes each entry; false: stop. Its offset counts from the input's
     * start. */
    bool (*entry)(void *user, struct pfd_entry *entry);
    void *user;
};

/*
 * Searches bytes [n] at multiples of 4. Only formats that can be followed live
 * can be searched for. *n_entries (may be NULL): the number of entries found.
 *
 * PFD_OK; PFD_ERR_STOPPED: entry returned false; PFD_ERR_UNSUPPORTED: no string
 * of such a format is loaded; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_recover(const struct pfd_recover *recover,
                            const void *bytes, size_t n, uint64_t *n_entries,
                            struct pfd_error *err);

/* Runs of entries in any memory, for the search of entries. */

/* The run of bytes [n] that begins at `from`, where live->find of the format
 * has found an entry. */
struct pfd_recover_run pfd_recover_measure(const struct pfd_format *format,
                                           const struct pfd_table *table,
                                           const uint8_t *bytes, size_t n,
                                           size_t from);

#endif
