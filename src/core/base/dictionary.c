/* SPDX-License-Identifier: MIT */
#include "core/base/dictionary.h"

#include <stdlib.h>
#include <string.h>

void pfd_dictionary_free(struct pfd_dictionary *dictionary)
{
    pfd_text_free(&dictionary->bytes);
    pfd_text_free(&dictionary->ends);
    free(dictionary->slots);
    *dictionary = (struct pfd_dictionary){ 0 };
}

void pfd_dictionary_clear(struct pfd_dictionary *dictionary)
{
    dictionary->bytes.n = dictionary->ends.n = 0;
    dictionary->n = 0;
    if (dictionary->n_slots) {
        memset(dictionary->slots, 0,
               dictionary->n_slots * sizeof *dictionary->slots);
    }
}

static size_t hash(const char *text, size_t n)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (uint8_t)text[i]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return (size_t)h;
}

static bool is_word(const struct pfd_dictionary *dictionary, uint32_t i,
                    const char *text, size_t n)
{
    const uint32_t *ends = (const void *)dictionary->ends.data;
    return ends[i + 1] - ends[i] == n &&
           (n == 0 || (dictionary->bytes.data &&
                       !memcmp(dictionary->bytes.data + ends[i], text, n)));
}

static uint32_t *find(const struct pfd_dictionary *dictionary, const char *text,
                      size_t n)
{
    size_t i = hash(text, n);
    for (;; i++) {
        uint32_t *slot = &dictionary->slots[i & (dictionary->n_slots - 1)];
        if (!*slot || is_word(dictionary, *slot - 1, text, n))
            return slot;
    }
}

static bool grow(struct pfd_dictionary *dictionary)
{
    size_t n = dictionary->n_slots ? 2 * dictionary->n_slots : 256;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) {
        dictionary->failed = true;
        return false;
    }
    free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->n_slots = n;
    const uint32_t *ends = (const void *)dictionary->ends.data;
    for (uint32_t i = 0; i < dictionary->n; i++) {
        const char *at =
            dictionary->bytes.data ? dictionary->bytes.data + ends[i] : "";
        *find(dictionary, at, ends[i + 1] - ends[i]) = i + 1;
    }
    return true;
}

uint32_t pfd_dictionary_find(const struct pfd_dictionary *dictionary,
                             const char *text, size_t n)
{
    return dictionary->n_slots ? *find(dictionary, text, n) - 1 : UINT32_MAX;
}

uint32_t pfd_dictionary_add(struct pfd_dictionary *dictionary, const char *text,
                            size_t n)
{
    static const uint32_t first = 0;
    if (2 * (size_t)dictionary->n >= dictionary->n_slots && !grow(dictionary))
        return 0;
    if (!dictionary->ends.n)
        pfd_text_add(&dictionary->ends, &first, sizeof first);
    uint32_t *slot = find(dictionary, text, n);
    if (*slot)
        return *slot - 1;
    pfd_text_add(&dictionary->bytes, text, n);
    uint32_t end = (uint32_t)dictionary->bytes.n;
    pfd_text_add(&dictionary->ends, &end, sizeof end);
    dictionary->failed |= dictionary->bytes.failed || dictionary->ends.failed;
    if (dictionary->failed)
        return 0;
    *slot = ++dictionary->n;
    return dictionary->n - 1;
}
