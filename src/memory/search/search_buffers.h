/* SPDX-License-Identifier: MIT */
/*
 * Finds printf buffers at unknown addresses, in a core or in a running process:
 *
 *   by a dispatch: a packet of ROCm's queues that starts a kernel which is
 *   loaded leads to the kernel's arguments, and they to its buffer;
 *   by its header: header and entries agree so well that chance would hardly
 *   make them so.
 *
 * Each candidate is decoded with the given strings, to count how much of it
 * decodes.
 */
#ifndef PFD_SEARCH_BUFFERS_H
#define PFD_SEARCH_BUFFERS_H

#include <printfdecode/printfdecode.h>

#include "core/decode/format.h"
#include "memory/search/kernels.h"
#include "memory/search/prefilter.h"
#include "memory/search/search_space.h"
#include "memory/space/core.h"

/* A buffer. Texts live until the result is freed. */
struct pfd_found_buffer {
    const char *format; /* a name of pfd_format_get() */
    uint64_t address;
    uint64_t size; /* its bytes; fewer than it had where the core ends. In a
                      process, if its header says no size: up to the next buffer
                      or the end of the mapping, 64 MiB at most */
    uint64_t used; /* of those, reserved by the device, header included */
    /* The header says no size, and the part that it counts does not decode to
     * its end, or that end is zeros like the bytes behind it, or the last entry
     * crosses the border of a page: the buffer may have ended before, and its
     * last entry may have foreign bytes. */
    bool is_end_doubtful;

    /* By a dispatch: the packet's address, the kernel that it starts and, if
     * AMD's note has the queue with the packet, that queue. */
    bool by_dispatch;
    uint64_t packet;
    const char *kernel; /* any bytes, NUL-terminated; NULL: found by its
                           header */
    bool has_queue;
    uint32_t queue_id;
    uint32_t gpu_id;

    const char *why; /* reason to believe it, in a few words, static; by a
                        dispatch: NULL */

    /* How much of it decodes. */
    struct pfd_summary summary;
    /* The number of other addresses where the same bytes, or the first of them,
     * stand; they are not listed again. */
    uint64_t n_copies;
};

/* All buffers that were found, the most believable first. */
struct pfd_found_buffers {
    struct pfd_found_buffer *at; /* [n] */
    size_t n;
    bool is_more; /* there are more than listed: too many to be tried */
    /* Runs without a header, for which no buffer was found, and their
     * entries. */
    uint64_t n_stray_runs;
    uint64_t n_stray_entries;
    uint64_t n_searched; /* bytes that were searched, without holes */
};

/* All borrowed for the call. */
struct pfd_buffer_search {
    const struct pfd_core *core;
    /* Or, if core is NULL, a running process: a buffer may be gone, and its
     * memory reused, by the time of the result. It belongs to this thread, and
     * its regions are read again. */
    struct pfd_memory *memory;
    const struct pfd_strings *strings;
    const struct pfd_options *options; /* NULL: the defaults */
    /* Limit for the bytes of a process that are copied at a time; 0: 384 MiB;
     * at least 24 MiB. A buffer above a third of it is judged by its
     * beginning. */
    uint64_t n_copied_max;
    unsigned threads; /* 0: as many as there are processors */
    /* Progress, now and then: n_done bytes of n_all were searched; false: stop.
     * Or NULL. */
    bool (*progress)(void *user, uint64_t n_done, uint64_t n_all);
    void *user;
};

/*
 * Searches all memory in the core, or all memory of a process that can be read
 * and is no device, once. Any thread, for a core.
 *
 * PFD_OK; PFD_ERR_STOPPED: progress returned false; PFD_ERR_IO: the process has
 * ended, or runs another program now; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_search_buffers(
    const struct pfd_buffer_search *buffer_search,
    struct pfd_found_buffers **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_found_buffers_free(struct pfd_found_buffers *list);

/*
 * Internals of the search for buffers. search_pass.c walks memory and collects
 * candidates; search_buffers.c tries them, and keeps the credible ones.
 */

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
