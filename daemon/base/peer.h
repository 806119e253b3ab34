/* SPDX-License-Identifier: MIT */
/*
 * The process at the other end of a unix socket, as the kernel knows it: who it
 * was when it connected, whatever it says itself. Immutable; references are
 * counted on the loop thread, the rest is any thread's.
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
    gid_t *groups; /* [n_groups], others that it is in */
    size_t n_groups;
    int pidfd;
};

/* Of a socket that nobody but the peer itself has connected; NULL: the kernel
 * does not say enough to tell what it may do. */
struct pfdd_peer *pfdd_peer_new(int fd);
/* NULL is allowed, here and below. */
struct pfdd_peer *pfdd_peer_ref(struct pfdd_peer *peer);
void pfdd_peer_unref(struct pfdd_peer *peer);

/* True: its number is still its own. */
bool pfdd_peer_is_alive(const struct pfdd_peer *peer);

/* By owner and mode, and nothing else: not even root may more. rights: of
 * S_IROTH, S_IXOTH. */
bool pfdd_peer_may(const struct pfdd_peer *peer, const struct stat *st,
                   mode_t rights);

#endif
