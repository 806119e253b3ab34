/* SPDX-License-Identifier: MIT */
#include "analysis/table/dictionary.h"

#include <stdlib.h>
#include <string.h>

void pfd_words_free(struct pfd_words *words)
{
    pfd_text_free(&words->bytes);
    pfd_text_free(&words->ends);
    free(words->slots);
    *words = (struct pfd_words){ 0 };
}

void pfd_words_clear(struct pfd_words *words)
{
    words->bytes.n = words->ends.n = 0;
    words->n = 0;
    if (words->n_slots)
        memset(words->slots, 0, words->n_slots * sizeof *words->slots);
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

static bool is_word(const struct pfd_words *words, uint32_t i, const char *text,
                    size_t n)
{
    const uint32_t *ends = (const void *)words->ends.data;
    return ends[i + 1] - ends[i] == n &&
           (n == 0 || (words->bytes.data &&
                       !memcmp(words->bytes.data + ends[i], text, n)));
}

static uint32_t *find(const struct pfd_words *words, const char *text, size_t n)
{
    size_t i = hash(text, n);
    for (;; i++) {
        uint32_t *slot = &words->slots[i & (words->n_slots - 1)];
        if (!*slot || is_word(words, *slot - 1, text, n))
            return slot;
    }
}

static bool grow(struct pfd_words *words)
{
    size_t n = words->n_slots ? 2 * words->n_slots : 256;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) {
        words->failed = true;
        return false;
    }
    free(words->slots);
    words->slots = slots;
    words->n_slots = n;
    const uint32_t *ends = (const void *)words->ends.data;
    for (uint32_t i = 0; i < words->n; i++) {
        const char *at = words->bytes.data ? words->bytes.data + ends[i] : "";
        *find(words, at, ends[i + 1] - ends[i]) = i + 1;
    }
    return true;
}

uint32_t pfd_words_find(const struct pfd_words *words, const char *text,
                        size_t n)
{
    return words->n_slots ? *find(words, text, n) - 1 : UINT32_MAX;
}

uint32_t pfd_words_add(struct pfd_words *words, const char *text, size_t n)
{
    static const uint32_t first = 0;
    if (2 * (size_t)words->n >= words->n_slots && !grow(words))
        return 0;
    if (!words->ends.n)
        pfd_text_add(&words->ends, &first, sizeof first);
    uint32_t *slot = find(words, text, n);
    if (*slot)
        return *slot - 1;
    pfd_text_add(&words->bytes, text, n);
    uint32_t end = (uint32_t)words->bytes.n;
    pfd_text_add(&words->ends, &end, sizeof end);
    words->failed |= words->bytes.failed || words->ends.failed;
    if (words->failed)
        return 0;
    *slot = ++words->n;
    return words->n - 1;
}
