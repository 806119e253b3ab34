/* SPDX-License-Identifier: MIT */
/* Prints values as {} does, where printf has no conversion for it. */
#include <string.h>

#include "core/base/escape.h"
#include "core/print/braces.h"
#include "core/print/number_fast.h"

enum {
    FILL_MAX = 4,       /* bytes of a character */
    EXPONENT_LOW = -4,  /* shortest numbers have no exponent from here ... */
    EXPONENT_HIGH = 16, /* ... to below this */
    BODY_MAX = 128,     /* of an integer, or a shortest number */
    FIXED_MAX = 320,    /* of a double's digits before the point */
    PERCENT = 100,
};

bool pfd_brace_needs_escape(const struct pfd_step *brace)
{
    uint32_t fill = brace->at;
    return fill < ' ' || fill >= 0x7f || fill == '"' || fill == '\\' ||
           pfd_brace_style(brace) == 'c';
}

const struct pfd_step *pfd_brace_of(const struct pfd_step *value)
{
    while (value->flags & PFD_STEP_JOIN)
        value--;
    value--;
    return value->conv == PFD_CONV_LENGTH ? value - 1 : value;
}

size_t pfd_brace_room(const struct pfd_step *brace, const struct pfd_spec *spec,
                      size_t n_text)
{
    size_t precision = spec->precision < 0 ? 0 : (size_t)spec->precision;
    (void)brace;
    return BODY_MAX + FIXED_MAX + precision + n_text + FILL_MAX +
           (size_t)spec->width * FILL_MAX + PFD_ROOM_SCRIBBLE;
}

static char *put_sign(char *out, bool is_negative, uint8_t flags)
{
    if (is_negative || flags & (PFD_SPEC_PLUS | PFD_SPEC_SPACE)) {
        *out++ = is_negative ? '-' : flags & PFD_SPEC_PLUS ? '+' : ' ';
    }
    return out;
}

/* ---- bodies: the padded part. *prefix: behind sign and base ---- */

static char *put_binary(char *out, uint64_t value)
{
    int top = value ? 63 - __builtin_clzll(value) : 0;
    for (int i = top; i >= 0; i--)
        *out++ = (char)('0' + (value >> i & 1));
    return out;
}

static char *put_integer(char *out, char style, uint8_t flags,
                         const struct pfd_brace_value *v, char **prefix)
{
    struct pfd_spec spec = { .conv = style == 'd' ? 'u' : style,
                             .precision = -1 };
    bool is_negative = v->conv == 'd' && (int64_t)v->bits < 0;
    uint64_t magnitude = is_negative ? 0 - v->bits : v->bits;
    bool has_base = flags & PFD_SPEC_HASH || style == 'p';
    out = put_sign(out, is_negative, style == 'p' ? 0 : flags);
    if (style == 'p')
        spec.conv = 'x';
    if (has_base && style == 'o' && magnitude)
        *out++ = '0';
    if (has_base && strchr("xXbBp", style)) {
        *out++ = '0';
        *out++ = style == 'p' ? 'x' : style;
    }
    *prefix = out;
    return (style | 0x20) == 'b' ? put_binary(out, magnitude)
                                 : pfd_number_int(out, &spec, magnitude);
}

/* Digits without zeros at either end, and the power of ten of the first. */
struct decimal {
    char digits[24];
    int n;
    int exponent;
};

/* Reads a number as JSON has it. */
static void read_decimal(const char *text, const char *end, struct decimal *ret)
{
    int n_seen = 0;
    int n_before = -1;
    int lead = 0;
    int exponent = 0;
    ret->n = 0;
    for (; text < end && *text != 'e'; text++) {
        if (*text == '.')
            n_before = n_seen;
        if (*text < '0' || *text > '9')
            continue;
        if (!ret->n && *text == '0') {
            lead++;
        } else if (ret->n < (int)sizeof ret->digits) {
            ret->digits[ret->n++] = *text;
        }
        n_seen++;
    }
    bool is_negative = text + 1 < end && text[1] == '-';
    for (; text < end; text++) {
        if (*text >= '0' && *text <= '9')
            exponent = exponent * 10 + (*text - '0');
    }
    while (ret->n && ret->digits[ret->n - 1] == '0')
        ret->n--;
    ret->exponent = (n_before < 0 ? n_seen : n_before) - lead - 1 +
                    (is_negative ? -exponent : exponent);
}

static char *put_zeros(char *out, int n)
{
    memset(out, '0', n > 0 ? (size_t)n : 0);
    return n > 0 ? out + n : out;
}

static char *put_digits(char *out, const struct decimal *d, int from, int to)
{
    memcpy(out, d->digits + from, (size_t)(to - from));
    return out + (to - from);
}

static char *put_exponent(char *out, const struct decimal *d, bool has_point)
{
    unsigned e = (unsigned)(d->exponent < 0 ? -d->exponent : d->exponent);
    *out++ = d->digits[0];
    if (d->n > 1 || has_point)
        *out++ = '.';
    out = put_digits(out, d, 1, d->n);
    *out++ = 'e';
    *out++ = d->exponent < 0 ? '-' : '+';
    if (e < 10)
        *out++ = '0';
    return pfd_put_u32(out, e);
}

static char *put_plain(char *out, const struct decimal *d, bool has_point)
{
    if (d->exponent < 0) {
        out = put_zeros(out, 1);
        *out++ = '.';
        out = put_zeros(out, -d->exponent - 1);
        return put_digits(out, d, 0, d->n);
    }
    int n_before = d->exponent + 1;
    int n_known = d->n < n_before ? d->n : n_before;
    out = put_digits(out, d, 0, n_known);
    out = put_zeros(out, n_before - n_known);
    if (d->n > n_before || has_point)
        *out++ = '.';
    if (d->n <= n_before)
        return put_zeros(out, has_point);
    return put_digits(out, d, n_before, d->n);
}

static char *put_shortest(char *out, double magnitude, bool is_narrow,
                          bool has_point)
{
    char text[64];
    struct decimal d;
    uint64_t bits;
    float narrow = (float)magnitude;
    uint32_t bits32;
    memcpy(&bits, &magnitude, sizeof bits);
    memcpy(&bits32, &narrow, sizeof bits32);
    const char *end = is_narrow ? pfd_put_shortest32(text, bits32)
                                : pfd_put_shortest64(text, bits);
    read_decimal(text, end, &d);
    if (!d.n)
        d = (struct decimal){ .digits = "0", .n = 1 };
    return d.exponent < EXPONENT_LOW || d.exponent >= EXPONENT_HIGH
               ? put_exponent(out, &d, has_point)
               : put_plain(out, &d, has_point);
}

static bool is_upper(char style)
{
    return style == 'F' || style == 'E' || style == 'G' || style == 'A';
}

/* The zeros that # keeps: glibc's printf forgets them where rounding makes a
 * power of ten ("1.e+05" for %#.5g of 99999.5), and writes no digit behind the
 * point of an integer; fmt does otherwise. */
static char *keep_zeros(char *out, char *end, const struct pfd_spec *spec,
                        double value)
{
    struct pfd_spec body = *spec;
    bool is_forgotten = spec->precision != 0 && spec->precision != 1 &&
                        end - out > 2 && (out[2] | 0x20) == 'e';
    if (is_forgotten) {
        body.conv = spec->conv == 'G' ? 'E' : 'e';
        body.precision =
            spec->precision < 0 ? 5 : (int16_t)(spec->precision - 1);
        return pfd_number_double(out, &body, value);
    }
    if (end[-1] == '.')
        *end++ = '0';
    return end;
}

static char *put_float(char *out, char style, const struct pfd_spec *spec,
                       const struct pfd_brace_value *v, char **prefix)
{
    double value;
    uint64_t bits = v->bits & INT64_MAX;
    bool has_point = spec->flags & PFD_SPEC_HASH;
    struct pfd_spec body = {
        .conv = style == PFD_STYLE_PERCENT ? 'f' : style,
        .flags = spec->flags & PFD_SPEC_HASH,
        .precision = spec->precision,
    };
    memcpy(&value, &bits, sizeof value);
    out = put_sign(out, v->bits >> 63, spec->flags);
    *prefix = out;
    if (value - value != 0) {
        memcpy(out,
               value != value    ? is_upper(style) ? "NAN" : "nan"
               : is_upper(style) ? "INF"
                                 : "inf",
               3);
        return out + 3;
    }
    if (style == PFD_STYLE_SHORTEST)
        return put_shortest(out, value, v->is_narrow, has_point);
    if (style == PFD_STYLE_PERCENT)
        value *= PERCENT;
    char *end = pfd_number_double(out, &body, value);
    if (style == PFD_STYLE_PERCENT)
        *end++ = '%';
    return has_point && (style | 0x20) == 'g'
               ? keep_zeros(out, end, &body, value)
               : end;
}

/* The bytes of at most so many characters; *n_characters: of them. */
static size_t cut_text(const char *text, size_t n, int most, size_t *n_chars)
{
    size_t at = 0;
    for (*n_chars = 0; at < n && (most < 0 || *n_chars < (size_t)most);
         ++*n_chars) {
        size_t length = pfd_utf8_length(text + at, n - at);
        at += length ? length : 1;
    }
    return at;
}

/* ---- padding ---- */

static void put_fill(char *out, uint32_t fill, size_t n_fill, size_t n)
{
    if (n_fill == 1) {
        memset(out, (int)fill, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * n_fill, &fill, n_fill);
}

/* Widens the text [out, end), of n characters. prefix: what numbers are padded
 * behind. */
static char *pad(char *out, char *prefix, char *end, size_t n, int width,
                 enum pfd_align align, uint32_t fill)
{
    if ((size_t)width <= n)
        return end;
    size_t n_fill = fill > 0xffffff ? 4
                    : fill > 0xffff ? 3
                    : fill > 0xff   ? 2
                                    : 1;
    size_t total = (size_t)width - n;
    size_t before = align == PFD_ALIGN_LEFT     ? 0
                    : align == PFD_ALIGN_CENTER ? total / 2
                                                : total;
    char *from = align == PFD_ALIGN_NUMERIC ? prefix : out;
    memmove(from + before * n_fill, from, (size_t)(end - from));
    put_fill(from, fill, n_fill, before);
    end += before * n_fill;
    put_fill(end, fill, n_fill, total - before);
    return end + (total - before) * n_fill;
}

static bool is_nonfinite(const struct pfd_brace_value *v)
{
    return v->conv == 'f' && (v->bits >> 52 & 0x7ff) == 0x7ff;
}

char *pfd_brace_print(char *out, const struct pfd_step *brace,
                      const struct pfd_spec *spec,
                      const struct pfd_brace_value *v)
{
    char style = pfd_brace_style(brace);
    enum pfd_align align = (enum pfd_align)brace->width;
    uint32_t fill = brace->at;
    char *prefix = out;
    char *end = out;
    size_t n = 0;
    if (v->conv == 's') {
        size_t n_bytes = cut_text(v->text, v->n_text, spec->precision, &n);
        if (n_bytes)
            memcpy(out, v->text, n_bytes);
        end += n_bytes;
    } else if (style == 'c') {
        const struct pfd_spec bare = { .conv = 'c', .precision = -1 };
        end = pfd_number_character(out, &bare, (uint32_t)v->bits);
        cut_text(out, (size_t)(end - out), -1, &n);
    } else {
        end = v->conv == 'f' ? put_float(out, style, spec, v, &prefix)
                             : put_integer(out, style, spec->flags, v, &prefix);
        n = (size_t)(end - out);
    }
    bool is_left = v->conv == 's' || style == 'c' || is_nonfinite(v);
    if (align == PFD_ALIGN_NONE)
        align = is_left ? PFD_ALIGN_LEFT : PFD_ALIGN_RIGHT;
    if (is_nonfinite(v) && fill == '0') {
        fill = ' ';
        align = align == PFD_ALIGN_NUMERIC ? PFD_ALIGN_RIGHT : align;
    }
    return pad(out, prefix, end, n, spec->width, align, fill);
}
