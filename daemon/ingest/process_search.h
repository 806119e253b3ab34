/* SPDX-License-Identifier: MIT */
/* Searches a process for buffers whose address is not configured: repeatedly,
 * for a fiftieth of the time at most. One thread at a time. */
#ifndef PFDD_PROCESS_SEARCH_H
#define PFDD_PROCESS_SEARCH_H

#include <stdbool.h>
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

/* Running processes, from /proc. Reading it may block: not on the loop. */

enum {
    PFDD_PROCESS_LIST_NAME =
        64 /* bytes of a name, which the kernel truncates to 15 */
};

struct pfdd_process_info {
    uint64_t pid;
    uint64_t started; /* ticks since boot: tells processes of the same pid
                         apart */
    char name[PFDD_PROCESS_LIST_NAME]; /* any bytes */
};

/* False: there is no such process, or it is a zombie. */
bool pfdd_process_list_get(uint64_t pid, struct pfdd_process_info *ret);

/* Calls `call` for each process of the daemon's own user, except the daemon,
 * whose name, or whose program's file name, matches a glob pattern, until a
 * call returns false. */
typedef bool (*pfdd_process_fn)(void *user,
                                const struct pfdd_process_info *process);

void pfdd_process_list_find(const char *pattern, pfdd_process_fn call,
                            void *user);

#endif
