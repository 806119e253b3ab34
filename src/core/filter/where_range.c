/* SPDX-License-Identifier: MIT */
#include "core/filter/where_range.h"

#include <math.h>

typedef __int128 wide;

#define SIGN (UINT64_C(1) << 63)

static uint64_t key_of(const struct pfd_where_range *range, uint64_t bits)
{
    uint64_t is_minus = bits & SIGN ? UINT64_MAX : 0;
    return bits ^ range->sign ^ (is_minus & range->minus);
}

static void set_keys(struct pfd_where_range *ret, uint64_t low, uint64_t high)
{
    ret->low = key_of(ret, low);
    ret->span = key_of(ret, high) - ret->low;
}

/* An empty range. */
static void set_empty(struct pfd_where_range *ret)
{
    ret->low = 0;
    ret->span = UINT64_MAX;
    ret->outside = !ret->outside;
}

/* ---- integers ---- */

struct interval {
    wide low;
    wide high;
};

/* The whole number at or below f, and whether f equals it. Distant values are
 * clamped to where all integers of 64 bits are still on the same side. */
static wide whole_below(double f, bool *is_whole)
{
    const double far = 0x1p100;
    double near = f > far ? far : f < -far ? -far : f;
    double whole = floor(near);
    *is_whole = whole == f;
    return (wide)whole;
}

static struct interval integers(enum pfd_where_code compare,
                                const struct pfd_value *c, wide min, wide max)
{
    bool is_whole = true;
    wide below =
        c->type == PFD_OPERAND_FLOAT ? whole_below(c->f, &is_whole) : c->i;
    switch ((int)compare) {
    case PFD_WHERE_LT:
        return (struct interval){ min, is_whole ? below - 1 : below };
    case PFD_WHERE_LE:
        return (struct interval){ min, below };
    case PFD_WHERE_GT:
        return (struct interval){ below + 1, max };
    case PFD_WHERE_GE:
        return (struct interval){ is_whole ? below : below + 1, max };
    default: /* equal, or not */
        return is_whole ? (struct interval){ below, below }
                        : (struct interval){ 1, 0 };
    }
}

static void set_integers(struct pfd_where_range *ret, unsigned n_bits,
                         enum pfd_where_code compare, const struct pfd_value *c)
{
    wide half = (wide)1 << (n_bits - 1);
    wide min = ret->sign ? -half : 0;
    wide max = ret->sign ? half - 1 : 2 * half - 1;
    struct interval wanted = integers(compare, c, min, max);
    if (wanted.low < min)
        wanted.low = min;
    if (wanted.high > max)
        wanted.high = max;
    if (wanted.low > wanted.high) {
        set_empty(ret);
    } else {
        set_keys(ret, (uint64_t)wanted.low << (64 - n_bits),
                 (uint64_t)wanted.high << (64 - n_bits));
    }
}

/* ---- floats ---- */

/* The nearest double to the constant; *order: the constant against it. */
static double nearest(const struct pfd_value *c, int *order)
{
    *order = 0;
    if (c->type == PFD_OPERAND_FLOAT)
        return c->f;
    double d = (double)c->i; /* constants have 65 bits at most */
    wide back = (wide)d;
    *order = c->i < back ? -1 : c->i > back;
    return d;
}

struct floats {
    double low;
    double high; /* below low: nothing */
};

/* No double lies between the constant and the nearest one. */
static struct floats floats(enum pfd_where_code compare,
                            const struct pfd_value *c)
{
    const double inf = (double)INFINITY;
    struct floats nothing = { 1, 0 };
    int order;
    double d = nearest(c, &order);
    bool is_less = compare == PFD_WHERE_LT || compare == PFD_WHERE_LE;
    bool wants_d = compare == PFD_WHERE_LE || compare == PFD_WHERE_GE;
    if (order)
        wants_d = is_less == (order > 0);
    if (compare == PFD_WHERE_EQ || compare == PFD_WHERE_NE)
        return order ? nothing : (struct floats){ d, d };
    if (!wants_d && d == (is_less ? -inf : inf))
        return nothing;
    if (is_less)
        return (struct floats){ -inf, wants_d ? d : nextafter(d, -inf) };
    return (struct floats){ wants_d ? d : nextafter(d, inf), inf };
}

/* Both zeros are equal: low bounds use the negative zero, high ones the
 * other. */
static uint64_t bits_of(double d, double zero)
{
    uint64_t bits;
    d = d == 0 ? zero : d;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t bits_of_float(float f, float zero)
{
    uint32_t bits;
    f = f == 0 ? zero : f;
    memcpy(&bits, &f, sizeof bits);
    return (uint64_t)bits << 32;
}

/* The float nearest to d that is not below it (upwards), or not above it. */
static float float_from(double d, bool upwards)
{
    float f = (float)d;
    if (upwards && (double)f < d)
        return nextafterf(f, INFINITY);
    if (!upwards && (double)f > d)
        return nextafterf(f, -INFINITY);
    return f;
}

static void set_floats(struct pfd_where_range *ret, unsigned n_bits,
                       enum pfd_where_code compare, const struct pfd_value *c)
{
    struct floats wanted = floats(compare, c);
    if (n_bits == 32 && wanted.low <= wanted.high) {
        float low = float_from(wanted.low, true);
        float high = float_from(wanted.high, false);
        if (low <= high) {
            set_keys(ret, bits_of_float(low, -0.0F), bits_of_float(high, 0));
            return;
        }
        wanted.high = wanted.low - 1;
    }
    if (wanted.low <= wanted.high) {
        set_keys(ret, bits_of(wanted.low, -0.0), bits_of(wanted.high, 0));
    } else {
        set_empty(ret);
    }
}

/* ---- */

/* True: the step prints all stored bits of a number of 4 or 8 bytes. */
static bool is_plain(const struct pfd_step *s)
{
    bool is_short = s->length == PFD_LENGTH_HH || s->length == PFD_LENGTH_H;
    return (s->store == PFD_STORE_DWORD || s->store == PFD_STORE_QWORD) &&
           ((!is_short && s->conv != 'c') || pfd_step_is_float(s));
}

bool pfd_where_range_make(const struct pfd_step *step,
                          enum pfd_where_code compare,
                          const struct pfd_value *constant,
                          struct pfd_where_range *ret)
{
    bool is_float = pfd_step_is_float(step);
    unsigned n_bits = step->store == PFD_STORE_DWORD ? 32 : 64;
    bool is_number = constant->type == PFD_OPERAND_INTEGER ||
                     constant->type == PFD_OPERAND_FLOAT;
    if (!is_plain(step) || !is_number || step->at > INT32_MAX)
        return false;
    *ret = (struct pfd_where_range){
        .mask = UINT64_MAX << (64 - n_bits),
        .sign = is_float || pfd_step_is_signed(step) ? SIGN : 0,
        .at = (int32_t)step->at + (int32_t)n_bits / 8 - 8,
        .outside = compare == PFD_WHERE_NE,
    };
    if (is_float)
        ret->minus = ret->mask & ~SIGN;
    if (constant->type == PFD_OPERAND_FLOAT && isnan(constant->f)) {
        set_empty(ret);
    } else if (is_float) {
        set_floats(ret, n_bits, compare, constant);
    } else {
        set_integers(ret, n_bits, compare, constant);
    }
    return true;
}
