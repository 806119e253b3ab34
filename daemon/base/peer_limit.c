/* SPDX-License-Identifier: MIT */
#include "base/peer_limit.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    NETWORK = 8, /* bytes of an address of version 6 that are not one's own */
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

void pfdd_crowd_join(struct pfdd_crowd *crowd, struct pfdd_guest *guest,
                     const struct pfdd_peer_key *key, uint64_t now)
{
    guest->key = *key;
    guest->since = now;
    guest->is_silent = true;
    guest->next = crowd->guests;
    crowd->guests = guest;
    crowd->n++;
}

void pfdd_crowd_leave(struct pfdd_crowd *crowd, struct pfdd_guest *guest)
{
    struct pfdd_guest **at = &crowd->guests;
    while (*at != guest)
        at = &(*at)->next;
    *at = guest->next;
    crowd->n--;
}

static void look_at(struct pfdd_guest *g, struct pfdd_guest **oldest)
{
    if (g->is_silent && (!*oldest || g->since <= (*oldest)->since))
        *oldest = g;
}

bool pfdd_crowd_make_way(const struct pfdd_crowd *crowd,
                         const struct pfdd_peer_key *key, unsigned n_max,
                         struct pfdd_guest **ret)
{
    struct pfdd_guest *any = NULL;
    struct pfdd_guest *own = NULL;
    unsigned n_own = 0;
    *ret = NULL;
    for (struct pfdd_guest *g = crowd->guests; g; g = g->next) {
        look_at(g, &any);
        if (is_same(key, &g->key)) {
            look_at(g, &own);
            n_own++;
        }
    }
    if (n_own >= n_max) {
        *ret = own;
    } else if (crowd->n >= n_max + n_max / 4) {
        *ret = own ? own : any;
    } else {
        return true;
    }
    return *ret != NULL;
}
