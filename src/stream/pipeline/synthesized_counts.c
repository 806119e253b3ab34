/* SPDX-License-Identifier: MIT */
#include "stream/pipeline/synthesized_counts.h"

#include <string.h>

void pfd_synthesized_counts_free(struct pfd_synthesized_counts *sums)
{
    pfd_dictionary_free(&sums->keys);
    pfd_text_free(&sums->key);
    pfd_text_free(&sums->sums);
}

static struct pfd_synthesized_count *find(struct pfd_synthesized_counts *sums,
                                          const char *key, size_t n)
{
    static const struct pfd_synthesized_count zero;
    struct pfd_dictionary *keys = &sums->keys;
    uint32_t i = pfd_dictionary_find(keys, key, n);
    bool is_full = keys->n == PFD_SYNTHESIZED_COUNTS_MAX ||
                   keys->bytes.n + n > PFD_SYNTHESIZED_COUNTS_BYTES;
    if (i == UINT32_MAX && is_full)
        return &sums->others;
    if (i == UINT32_MAX) {
        i = pfd_dictionary_add(keys, key, n);
        pfd_text_add(&sums->sums, &zero, sizeof zero);
    }
    if (keys->failed || sums->sums.failed)
        return NULL;
    return (struct pfd_synthesized_count *)(void *)sums->sums.data + i;
}

void pfd_synthesized_counts_add(struct pfd_synthesized_counts *sums,
                                const struct pfd_entry *entry)
{
    size_t n = 0;
    const char *text = pfd_entry_format_string(entry, &n);
    sums->key.n = 0;
    pfd_text_add(&sums->key, &entry->id, sizeof entry->id);
    pfd_text_add(&sums->key, text, n);
    struct pfd_synthesized_count *sum =
        sums->key.failed ? NULL : find(sums, sums->key.data, sums->key.n);
    if (!sum) {
        sums->failed = true;
        return;
    }
    sum->entries++;
    sum->bytes += entry->n_bytes;
}

void pfd_synthesized_counts_give(const struct pfd_synthesized_counts *sums,
                                 pfd_string_sum_fn fn, void *user)
{
    const struct pfd_synthesized_count *all = (const void *)sums->sums.data;
    const uint32_t *ends = (const void *)sums->keys.ends.data;
    for (uint32_t i = 0; i < sums->keys.n; i++) {
        const char *key = sums->keys.bytes.data + ends[i];
        struct pfd_string_info info = {
            .format = "",
            .source = "",
            .text = key + sizeof info.id,
            .n_text = ends[i + 1] - ends[i] - sizeof info.id,
        };
        memcpy(&info.id, key, sizeof info.id);
        fn(user, &info, all[i].entries, all[i].bytes);
    }
    if (sums->others.entries)
        fn(user, NULL, sums->others.entries, sums->others.bytes);
}
