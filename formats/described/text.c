/* SPDX-License-Identifier: MIT */
/* Texts of a described ring's arguments. */
#include <string.h>

#include "core/print/number_fast.h"
#include "layout.h"

/* ---- {} ---- */

/* A placeholder's specification. */
struct spec {
    char sign; /* "+", " " or 0 */
    bool is_left;
    bool is_hash;
    bool is_zero;
    const char *width; /* [n_width] digits */
    size_t n_width;
    const char *precision; /* [n_precision], the point included */
    size_t n_precision;
    char type; /* 0: none */
};

static size_t digits(const char *text, size_t n, size_t i)
{
    while (i < n && text[i] >= '0' && text[i] <= '9')
        i++;
    return i;
}

static const char *read_spec(const char *text, size_t n, struct spec *ret)
{
    size_t i = 0;
    *ret = (struct spec){ 0 };
    if (n > 1 && strchr("<>^", text[1]))
        return "a fill character of {} is not supported";
    if (n && text[0] == '^')
        return "'^' of {} is not supported";
    if (n && (text[0] == '<' || text[0] == '>'))
        ret->is_left = text[i++] == '<';
    if (i < n && strchr("+- ", text[i])) {
        ret->sign = text[i] == '-' ? '\0' : text[i];
        i++;
    }
    if (i < n && text[i] == '#') {
        ret->is_hash = true;
        i++;
    }
    if (i < n && text[i] == '0') {
        ret->is_zero = true;
        i++;
    }
    ret->width = text + i;
    ret->n_width = digits(text, n, i) - i;
    i += ret->n_width;
    if (i < n && text[i] == '.') {
        ret->precision = text + i;
        ret->n_precision = digits(text, n, i + 1) - i;
        i += ret->n_precision;
        if (ret->n_precision == 1)
            return "a precision of {} needs digits";
    }
    if (i < n)
        ret->type = text[i++];
    return i == n ? NULL : "this specification of {} cannot be read";
}

static bool is_float(const struct described_type *t)
{
    return t->conv == 'f';
}

static const char *add_conversion(const struct spec *spec,
                                  const struct described_type *t,
                                  struct pfd_text *ret)
{
    const char *all = is_float(t) ? "fFeEgGaA" : "dxXoc";
    bool is_shortest = is_float(t) && !spec->type && !spec->n_precision;
    char conv = is_float(t) ? 'g' : t->conv;
    if (spec->type && !strchr(all, spec->type))
        return "this type letter of {} is not one for such an argument";
    if (spec->n_precision && !is_float(t))
        return "an integer's {} has no precision";
    if (spec->type && spec->type != 'd')
        conv = spec->type;
    if (spec->n_precision > 3)
        return "a precision of {} has at most two digits";
    if (spec->n_precision == 3 && !memcmp(spec->precision, SHORTEST, 3))
        return "a precision of {} is below 99";
    pfd_text_puts(ret, "%");
    if (spec->is_left)
        pfd_text_puts(ret, "-");
    if (spec->sign)
        pfd_text_add(ret, &spec->sign, 1);
    if (spec->is_hash)
        pfd_text_puts(ret, "#");
    if (spec->is_zero && !spec->is_left)
        pfd_text_puts(ret, "0");
    pfd_text_add(ret, spec->width, spec->n_width);
    if (spec->n_precision)
        pfd_text_add(ret, spec->precision, spec->n_precision);
    if (is_shortest) {
        pfd_text_puts(ret, SHORTEST);
    } else {
        pfd_text_add(ret, &conv, 1);
    }
    return NULL;
}

/* A vector's components stand in brackets. */
static const char *add_argument(const char *text, size_t n,
                                const struct described_type *t,
                                struct pfd_text *ret)
{
    struct spec spec;
    const char *why = read_spec(text, n, &spec);
    if (t->n > 1)
        pfd_text_puts(ret, "[");
    for (uint32_t i = 0; i < t->n && !why; i++) {
        pfd_text_puts(ret, i ? ", " : "");
        why = add_conversion(&spec, t, ret);
    }
    if (t->n > 1)
        pfd_text_puts(ret, "]");
    return why;
}

const char *described_translate(const char *text, size_t n,
                                const uint64_t *words, size_t n_types,
                                struct pfd_text *ret)
{
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_twice = i + 1 < n && text[i + 1] == text[i];
        if (text[i] == '%') {
            pfd_text_puts(ret, "%%");
        } else if (text[i] != '{' && text[i] != '}') {
            pfd_text_add(ret, text + i, 1);
        } else if (is_twice) {
            pfd_text_add(ret, text + i++, 1);
        } else if (text[i] == '}') {
            return "a '}' without its '{': write '}}'";
        } else {
            const char *end = memchr(text + i, '}', n - i);
            if (!end)
                return "a '{' without its '}': write '{{'";
            size_t from = digits(text, n, i + 1);
            size_t to = (size_t)(end - text);
            if (from > i + 1 && (from - i > 4 || n_types == 0))
                return "no argument has this number";
            for (size_t k = i + 1, number = 0; k < from; k++) {
                number = number * 10 + (size_t)(text[k] - '0');
                if (k + 1 == from && number != next)
                    return "numbers of {} must rise from 0";
            }
            if (from < to && text[from] != ':')
                return "this {} cannot be read";
            from += from < to;
            if (next == n_types)
                return "more {} than 'types'";
            struct described_type t = described_unpack(words[next++]);
            const char *why = add_argument(text + from, to - from, &t, ret);
            if (why)
                return why;
            i = to;
        }
    }
    return NULL;
}

/* ---- shortest numbers ---- */

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

void described_make(const struct pfd_record_view *record_view,
                    struct pfd_synthesized *ret)
{
    const struct pfd_string *s = record_view->record->string;
    const char *text = pfd_string_text(s);
    struct pfd_byte_reader c = record_view->bytes;
    size_t n_payload = pfd_byte_reader_left(&c);
    const uint8_t *payload = pfd_byte_reader_bytes(&c, n_payload);
    uint64_t findings = 0;
    size_t next = 0;
    size_t n_slots = described_slots(record_view, ret->slots, &findings);
    ret->lay_out = true;
    for (size_t i = 0; i < s->n_text;) {
        size_t from = i++;
        if (text[from] == '%') {
            i += flags_of(text, s->n_text, i);
            bool is_shortest = is_shortest_at(text, s->n_text, i);
            if (is_shortest && next < n_slots) {
                pfd_text_add(ret->text, text + from, i - from);
                add_shortest(&ret->slots[next++], payload, ret->text);
                i += sizeof SHORTEST - 1;
                continue;
            }
            next += i < s->n_text && text[i] != '%';
            i += is_shortest ? sizeof SHORTEST - 1 : i < s->n_text;
        }
        pfd_text_add(ret->text, text + from, i - from);
    }
}
