/* SPDX-License-Identifier: MIT */
/*
 * Internals of the search for buffers. search_pass.c walks memory and collects
 * candidates; search_buffers.c tries them, and keeps the credible ones.
 */
#ifndef PFD_SEARCH_BUFFERS_H
#define PFD_SEARCH_BUFFERS_H

#include <printfdecode/search_buffers.h>

#include "core/decode/format.h"
#include "memory/search/kernels.h"
#include "memory/search/prefilter.h"
#include "memory/search/search_space.h"

/* A place that could be a buffer. */
struct pfd_candidate {
    struct pfd_found_buffer found_buffer;
    const struct pfd_format *format; /* NULL: the one that decodes it best */
    bool has_no_size;                /* its header has none: struct pfd_whole */
    bool is_dropped;
    bool is_copy; /* and was dropped for that */
};

enum {
    PFD_CANDIDATES_MAX = 1024
};

struct pfd_search {
    const struct pfd_buffer_search *how;
    struct pfd_search_space search_space;
    struct pfd_kernels kernels;
    struct pfd_prefilter prefilter;
    struct pfd_prefilter_slice *slices; /* [PFD_PREFILTER_PIECES], owned */
    struct pfd_candidate *candidates;   /* [n] of PFD_CANDIDATES_MAX, owned */
    size_t n;
    bool is_more;
    uint64_t n_stray_runs;
    uint64_t n_stray_entries;
    uint64_t n_left;     /* bytes that may still be tried or compared */
    uint64_t n_searched; /* bytes, without holes */
    uint64_t n_done;     /* bytes, with holes */
    uint64_t n_all;      /* the same, at the end of the search */
    uint64_t n_reported;
    bool is_stopped;
    bool failed; /* out of memory */
};

/* Searches all memory; candidates come in order of address. */
void pfd_search_all(struct pfd_search *search);

#endif
