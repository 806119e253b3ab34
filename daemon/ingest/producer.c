/* SPDX-License-Identifier: MIT */
#include "ingest/producer.h"

#include <stdlib.h>

enum {
    FLOOR_MIN = 256 << 10,
    FLOORS = 64,    /* part of all room that a producer always has, */
    FLOOR_PART = 8, /* and all that is kept for these */
};

static size_t rest(size_t max, size_t n)
{
    return n < max ? max - n : 0;
}

size_t pfdd_scope_floor(size_t n_max)
{
    size_t n = n_max / FLOORS;
    return n > FLOOR_MIN ? n : FLOOR_MIN;
}

/* However many there are, some is kept for those who have little. */
size_t pfdd_scope_share(size_t n_max, size_t n_taken, size_t n_own,
                        size_t floor)
{
    size_t left = rest(n_max - n_max / FLOOR_PART, n_taken);
    size_t large = rest(3 * left, n_own) / 4;
    size_t little = rest(floor, n_own);
    return large > little ? large : little;
}

static bool has_room(struct pfdd_scope *scope)
{
    if (scope->n_owned < scope->owned_room)
        return true;
    size_t room = scope->owned_room + scope->owned_room / 2 + 16;
    struct pfdd_code **owned = realloc(scope->owned, room * sizeof(void *));
    if (!owned)
        return false;
    scope->owned = owned;
    scope->owned_room = room;
    return true;
}

void pfdd_scope_own(struct pfdd_scope *scope, struct pfdd_code *o)
{
    for (size_t i = 0; i < o->n_owners; i++) {
        if (o->owners[i] == scope)
            return;
    }
    struct pfdd_scope **owners =
        has_room(scope) ? realloc(o->owners, (o->n_owners + 1) * sizeof(void *))
                        : NULL;
    if (!owners)
        return;
    o->owners = owners;
    owners[o->n_owners++] = scope;
    scope->owned[scope->n_owned++] = o;
}

static void disown(struct pfdd_code *o, const struct pfdd_scope *scope)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_owners; i++) {
        if (o->owners[i] != scope)
            o->owners[n++] = o->owners[i];
    }
    o->n_owners = n;
}

void pfdd_scope_disown_all(struct pfdd_scope *scope)
{
    for (size_t i = 0; i < scope->n_owned; i++)
        disown(scope->owned[i], scope);
    free(scope->owned);
    scope->owned = NULL;
    scope->n_owned = scope->owned_room = 0;
}

void pfdd_scopes_put(struct pfdd_scopes *all, struct pfdd_scope *scope)
{
    scope->next = all->first;
    all->first = scope;
    all->n_memory += sizeof *scope;
}

void pfdd_scopes_drop(struct pfdd_scopes *all, struct pfdd_scope **at)
{
    struct pfdd_scope *scope = *at;
    *at = scope->next;
    all->n_bytes -= scope->n_bytes;
    free(scope->owned);
    free(scope);
}

void pfdd_scopes_charge(struct pfdd_scopes *all, struct pfdd_scope *scope,
                        size_t n_before, size_t n)
{
    scope->n_bytes += n - n_before;
    all->n_bytes += n - n_before;
}

void pfdd_scopes_recount(struct pfdd_scopes *all)
{
    size_t n = 0;
    for (const struct pfdd_scope *s = all->first; s; s = s->next) {
        const struct pfdd_strings *own =
            s->has_set ? s->binding->strings : NULL;
        n += sizeof *s + s->owned_room * sizeof(void *);
        n += own ? own->n_bytes - own->n_own_bytes : 0;
    }
    all->n_memory = n;
}
