/* SPDX-License-Identifier: MIT */
#include "inputs/edges_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/base/fnv.h"
#include "ring/ring.h"

enum {
    WAYS = 8, /* places of a chunk */
    /* Epochs of a daemon begin with the time in us, and grow by 1: these are of
       two. */
    EPOCHS_APART = 500000,
};

void pfdd_edges_seen_deinit(struct pfdd_edges_seen *seen)
{
    free(seen->edges);
    *seen = (struct pfdd_edges_seen){ 0 };
}

static uint64_t hash_of(const char *id)
{
    return pfd_fnv1a(PFD_FNV_START, id, strlen(id));
}

#define HEARD_NS (UINT64_C(600) * 1000000000)

/* ---- edges ---- */

/* Of a message: its edge's state folder. */
static const char *state_of(const struct pfdd_worker_message *p)
{
    return *p->state ? p->state : p->edge;
}

static bool is_run_of(const struct pfdd_seen_edge *e,
                      const struct pfdd_worker_message *p)
{
    uint64_t apart =
        e->epoch > p->epoch ? e->epoch - p->epoch : p->epoch - e->epoch;
    return !strcmp(e->state, state_of(p)) && !strcmp(e->run, p->run) &&
           (*p->run || apart < EPOCHS_APART);
}

static uint32_t *bucket_of(struct pfdd_edges_seen *seen, const char *state)
{
    return &seen->by_state[hash_of(state) % PFDD_EDGES_SEEN];
}

static struct pfdd_seen_edge *find(struct pfdd_edges_seen *seen,
                                   const struct pfdd_worker_message *p)
{
    uint32_t i = *bucket_of(seen, state_of(p));
    while (i && !is_run_of(&seen->edges[i - 1], p))
        i = seen->edges[i - 1].next;
    return i ? &seen->edges[i - 1] : NULL;
}

static void unlink_edge(struct pfdd_edges_seen *seen, struct pfdd_seen_edge *e)
{
    uint32_t *at = bucket_of(seen, e->state);
    while (&seen->edges[*at - 1] != e)
        at = &seen->edges[*at - 1].next;
    *at = e->next;
}

/* The place of the edge that was not heard for the longest time. */
static struct pfdd_seen_edge *evict(struct pfdd_edges_seen *seen)
{
    struct pfdd_seen_edge *oldest = NULL;
    for (size_t i = 0; i < seen->n; i++) {
        struct pfdd_seen_edge *e = &seen->edges[i];
        if (!oldest || e->heard < oldest->heard)
            oldest = e;
    }
    if (oldest)
        unlink_edge(seen, oldest);
    return oldest;
}

static struct pfdd_seen_edge *make_room(struct pfdd_edges_seen *seen)
{
    if (seen->n == PFDD_EDGES_SEEN)
        return evict(seen);
    if (seen->n == seen->size) {
        size_t size = seen->size ? 2 * seen->size : 16;
        void *edges = realloc(seen->edges, size * sizeof *seen->edges);
        if (!edges)
            return NULL;
        seen->edges = edges;
        seen->size = size;
    }
    return &seen->edges[seen->n++];
}

static struct pfdd_seen_edge *add(struct pfdd_edges_seen *seen,
                                  const struct pfdd_worker_message *p)
{
    struct pfdd_seen_edge *e = make_room(seen);
    if (!e)
        return NULL;
    uint32_t *bucket = bucket_of(seen, state_of(p));
    *e = (struct pfdd_seen_edge){ .next = *bucket };
    snprintf(e->state, sizeof e->state, "%s", state_of(p));
    snprintf(e->run, sizeof e->run, "%s", p->run);
    pfdd_log_peer(PFDD_INFO, "nats: an edge on '%s' (identity %s)", p->host,
                  e->state);
    *bucket = (uint32_t)(e - seen->edges) + 1;
    return e;
}

/* ---- two of one ---- */

/* True: neither had ended before the other one began. */
static bool overlap(const struct pfdd_seen_edge *a,
                    const struct pfdd_seen_edge *b)
{
    return a != b && a->stream == b->stream && a->from < b->to &&
           b->from < a->to && !strcmp(a->state, b->state);
}

static void tell(struct pfdd_seen_edge *a, struct pfdd_seen_edge *b)
{
    static struct pfdd_log_topic topic;
    a->is_told = b->is_told = true;
    pfdd_log_about(
        &topic, PFDD_WARNING,
        "nats: two edges run with copies of one state folder, on '%s' and '%s' "
        "(identity %s): %s; 'edge', 'incarnations' and 'queue' do not belong "
        "into an image",
        a->host, b->host, a->state,
        *a->run && *b->run
            ? "each has an incarnation of its own, so lines of neither are "
              "taken for the other's"
            : "they are of a release without incarnations, and lines of one "
              "are lost: stop it, delete its state folder, update it");
}

static void check_twin(struct pfdd_edges_seen *seen, struct pfdd_seen_edge *e)
{
    uint32_t i = *bucket_of(seen, e->state);
    for (; i && !e->is_told; i = seen->edges[i - 1].next) {
        if (overlap(e, &seen->edges[i - 1]))
            tell(e, &seen->edges[i - 1]);
    }
}

size_t pfdd_edges_seen_note(struct pfdd_edges_seen *seen,
                            const struct pfdd_worker_message *p)
{
    struct pfdd_seen_edge *e = find(seen, p);
    if (!e && !(e = add(seen, p)))
        return PFDD_EDGES_SEEN;
    e->heard = pfdd_time_now();
    e->epoch = p->epoch;
    snprintf(e->host, sizeof e->host, "%s", p->host);
    snprintf(e->edge, sizeof e->edge, "%s", p->edge);
    e->queued = p->queued;
    e->window = p->window;
    if (e->stream != p->stream) {
        e->stream = p->stream;
        e->from = e->to = p->number;
    }
    if (p->number > e->to) {
        e->to = p->number;
        check_twin(seen, e);
    }
    return (size_t)(e - seen->edges);
}

/* ---- chunks ---- */

static uint64_t key_of(const struct pfdd_worker_message *p)
{
    uint64_t hash = hash_of(p->edge);
    hash = pfd_fnv1a(hash, &p->first, sizeof p->first);
    return pfd_fnv1a(hash, &p->last, sizeof p->last) | 1;
}

static size_t place_of(uint64_t key, uint64_t i)
{
    return (size_t)((key / 2 + i) % PFDD_CHUNKS_SEEN);
}

void pfdd_edges_seen_take(struct pfdd_edges_seen *seen,
                          const struct pfdd_worker_message *p, uint64_t mark)
{
    uint64_t key = key_of(p);
    uint64_t way = 0;
    while (way < WAYS - 1 && seen->chunks[place_of(key, way)].key)
        way++;
    /* Where all are used, any is as good. */
    if (seen->chunks[place_of(key, way)].key)
        way = mark % WAYS;
    seen->chunks[place_of(key, way)].key = key;
    seen->chunks[place_of(key, way)].mark = mark;
}

bool pfdd_edges_seen_is_other(const struct pfdd_edges_seen *seen,
                              const struct pfdd_worker_message *p,
                              uint64_t mark)
{
    uint64_t key = key_of(p);
    bool ret = false;
    for (uint64_t i = 0; i < WAYS; i++) {
        size_t at = place_of(key, i);
        if (seen->chunks[at].key == key && seen->chunks[at].mark == mark)
            return false;
        ret |= seen->chunks[at].key == key;
    }
    return ret;
}

bool pfdd_edges_seen_is_current(const struct pfdd_edges_seen *seen,
                                const struct pfdd_seen_edge *e)
{
    uint32_t i = seen->by_state[hash_of(e->state) % PFDD_EDGES_SEEN];
    for (; i; i = seen->edges[i - 1].next) {
        const struct pfdd_seen_edge *other = &seen->edges[i - 1];
        bool is_later =
            other->heard > e->heard || (other->heard == e->heard && other > e);
        if (is_later && !strcmp(other->state, e->state) &&
            !strcmp(other->host, e->host))
            return false;
    }
    return true;
}

size_t pfdd_edges_seen_count(const struct pfdd_edges_seen *seen,
                             uint64_t *window)
{
    uint64_t since = pfdd_time_now() - HEARD_NS;
    size_t n = 0;
    *window = 0;
    for (size_t i = 0; i < seen->n; i++) {
        const struct pfdd_seen_edge *e = &seen->edges[i];
        if (e->heard > since && pfdd_edges_seen_is_current(seen, e)) {
            n++;
            *window += e->window;
        }
    }
    return n;
}

size_t pfdd_edges_seen_memory(const struct pfdd_edges_seen *seen)
{
    return seen->size * sizeof *seen->edges;
}
