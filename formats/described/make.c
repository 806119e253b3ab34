/* SPDX-License-Identifier: MIT */
/* Format strings that single entries need: with the shortest digits of their
 * values, or by the types that they state. */
#include <string.h>

#include "arguments.h"
#include "core/print/number_fast.h"

static double value_of(const struct pfd_slot *slot, const uint8_t *payload)
{
    struct pfd_step step = {
        .at = slot->at,
        .conv = 'f',
        .store = slot->store,
    };
    return pfd_step_double(&step, payload);
}

/* Significant digits of a number as JSON has it, and the power of ten of the
 * first one. */
static int count_digits(const char *text, const char *end, int *exponent)
{
    int n = 0;
    int n_zeros = 0;
    int before_point = 0;
    bool is_behind = false;
    *exponent = 0;
    for (; text < end && *text != 'e'; text++) {
        if (*text == '.')
            is_behind = true;
        if (*text < '0' || *text > '9')
            continue;
        bool is_leading = n == 0 && *text == '0';
        if (!is_leading)
            n++;
        n_zeros = *text == '0' ? n_zeros + !is_leading : 0;
        before_point += is_behind ? -(int)is_leading : (int)!is_leading;
    }
    bool is_negative = text < end && text[1] == '-';
    for (text++; text < end; text++) {
        if (*text >= '0' && *text <= '9')
            *exponent = *exponent * 10 + (*text - '0');
    }
    if (is_negative)
        *exponent = -*exponent;
    *exponent += before_point - 1;
    return n - n_zeros;
}

/* Appends a conversion that prints a number as {} does: with the fewest digits
 * that read back, without an exponent from 1e-4 to below 1e16. */
static void add_shortest(const struct pfd_slot *slot, const uint8_t *payload,
                         struct pfd_text *ret)
{
    enum {
        EXPONENT_MAX = 16
    };
    double v = value_of(slot, payload);
    float narrow = (float)v;
    uint64_t bits = 0;
    uint32_t bits32 = 0;
    char text[64];
    int exponent = 0;
    if (v - v != 0 || v == 0) { /* no number, infinite, or zero */
        pfd_text_puts(ret, ".0f");
        return;
    }
    memcpy(&bits, &v, sizeof bits);
    memcpy(&bits32, &narrow, sizeof bits32);
    const char *end = slot->store == PFD_STORE_QWORD
                          ? pfd_put_shortest64(text, bits)
                          : pfd_put_shortest32(text, bits32);
    int n = count_digits(text, end, &exponent);
    if (exponent < -4 || exponent >= EXPONENT_MAX) {
        pfd_text_printf(ret, ".%de", n - 1);
    } else {
        pfd_text_printf(ret, ".%df", n - 1 > exponent ? n - 1 - exponent : 0);
    }
}

static bool is_shortest_at(const char *text, size_t n, size_t i)
{
    return n - i >= sizeof SHORTEST - 1 &&
           !memcmp(text + i, SHORTEST, sizeof SHORTEST - 1);
}

bool described_has_shortest(const char *text, size_t n)
{
    bool ret = false;
    for (size_t i = 0; i < n && !ret; i++)
        ret = is_shortest_at(text, n, i);
    return ret;
}

/* Bytes of a conversion behind its percent sign, up to its letter or to its
 * SHORTEST. */
static size_t flags_of(const char *text, size_t n, size_t i)
{
    size_t to = i;
    while (to < n && !is_shortest_at(text, n, to) &&
           strchr("-+ #0123456789.", text[to]) && text[to])
        to++;
    return to - i;
}

/* Appends a format string [n] with the digits that the values need. */
static void resolve(const char *text, size_t n, const struct arguments *a,
                    struct pfd_text *ret)
{
    size_t next = 0;
    for (size_t i = 0; i < n;) {
        size_t from = i++;
        if (text[from] == '%') {
            i += flags_of(text, n, i);
            bool is_shortest = is_shortest_at(text, n, i);
            if (is_shortest && next < a->n_slots) {
                pfd_text_add(ret, text + from, i - from);
                add_shortest(&a->slots[next++], a->payload, ret);
                i += sizeof SHORTEST - 1;
                continue;
            }
            next += i < n && text[i] != '%';
            i += is_shortest ? sizeof SHORTEST - 1 : i < n;
        }
        pfd_text_add(ret, text + from, i - from);
    }
}

/* Appends the format string of an entry that states its types, whose text
 * [n] has {}. False: it is not one for these. */
static bool translate(const char *text, size_t n, const struct arguments *a,
                      const struct described_tags *tags, struct pfd_text *ret)
{
    if (described_translate(text, n, tags->words, tags->n, ret))
        return false;
    size_t n_translated = ret->n;
    struct pfd_text translated = { 0 };
    pfd_text_add(&translated, ret->data, n_translated);
    ret->n = 0;
    if (translated.failed) {
        ret->failed = true;
    } else if (n_translated) {
        resolve(translated.data, n_translated, a, ret);
    }
    pfd_text_free(&translated);
    return true;
}

void described_make(const struct pfd_record_view *record_view,
                    struct pfd_synthesized *ret)
{
    const struct pfd_string *s = record_view->record->string;
    const struct pfd_string *ring =
        pfd_table_find(record_view->table, RING_KEY);
    struct described_tags tags = { .n = 0 };
    struct arguments a = arguments_of(record_view, ret->slots);
    bool is_braces = ring && ring->n_layout >= RING_NUMBERS &&
                     pfd_string_layout(ring)[RING_GRAMMAR] == GRAMMAR_BRACES;
    described_lay_out(&a, record_view->table, s, &tags);
    ret->lay_out = true;
    if (s && !(described_facts(s) & FACT_TAGS)) {
        resolve(pfd_string_text(s), s->n_text, &a, ret->text);
        return;
    }
    const char *text = s ? pfd_string_text(s) : (const char *)a.payload;
    size_t n = s ? s->n_text : tags.n_text;
    if (is_braces && translate(text, n, &a, &tags, ret->text))
        return;
    ret->text->n = 0;
    pfd_text_add(ret->text, text, n);
    if (is_braces) {
        ret->literal = true;
        ret->lay_out = false;
        ret->findings |= UINT64_C(1) << PFD_FINDING_bad_conversion;
    }
}
