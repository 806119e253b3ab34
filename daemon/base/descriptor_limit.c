/* SPDX-License-Identifier: MIT */
#include "base/descriptor_limit.h"

#include <sys/resource.h>

enum {
    MOST = 65536,
    OWN_MOST = 128, /* left for the daemon itself, at most */
    WAITING_PART = 16,
};

static unsigned for_peers; /* 0: not computed yet */

void pfdd_descriptor_limit_raise(void)
{
    struct rlimit limit = { .rlim_cur = 1024, .rlim_max = 1024 };
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_max < MOST ? limit.rlim_max : MOST;
    if (limit.rlim_cur < most) {
        struct rlimit more = { .rlim_cur = most, .rlim_max = limit.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            limit = more;
    }
    unsigned n = limit.rlim_cur < MOST ? (unsigned)limit.rlim_cur : MOST;
    for_peers = n - (n / 8 < OWN_MOST ? n / 8 : OWN_MOST);
}

bool pfdd_descriptor_limit_is_spare(int fd)
{
    if (!for_peers)
        pfdd_descriptor_limit_raise();
    return fd >= 0 && (unsigned)fd < for_peers;
}

unsigned pfdd_descriptor_limit_for_waiting(void)
{
    if (!for_peers)
        pfdd_descriptor_limit_raise();
    return for_peers / WAITING_PART + 1;
}

unsigned pfdd_descriptor_limit_share(void)
{
    if (!for_peers)
        pfdd_descriptor_limit_raise();
    return for_peers / 2;
}
