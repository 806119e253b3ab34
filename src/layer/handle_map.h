/* SPDX-License-Identifier: MIT */
/*
 * A map from a Vulkan handle to its record. Keys are any numbers but 0; values
 * are borrowed. A table belongs to one thread at a time.
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

/* NULL: there is no such key. */
void *handle_map_find(const struct table *table, uint64_t key);

/* Replaces the key's value. False: out of memory. */
bool handle_map_put(struct table *table, uint64_t key, void *value);

/* Removes the key and returns its value; NULL: there is no such key. */
void *handle_map_take(struct table *table, uint64_t key);

/* The next slot in use, from *at on; *at moves behind it. NULL: there are no
 * more. The table must not change during a walk. */
struct handle_map_slot *handle_map_next(const struct table *table, size_t *at);

/* Frees the table; the caller owns the values. */
void handle_map_deinit(struct table *table);

#endif
