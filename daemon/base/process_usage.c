/* SPDX-License-Identifier: MIT */
#include "base/process_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"

static int statm = -1;
static DIR *fds;

void pfdd_process_usage_init(void)
{
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    fds = opendir("/proc/self/fd");
}

/* Without "." and "..". */
static uint64_t count_fds(void)
{
    uint64_t n = 0;
    if (!fds)
        return 0;
    rewinddir(fds);
    for (const struct dirent *it = readdir(fds); it; it = readdir(fds))
        n += *it->d_name != '.';
    return n;
}

void pfdd_process_usage_get(struct pfdd_process_usage *ret)
{
    char text[128] = "";
    struct rlimit limit = { 0 };
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    *ret = (struct pfdd_process_usage){ .n_fds = count_fds() };
    ret->cpu_ns = pfd_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        ret->max_fds = limit.rlim_cur;
    if (statm < 0 || pread(statm, text, sizeof text - 1, 0) <= 0)
        return;
    char *end = NULL;
    ret->virtual_bytes = strtoull(text, &end, 10) * page;
    ret->resident_bytes = strtoull(end, NULL, 10) * page;
}
