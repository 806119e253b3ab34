/* SPDX-License-Identifier: MIT */
/*
 * Limits the places that one peer takes at a socket. Peers are told apart as
 * far as the kernel tells them: users on unix sockets; addresses on TCP, of
 * IPv6 networks; on TCP of this machine not at all. A peer may have a number of
 * places, and all peers together a quarter more. Idle connections are closed
 * first. Loop thread only.
 */
#ifndef PFDD_PEER_LIMIT_H
#define PFDD_PEER_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd_peer_key {
    unsigned char bytes[20]; /* all zero: a peer of this machine */
};

/* Part of its owner's struct. */
struct pfdd_limited_peer {
    struct pfdd_limited_peer *next;
    struct pfdd_peer_key key;
    uint64_t since; /* when it was last active, or came */
    bool is_silent; /* it may be closed for others */
};

struct pfdd_peer_limit {
    struct pfdd_limited_peer *limited_peers; /* newest first */
    unsigned n;
};

/* Of a connection's other end. */
struct pfdd_peer_key pfdd_peer_key(int fd);

void pfdd_peer_limit_join(struct pfdd_peer_limit *peer_limit,
                          struct pfdd_limited_peer *limited_peer,
                          const struct pfdd_peer_key *key, uint64_t now);
void pfdd_peer_limit_leave(struct pfdd_peer_limit *peer_limit,
                           struct pfdd_limited_peer *limited_peer);

/*
 * Asks for a place for one more connection of a peer, which may have n_max.
 * False: there is none. *ret: NULL, or the idle connection that has to be
 * closed for it: one of the same peer before others, the longest idle first.
 */
bool pfdd_peer_limit_evict(const struct pfdd_peer_limit *peer_limit,
                           const struct pfdd_peer_key *key, unsigned n_max,
                           struct pfdd_limited_peer **ret);

#endif
