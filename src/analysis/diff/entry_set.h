/* SPDX-License-Identifier: MIT */
/*
 * A multiset of entries of two sides: each different one once, with its number
 * on each side. Knows shapes as numbers and values as words.
 */
#ifndef PFD_ENTRY_SET_H
#define PFD_ENTRY_SET_H

#include "core/base/text.h"

enum {
    PFD_SET_NONE = UINT32_MAX /* no entry */
};

struct pfd_set_entry {
    uint64_t hash;
    uint64_t n[2];     /* entries of each side */
    uint64_t place[2]; /* of the first ones, valid with n */
    uint32_t shape;
    uint32_t next; /* for lists of the user's own */
    uint32_t n_values;
    uint32_t spare;
    uint64_t values[]; /* [n_values] */
};

/* All zero: empty. */
struct pfd_entry_set {
    struct pfd_text bytes; /* entries, one behind another */
    uint64_t *slots; /* [n_slots], a power of two: their offset in words + 1,
                        above it bits of their hash; owned */
    size_t n_slots;
    size_t n;
};

void pfd_entry_set_free(struct pfd_entry_set *set);

/* The equal entry; adds it where it is new. NULL: out of memory. Valid until the
 * next one is added. */
struct pfd_set_entry *pfd_entry_set_add(struct pfd_entry_set *set,
                                        uint64_t hash, uint32_t shape,
                                        const uint64_t *values, uint32_t n);

/* The entry at a reference. */
static inline struct pfd_set_entry *pfd_entry_set_at(
    const struct pfd_entry_set *set, uint32_t at)
{
    return (struct pfd_set_entry *)(void *)(set->bytes.data + 8 * (size_t)at);
}

/* References in the order of adding: from 0 on, up to PFD_SET_NONE. */
static inline uint32_t pfd_entry_set_first(const struct pfd_entry_set *set)
{
    return set->n ? 0 : (uint32_t)PFD_SET_NONE;
}

static inline uint32_t pfd_entry_set_next(const struct pfd_entry_set *set,
                                          uint32_t at)
{
    const struct pfd_set_entry *e = pfd_entry_set_at(set, at);
    size_t next = at + sizeof *e / 8 + e->n_values;
    return 8 * next < set->bytes.n ? (uint32_t)next : (uint32_t)PFD_SET_NONE;
}

/* Bytes of memory that it uses. */
static inline size_t pfd_entry_set_memory(const struct pfd_entry_set *set)
{
    return set->bytes.n + set->n_slots * sizeof *set->slots;
}

/* A hash of words [n], chained through h. */
uint64_t pfd_hash_words(uint64_t h, const uint64_t *words, size_t n);

#endif
