/* SPDX-License-Identifier: MIT */
/*
 * Who is connected to a socket, so that nobody takes all of its places: peers
 * are told apart as far as the kernel tells them (users on unix sockets,
 * addresses on TCP, of version 6 by their networks; on TCP of this machine not
 * at all). There are so many places for one peer, and a quarter more for others;
 * who says nothing makes way. Loop thread only.
 */
#ifndef PFDD_PEER_LIMIT_H
#define PFDD_PEER_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct pfdd_peer_key {
    unsigned char bytes[20]; /* all zero: one of this machine */
};

/* In a structure of its owner's. */
struct pfdd_limited_peer {
    struct pfdd_limited_peer *next;
    struct pfdd_peer_key key;
    uint64_t since; /* when it last had something to say, or came */
    bool is_silent; /* it may be sent away for others */
};

struct pfdd_peer_limit {
    struct pfdd_limited_peer *limited_peers; /* the newest first */
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
 * For one more of a peer, where there are n_max places for it. False: there is
 * none. *ret: who is to be sent away first, or NULL: of those that are silent,
 * the peer's own before others, the one that has been so for the longest.
 */
bool pfdd_peer_limit_evict(const struct pfdd_peer_limit *peer_limit,
                           const struct pfdd_peer_key *key, unsigned n_max,
                           struct pfdd_limited_peer **ret);

#endif
