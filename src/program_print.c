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

/*
 * One computed jump a step: a literal and the conversion behind it. Each jump
 * is its own, so that the processor predicts each pair of steps by itself.
 */
char *pfd_program_print(char *out, const struct pfd_step *s, const char *text,
                        unsigned mode, const uint8_t *payload,
                        uint64_t *findings)
{
    static const void *const targets[] = {
#define PFD_X(name) [PFD_OP_##name] = &&do_##name,
        PFD_OPS(PFD_X)
#undef PFD_X
    };
    struct stars stars = { { 0, 0 } };

#define LITERAL() (out = copy(out, text + s->literal[mode], s->n_literal[mode]))
#define JOIN()                                               \
    do {                                                     \
        if (__builtin_expect(s->flags & PFD_STEP_JOIN, 0)) { \
            memcpy(out, ", ", 2);                            \
            out += 2;                                        \
        }                                                    \
    } while (0)
#define BEGIN(name)        \
    do_##name : LITERAL(); \
    JOIN()
#define NEXT() goto *targets[(++s)->op]

    goto *targets[s->op];

    BEGIN(I32);
    out = pfd_put_i32(out, (int32_t)load32(payload, s));
    NEXT();
    BEGIN(U32);
    out = pfd_put_u32(out, load32(payload, s));
    NEXT();
    BEGIN(X32);
    out = pfd_put_hex32(out, load32(payload, s));
    NEXT();
    BEGIN(I64);
    out = pfd_put_i64(out, (int64_t)load64(payload, s));
    NEXT();
    BEGIN(U64);
    out = pfd_put_u64(out, load64(payload, s));
    NEXT();
    BEGIN(X64);
    out = pfd_put_hex64(out, load64(payload, s));
    NEXT();
    BEGIN(FIXED32);
    out = pfd_put_fixed32(out, load32(payload, s),
                          s->precision < 0 ? 6 : (unsigned)s->precision);
    NEXT();
    BEGIN(FIXED64);
    out = pfd_put_fixed64(out, load64(payload, s),
                          s->precision < 0 ? 6 : (unsigned)s->precision);
    NEXT();
    BEGIN(INT);
    out = print_integer(out, s, payload, &stars, findings);
    NEXT();
    BEGIN(DOUBLE);
    out = print_double(out, s, payload, &stars, findings);
    NEXT();
do_STAR:
    LITERAL();
    stars.value[0] = stars.value[1];
    stars.value[1] = (int32_t)pfd_step_integer(s, payload);
    NEXT();
do_VERBATIM:
    LITERAL();
    out = print_verbatim(out, s, text, mode);
    NEXT();
do_SKIP:
do_LITERAL:
    LITERAL();
    NEXT();
do_END:
    return LITERAL();

#undef LITERAL
#undef JOIN
#undef BEGIN
#undef NEXT
}

bool pfd_program_has_char(const struct pfd_step *steps, size_t n_steps)
{
    for (size_t i = 0; i < n_steps; i++) {
        if (steps[i].conv == 'c')
            return true;
    }
    return false;
}

static char *print_argument(char *out, const struct pfd_step *s,
                            const uint8_t *payload)
{
    if (pfd_step_is_float(s))
        return s->store == PFD_STORE_QWORD
                   ? pfd_put_shortest64(out, load64(payload, s))
                   : pfd_put_shortest32(out, load32(payload, s));
    uint64_t v = pfd_step_integer(s, payload);
    return pfd_step_is_signed(s) ? pfd_put_i64(out, (int64_t)v)
                                 : pfd_put_u64(out, v);
}

char *pfd_program_print_arguments(char *out, const struct pfd_step *steps,
                                  const uint8_t *payload, size_t *n)
{
    *n = 0;
    for (const struct pfd_step *s = steps; s->op != PFD_OP_END; s++) {
        if (s->store == PFD_STORE_NONE)
            continue;
        if ((*n)++)
            *out++ = ',';
        out = print_argument(out, s, payload);
    }
    return out;
}

char *pfd_program_print_slot(char *out, const struct pfd_slot *slot,
                             const uint8_t *payload)
{
    uint64_t v = 0;
    memcpy(&v, payload + slot->at, slot->store == PFD_STORE_QWORD ? 8 : 4);
    return pfd_put_u64(out, v);
}
