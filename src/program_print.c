/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "number_fast.h"
#include "program.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    BLOCK = 16
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

/* A number of at most 20 digits and a sign, and a comma. */
INLINE char *copy_digits(char *out, const char *in, size_t n)
{
    memcpy(out, in, 24);
    out[n] = ',';
    return out + n + 1;
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
    return s->conv && strchr("fFeEgGaA", s->conv);
}

bool pfd_step_is_signed(const struct pfd_step *s)
{
    return s->conv == 'd' || s->conv == 'i' || s->conv == '*';
}

/* The scalar as its conversion reads it: narrowed, and extended to 64 bits. */
uint64_t pfd_step_integer(const struct pfd_step *s, const uint8_t *payload)
{
    bool sign = pfd_step_is_signed(s);
    uint64_t v = 0;
    if (s->store == PFD_STORE_QWORD)
        v = load64(payload, s);
    else if (s->store == PFD_STORE_DWORD)
        v = sign ? (uint64_t)(int32_t)load32(payload, s) : load32(payload, s);
    if (s->conv == 'p' || s->conv == '*')
        return v;
    if (s->length == PFD_LENGTH_HH || s->conv == 'c')
        return sign ? (uint64_t)(int8_t)v : (uint8_t)v;
    if (s->length == PFD_LENGTH_H)
        return sign ? (uint64_t)(int16_t)v : (uint16_t)v;
    return v;
}

double pfd_step_double(const struct pfd_step *s, const uint8_t *payload)
{
    if (s->store == PFD_STORE_QWORD) {
        uint64_t bits = load64(payload, s);
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    uint32_t bits = load32(payload, s);
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* What the `*` steps before a conversion left: the last two values. */
struct stars {
    int32_t value[2];
};

static int clamp(int64_t v, uint64_t *findings)
{
    if (v <= PFD_WIDTH_MAX)
        return (int)v;
    *findings |= UINT64_C(1) << PFD_FINDING_width_clamped;
    return PFD_WIDTH_MAX;
}

/* Negative widths mean the minus flag, negative precisions none (C99). */
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
    return pfd_number_int(out, &spec, pfd_step_integer(s, payload));
}

static char *print_double(char *out, const struct pfd_step *s,
                          const uint8_t *payload, const struct stars *stars,
                          uint64_t *findings)
{
    struct pfd_spec spec = resolve(s, stars, findings);
    return pfd_number_double(out, &spec, pfd_step_double(s, payload));
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

/* One scalar as JSON, and a comma. */
static char *print_argument(char *out, const struct pfd_step *s,
                            const uint8_t *payload)
{
    if (pfd_step_is_float(s)) {
        out = s->store == PFD_STORE_QWORD
                  ? pfd_put_shortest64(out, load64(payload, s))
                  : pfd_put_shortest32(out, load32(payload, s));
    } else {
        uint64_t v = pfd_step_integer(s, payload);
        out = pfd_step_is_signed(s) ? pfd_put_i64(out, (int64_t)v)
                                    : pfd_put_u64(out, v);
    }
    *out = ',';
    return out + 1;
}

/* program_run.h is the one interpreter, made twice: for messages alone, and
 * for messages with their arguments beside them. */
#define RUN_ARGUMENTS 0
#include "program_run.h"
#undef RUN_ARGUMENTS
#define RUN_ARGUMENTS 1
#include "program_run.h"
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
        if (steps[i].conv == 'c')
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
    memcpy(&v, payload + slot->at, slot->store == PFD_STORE_QWORD ? 8 : 4);
    out = pfd_put_u64(out, v);
    *out = ',';
    return out + 1;
}
