/* SPDX-License-Identifier: MIT */
/*
 * The memory that is searched: a core's, in place in its file, or a process',
 * which keeps running and is copied window by window.
 */
#ifndef PFD_SEARCH_SPACE_H
#define PFD_SEARCH_SPACE_H

#include "core/base/error.h"
#include "core/base/ranges.h"
#include "core/base/zero.h"
#include "memory/space/core.h"

/* One of the two is set, the other is NULL. */
struct pfd_search_space {
    const struct pfd_core *core;
    struct pfd_memory *memory;
    uint64_t n_copied_max; /* bytes; a third for a window, the rest for views */
    /* The first failure: the process has ended, or memory is exhausted. */
    enum pfd_status status;
    struct pfd_error *err;
};

/* Contiguous bytes. */
struct pfd_mapped_range {
    const uint8_t *bytes; /* [n] */
    size_t n;
    uint64_t address;
    size_t from;    /* bytes before it are context for looking back, */
    size_t to;      /* and bytes from here on show an entry's end */
    bool goes_on;   /* in the same region as the range before */
    uint64_t n_all; /* bytes that the walk has passed, with holes */
};

/* The position of one walk over a space; all zero is the beginning. */
struct pfd_search_space_walk {
    size_t next; /* segment or region */
    uint64_t at; /* address in the region; 0: its start */
    uint64_t n_before;
    uint8_t *window; /* [n_window], owned; NULL: none yet */
    size_t n_window;
    struct pfd_ranges data; /* of the window, settled */
};

/* Reads the regions again. */
void pfd_search_space_renew(struct pfd_search_space *search_space);

/* Bytes that a walk passes, in all. */
uint64_t pfd_search_space_size(const struct pfd_search_space *search_space);

/* The next range, valid until the next call. False: there are no more, or the
 * space failed. */
bool pfd_search_space_next(struct pfd_search_space *search_space,
                           struct pfd_search_space_walk *walk,
                           struct pfd_mapped_range *ret);
void pfd_search_space_walk_end(struct pfd_search_space_walk *walk);

/* Calls fn with the parts of a range that are to be searched and are no holes,
 * as offsets in its bytes, in order; false from fn ends it. */
void pfd_search_space_data(const struct pfd_search_space *search_space,
                           const struct pfd_search_space_walk *walk,
                           const struct pfd_mapped_range *s,
                           bool (*fn)(void *user, size_t from, size_t to),
                           void *user);

/* The number of bytes [n_wanted] present from an address on, up to the first
 * absent one. */
uint64_t pfd_search_space_measure(const struct pfd_search_space *search_space,
                                  uint64_t address, uint64_t n_wanted);

/* Bytes from an address to the end of its region. */
uint64_t pfd_search_space_region_left(
    const struct pfd_search_space *search_space, uint64_t address);

/* Copies bytes [n]; returns how many are present up to the first absent one. */
size_t pfd_search_space_read(struct pfd_search_space *search_space,
                             uint64_t address, void *ret, size_t n);

/*
 * Contiguous bytes from an address on: in place in a core's file, or a copy
 * where segments divide them or a process has them. Holes are known and never
 * read; they take no memory in a copy.
 */

/* All zero is an empty view. */
struct pfd_memory_view {
    const uint8_t *bytes;    /* [n]; NULL: none are present */
    size_t n;                /* below the wanted number where memory ends */
    struct pfd_ranges holes; /* ranges of bytes, settled: pages of zeros */
    uint64_t n_data;         /* bytes that were read: all but file holes */
    uint8_t *copy;           /* [n_copy], owned; or NULL */
    size_t n_copy;
    bool failed; /* out of memory */
};

/* n_most: limit of data bytes that are read; the view ends there, and n says
 * so. */
void pfd_memory_view_take(struct pfd_search_space *search_space,
                          uint64_t address, uint64_t n_wanted, uint64_t n_most,
                          struct pfd_memory_view *ret);

void pfd_memory_view_free(struct pfd_memory_view *memory_view);

#endif
