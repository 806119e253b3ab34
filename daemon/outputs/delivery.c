/* SPDX-License-Identifier: MIT */
#include "outputs/delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/follower_memory.h"
#include "ingest/ingest.h"
#include "ingest/string_store.h"
#include "spool/spool.h"
#include "stream/live/walk_pool.h"

enum {
    READERS = 32, /* memory_max / READERS: for readers */
    PATTERNS = 8, /* of these / PATTERNS: for patterns of one reader */
    LISTED = 6,   /* of these / LISTED: for series of a page of metrics */
    READERS_MIN = 512 << 10,
    READERS_MAX = 64 << 20,
};

/* The first trouble of all that have one, "CLASS: WHY"; false: none has. */
static bool find_trouble(const struct pfdd_delivery *delivery, char *ret,
                         size_t n)
{
    char why[PFDD_TROUBLE - 40]; /* beside the class */
    for (const struct pfdd_output *o = delivery->outputs; o; o = o->next) {
        if (o->class->trouble && !o->closing &&
            o->class->trouble(o, why, sizeof why)) {
            snprintf(ret, n, "%s: %s", o->config->block.type_class->name, why);
            return true;
        }
    }
    for (const struct pfdd_input *i = delivery->ingest->inputs; i;
         i = i->next) {
        if (i->class->trouble && !i->closing &&
            i->class->trouble(i, why, sizeof why)) {
            snprintf(ret, n, "%s: %s", i->class->base.name, why);
            return true;
        }
    }
    return false;
}

bool pfdd_is_ready_or(const struct pfdd_delivery *delivery, char *why, size_t n)
{
    struct pfdd_spool_state state = { 0 };
    if (delivery->spool)
        pfdd_spool_state(delivery->spool, &state);
    *why = '\0';
    if (!delivery->ready || *delivery->stopping) {
        snprintf(why, n, "it is %s", delivery->ready ? "stopping" : "starting");
    } else if (state.failing) {
        snprintf(why, n, "the queue cannot be written%s%s",
                 state.why ? ": " : "", state.why ? state.why : "");
    } else if (!find_trouble(delivery, why, n) &&
               pfdd_ring_is_full(delivery->ring)) {
        snprintf(why, n, "a required output holds others up");
    }
    return !*why;
}

bool pfdd_is_ready(const struct pfdd_delivery *delivery)
{
    char why[PFDD_TROUBLE];
    return pfdd_is_ready_or(delivery, why, sizeof why);
}
#include "base/log.h"

/* ---- places ---- */

static void leave_place(const struct pfdd_output *output)
{
    struct pfdd_delivery *delivery = output->delivery;
    const struct pfdd_output_class *class = output->class;
    uint64_t sequence = class->place ? class->place(output) : 0;
    if (!sequence || *delivery->stopping)
        return;
    struct pfdd_place_left *p = calloc(1, sizeof *p);
    char *name = strdup(pfdd_output_name(output->config));
    if (!p || !name) {
        free(p);
        free(name);
        return;
    }
    *p = (struct pfdd_place_left){ delivery->places, class, name, sequence,
                                   false };
    delivery->places = p;
}

uint64_t pfdd_output_take_place(const struct pfdd_output *output)
{
    struct pfdd_place_left *p = output->delivery->places;
    while (p && (p->is_taken || p->class != output->class ||
                 strcmp(p->name, pfdd_output_name(output->config)) != 0))
        p = p->next;
    if (!p)
        return 0;
    p->is_taken = true;
    return p->sequence;
}

void pfdd_output_end_places(struct pfdd_delivery *delivery)
{
    while (delivery->places) {
        struct pfdd_place_left *p = delivery->places;
        if (!p->is_taken && p->sequence < delivery->ring->next_seq) {
            pfdd_log(PFDD_WARNING,
                     "%s: no output any more: %" PRIu64
                     " lines that waited for it are not sent",
                     p->name, delivery->ring->next_seq - p->sequence);
        }
        delivery->places = p->next;
        free(p->name);
        free(p);
    }
}

/* ---- outputs ---- */

bool pfdd_output_open(struct pfdd_delivery *delivery, struct pfdd_config *all,
                      const struct pfdd_output_config *config, char *err,
                      size_t n_err)
{
    const struct pfdd_output_class *class = pfdd_output_class_of(config);
    if (config->required && class->when_required)
        class = class->when_required;
    struct pfdd_output *output = calloc(1, class->size);
    if (!output) {
        snprintf(err, n_err, "out of memory");
        return false;
    }
    output->class = class;
    output->delivery = delivery;
    output->config = config;
    output->held = pfdd_config_ref(all);
    if (!class->open(output, err, n_err)) {
        pfdd_config_unref(all);
        free(output);
        return false;
    }
    output->next = delivery->outputs;
    delivery->outputs = output;
    return true;
}

void pfdd_output_close(struct pfdd_output *output)
{
    if (output->closing)
        return;
    leave_place(output);
    output->closing = true;
    output->class->close(output);
}

void pfdd_output_closed(struct pfdd_output *output)
{
    struct pfdd_delivery *delivery = output->delivery;
    struct pfdd_output **at = &delivery->outputs;
    while (*at != output)
        at = &(*at)->next;
    *at = output->next;
    pfdd_config_unref(output->held);
    free(output);
    delivery->on_ended(delivery);
}

/* ---- memory ---- */

size_t pfdd_memory(const struct pfdd_delivery *delivery,
                   struct pfdd_memory *ret)
{
    size_t most = 0;
    *ret = (struct pfdd_memory){
        .ring = delivery->ring->n_held,
        .pages = delivery->render_cache->n_bytes,
        .inputs = delivery->budget->inputs,
        .frames = delivery->budget->frames,
        .sessions =
            delivery->budget->sessions + delivery->source_table->n_bytes,
        .helpers =
            pfd_walk_pool_memory(delivery->thread_pools->walk_pool, &most),
        .buffers = delivery->budget->buffers,
    };
    if (delivery->ingest->string_store)
        ret->strings = pfdd_string_store_memory(delivery->ingest->string_store);
    if (delivery->spool)
        ret->outputs = pfdd_spool_memory(delivery->spool);
    for (const struct pfdd_output *o = delivery->outputs; o; o = o->next)
        ret->outputs += o->class->memory(o);
    ret->outputs += delivery->render_cache->n_left;
    return ret->ring + ret->pages + ret->inputs + ret->frames + ret->buffers +
           ret->sessions + ret->helpers + ret->strings + ret->outputs;
}

/* Bytes that the thread pool may still take, once a read pass needs it. */
static size_t helpers_reserve(const struct pfdd_delivery *delivery)
{
    size_t most = 0;
    size_t n = pfd_walk_pool_memory(delivery->thread_pools->walk_pool, &most);
    return pfdd_follower_memory_is_ample(delivery->budget) ? most - n : 0;
}

/* Bytes of other parts. *reserve has the ring's free space, because entries
 * come whether there is memory or not. */
static size_t others(const void *user, size_t *reserve)
{
    const struct pfdd_delivery *delivery = user;
    struct pfdd_memory m;
    pfdd_memory(delivery, &m);
    *reserve =
        pfdd_ring_most(delivery->ring) - m.ring + helpers_reserve(delivery);
    if (delivery->render_cache->n_bytes_max > m.pages)
        *reserve += delivery->render_cache->n_bytes_max - m.pages;
    *reserve +=
        delivery->readers.n_bytes_max - delivery->readers.account.n_bytes;
    *reserve += delivery->pages.n_bytes_max - delivery->pages.account.n_bytes;
    if (delivery->ingest->string_store)
        *reserve += pfdd_string_store_most(delivery->ingest->string_store);
    return m.ring + m.pages + m.helpers + m.strings + m.outputs +
           delivery->source_table->n_bytes;
}

static size_t for_all(const void *user)
{
    const struct pfdd_delivery *delivery = user;
    return pfdd_ring_most(delivery->ring) +
           delivery->render_cache->n_bytes_max + delivery->readers.n_bytes_max +
           delivery->pages.n_bytes_max;
}

size_t pfdd_patterns_max(const struct pfdd_delivery *delivery)
{
    return delivery->readers.n_bytes_max / PATTERNS;
}

void pfdd_memory_init(struct pfdd_delivery *delivery, size_t max)
{
    size_t share = max / READERS;
    share = share < READERS_MIN   ? READERS_MIN
            : share > READERS_MAX ? READERS_MAX
                                  : share;
    delivery->readers.account.kind = PFDD_RESOURCE_ACCOUNT_READERS;
    delivery->readers.n_bytes_max = share;
    delivery->pages = delivery->readers;
    delivery->source_table->n_listed_max = share / LISTED;
    delivery->budget->max = max;
    delivery->budget->others = others;
    delivery->budget->for_all = for_all;
    delivery->budget->user = delivery;
}
