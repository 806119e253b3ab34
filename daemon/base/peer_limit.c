/* SPDX-License-Identifier: MIT */
#include "base/peer_limit.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    NETWORK = 8, /* bytes of an IPv6 address that are its network */
};

static struct pfdd_peer_key make_key(unsigned char kind, const void *bytes,
                                     size_t n)
{
    struct pfdd_peer_key ret = { { kind } };
    memcpy(ret.bytes + 1, bytes, n);
    return ret;
}

static struct pfdd_peer_key key_of_user(int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
        return (struct pfdd_peer_key){ { 0 } };
    return make_key('u', &who.uid, sizeof who.uid);
}

struct pfdd_peer_key pfdd_peer_key(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_un un;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } at = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t n = sizeof at;
    if (getpeername(fd, &at.any, &n) != 0)
        return (struct pfdd_peer_key){ { 0 } };
    if (at.any.sa_family == AF_UNIX)
        return key_of_user(fd);
    if (at.any.sa_family == AF_INET &&
        ntohl(at.in.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
        return make_key('4', &at.in.sin_addr, sizeof at.in.sin_addr);
    if (at.any.sa_family == AF_INET6 &&
        !IN6_IS_ADDR_LOOPBACK(&at.in6.sin6_addr))
        return make_key('6', &at.in6.sin6_addr, NETWORK);
    return (struct pfdd_peer_key){ { 0 } };
}

static bool is_same(const struct pfdd_peer_key *a,
                    const struct pfdd_peer_key *b)
{
    return !memcmp(a, b, sizeof *a);
}

void pfdd_peer_limit_join(struct pfdd_peer_limit *peer_limit,
                          struct pfdd_limited_peer *limited_peer,
                          const struct pfdd_peer_key *key, uint64_t now)
{
    limited_peer->key = *key;
    limited_peer->since = now;
    limited_peer->is_silent = true;
    limited_peer->next = peer_limit->limited_peers;
    peer_limit->limited_peers = limited_peer;
    peer_limit->n++;
}

void pfdd_peer_limit_leave(struct pfdd_peer_limit *peer_limit,
                           struct pfdd_limited_peer *limited_peer)
{
    struct pfdd_limited_peer **at = &peer_limit->limited_peers;
    while (*at != limited_peer)
        at = &(*at)->next;
    *at = limited_peer->next;
    peer_limit->n--;
}

static void look_at(struct pfdd_limited_peer *g,
                    struct pfdd_limited_peer **oldest)
{
    if (g->is_silent && (!*oldest || g->since <= (*oldest)->since))
        *oldest = g;
}

bool pfdd_peer_limit_evict(const struct pfdd_peer_limit *peer_limit,
                           const struct pfdd_peer_key *key, unsigned n_max,
                           struct pfdd_limited_peer **ret)
{
    struct pfdd_limited_peer *any = NULL;
    struct pfdd_limited_peer *own = NULL;
    unsigned n_own = 0;
    *ret = NULL;
    for (struct pfdd_limited_peer *g = peer_limit->limited_peers; g;
         g = g->next) {
        look_at(g, &any);
        if (is_same(key, &g->key)) {
            look_at(g, &own);
            n_own++;
        }
    }
    if (n_own >= n_max) {
        *ret = own;
    } else if (peer_limit->n >= n_max + n_max / 4) {
        *ret = own ? own : any;
    } else {
        return true;
    }
    return *ret != NULL;
}
