/* SPDX-License-Identifier: MIT */
/*
 * The memory that is searched: a core's, which is looked at where it stands in
 * the file, or that of a process, which goes on and is copied window by window.
 */
#ifndef PFD_SEARCH_SPACE_H
#define PFD_SEARCH_SPACE_H

#include <printfdecode/core.h>

#include "core/base/error.h"
#include "core/base/ranges.h"

/* One of both; the other is NULL. */
struct pfd_search_space {
    const struct pfd_core *core;
    struct pfd_memory *memory;
    uint64_t
        n_copied_max; /* bytes; a third for a window, the rest for pieces */
    /* The first failure: the process has ended, or memory is short. */
    enum pfd_status status;
    struct pfd_error *err;
};

/* Bytes in one piece. */
struct pfd_mapped_range {
    const uint8_t *bytes; /* [n] */
    size_t n;
    uint64_t address;
    size_t from;    /* what is before is there for looking back, */
    size_t to;      /* and what is behind to see an entry's end */
    bool goes_on;   /* it is of the same region as the one before */
    uint64_t n_all; /* bytes that were passed over by now, with holes */
};

/* Where one walk over a space is; all zero is its beginning. */
struct pfd_search_space_walk {
    size_t next; /* segment or region */
    uint64_t at; /* address in a region; 0: its start */
    uint64_t n_before;
    uint8_t *window; /* [n_window], owned; NULL: none yet */
    size_t n_window;
    struct pfd_ranges data; /* of the window, settled */
};

/* The regions as they are now. */
void pfd_search_space_renew(struct pfd_search_space *search_space);

/* Bytes of all that a walk passes over. */
uint64_t pfd_search_space_size(const struct pfd_search_space *search_space);

/* False: that was all, or the space failed. The stretch is there until the
 * next one. */
bool pfd_search_space_next(struct pfd_search_space *search_space,
                           struct pfd_search_space_walk *walk,
                           struct pfd_mapped_range *ret);
void pfd_search_space_walk_end(struct pfd_search_space_walk *walk);

/* What of a stretch is to be searched and is no hole, as parts of its bytes, in
 * order; false from fn ends it. */
void pfd_search_space_data(const struct pfd_search_space *search_space,
                           const struct pfd_search_space_walk *walk,
                           const struct pfd_mapped_range *mapped_range,
                           bool (*fn)(void *user, size_t from, size_t to),
                           void *user);

/* How many of bytes [n_wanted] from an address on there are, up to the first
 * that is not. */
uint64_t pfd_search_space_measure(const struct pfd_search_space *search_space,
                                  uint64_t address, uint64_t n_wanted);

/* Bytes from an address to the end of what is mapped there as one region. */
uint64_t pfd_search_space_room(const struct pfd_search_space *search_space,
                               uint64_t address);

/* Copies bytes [n]; how many there are up to the first that is not. */
size_t pfd_search_space_read(struct pfd_search_space *search_space,
                             uint64_t address, void *ret, size_t n);

/* The ranges of addresses [address, address + n) that are no holes; n is what
 * pfd_search_space_measure() gave. */
void pfd_search_space_ranges(struct pfd_search_space *search_space,
                             uint64_t address, uint64_t n,
                             bool (*fn)(void *user, uint64_t from, uint64_t to),
                             void *user);

#endif
