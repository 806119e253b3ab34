/* SPDX-License-Identifier: MIT */
/*
 * Finds printf entries in any bytes: a core, a device core dump, a memory
 * image. An entry is one whose id is known and whose size is exactly what its
 * string needs; entries that follow each other are one run. One alone counts
 * when its id is as long as real ids are, since 64 bits then agree by chance
 * once in 2^64 places for each string.
 */
#ifndef PRINTFDECODE_RECOVER_H
#define PRINTFDECODE_RECOVER_H

#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run of entries. Positions are bytes from the start of the input. */
struct pfd_recover_run {
    uint64_t from;
    uint64_t to;
    uint64_t n_entries;
    uint64_t header; /* of the buffer it begins, or PFD_NO_OFFSET */
    uint64_t used;   /* by that header: where the buffer's entries end */
};

struct pfd_recover {
    const struct pfd_strings *strings;
    const char *source;            /* the input's name */
    const struct pfd_range *holes; /* [n_holes] of the input, in order: known to
                                      be zero, and not looked at */
    size_t n_holes;
    /* Each run, before its entries; false: leave it out. NULL: take all. */
    bool (*run)(void *user, const struct pfd_recover_run *run);
    /* Each entry; false: stop. Its offset counts from the input's start. */
    bool (*entry)(void *user, struct pfd_entry *entry);
    void *user;
};

/*
 * Searches bytes [n] at multiples of 4. Formats that can be followed while
 * they are written can be searched for. *n_entries (may be NULL): how many
 * entries were found.
 *
 * PFD_OK; PFD_ERR_STOPPED: entry said so; PFD_ERR_UNSUPPORTED: no string of
 * such a format is loaded; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_recover(const struct pfd_recover *recover,
                                    const void *bytes, size_t n,
                                    uint64_t *n_entries, struct pfd_error *err);

#ifdef __cplusplus
}
#endif

#endif
