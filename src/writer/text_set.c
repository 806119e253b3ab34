/* SPDX-License-Identifier: MIT */
#include "writer/text_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/md5.h"

void pfd_set_free(struct pfd_set *set)
{
    pfd_arena_free(&set->arena);
    free(set->texts);
    free(set->slots);
}

/* Where the text's number is or would be. */
static uint32_t *slot_of(const struct pfd_set *set, const char *text, size_t n,
                         uint64_t hash)
{
    size_t mask = set->n_slots - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t number = set->slots[i];
        const struct pfd_set_text *of = set->texts + number - 1;
        if (!number || (of->hash == hash && of->n == n &&
                        (n == 0 || !memcmp(of->text, text, n))))
            return &set->slots[i];
    }
}

/* Room for twice as many; slots are never more than half full. */
static bool grow(struct pfd_set *set)
{
    size_t n_slots = set->n_slots ? 2 * set->n_slots : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    struct pfd_set_text *texts =
        slots ? realloc(set->texts, n_slots / 2 * sizeof *texts) : NULL;
    if (!texts) {
        free(slots);
        return false;
    }
    free(set->slots);
    set->slots = slots;
    set->texts = texts;
    set->n_slots = n_slots;
    for (size_t i = 0; i < set->n; i++) {
        const struct pfd_set_text *t = &texts[i];
        *slot_of(set, t->text, t->n, t->hash) = (uint32_t)(i + 1);
    }
    return true;
}

size_t pfd_set_add(struct pfd_set *set, const char *text, size_t n)
{
    uint64_t hash = pfd_md5_u64(text, n);
    if (set->n >= set->n_slots / 2 && !grow(set))
        return SIZE_MAX;
    uint32_t *slot = slot_of(set, text, n, hash);
    if (*slot)
        return *slot - 1;
    char *copy = pfd_arena_take(&set->arena, n + 1);
    if (!copy || set->n >= UINT32_MAX - 1)
        return SIZE_MAX;
    if (n > 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    set->texts[set->n] = (struct pfd_set_text){ copy, n, hash };
    *slot = (uint32_t)++set->n;
    return set->n - 1;
}
