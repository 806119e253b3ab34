/* SPDX-License-Identifier: MIT */
/* The texts of entries that state the types of their arguments. */
#include <string.h>

#include "arguments.h"
#include "brace_text.h"

void described_make(const struct pfd_record_view *record_view,
                    struct pfd_synthesized *ret)
{
    const struct pfd_string *s = record_view->record->string;
    const struct pfd_string *ring =
        pfd_table_find(record_view->table, RING_KEY);
    struct described_tags tags = { .n = 0 };
    struct arguments a = arguments_of(record_view, ret->slots);
    described_lay_out(&a, record_view->table, s, &tags);
    const uint64_t *v =
        ring && ring->n_layout >= RING_NUMBERS ? pfd_string_layout(ring) : NULL;
    uint64_t grammar = v ? v[RING_GRAMMAR] : GRAMMAR_PRINTF;
    bool is_braced = v && v[RING_VECTORS] == VECTORS_BRACES;
    const char *text = s ? pfd_string_text(s) : (const char *)a.payload;
    size_t n = s ? s->n_text : tags.n_text;
    if (grammar == GRAMMAR_NONE) {
        braces_join(text, n, tags.n, ret->text);
        ret->findings |= tags.findings;
    } else {
        pfd_text_add(ret->text, text, n);
    }
    ret->lay_out = true;
    ret->own = described_has_braces(grammar);
    ret->layout[0] = FACT_TYPES | (is_braced ? FACT_BRACED : 0);
    memcpy(ret->layout + 1, tags.words, tags.n * sizeof *tags.words);
    ret->n_layout = ret->own ? 1 + tags.n : 0;
}
