/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/print/braces.h"
#include "core/print/half_float.h"
#include "core/print/number_fast.h"
#include "core/print/program.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    BLOCK = PFD_PROGRAM_READ_BEYOND
};

/* Copies n bytes in blocks: the caller has BLOCK bytes more room, and the text
 * has BLOCK readable bytes behind it. */
INLINE char *copy(char *out, const char *in, size_t n)
{
    memcpy(out, in, BLOCK);
    for (size_t i = BLOCK; i < n; i += BLOCK)
        memcpy(out + i, in + i, BLOCK);
    return out + n;
}

INLINE uint32_t load32(const uint8_t *payload, const struct pfd_step *s)
{
    uint32_t v;
    memcpy(&v, payload + s->at, sizeof v);
    return v;
}

INLINE uint64_t load64(const uint8_t *payload, const struct pfd_step *s)
{
    uint64_t v;
    memcpy(&v, payload + s->at, sizeof v);
    return v;
}

bool pfd_step_is_float(const struct pfd_step *s)
{
    char c = s->conv | ('a' - 'A');
    return c == 'f' || c == 'e' || c == 'g' || c == 'a';
}

bool pfd_step_is_signed(const struct pfd_step *s)
{
    return s->conv == 'd' || s->conv == 'i' || s->conv == '*';
}

INLINE uint16_t load16(const uint8_t *payload, const struct pfd_step *s)
{
    uint16_t v;
    memcpy(&v, payload + s->at, sizeof v);
    return v;
}

/* The scalar extended to 64 bits. */
static uint64_t load_integer(const struct pfd_step *s, const uint8_t *payload,
                             bool sign)
{
    switch ((enum pfd_store)s->store) {
    case PFD_STORE_QWORD:
        return load64(payload, s);
    case PFD_STORE_DWORD:
        return sign ? (uint64_t)(int32_t)load32(payload, s)
                    : load32(payload, s);
    case PFD_STORE_WORD:
    case PFD_STORE_WORD32:
    case PFD_STORE_BFLOAT:
        return sign ? (uint64_t)(int16_t)load16(payload, s)
                    : load16(payload, s);
    case PFD_STORE_BYTE:
    case PFD_STORE_BYTE32:
    case PFD_STORE_E4M3:
    case PFD_STORE_E5M2:
        return sign ? (uint64_t)(int8_t)payload[s->at] : payload[s->at];
    case PFD_STORE_NONE:
    case PFD_STORE_STRING:
        break;
    }
    return 0;
}

/* The scalar as its conversion reads it: narrowed, and extended to 64 bits. */
uint64_t pfd_step_integer(const struct pfd_step *s, const uint8_t *payload)
{
    bool sign = pfd_step_is_signed(s);
    uint64_t v = load_integer(s, payload, sign);
    if (s->conv == 'p' || s->conv == '*')
        return v;
    if (s->conv == 'c' && s->length == PFD_LENGTH_LONG)
        return (uint32_t)v;
    if (s->length == PFD_LENGTH_HH || s->conv == 'c')
        return sign ? (uint64_t)(int8_t)v : (uint8_t)v;
    if (s->length == PFD_LENGTH_H)
        return sign ? (uint64_t)(int16_t)v : (uint16_t)v;
    return v;
}

/* Bits of the binary32 that a step stores in at most 4 bytes. */
static uint32_t load_float(const struct pfd_step *s, const uint8_t *payload)
{
    if (s->store == PFD_STORE_WORD || s->store == PFD_STORE_WORD32)
        return pfd_half_to_float_bits(load16(payload, s));
    if (s->store == PFD_STORE_DWORD)
        return load32(payload, s);
    if (s->store == PFD_STORE_BFLOAT)
        return (uint32_t)load16(payload, s) << 16;
    if (s->store == PFD_STORE_E4M3)
        return pfd_e4m3_to_float_bits(payload[s->at]);
    if (s->store == PFD_STORE_E5M2) /* the upper half of a binary16 */
        return pfd_half_to_float_bits((uint32_t)payload[s->at] << 8);
    float f = (float)load_integer(s, payload, false);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

const char *pfd_step_string(const struct pfd_step *s, const uint8_t *payload,
                            size_t *n)
{
    uint32_t n_bytes = s[-1].conv == PFD_CONV_LENGTH ? s[-1].at : 0;
    *n = n_bytes == PFD_STRING_NULL ? 0 : n_bytes;
    return n_bytes == PFD_STRING_NULL ? NULL : (const char *)payload + s->at;
}

double pfd_step_double(const struct pfd_step *s, const uint8_t *payload)
{
    if (s->store == PFD_STORE_QWORD) {
        uint64_t bits = load64(payload, s);
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    uint32_t bits = load_float(s, payload);
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* The last two values of `*` steps before a conversion. */
struct stars {
    int32_t value[2];
};

static int clamp(int64_t v, uint64_t *findings)
{
    if (v <= PFD_WIDTH_MAX)
        return (int)v;
    *findings |= PFD_FINDING_BIT(width_clamped);
    return PFD_WIDTH_MAX;
}

/* A negative width sets the minus flag, a negative precision is none (C99). */
static struct pfd_spec resolve(const struct pfd_step *s,
                               const struct stars *stars, uint64_t *findings)
{
    struct pfd_spec spec = {
        .conv = s->conv,
        .flags = s->flags & 31,
        .width = s->width,
        .precision = s->precision,
    };
    bool both = (s->flags & PFD_STEP_STAR_WIDTH) &&
                (s->flags & PFD_STEP_STAR_PRECISION);
    if (s->flags & PFD_STEP_STAR_WIDTH) {
        int64_t width = stars->value[both ? 0 : 1];
        if (width < 0)
            spec.flags |= PFD_SPEC_MINUS;
        spec.width = (int16_t)clamp(width < 0 ? -width : width, findings);
    }
    if (s->flags & PFD_STEP_STAR_PRECISION) {
        int64_t precision = stars->value[1];
        spec.precision =
            (int16_t)(precision < 0 ? -1 : clamp(precision, findings));
    }
    return spec;
}

static char *print_integer(char *out, const struct pfd_step *s,
                           const uint8_t *payload, const struct stars *stars,
                           uint64_t *findings)
{
    struct pfd_spec spec = resolve(s, stars, findings);
    uint64_t value = pfd_step_integer(s, payload);
    return s->conv == 'c' && s->length == PFD_LENGTH_LONG
               ? pfd_number_character(out, &spec, (uint32_t)value)
               : pfd_number_int(out, &spec, value);
}

static char *print_double(char *out, const struct pfd_step *s,
                          const uint8_t *payload, const struct stars *stars,
                          uint64_t *findings)
{
    struct pfd_spec spec = resolve(s, stars, findings);
    return pfd_number_double(out, &spec, pfd_step_double(s, payload));
}

/* %g. */
INLINE char *put_general(char *out, uint64_t bits, unsigned precision)
{
    return pfd_put_general64(out, bits, precision, false, false);
}

INLINE uint64_t double_of(uint32_t bits)
{
    float f;
    double d;
    uint64_t ret;
    memcpy(&f, &bits, sizeof f);
    d = (double)f;
    memcpy(&ret, &d, sizeof ret);
    return ret;
}

/* An integer of 32 bits, of a conversion with a sign or without. */
INLINE char *put_decimal(char *out, uint32_t bits, bool is_signed)
{
    uint32_t negative = bits >> 31 & (uint32_t)is_signed;
    *out = '-';
    return pfd_put_u32(out + negative, (bits ^ (0 - negative)) + negative);
}

/* The same with a width, 8 at most. */
INLINE char *put_wide(char *out, uint32_t bits, bool is_signed, unsigned width)
{
    uint32_t negative = bits >> 31 & (uint32_t)is_signed;
    uint32_t magnitude = (bits ^ (0 - negative)) + negative;
    unsigned n = pfd_digits10_32(magnitude);
    unsigned len = n + negative;
    memset(out, ' ', sizeof(uint64_t));
    out += width > len ? width - len : 0;
    *out = '-';
    return pfd_put_u32_len(out + negative, magnitude, n);
}

/* At least so many hexadecimal digits, 8 at most. */
INLINE char *put_zeros_hex(char *out, uint32_t bits, unsigned width)
{
    unsigned n = pfd_digits16(bits);
    n = n < width ? width : n;
    uint64_t digits = pfd_hex8(bits, PFD_HEX_LOWER) >> (64 - 8 * n);
    memcpy(out, &digits, sizeof digits);
    return out + n;
}

/* %s as C prints it: cut to the precision, padded to the width; a null string
 * as glibc does. */
/* Apart: the interpreter's registers are for numbers. */
__attribute__((noinline)) static char *print_string(char *out,
                                                    const struct pfd_step *s,
                                                    const uint8_t *payload,
                                                    const struct stars *stars,
                                                    uint64_t *findings)
{
    struct pfd_spec spec = resolve(s, stars, findings);
    size_t n;
    const char *text = pfd_step_string(s, payload, &n);
    if (!text) {
        text = "(null)";
        n = spec.precision < 0 || spec.precision >= 6 ? 6 : 0;
    }
    if (spec.precision >= 0 && n > (size_t)spec.precision)
        n = (size_t)spec.precision;
    size_t pad = n < (size_t)spec.width ? (size_t)spec.width - n : 0;
    if (!(spec.flags & PFD_SPEC_MINUS)) {
        memset(out, ' ', pad);
        out += pad;
        pad = 0;
    }
    if (n)
        memcpy(out, text, n);
    memset(out + n, ' ', pad);
    return out + n + pad;
}

/* ---- vectors of {} ---- */

static char *open_vector(char *out, const struct pfd_step *brace)
{
    *out++ = brace->tight ? '{' : '[';
    if (brace->length)
        *out++ = brace->tight ? '{' : '[';
    return out;
}

static char *close_vector(char *out, const struct pfd_step *brace)
{
    *out++ = brace->tight ? '}' : ']';
    if (brace->length)
        *out++ = brace->tight ? '}' : ']';
    return out;
}

/* Prints the text before a value: the first bracket of a vector, or the
 * separator of two components, which may be of two rows. */
static char *open_component(char *out, const struct pfd_step *s,
                            const struct pfd_step *brace)
{
    if (!(s->flags & PFD_STEP_JOIN))
        return s[1].flags & PFD_STEP_JOIN ? open_vector(out, brace) : out;
    size_t i = (size_t)(s - brace) - 1; /* components have no other steps */
    bool is_row = brace->length && i % brace->length == 0;
    if (is_row)
        *out++ = brace->tight ? '}' : ']';
    out = (char *)memcpy(out, ", ", 2) + 2;
    if (is_row)
        *out++ = brace->tight ? '{' : '[';
    return out;
}

/* The value of a placeholder of {}. The components of a vector stand in
 * brackets. */
__attribute__((noinline)) static char *print_brace(char *out,
                                                   const struct pfd_step *s,
                                                   const uint8_t *payload,
                                                   const struct stars *stars,
                                                   uint64_t *findings)
{
    struct pfd_spec spec = resolve(s, stars, findings);
    struct pfd_brace_value v = { .conv = s->conv == 'd' ? 'd' : 'u' };
    bool is_joined = s->flags & PFD_STEP_JOIN;
    bool goes_on = s[1].flags & PFD_STEP_JOIN;
    if (spec.flags & PFD_SPEC_MINUS)
        spec.width = 0; /* of an argument below zero */
    if (s->store == PFD_STORE_STRING) {
        v.conv = 's';
        v.text = pfd_step_string(s, payload, &v.n_text);
        if (!v.text) {
            v.text = "(null)";
            v.n_text = sizeof "(null)" - 1;
        }
    } else if (pfd_step_is_float(s)) {
        double d = pfd_step_double(s, payload);
        v.conv = 'f';
        v.is_narrow = s->store != PFD_STORE_QWORD;
        memcpy(&v.bits, &d, sizeof d);
    } else {
        v.bits = pfd_step_integer(s, payload);
    }
    const struct pfd_step *brace = pfd_brace_of(s);
    out = open_component(out, s, brace);
    out = pfd_brace_print(out, brace, &spec, &v);
    return is_joined && !goes_on ? close_vector(out, brace) : out;
}

/* Text as a JSON string, and a comma. */
static char *put_text_argument(char *out, const char *text, size_t n)
{
    if (!text)
        return (char *)memcpy(out, "null,", 5) + 5;
    *out++ = '"';
    out = pfd_escape_json(out, text, n);
    *out++ = '"';
    *out++ = ',';
    return out;
}

/* The conversion as it is written: from this step's literal to the literal of
 * the first step that is not part of it. */
static char *print_verbatim(char *out, const struct pfd_step *s,
                            const char *text, unsigned mode)
{
    const struct pfd_step *end = s + 1;
    while (end->flags & PFD_STEP_JOIN)
        end++;
    size_t from = (size_t)s->literal[mode] + s->n_literal[mode];
    size_t n = end->literal[mode] - from;
    memcpy(out, text + from, n);
    return out + n;
}

/* One argument as JSON, and a comma. */
static char *print_argument(char *out, const struct pfd_step *s,
                            const uint8_t *payload)
{
    if (s->store == PFD_STORE_STRING) {
        size_t n;
        const char *text = pfd_step_string(s, payload, &n);
        return put_text_argument(out, text, n);
    }
    if (pfd_step_is_float(s)) {
        out = s->store == PFD_STORE_QWORD
                  ? pfd_put_shortest64(out, load64(payload, s))
                  : pfd_put_shortest32(out, load_float(s, payload));
    } else {
        uint64_t v = pfd_step_integer(s, payload);
        out = pfd_step_is_signed(s) ? pfd_put_i64(out, (int64_t)v)
                                    : pfd_put_u64(out, v);
    }
    *out = ',';
    return out + 1;
}

/* program_run.h is the only interpreter. It is compiled twice: for messages
 * alone, and for messages with their arguments. */
#define RUN_ARGUMENTS 0
#include "core/print/program_run.h"
#undef RUN_ARGUMENTS
#define RUN_ARGUMENTS 1
#include "core/print/program_run.h"
#undef RUN_ARGUMENTS

char *pfd_program_print(char *out, const struct pfd_step *steps,
                        const char *text, unsigned mode, const uint8_t *payload,
                        uint64_t *findings)
{
    return run(out, steps, text, mode, payload, findings);
}

char *pfd_program_print_both(char *out, const struct pfd_step *steps,
                             const char *text, unsigned mode,
                             const uint8_t *payload, uint64_t *findings,
                             char **arguments)
{
    return run_arguments(out, steps, text, mode, payload, findings, arguments);
}

bool pfd_program_has_char(const struct pfd_step *steps, size_t n_steps)
{
    for (size_t i = 0; i < n_steps; i++) {
        if (steps[i].conv == 'c' || steps[i].conv == 's' ||
            (steps[i].conv == PFD_CONV_BRACE &&
             pfd_brace_needs_escape(&steps[i])))
            return true;
    }
    return false;
}

char *pfd_program_print_arguments(char *out, const struct pfd_step *steps,
                                  const uint8_t *payload)
{
    for (const struct pfd_step *s = steps; s->op != PFD_OP_END; s++) {
        if (s->store != PFD_STORE_NONE)
            out = print_argument(out, s, payload);
    }
    return out;
}

char *pfd_program_print_slot(char *out, const struct pfd_slot *slot,
                             const uint8_t *payload)
{
    uint64_t v = 0;
    if (slot->store == PFD_STORE_STRING) {
        return put_text_argument(out,
                                 slot->n_bytes == PFD_STRING_NULL
                                     ? NULL
                                     : (const char *)payload + slot->at,
                                 pfd_slot_bytes(slot));
    }
    if (slot->n_bytes) {
        struct pfd_step s = pfd_slot_step(slot);
        return print_argument(out, &s, payload);
    }
    memcpy(&v, payload + slot->at, pfd_slot_bytes(slot));
    out = pfd_put_u64(out, v);
    *out = ',';
    return out + 1;
}
