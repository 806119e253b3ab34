/* SPDX-License-Identifier: MIT */
#include "writer/text_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/md5.h"

void pfd_text_set_free(struct pfd_text_set *text_set)
{
    pfd_arena_free(&text_set->arena);
    free(text_set->texts);
    free(text_set->slots);
}

/* The slot of the text, or the one for it. */
static uint32_t *slot_of(const struct pfd_text_set *text_set, const char *text,
                         size_t n, uint64_t hash)
{
    size_t mask = text_set->n_slots - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t number = text_set->slots[i];
        const struct pfd_text_set_text *of = text_set->texts + number - 1;
        if (!number || (of->hash == hash && of->n == n &&
                        (n == 0 || !memcmp(of->text, text, n))))
            return &text_set->slots[i];
    }
}

/* Doubles the slots; at most half of them are in use. */
static bool grow(struct pfd_text_set *text_set)
{
    size_t n_slots = text_set->n_slots ? 2 * text_set->n_slots : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    struct pfd_text_set_text *texts =
        slots ? realloc(text_set->texts, n_slots / 2 * sizeof *texts) : NULL;
    if (!texts) {
        free(slots);
        return false;
    }
    free(text_set->slots);
    text_set->slots = slots;
    text_set->texts = texts;
    text_set->n_slots = n_slots;
    for (size_t i = 0; i < text_set->n; i++) {
        const struct pfd_text_set_text *t = &texts[i];
        *slot_of(text_set, t->text, t->n, t->hash) = (uint32_t)(i + 1);
    }
    return true;
}

size_t pfd_text_set_add(struct pfd_text_set *text_set, const char *text,
                        size_t n)
{
    uint64_t hash = pfd_md5_u64(text, n);
    if (text_set->n >= text_set->n_slots / 2 && !grow(text_set))
        return SIZE_MAX;
    uint32_t *slot = slot_of(text_set, text, n, hash);
    if (*slot)
        return *slot - 1;
    char *copy = pfd_arena_take(&text_set->arena, n + 1);
    if (!copy || text_set->n >= UINT32_MAX - 1)
        return SIZE_MAX;
    if (n > 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    text_set->texts[text_set->n] = (struct pfd_text_set_text){ copy, n, hash };
    *slot = (uint32_t)++text_set->n;
    return text_set->n - 1;
}
