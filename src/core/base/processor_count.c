/* SPDX-License-Identifier: MIT */
#include "core/base/processor_count.h"

#include <sched.h>

unsigned pfd_processor_count(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : (unsigned)n;
}
