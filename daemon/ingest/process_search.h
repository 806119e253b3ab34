/* SPDX-License-Identifier: MIT */
/* Buffers in a process that nobody gave an address of: searched for again and
 * again, a fiftieth of the time at most. Any one thread. */
#ifndef PFDD_PROCESS_SEARCH_H
#define PFDD_PROCESS_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include <printfdecode/search_buffers.h>

#include "base/memory_budget.h"

/* All zeros to begin with. */
struct pfdd_process_search {
    uint64_t next_ns; /* not before */
};

/* Bytes that one may copy at a time: an eighth of all memory. 0: there is no
 * room for so many now. Loop thread only. */
size_t pfdd_process_search_bytes(const struct pfdd_memory_budget *budget);

/* What is there now, if it is time for that; to be freed. NULL: it is not, the
 * process has ended, or it was stopped. */
struct pfd_found_buffers *pfdd_process_search_run(
    struct pfdd_process_search *process_search,
    const struct pfd_buffer_search *how);

#endif
