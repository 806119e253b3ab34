/* SPDX-License-Identifier: MIT */
#include "nats_dedup.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum {
    EDGES_MAX = 1 << 14,
    EVICTED_AT_ONCE = EDGES_MAX / 8, /* edges that are evicted at a time */
    RANGES_MAX = 256, /* of an edge: limits the gaps between them */
};

struct range {
    uint64_t from; /* sequence numbers */
    uint64_t to;
};

struct edge {
    char name[NATS_EDGE_NAME]; /* must be first: the tree's key */
    uint64_t heard;            /* number of its last message, counted over all
                             edges */
    size_t n;
    size_t size;
    struct range
        *ranges; /* [n] of [size], owned, in order, with gaps between them */
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void free_edge(void *edge)
{
    struct edge *e = edge;
    free(e->ranges);
    free(e);
}

void nats_dedup_deinit(struct nats_dedup *seen)
{
    tdestroy(seen->edges, free_edge);
    *seen = (struct nats_dedup){ 0 };
}

static uint64_t missing_of(const struct edge *e)
{
    uint64_t ret = 0;
    for (size_t i = 1; i < e->n; i++)
        ret += e->ranges[i].from - e->ranges[i - 1].to - 1;
    return ret;
}

/* ---- eviction ---- */

struct gathered {
    struct edge **edges; /* [n] */
    size_t n;
};

/* twalk() passes no user pointer, and musl has no twalk_r(). */
static struct gathered *gathering;
static uint64_t n_walked;

static void gather(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit == postorder || visit == leaf)
        gathering->edges[gathering->n++] = *(struct edge *const *)node;
}

static int by_heard(const void *a, const void *b)
{
    const struct edge *x = *(struct edge *const *)a;
    const struct edge *y = *(struct edge *const *)b;
    return (x->heard > y->heard) - (x->heard < y->heard);
}

/* Evicts the edges that have been silent longest. Their number has to be
 * limited, because any publisher can invent edge names. */
static bool evict_edges(struct nats_dedup *seen)
{
    struct gathered g = { calloc(seen->n_edges, sizeof(void *)), 0 };
    if (!g.edges)
        return false;
    gathering = &g;
    twalk(seen->edges, gather);
    gathering = NULL;
    qsort(g.edges, g.n, sizeof(void *), by_heard);
    for (size_t i = 0; i < EVICTED_AT_ONCE && i < g.n; i++) {
        seen->n_missing += missing_of(g.edges[i]);
        tdelete(g.edges[i], &seen->edges, compare);
        free_edge(g.edges[i]);
        seen->n_edges--;
    }
    seen->has_evicted = true;
    free(g.edges);
    return true;
}

static struct edge *find(struct nats_dedup *seen, const char *name)
{
    struct edge *const *found = tfind(name, &seen->edges, compare);
    if (found)
        return *found;
    if (seen->n_edges == EDGES_MAX && !evict_edges(seen))
        return NULL;
    struct edge *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    memcpy(e->name, name, sizeof e->name);
    if (!tsearch(e, &seen->edges, compare)) {
        free(e);
        return NULL;
    }
    seen->n_edges++;
    return e;
}

/* ---- ranges ---- */

static bool has_room(struct edge *e)
{
    if (e->n < e->size)
        return true;
    size_t size = e->size ? 2 * e->size : 4;
    void *ranges = realloc(e->ranges, size * sizeof *e->ranges);
    if (!ranges)
        return false;
    e->ranges = ranges;
    e->size = size;
    return true;
}

/* The first range that ends at `at` or after it; n: none. */
static size_t find_range(const struct edge *e, uint64_t at)
{
    size_t low = 0;
    size_t high = e->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (e->ranges[mid].to < at) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static void take_out(struct edge *e, size_t i)
{
    e->n--;
    memmove(e->ranges + i, e->ranges + i + 1, (e->n - i) * sizeof *e->ranges);
}

/* Forgets the oldest gap, and counts its items as missing. */
static void forget_oldest_gap(struct nats_dedup *seen, struct edge *e)
{
    seen->n_missing += e->ranges[1].from - e->ranges[0].to - 1;
    e->ranges[1].from = e->ranges[0].from;
    take_out(e, 0);
}

bool nats_dedup_has(const struct nats_dedup *seen,
                    const struct nats_message *message)
{
    struct edge *const *found = tfind(message->edge, &seen->edges, compare);
    size_t i = found ? find_range(*found, message->first) : 0;
    return found && i < (*found)->n &&
           (*found)->ranges[i].from <= message->first &&
           (*found)->ranges[i].to >= message->last;
}

bool nats_dedup_take(struct nats_dedup *seen,
                     const struct nats_message *message)
{
    struct edge *e = find(seen, message->edge);
    /* The edge uses no numbers between previous and first. */
    struct range new = { message->previous + 1, message->last };
    if (!e || !has_room(e))
        return false;
    e->heard = ++seen->clock;
    if (e->n == RANGES_MAX)
        forget_oldest_gap(seen, e);
    size_t i = find_range(e, new.from - 1);
    /* Merges it with ranges that it touches or overlaps. */
    while (i < e->n && e->ranges[i].from <= new.to + 1) {
        if (e->ranges[i].from < new.from)
            new.from = e->ranges[i].from;
        if (e->ranges[i].to > new.to)
            new.to = e->ranges[i].to;
        take_out(e, i);
    }
    memmove(e->ranges + i + 1, e->ranges + i, (e->n - i) * sizeof *e->ranges);
    e->ranges[i] = new;
    e->n++;
    return true;
}

static void add_missing(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit == postorder || visit == leaf)
        n_walked += missing_of(*(const struct edge *const *)node);
}

uint64_t nats_dedup_missing(const struct nats_dedup *seen)
{
    n_walked = seen->n_missing;
    twalk(seen->edges, add_missing);
    return n_walked;
}
