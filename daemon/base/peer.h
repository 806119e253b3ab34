/* SPDX-License-Identifier: MIT */
/*
 * The process at the other end of a unix socket, as the kernel recorded it when
 * it connected; its own claims do not count. Immutable. References are counted
 * on the loop thread; everything else is for any thread.
 */
#ifndef PFDD_PEER_H
#define PFDD_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct pfdd_peer {
    unsigned refs;
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* [n_groups], its supplementary groups */
    size_t n_groups;
    int pidfd;
};

/* fd: a socket that the peer itself has connected. NULL: the kernel does not
 * tell enough to know the peer's rights. */
struct pfdd_peer *pfdd_peer_new(int fd);
/* NULL is allowed, here and below. */
struct pfdd_peer *pfdd_peer_ref(struct pfdd_peer *peer);
void pfdd_peer_unref(struct pfdd_peer *peer);

/* True: it has not ended, so its pid is its own. */
bool pfdd_peer_is_alive(const struct pfdd_peer *peer);

/* By owner and mode alone: not even root has more rights. rights: of S_IROTH,
 * S_IXOTH. */
bool pfdd_peer_may(const struct pfdd_peer *peer, const struct stat *st,
                   mode_t rights);

#endif
