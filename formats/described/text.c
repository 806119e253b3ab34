/* SPDX-License-Identifier: MIT */
/* Texts of a described ring's arguments. */
#include <string.h>

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
    const char *all = is_float(t) ? "fFeEgGaA" : t->conv == 's' ? "s" : "dxXoc";
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
