/* SPDX-License-Identifier: MIT */
#include "ingest/process_search.h"

#include <time.h>

enum {
    PART = 50,
    LEAST_NS = 1000000000,
    BYTES_LEAST = 24 << 20,
    BYTES_PART = 8,
};

size_t pfdd_process_search_bytes(const struct pfdd_memory_budget *budget)
{
    size_t n = budget->max / BYTES_PART;
    n = n > BYTES_LEAST ? n : BYTES_LEAST;
    return pfdd_memory_budget_has(budget, n) ? n : 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct pfd_found_buffers *pfdd_process_search_run(
    struct pfdd_process_search *process_search,
    const struct pfd_buffer_search *how)
{
    struct pfd_found_buffers *found = NULL;
    uint64_t start = now_ns();
    if (!how->strings || !how->n_copied_max || start < process_search->next_ns)
        return NULL;
    (void)pfd_search_buffers(how, &found, NULL);
    uint64_t end = now_ns();
    uint64_t pause = (end - start) * PART;
    process_search->next_ns = end + (pause > LEAST_NS ? pause : LEAST_NS);
    return found;
}
