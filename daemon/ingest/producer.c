/* SPDX-License-Identifier: MIT */
#include "ingest/producer.h"

#include <stdlib.h>

#include "ingest/code_object.h"

enum {
    FLOOR_MIN = 256 << 10,
    FLOORS = 64, /* n_max / FLOORS: the floor of each producer */
};

size_t pfdd_producer_floor(size_t n_max)
{
    size_t n = n_max / FLOORS;
    return n > FLOOR_MIN ? n : FLOOR_MIN;
}

static bool has_room(struct pfdd_producer *producer)
{
    if (producer->n_owned < producer->owned_room)
        return true;
    size_t room = producer->owned_room + producer->owned_room / 2 + 16;
    struct pfdd_code **owned = realloc(producer->owned, room * sizeof(void *));
    if (!owned)
        return false;
    producer->owned = owned;
    producer->owned_room = room;
    return true;
}

void pfdd_producer_own(struct pfdd_producer *producer, struct pfdd_code *o)
{
    for (size_t i = 0; i < o->n_owners; i++) {
        if (o->owners[i] == producer)
            return;
    }
    struct pfdd_producer **owners =
        has_room(producer)
            ? realloc(o->owners, (o->n_owners + 1) * sizeof(void *))
            : NULL;
    if (!owners)
        return;
    o->owners = owners;
    owners[o->n_owners++] = producer;
    producer->owned[producer->n_owned++] = o;
}

static void disown(struct pfdd_code *o, const struct pfdd_producer *producer)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_owners; i++) {
        if (o->owners[i] != producer)
            o->owners[n++] = o->owners[i];
    }
    o->n_owners = n;
}

void pfdd_producer_disown_all(struct pfdd_producer *producer)
{
    for (size_t i = 0; i < producer->n_owned; i++)
        disown(producer->owned[i], producer);
    free(producer->owned);
    producer->owned = NULL;
    producer->n_owned = producer->owned_room = 0;
}

void pfdd_producers_put(struct pfdd_producers *all,
                        struct pfdd_producer *producer)
{
    producer->next = all->first;
    all->first = producer;
    all->n_memory += sizeof *producer;
}

void pfdd_producers_drop(struct pfdd_producers *all, struct pfdd_producer **at)
{
    struct pfdd_producer *producer = *at;
    *at = producer->next;
    all->n_bytes -= producer->n_bytes;
    free(producer->owned);
    free(producer);
}

void pfdd_producers_charge(struct pfdd_producers *all,
                           struct pfdd_producer *producer, size_t n_before,
                           size_t n)
{
    producer->n_bytes += n - n_before;
    all->n_bytes += n - n_before;
}

void pfdd_producers_recount(struct pfdd_producers *all)
{
    size_t n = 0;
    for (const struct pfdd_producer *s = all->first; s; s = s->next) {
        const struct pfdd_strings *own =
            s->has_set ? s->binding->strings : NULL;
        n += sizeof *s + s->owned_room * sizeof(void *);
        n += own ? own->n_bytes - own->n_own_bytes : 0;
    }
    all->n_memory = n;
}
