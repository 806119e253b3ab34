/* SPDX-License-Identifier: MIT */
/* The hash tables of a string set. */
#include <stdlib.h>
#include <string.h>

#include "core/base/large_pages.h"
#include "core/strings/string_set.h"

enum {
    TABLE_FIRST = 64,
    SPARSE_MAX = 8192, /* slots */
};

/* The reference count of slots, before the slots; their marks are behind. */
static atomic_uint *refs_of(const struct pfd_table_slot *slots)
{
    return (atomic_uint *)(uintptr_t)(slots - 1);
}

/* Zeroed memory. Each lookup in a large table touches another page: large pages
 * have fewer TLB misses. */
static void *new_block(size_t n)
{
    if (n < PFD_LARGE_PAGE)
        return calloc(1, n);
    void *ret = pfd_large_pages_new(n);
    return ret ? memset(ret, 0, n) : NULL;
}

static struct pfd_table_slot *new_slots(size_t n)
{
    struct pfd_table_slot *block =
        new_block((n + 1) * sizeof *block + PFD_TABLE_MARKS / 8);
    if (!block)
        return NULL;
    atomic_init(refs_of(block + 1), 1);
    return block + 1;
}

void pfd_table_share(const struct pfd_table *table)
{
    if (table->slots)
        atomic_fetch_add(refs_of(table->slots), 1);
}

void pfd_table_drop(const struct pfd_table *table)
{
    if (table->slots && atomic_fetch_sub(refs_of(table->slots), 1) == 1)
        free(table->slots - 1);
}

size_t pfd_table_memory(const struct pfd_table *table)
{
    if (!table->slots)
        return 0;
    return (table->mask + 2) * sizeof *table->slots + PFD_TABLE_MARKS / 8;
}

struct pfd_table_slot *pfd_table_slot_of(const struct pfd_table *t,
                                         uint64_t key)
{
    const struct pfd_string *first = NULL;
    return pfd_table_probe(t, key, &first);
}

/* Fills a slot; `exact` is unknown. */
static void fill(const struct pfd_table *t, uint64_t key,
                 const struct pfd_string *string)
{
    *pfd_table_slot_of(t, key) =
        (struct pfd_table_slot){ .key = key, .string = string };
}

static void mark(struct pfd_table *t, uint64_t key)
{
    uint64_t bits = key >> PFD_TABLE_MARKS_FIRST & (PFD_TABLE_MARKS - 1);
    t->marks[bits / 64] |= UINT64_C(1) << bits % 64;
}

/*
 * Small tables stay nearly empty: they fit the cache anyway, and a search that
 * takes one step or two, at random, is a mispredicted jump.
 */
static bool has_room(size_t n_slots, size_t n_keys)
{
    return n_keys <= (n_slots < SPARSE_MAX ? n_slots / 8 : n_slots / 8 * 5);
}

bool pfd_table_reserve(struct pfd_table *t, size_t more, size_t *left)
{
    size_t n_old = t->slots ? t->mask + 1 : 0;
    size_t n = n_old ? n_old : TABLE_FIRST;
    struct pfd_table next = *t;
    while (!has_room(n, t->n + more))
        n *= 2;
    if (n == n_old && atomic_load(refs_of(t->slots)) == 1)
        return true;
    next.slots = pfd_spend(left, n * sizeof *next.slots) ? new_slots(n) : NULL;
    if (!next.slots)
        return false;
    next.marks = (uint64_t *)(void *)(next.slots + n);
    if (t->slots)
        memcpy(next.marks, t->marks, PFD_TABLE_MARKS / 8);
    next.mask = n - 1;
    next.shift = (unsigned)__builtin_clzll(n) + 1;
    /* Without `exact`: other threads write it in shared slots. */
    for (size_t i = 0; t->slots && i <= t->mask; i++) {
        if (t->slots[i].string)
            fill(&next, t->slots[i].key, t->slots[i].string);
    }
    pfd_table_drop(t);
    *t = next;
    return true;
}

void pfd_table_put(struct pfd_table *t, uint64_t key,
                   const struct pfd_string *string)
{
    fill(t, key, string);
    t->n++;
    mark(t, key);
}
