/* SPDX-License-Identifier: MIT */
#include "handle_map.h"

#include <stdlib.h>

enum {
    ROOM_FIRST = 64,
};

/* The first slot of a key. Handles are addresses, or small numbers: their low
 * bits are poor hashes. */
static size_t home(const struct table *t, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->room - 1);
}

static struct handle_map_slot *slot_of(const struct table *t, uint64_t key)
{
    size_t at = home(t, key);
    while (t->slots[at].key && t->slots[at].key != key)
        at = (at + 1) & (t->room - 1);
    return &t->slots[at];
}

void *handle_map_find(const struct table *t, uint64_t key)
{
    return t->room && key ? slot_of(t, key)->value : NULL;
}

static bool grow(struct table *t)
{
    struct table next = { .room = t->room ? t->room * 2 : ROOM_FIRST };
    next.slots = calloc(next.room, sizeof *next.slots);
    if (!next.slots)
        return false;
    for (size_t i = 0; i < t->room; i++) {
        if (t->slots[i].key)
            *slot_of(&next, t->slots[i].key) = t->slots[i];
    }
    next.n = t->n;
    free(t->slots);
    *t = next;
    return true;
}

bool handle_map_put(struct table *t, uint64_t key, void *value)
{
    if (!key || ((t->n + 1) * 2 > t->room && !grow(t)))
        return false;
    struct handle_map_slot *slot = slot_of(t, key);
    t->n += !slot->key;
    *slot = (struct handle_map_slot){ key, value };
    return true;
}

/* Moves later entries back, as near to their first slots as possible. */
void *handle_map_take(struct table *t, uint64_t key)
{
    if (!t->room || !key)
        return NULL;
    struct handle_map_slot *slot = slot_of(t, key);
    if (!slot->key)
        return NULL;
    void *ret = slot->value;
    size_t hole = (size_t)(slot - t->slots);
    size_t mask = t->room - 1;
    for (size_t at = (hole + 1) & mask; t->slots[at].key;
         at = (at + 1) & mask) {
        size_t wanted = home(t, t->slots[at].key);
        if (((at - wanted) & mask) >= ((at - hole) & mask)) {
            t->slots[hole] = t->slots[at];
            hole = at;
        }
    }
    t->slots[hole] = (struct handle_map_slot){ 0 };
    t->n--;
    return ret;
}

struct handle_map_slot *handle_map_next(const struct table *t, size_t *at)
{
    while (*at < t->room) {
        struct handle_map_slot *slot = &t->slots[(*at)++];
        if (slot->key)
            return slot;
    }
    return NULL;
}

void handle_map_deinit(struct table *t)
{
    free(t->slots);
    *t = (struct table){ 0 };
}
