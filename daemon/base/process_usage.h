/* SPDX-License-Identifier: MIT */
/*
 * What this process uses, for metrics that all programs have. The files of
 * /proc are opened before the sandbox forbids it. Loop thread only.
 */
#ifndef PFDD_PROCESS_USAGE_H
#define PFDD_PROCESS_USAGE_H

#include <stdint.h>

struct pfdd_process_usage {
    uint64_t cpu_ns;
    uint64_t virtual_bytes;
    uint64_t resident_bytes;
    uint64_t n_fds;
    uint64_t max_fds;
};

/* Before the sandbox. */
void pfdd_process_usage_init(void);

/* Unknown figures are 0. */
void pfdd_process_usage_get(struct pfdd_process_usage *ret);

#endif
