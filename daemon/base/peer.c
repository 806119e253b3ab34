/* SPDX-License-Identifier: MIT */
#include "base/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* asm-generic/socket.h, Linux 6.5 */
#endif

enum {
    NOBODY = 65534, /* stands for ids that this user namespace does not map */
};

static bool take_groups(int fd, struct pfdd_peer *ret)
{
    socklen_t n = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n) == 0)
        return true; /* it has no other groups */
    ret->groups = errno == ERANGE ? malloc(n) : NULL;
    if (!ret->groups ||
        getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ret->groups, &n) != 0)
        return false;
    ret->n_groups = n / sizeof *ret->groups;
    return true;
}

static int open_process(int fd, pid_t pid)
{
    int pidfd = -1;
    socklen_t n = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n) == 0)
        return pidfd;
    if (errno != ENOPROTOOPT)
        return -1;
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

struct pfdd_peer *pfdd_peer_new(int fd)
{
    struct ucred who = { .pid = 0 };
    socklen_t n = sizeof who;
    struct pfdd_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->refs = 1;
    peer->pidfd = -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.pid > 0 &&
        who.uid != NOBODY && who.gid != NOBODY && take_groups(fd, peer))
        peer->pidfd = open_process(fd, who.pid);
    peer->pid = who.pid;
    peer->uid = who.uid;
    peer->gid = who.gid;
    if (peer->pidfd >= 0)
        return peer;
    pfdd_peer_unref(peer);
    return NULL;
}

struct pfdd_peer *pfdd_peer_ref(struct pfdd_peer *peer)
{
    if (peer)
        peer->refs++;
    return peer;
}

void pfdd_peer_unref(struct pfdd_peer *peer)
{
    if (!peer || --peer->refs > 0)
        return;
    if (peer->pidfd >= 0)
        close(peer->pidfd);
    free(peer->groups);
    free(peer);
}

bool pfdd_peer_is_alive(const struct pfdd_peer *peer)
{
    struct pollfd p = { .fd = peer->pidfd, .events = POLLIN };
    return poll(&p, 1, 0) == 0;
}

static bool is_in_group(const struct pfdd_peer *peer, gid_t gid)
{
    if (gid == peer->gid)
        return true;
    for (size_t i = 0; i < peer->n_groups; i++) {
        if (gid == peer->groups[i] && gid != NOBODY)
            return true;
    }
    return false;
}

bool pfdd_peer_may(const struct pfdd_peer *peer, const struct stat *st,
                   mode_t rights)
{
    unsigned shift = st->st_uid == peer->uid         ? 6
                     : is_in_group(peer, st->st_gid) ? 3
                                                     : 0;
    return (st->st_mode >> shift & rights) == rights;
}
