/* SPDX-License-Identifier: MIT */
/* Searches a process for buffers whose address is not configured: repeatedly,
 * for a fiftieth of the time at most. One thread at a time. */
#ifndef PFDD_PROCESS_SEARCH_H
#define PFDD_PROCESS_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "memory/search/search_buffers.h"

/* All zeros to begin with. */
struct pfdd_process_search {
    uint64_t next_ns; /* earliest start of the next search */
};

/* Bytes that a search may copy at a time: an eighth of all memory, at least 24
 * MiB. 0: there is no memory for so many now. Loop thread only. */
size_t pfdd_process_search_bytes(const struct pfdd_memory_budget *budget);

/* The buffers found, if it is time to search; to be freed. NULL: it is not, the
 * process has ended, or the search was stopped. */
struct pfd_found_buffers *pfdd_process_search_run(
    struct pfdd_process_search *process_search,
    const struct pfd_buffer_search *how);

#endif
