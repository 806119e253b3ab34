/* SPDX-License-Identifier: MIT */
#include "analysis/diff/entry_set.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/base/large_pages.h"

enum {
    SLOTS_MIN = 1024
};

void pfd_entry_set_free(struct pfd_entry_set *set)
{
    pfd_text_free(&set->bytes);
    pfd_zeroed_free(set->slots, set->n_slots * sizeof *set->slots);
    *set = (struct pfd_entry_set){ 0 };
}

uint64_t pfd_hash_words(uint64_t h, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h = (h ^ words[i]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return h;
}

static bool is_equal(const struct pfd_set_entry *e, uint64_t hash,
                     uint32_t shape, const uint64_t *values, uint32_t n)
{
    return e->hash == hash && e->shape == shape && e->n_values == n &&
           (!n || !memcmp(e->values, values, n * sizeof *values));
}

/* What a slot has of an entry. Its hash's upper half says of most others that
 * they are not equal, without a look at them. */
static uint64_t slot_of(uint64_t hash, uint32_t at)
{
    return (hash & ~(uint64_t)UINT32_MAX) | (at + 1);
}

static uint32_t at_of(uint64_t slot)
{
    return (uint32_t)slot - 1;
}

static bool grow(struct pfd_entry_set *set)
{
    size_t n = set->n_slots ? 2 * set->n_slots : (size_t)SLOTS_MIN;
    uint64_t *slots = pfd_zeroed_new(n * sizeof *slots);
    if (!slots)
        return false;
    pfd_zeroed_whole(slots, n * sizeof *slots);
    for (uint32_t at = pfd_entry_set_first(set); at != PFD_SET_NONE;
         at = pfd_entry_set_next(set, at)) {
        uint64_t hash = pfd_entry_set_at(set, at)->hash;
        size_t i = hash & (n - 1);
        while (slots[i])
            i = (i + 1) & (n - 1);
        slots[i] = slot_of(hash, at);
    }
    pfd_zeroed_free(set->slots, set->n_slots * sizeof *slots);
    set->slots = slots;
    set->n_slots = n;
    return true;
}

static struct pfd_set_entry *append(struct pfd_entry_set *set, uint64_t hash,
                                    uint32_t shape, const uint64_t *values,
                                    uint32_t n)
{
    size_t n_bytes = sizeof(struct pfd_set_entry) + n * sizeof *values;
    size_t more = set->bytes.n / 2 + n_bytes;
    if ((set->bytes.n + n_bytes) / 8 >= PFD_SET_NONE)
        return NULL;
    if (set->bytes.room - set->bytes.n < n_bytes &&
        !pfd_text_expect(&set->bytes, more))
        return NULL;
    struct pfd_set_entry *e =
        pfd_entry_set_at(set, (uint32_t)(set->bytes.n / 8));
    *e = (struct pfd_set_entry){
        .hash = hash,
        .shape = shape,
        .next = PFD_SET_NONE,
        .n_values = n,
    };
    if (n)
        memcpy(e->values, values, n * sizeof *values);
    set->bytes.n += n_bytes;
    set->n++;
    return e;
}

struct pfd_set_entry *pfd_entry_set_add(struct pfd_entry_set *set,
                                        uint64_t hash, uint32_t shape,
                                        const uint64_t *values, uint32_t n)
{
    if (2 * set->n >= set->n_slots && !grow(set))
        return NULL;
    size_t i = hash & (set->n_slots - 1);
    for (; set->slots[i]; i = (i + 1) & (set->n_slots - 1)) {
        if ((set->slots[i] ^ hash) >> 32)
            continue;
        struct pfd_set_entry *e = pfd_entry_set_at(set, at_of(set->slots[i]));
        if (is_equal(e, hash, shape, values, n))
            return e;
    }
    uint32_t at = (uint32_t)(set->bytes.n / 8);
    struct pfd_set_entry *e = append(set, hash, shape, values, n);
    if (e)
        set->slots[i] = slot_of(hash, at);
    return e;
}
