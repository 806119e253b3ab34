/* SPDX-License-Identifier: MIT */
/*
 * From a Vulkan handle to what is known of it. Keys are any numbers but 0;
 * values are borrowed. A table belongs to one thread at a time.
 */
#ifndef LAYER_HANDLE_MAP_H
#define LAYER_HANDLE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct handle_map_slot {
    uint64_t key; /* 0: free */
    void *value;
};

/* All zero is an empty table. */
struct table {
    struct handle_map_slot *slots; /* [room], owned */
    size_t room;                   /* a power of two, or 0 */
    size_t n;
};

/* NULL: the key is not in it. */
void *handle_map_find(const struct table *table, uint64_t key);

/* Replaces what the key had. False: out of memory. */
bool handle_map_put(struct table *table, uint64_t key, void *value);

/* What the key had; NULL: it was not in it. */
void *handle_map_take(struct table *table, uint64_t key);

/* The next slot that is in use, from *at on, which goes on behind it; NULL:
 * there is none. Nothing may be put or taken meanwhile. */
struct handle_map_slot *handle_map_next(const struct table *table, size_t *at);

/* Values are the caller's. */
void handle_map_deinit(struct table *table);

#endif
