/* SPDX-License-Identifier: MIT */
#include "analysis/trace/intern.h"

#include <stdlib.h>
#include <string.h>

void pfd_intern_free(struct pfd_intern *intern)
{
    for (size_t i = 0; i < intern->n_slots; i++)
        free(intern->slots[i].bytes);
    free(intern->slots);
    *intern = (struct pfd_intern){ 0 };
}

/* FNV-1a, mixed once more, since slots are chosen by the lowest bits. */
uint64_t pfd_intern_hash(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    h ^= UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static struct pfd_interned *find(const struct pfd_intern *intern, uint64_t hash,
                                 const void *bytes, size_t n)
{
    size_t i = hash & (intern->n_slots - 1);
    for (;; i = (i + 1) & (intern->n_slots - 1)) {
        struct pfd_interned *slot = &intern->slots[i];
        if (!slot->number || (slot->hash == hash && slot->n == n &&
                              !memcmp(slot->bytes, bytes, n)))
            return slot;
    }
}

/* Keeps at most half of the slots in use. */
static bool grow(struct pfd_intern *intern)
{
    struct pfd_intern more = *intern;
    if (2 * (size_t)intern->n < intern->n_slots)
        return true;
    more.n_slots = intern->n_slots ? 2 * intern->n_slots : 64;
    more.slots = calloc(more.n_slots, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < intern->n_slots; i++) {
        struct pfd_interned *s = &intern->slots[i];
        if (s->number)
            *find(&more, s->hash, s->bytes, s->n) = *s;
    }
    free(intern->slots);
    *intern = more;
    return true;
}

uint32_t pfd_intern_number(struct pfd_intern *intern, const void *bytes,
                           size_t n, bool *is_new)
{
    uint64_t hash = pfd_intern_hash(0, bytes, n);
    *is_new = false;
    if (n > PFD_INTERN_BYTES_MAX)
        return 0;
    if (!grow(intern)) {
        intern->failed = true;
        return 0;
    }
    struct pfd_interned *slot = find(intern, hash, bytes, n);
    if (slot->number)
        return slot->number;
    char *copy = intern->n < PFD_INTERN_MAX ? malloc(n + 1) : NULL;
    if (!copy) {
        intern->failed |= intern->n < PFD_INTERN_MAX;
        return 0;
    }
    memcpy(copy, bytes, n);
    *slot = (struct pfd_interned){ hash, copy, n, ++intern->n };
    *is_new = true;
    return slot->number;
}
