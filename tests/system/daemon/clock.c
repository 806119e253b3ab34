/* SPDX-License-Identifier: MIT */
/* Preloaded, with CLOCK_FILE=PATH: the calendar's clock is ahead by as many
 * seconds as the int64 in the file says, which may change at any time. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int (*clock_fn)(clockid_t, struct timespec *);

int clock_gettime(clockid_t clock, struct timespec *ret);

static const volatile int64_t *ahead(void)
{
    static const volatile int64_t *memory;
    const char *path = getenv("CLOCK_FILE");
    if (memory || !path)
        return memory;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, sizeof *memory, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        memory = at;
    return memory;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                         struct timespec *ret)
{
    static clock_fn next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    int rc = next(clock, ret);
    if (rc != 0 || clock != CLOCK_REALTIME)
        return rc;
    const volatile int64_t *seconds = ahead();
    if (seconds)
        ret->tv_sec += (time_t)*seconds;
    return rc;
}

__attribute__((visibility("default"))) time_t time(time_t *ret)
{
    struct timespec now = { 0 };
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}
