/* SPDX-License-Identifier: MIT */
/* Flags, width and precision around the digits of number_fast.h. */
#include "core/print/number.h"

#include <string.h>

#include "core/print/number_fast.h"

enum {
    DIGITS_MAX = 22,    /* of 64 bits in octal */
    PREFIX_MAX = 2,     /* sign, or 0x */
    FILL_BLOCK = 16,    /* fill() writes at least this much */
    FIXED_DIGITS = 309, /* of a double before the point */
    EXPONENT_TEXT = 16, /* 0x1. or 0.0001, and p-1022 */
    PRECISION_DEFAULT = 6,
    HEX_PRECISION_MAX = 13,
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t pfd_number_room(const struct pfd_spec *spec)
{
    size_t precision = spec->precision < 0 ? 0 : (size_t)spec->precision;
    size_t body;
    switch (spec->conv) {
    case 'f':
    case 'F':
        body = 1 + FIXED_DIGITS + 1 + max_size(precision, PRECISION_DEFAULT);
        break;
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        body = 1 + EXPONENT_TEXT + max_size(precision, HEX_PRECISION_MAX);
        break;
    default:
        body = PREFIX_MAX + max_size(precision, DIGITS_MAX) + 1;
        break;
    }
    return max_size(body, (size_t)spec->width) + PFD_ROOM_SCRIBBLE;
}

/* [n] times [ch]; n is usually small, and one store of a fixed size does it. */
static inline char *fill(char *out, char ch, size_t n)
{
    memset(out, ch, FILL_BLOCK);
    if (__builtin_expect(n > FILL_BLOCK, 0))
        memset(out + FILL_BLOCK, ch, n - FILL_BLOCK);
    return out + n;
}

/* ---- integers ---- */

/* Prefix and padding of an integer's digits. */
struct int_parts {
    uint64_t magnitude;
    char prefix[PREFIX_MAX];
    unsigned n_prefix;
    unsigned n_digits;
    unsigned n_zeros; /* between prefix and digits */
};

/* Signs are random, so there is no branch on them. */
static inline char sign_of(const struct pfd_spec *spec, uint64_t negative)
{
    int sign = spec->flags & PFD_SPEC_SPACE ? ' ' : '\0';
    sign = spec->flags & PFD_SPEC_PLUS ? '+' : sign;
    return (char)(sign + (('-' - sign) & -(int)negative));
}

static void parts_set_prefix(struct int_parts *parts,
                             const struct pfd_spec *spec, uint64_t value)
{
    bool hash = (spec->flags & PFD_SPEC_HASH) != 0;
    parts->magnitude = value;
    parts->n_prefix = 0;
    switch (spec->conv) {
    case 'd':
    case 'i':
        parts->prefix[0] = sign_of(spec, value >> 63);
        parts->n_prefix = parts->prefix[0] != '\0';
        parts->magnitude = (value ^ (0 - (value >> 63))) + (value >> 63);
        parts->n_digits = pfd_digits10_64(parts->magnitude);
        break;
    case 'o':
        parts->n_digits = pfd_digits8_octal(value);
        break;
    case 'x':
    case 'X':
    case 'p': /* as glibc: %#x, of a null pointer too */
        memcpy(parts->prefix, spec->conv == 'X' ? "0X" : "0x", PREFIX_MAX);
        parts->n_prefix =
            spec->conv == 'p' || (hash && value != 0) ? PREFIX_MAX : 0;
        parts->n_digits = pfd_digits16(value);
        break;
    default:
        parts->n_digits = pfd_digits10_64(value);
        break;
    }
}

static void parts_set_zeros(struct int_parts *parts,
                            const struct pfd_spec *spec)
{
    int wanted = spec->precision;
    if (wanted == 0 && parts->magnitude == 0 && spec->conv != 'p')
        parts->n_digits = 0;
    if (wanted < 0 && (spec->flags & PFD_SPEC_ZERO) &&
        !(spec->flags & PFD_SPEC_MINUS))
        wanted = spec->width - (int)parts->n_prefix;
    int missing = wanted - (int)parts->n_digits;
    parts->n_zeros = missing > 0 ? (unsigned)missing : 0;
    /* # makes an octal number start with 0, if it does not already. */
    if (spec->conv == 'o' && (spec->flags & PFD_SPEC_HASH) &&
        parts->n_zeros == 0 && (parts->magnitude != 0 || parts->n_digits == 0))
        parts->n_zeros = 1;
}

static char *put_digits(char *out, char conv, uint64_t value, unsigned len)
{
    if (len == 0)
        return out;
    switch (conv) {
    case 'o':
        return pfd_put_octal_len(out, value, len);
    case 'x':
    case 'p':
        return pfd_put_hex_len(out, value, PFD_HEX_LOWER, len);
    case 'X':
        return pfd_put_hex_len(out, value, PFD_HEX_UPPER, len);
    default:
        return pfd_put_u64_len(out, value, len);
    }
}

/* A text of at most PFD_ROOM_SCRIBBLE bytes, padded with spaces. */
static char *put_padded(char *out, const struct pfd_spec *spec,
                        const char *text, size_t len)
{
    size_t pad = (size_t)spec->width > len ? (size_t)spec->width - len : 0;
    bool left = (spec->flags & PFD_SPEC_MINUS) != 0;
    if (!left)
        out = fill(out, ' ', pad);
    memcpy(out, text, len);
    out += len;
    return left ? fill(out, ' ', pad) : out;
}

/* A character as UTF-8, or as an escape where it is none; at most 10 bytes. */
static size_t encode(uint32_t v, char ret[10])
{
    static const char digits[] = "0123456789abcdef";
    if (v > 0x10ffff || (v >= 0xd800 && v < 0xe000)) {
        memcpy(ret, "\\U", 2);
        for (unsigned i = 0; i < 8; i++)
            ret[2 + i] = digits[v >> (28 - 4 * i) & 15];
        return 10;
    }
    unsigned n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (unsigned i = n - 1; i > 0; i--, v >>= 6)
        ret[i] = (char)(0x80 | (v & 0x3f));
    ret[0] = (char)(first[n] | v);
    return n;
}

char *pfd_number_character(char *out, const struct pfd_spec *spec,
                           uint32_t value)
{
    char text[10];
    size_t n = encode(value, text);
    return put_padded(out, spec, text, n);
}

char *pfd_number_int(char *out, const struct pfd_spec *spec, uint64_t value)
{
    if (spec->conv == 'c') {
        char byte = (char)value;
        return put_padded(out, spec, &byte, 1);
    }
    struct int_parts parts = { 0 };
    parts_set_prefix(&parts, spec, value);
    parts_set_zeros(&parts, spec);
    int len = (int)(parts.n_prefix + parts.n_zeros + parts.n_digits);
    size_t pad = spec->width > len ? (size_t)(spec->width - len) : 0;
    bool left = (spec->flags & PFD_SPEC_MINUS) != 0;
    if (!left)
        out = fill(out, ' ', pad);
    memcpy(out, parts.prefix, PREFIX_MAX);
    out = fill(out + parts.n_prefix, '0', parts.n_zeros);
    out = put_digits(out, spec->conv, parts.magnitude, parts.n_digits);
    return left ? fill(out, ' ', pad) : out;
}

/* ---- floats ---- */

/* A float without sign and width. */
static char *put_magnitude(char *out, const struct pfd_spec *spec,
                           uint64_t bits)
{
    bool hash = (spec->flags & PFD_SPEC_HASH) != 0;
    bool upper = spec->conv < 'a';
    unsigned precision =
        spec->precision < 0 ? PRECISION_DEFAULT : (unsigned)spec->precision;
    switch (spec->conv | 0x20) {
    case 'e':
        return pfd_put_exponent64(out, bits, precision, upper, hash);
    case 'g':
        return pfd_put_general64(out, bits, precision, upper, hash);
    case 'a':
        return pfd_put_hexfloat64(out, bits, spec->precision, upper, hash);
    default:
        out = pfd_put_fixed64(out, bits, precision);
        if (precision == 0 && hash)
            *out++ = '.';
        return out;
    }
}

static char *put_nonfinite(char *out, const struct pfd_spec *spec,
                           uint64_t bits)
{
    bool is_nan = (bits << 12) != 0;
    if (spec->conv < 'a') {
        memcpy(out, is_nan ? "NAN" : "INF", sizeof("NAN"));
    } else {
        memcpy(out, is_nan ? "nan" : "inf", sizeof("nan"));
    }
    return out + 3;
}

/* Pads the text between [out] and [end] to its width; [zeros]: with zeros in
 * front of [digits]. */
static char *widen(char *out, char *digits, char *end,
                   const struct pfd_spec *spec, bool zeros)
{
    size_t len = (size_t)(end - out);
    size_t width = (size_t)spec->width;
    if (len >= width)
        return end;
    size_t pad = width - len;
    if (spec->flags & PFD_SPEC_MINUS)
        return fill(end, ' ', pad);
    char *from = zeros ? digits : out;
    memmove(from + pad, from, (size_t)(end - from));
    memset(from, zeros ? '0' : ' ', pad);
    return end + pad;
}

/* The commonest floats by far: their length is known before their digits, so
 * the digits need not be moved. [bits] has no sign. */
static inline char *put_fixed_common(char *out, const struct pfd_spec *spec,
                                     uint64_t bits, char sign,
                                     unsigned precision)
{
    struct pfd_fixed value = pfd_fixed_common(bits, precision);
    unsigned n_sign = sign != '\0';
    size_t len = n_sign + pfd_fixed_len(value, precision);
    size_t width = (size_t)spec->width;
    size_t pad = width > len ? width - len : 0;
    bool left = (spec->flags & PFD_SPEC_MINUS) != 0;
    bool zeros = !left && (spec->flags & PFD_SPEC_ZERO) != 0;
    if (!left && !zeros)
        out = fill(out, ' ', pad);
    *out = sign;
    out += n_sign;
    if (zeros)
        out = fill(out, '0', pad);
    out = pfd_put_fixed_parts(out, value, precision);
    return left ? fill(out, ' ', pad) : out;
}

char *pfd_number_double(char *out, const struct pfd_spec *spec, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    char sign = sign_of(spec, bits >> 63);
    bits &= ~(UINT64_C(1) << 63);
    unsigned precision =
        spec->precision < 0 ? PRECISION_DEFAULT : (unsigned)spec->precision;
    if ((spec->conv | 0x20) == 'f' && pfd_fixed_is_common(bits, precision) &&
        !(spec->flags & PFD_SPEC_HASH))
        return put_fixed_common(out, spec, bits, sign, precision);
    *out = sign;
    char *digits = out + (sign != '\0');
    if (bits >> 52 == 0x7ff) {
        char *end = put_nonfinite(digits, spec, bits);
        return widen(out, digits, end, spec, false);
    }
    char *end = put_magnitude(digits, spec, bits);
    if ((spec->conv | 0x20) == 'a')
        digits += 2; /* zeros go behind 0x */
    return widen(out, digits, end, spec, (spec->flags & PFD_SPEC_ZERO) != 0);
}
