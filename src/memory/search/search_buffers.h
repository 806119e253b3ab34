/* SPDX-License-Identifier: MIT */
/*
 * The inside of the search for buffers: places that could be one. search_pass.c
 * looks at memory and collects them; search_buffers.c tries them and keeps what is
 * believed.
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
    const struct pfd_format *format; /* NULL: whichever decodes it best */
    bool has_no_size;                /* by its header: see struct pfd_whole */
    bool is_dropped;
    bool is_copy; /* and is dropped for that */
};

enum {
    PFD_CANDIDATES_MAX = 1024
};

struct pfd_search {
    const struct pfd_buffer_search *how;
    struct pfd_search_space search_space;
    struct pfd_kernels kernels;
    struct pfd_prefilter prefilter;
    struct pfd_prefilter_piece *pieces; /* [PFD_PREFILTER_PIECES], owned */
    struct pfd_candidate *candidates;   /* [n] of PFD_CANDIDATES_MAX, owned */
    size_t n;
    bool is_more;
    uint64_t n_stray_runs;
    uint64_t n_stray_entries;
    uint64_t n_left;     /* bytes that may be tried or compared yet */
    uint64_t n_searched; /* bytes, holes left out */
    uint64_t n_done;     /* bytes, holes and all */
    uint64_t n_all;      /* of which it will be so many */
    uint64_t n_told;
    bool is_stopped;
    bool failed; /* out of memory */
};

/* Looks at all memory; candidates come by address. */
void pfd_search_all(struct pfd_search *search);

#endif
