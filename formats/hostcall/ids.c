/* SPDX-License-Identifier: MIT */
/*
 * Which first packet has which id. A host returns a message's id in its reply
 * to the first packet, which a recording lacks. So the hosts are simulated, by
 * each known rule, and compared with the ids in all packets.
 */
#include "layout.h"

enum {
    TRIES = 16,
    FIRSTS_MAX = 16, /* candidates for the first id */
};

void hostcall_host_init(struct hostcall_host *host, enum hostcall_rule rule,
                        uint64_t first)
{
    *host = (struct hostcall_host){
        .rule = rule,
        .first = first,
        .next = first,
    };
}

static struct hostcall_place *try_place(struct hostcall_host *host, uint64_t id,
                                        unsigned i)
{
    uint64_t hash = id * UINT64_C(0x9e3779b97f4a7c15);
    return &host->places[((hash >> 40) + i) % HOSTCALL_IDS_MAX];
}

struct hostcall_place *hostcall_host_find(struct hostcall_host *host,
                                          uint64_t id, unsigned lane)
{
    for (unsigned i = 0; i < TRIES; i++) {
        struct hostcall_place *place = try_place(host, id, i);
        if (place->is_used && place->id == id)
            return place->lane == lane ? place : NULL;
    }
    return NULL;
}

static uint64_t give_id(struct hostcall_host *host)
{
    if (!host->n_free)
        return host->next++;
    host->n_free--;
    if (host->rule == HOSTCALL_LAST_FREED)
        return host->free[(host->oldest + host->n_free) % HOSTCALL_IDS_MAX];
    return host->free[host->oldest++ % HOSTCALL_IDS_MAX];
}

uint64_t hostcall_host_begin(struct hostcall_host *host, uint32_t packet,
                             unsigned lane, bool *ok)
{
    uint64_t id = give_id(host);
    for (unsigned i = 0; i < TRIES; i++) {
        struct hostcall_place *place = try_place(host, id, i);
        if (place->is_used)
            continue;
        *place = (struct hostcall_place){ id, packet, (uint8_t)lane, true };
        return id;
    }
    *ok = false;
    return id;
}

void hostcall_host_end(struct hostcall_host *host, uint64_t id, unsigned lane)
{
    struct hostcall_place *place = hostcall_host_find(host, id, lane);
    if (!place)
        return;
    place->is_used = false;
    if (host->rule == HOSTCALL_IN_TURN || host->n_free == HOSTCALL_IDS_MAX)
        return;
    host->free[(host->oldest + host->n_free) % HOSTCALL_IDS_MAX] = id;
    host->n_free++;
}

/* ---- hosts that fit ---- */

/* The simulation of one host that serves a recording. */
struct service {
    const struct pfd_walk *walk;
    struct hostcall_host *host;
    uint32_t packet;
    unsigned lane;
    bool is_cut;       /* messages may have begun before the recording */
    uint64_t n_before; /* messages that did, and ended in the recording */
    uint64_t n_ended;  /* messages that began and ended */
};

static uint64_t desc_at(const struct service *s)
{
    return pfd_walk_u64(s->walk, hostcall_slot_at(s->walk, s->packet, s->lane));
}

/* Begins a message; false: this host cannot have served it. */
static bool serve_begin(struct service *s, uint64_t desc)
{
    bool ok = true;
    uint64_t id = hostcall_host_begin(s->host, s->packet, s->lane, &ok);
    if (ok && desc & HOSTCALL_END)
        hostcall_host_end(s->host, id, s->lane);
    return ok;
}

/* Continues a message, with some or all lanes of its wave; false likewise. */
static bool serve_more(struct service *s, uint64_t desc)
{
    uint64_t id = desc >> HOSTCALL_ID_SHIFT;
    const struct hostcall_place *place =
        hostcall_host_find(s->host, id, s->lane);
    if (!place) {
        s->n_before += desc & HOSTCALL_END ? 1 : 0;
        return s->is_cut && id < s->host->first;
    }
    if (hostcall_mask(s->walk, s->packet) &
        ~hostcall_mask(s->walk, place->packet))
        return false;
    if (desc & HOSTCALL_END) {
        hostcall_host_end(s->host, id, s->lane);
        s->n_ended++;
    }
    return true;
}

/* Handles a slot; false: stop. */
typedef bool (*slot_fn)(struct service *s, uint64_t desc, void *user);

static bool for_slots(struct service *s, slot_fn fn, void *user)
{
    const struct hostcall_dump *d = s->walk->state;
    for (s->packet = hostcall_pass(s->walk, 0); s->packet < d->n_packets;
         s->packet = hostcall_pass(s->walk, s->packet + 1)) {
        uint64_t mask = hostcall_printing(s->walk, s->packet);
        for (; mask; mask &= mask - 1) {
            s->lane = (unsigned)__builtin_ctzll(mask);
            if (!fn(s, desc_at(s), user))
                return false;
        }
    }
    return true;
}

static bool serve(struct service *s, uint64_t desc, void *user)
{
    (void)user;
    return desc & HOSTCALL_BEGIN ? serve_begin(s, desc) : serve_more(s, desc);
}

/* The number of first packets with an id, and without. */
struct begins {
    uint64_t n_with;
    uint64_t n_without;
};

static bool count_begin(struct service *s, uint64_t desc, void *user)
{
    struct begins *begins = user;
    (void)s;
    if (desc & HOSTCALL_BEGIN) {
        begins->n_with += desc >> HOSTCALL_ID_SHIFT != 0;
        begins->n_without += desc >> HOSTCALL_ID_SHIFT == 0;
    }
    return true;
}

bool hostcall_begins_with_ids(const struct pfd_walk *w)
{
    struct begins begins = { 0 };
    for_slots(&(struct service){ .walk = w }, count_begin, &begins);
    return begins.n_with > begins.n_without;
}

/* Candidates for the first id that a host assigned. */
struct firsts {
    uint64_t id[FIRSTS_MAX];
    size_t n;
    bool one; /* collect from the first continuing packet only */
};

static void add_first(struct firsts *firsts, uint64_t id)
{
    for (size_t i = 0; i < firsts->n; i++) {
        if (firsts->id[i] == id)
            return;
    }
    if (firsts->n < FIRSTS_MAX)
        firsts->id[firsts->n++] = id;
}

/* A continuing packet belongs to one of the messages that have begun on its
 * lane. Here the host assigned 0 first, so the difference of both ids is a
 * candidate. */
static bool collect_firsts(struct service *s, uint64_t desc, void *user)
{
    struct firsts *firsts = user;
    uint64_t id = desc >> HOSTCALL_ID_SHIFT;
    if (desc & HOSTCALL_BEGIN)
        return serve_begin(s, desc);
    for (size_t i = 0; i < HOSTCALL_IDS_MAX; i++) {
        const struct hostcall_place *place = &s->host->places[i];
        if (place->is_used && place->lane == s->lane && place->id <= id)
            add_first(firsts, id - place->id);
    }
    return !firsts->one && firsts->n < FIRSTS_MAX;
}

/* Did this host serve the whole recording? In a cut recording, it must have
 * ended most messages that it began, and known most messages that ended. */
static bool has_served(struct service *s)
{
    uint64_t n_left = 0;
    s->n_before = 0;
    s->n_ended = 0;
    if (!for_slots(s, serve, NULL))
        return false;
    for (size_t i = 0; i < HOSTCALL_IDS_MAX; i++)
        n_left += s->host->places[i].is_used;
    return !s->is_cut || 2 * (s->n_before + n_left) <= s->n_ended;
}

static size_t find_hosts(struct service *s, enum hostcall_rule rule,
                         struct hostcall_host *ret, size_t max)
{
    struct firsts firsts = { .one = !s->is_cut };
    size_t n = 0;
    hostcall_host_init(s->host, rule, 0);
    for_slots(s, collect_firsts, &firsts);
    for (size_t i = 0; i < firsts.n && n < max; i++) {
        hostcall_host_init(s->host, rule, firsts.id[i]);
        if (has_served(s))
            hostcall_host_init(&ret[n++], rule, firsts.id[i]);
    }
    return n;
}

size_t hostcall_hosts(const struct pfd_walk *w, struct hostcall_host *scratch,
                      struct hostcall_host *ret, size_t max)
{
    struct service s = { .walk = w, .host = scratch };
    size_t n = 0;
    for (int rule = 0; rule < HOSTCALL_RULES; rule++)
        n += find_hosts(&s, (enum hostcall_rule)rule, ret + n, max - n);
    s.is_cut = true;
    return n ? n : find_hosts(&s, HOSTCALL_IN_TURN, ret, max);
}
