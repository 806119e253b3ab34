/* SPDX-License-Identifier: MIT */
/*
 * Detects scalars that are floats of 16 bits, from several entries of one
 * printf call. Compilers before LLVM PR 200870 sign-extended the bits of a half
 * or a bfloat to a dword, which has the size of a float: the upper 16 bits are
 * copies of bit 15. Among floats, only zeros, some NaN and numbers below 1e-40
 * look so; among integers printed with %f, small ones. The likelier type is the
 * one that takes fewer bits to describe all values of a column.
 */
#include "half_evidence.h"

enum {
    DWORD = OPENCL_DWORD,
    /* Bits, once, for a column of integers, halves, or bfloats, which are
     * rarer. */
    BITS_INTEGERS = 20,
    BITS_HALF = 12,
    BITS_BFLOAT = 14,
    /* A dword that no compiler stores for a float of 16 bits. */
    BITS_ODD = PFD_LIKELIHOOD_DAMAGE + 20,
    /* Calls of one string with floats and others with 16 bits: once, and for
     * each entry. */
    BITS_MIXED = 24,
    BITS_WHICH = 2,
    /* A value: added to its digits and to half the distance of its exponent
     * from 1. */
    BITS_VALUE = 5,
    BITS_TINY = 10,
    BITS_INFINITE = 9,
    BITS_NAN = 19,
    /* Limit of half the distance of a bfloat. */
    BITS_FAR_MAX = 20,
    /* So many floats outweigh any OPENCL_SAMPLES_MAX other dwords. */
    FLOATS_SURE = 40,
    /* Equal values are one piece of evidence, which is not enough. */
    DISTINCT_MIN = 2,
};

/* ---- columns ---- */

static uint64_t as_layout(enum opencl_mark mark, unsigned i)
{
    return (uint64_t)mark << (OPENCL_MARK_SHIFT_MAX - OPENCL_MARK_BITS * i);
}

static void find(const struct pfd_string *string, uint64_t layout,
                 struct opencl_halves *ret)
{
    struct opencl_arguments arguments = opencl_arguments(string);
    struct opencl_argument a;
    unsigned n_marks = opencl_marks_max(string);
    uint64_t shifts = layout >> OPENCL_FIRST_SHIFT;
    uint32_t at = 0;
    *ret = (struct opencl_halves){ .string = string, .layout = layout };
    while (!ret->has_more && opencl_next_argument(&arguments, &a)) {
        bool is_one = opencl_may_be_half(&a);
        ret->has_more = is_one && ret->n == n_marks;
        if (is_one && !ret->has_more)
            ret->at[ret->n++] = at;
        at += a.size;
        if (opencl_can_shift(&a)) {
            at -= shifts & 1 ? DWORD : 0;
            shifts >>= 1;
        }
    }
}

struct opencl_halves *opencl_halves_of(struct opencl_halves_table *table,
                                       const struct pfd_string *string,
                                       uint64_t layout,
                                       struct opencl_halves *lone)
{
    size_t i = string->index % OPENCL_HALVES;
    while (table->place[i].string && table->place[i].string != string)
        i = (i + 1) % OPENCL_HALVES;
    struct opencl_halves *ret = &table->place[i];
    if (ret->string == string && ret->layout == layout)
        return ret;
    if (!ret->string && table->n >= OPENCL_HALVES * 3 / 4) {
        ret = lone;
    } else {
        table->n += !ret->string;
    }
    find(string, layout, ret);
    return ret;
}

/* ---- values ---- */

/* Can it be a float of 16 bits that was sign-extended? */
static bool is_extended(uint32_t dword)
{
    return dword + 0x8000u < 0x10000u;
}

/* And does it print as another number than the float would? */
static bool is_telling(uint32_t dword)
{
    return is_extended(dword) && dword && dword != UINT32_MAX;
}

static unsigned distance(int power)
{
    return (unsigned)(power < 0 ? -power : power) / 2;
}

static unsigned small_float_bits(uint32_t dword, unsigned n_mantissa)
{
    unsigned limit = (1u << (15 - n_mantissa)) - 1;
    unsigned exponent = dword >> n_mantissa & limit;
    unsigned mantissa = dword & ((1u << n_mantissa) - 1);
    unsigned far = distance((int)exponent - (int)(limit / 2));
    unsigned digits =
        mantissa ? n_mantissa - (unsigned)__builtin_ctz(mantissa) : 0;
    if (exponent == limit)
        return BITS_VALUE + (mantissa ? BITS_NAN : BITS_INFINITE);
    if (!exponent)
        return BITS_VALUE + digits + (mantissa ? BITS_TINY : 0);
    return BITS_VALUE + digits + (far < BITS_FAR_MAX ? far : BITS_FAR_MAX);
}

static unsigned half_bits(uint32_t dword)
{
    return is_extended(dword) ? small_float_bits(dword, 10) : BITS_ODD;
}

static unsigned bfloat_bits(uint32_t dword)
{
    return is_extended(dword) ? small_float_bits(dword, 7) : BITS_ODD;
}

/* ---- weighing ---- */

struct column {
    uint64_t floats; /* bits */
    uint64_t integers;
    uint64_t halves;
    uint64_t bfloats;
    uint64_t some_halves; /* beside floats */
    uint64_t some_bfloats;
    unsigned n_telling; /* distinct values */
};

static uint32_t value_at(const struct opencl_samples *samples, size_t i,
                         uint32_t at)
{
    return pfd_byte_reader_peek_u32(&samples->payload[i], at);
}

static bool was_met(const struct opencl_samples *samples, size_t i, uint32_t at)
{
    uint32_t dword = value_at(samples, i, at);
    size_t k = 0;
    while (k < i && value_at(samples, k, at) != dword)
        k++;
    return k < i;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct column weigh(const struct opencl_samples *samples, uint32_t at,
                           unsigned n_floats)
{
    /* Earlier entries had floats here, or were damaged. */
    struct column c = {
        .integers = BITS_INTEGERS + BITS_ODD * (uint64_t)n_floats,
        .halves = BITS_HALF + BITS_ODD * (uint64_t)n_floats,
        .bfloats = BITS_BFLOAT + BITS_ODD * (uint64_t)n_floats,
        .some_halves = BITS_HALF + BITS_MIXED + BITS_WHICH * (uint64_t)n_floats,
        .some_bfloats =
            BITS_BFLOAT + BITS_MIXED + BITS_WHICH * (uint64_t)n_floats,
    };
    for (size_t i = 0; i < samples->n; i++) {
        uint32_t dword = value_at(samples, i, at);
        if (was_met(samples, i, at))
            continue;
        unsigned as_float = pfd_likelihood_float(dword, DWORD);
        bool is_narrow = is_extended(dword);
        c.floats += as_float;
        c.integers += pfd_likelihood_integer(dword, DWORD);
        c.halves += half_bits(dword);
        c.bfloats += bfloat_bits(dword);
        c.some_halves += BITS_WHICH + (is_narrow ? half_bits(dword) : as_float);
        c.some_bfloats +=
            BITS_WHICH + (is_narrow ? bfloat_bits(dword) : as_float);
        c.n_telling += is_telling(dword);
    }
    c.halves = lesser(c.halves, c.some_halves);
    c.bfloats = lesser(c.bfloats, c.some_bfloats);
    return c;
}

static struct opencl_column decide(const struct column *c)
{
    uint64_t wide = lesser(c->floats, c->integers);
    uint64_t narrow = lesser(c->halves, c->bfloats);
    uint64_t best = lesser(wide, narrow) + PFD_LIKELIHOOD_SURE;
    struct opencl_column ret = {
        .may_be_half = c->halves < best,
        .may_be_bfloat = c->bfloats < best,
    };
    bool is_wide =
        wide < narrow + PFD_LIKELIHOOD_SURE || c->n_telling < DISTINCT_MIN;
    if (!is_wide) {
        ret.mark =
            c->halves <= c->bfloats ? OPENCL_MARK_HALF : OPENCL_MARK_BFLOAT;
    }
    ret.is_sure = is_wide ? !ret.may_be_half && !ret.may_be_bfloat
                          : !ret.may_be_half || !ret.may_be_bfloat;
    return ret;
}

void opencl_weigh_halves(struct opencl_halves *h,
                         const struct opencl_samples *samples)
{
    for (unsigned i = 0; i < h->n; i++) {
        if (h->column[i].is_weighed)
            continue;
        struct column c = weigh(samples, h->at[i], h->n_floats[i]);
        h->column[i] = decide(&c);
        h->column[i].is_weighed = c.n_telling > 0;
        h->is_marked |= h->column[i].mark != OPENCL_MARK_FLOAT;
    }
}

/* ---- entries ---- */

enum opencl_seen opencl_see_halves(struct opencl_halves *h,
                                   const struct pfd_byte_reader *payload)
{
    bool is_one = false;
    bool is_first = false;
    bool are_floats = true;
    for (unsigned i = 0; i < h->n; i++) {
        uint32_t dword = pfd_byte_reader_peek_u32(payload, h->at[i]);
        is_one |= is_telling(dword);
        is_first |= is_telling(dword) && !h->column[i].is_weighed;
        if (h->n_floats[i] < FLOATS_SURE && !is_extended(dword))
            h->n_floats[i]++;
        are_floats &= h->n_floats[i] == FLOATS_SURE;
    }
    if (are_floats && !h->is_marked && !is_one)
        h->n = 0;
    if (is_first)
        return OPENCL_SEEN_FIRST;
    return is_one || h->is_marked ? OPENCL_SEEN_ANY : OPENCL_SEEN_NOTHING;
}

void opencl_drop_equal(const struct opencl_halves *h,
                       struct opencl_samples *samples)
{
    const struct pfd_byte_reader *last = &samples->payload[samples->n - 1];
    unsigned i = 0;
    while (i < h->n && pfd_byte_reader_peek_u32(last, h->at[i]) ==
                           pfd_byte_reader_peek_u32(last - 1, h->at[i]))
        i++;
    samples->n -= i == h->n;
}

/* The mark of a column if all possible ones are of the kind `as`. */
static enum opencl_mark mark_of(const struct opencl_column *c,
                                enum opencl_mark as)
{
    bool may_be = as == OPENCL_MARK_HALF ? c->may_be_half : c->may_be_bfloat;
    return may_be ? as : (enum opencl_mark)c->mark;
}

static void add_way(struct opencl_half_ways *ret, uint64_t marks)
{
    if (marks != ret->marks && (!ret->n_others || marks != ret->other[0]))
        ret->other[ret->n_others++] = marks;
}

void opencl_half_ways(const struct opencl_halves *h,
                      const struct pfd_byte_reader *payload,
                      struct opencl_half_ways *ret)
{
    uint64_t as_half = 0;
    uint64_t as_bfloat = 0;
    *ret = (struct opencl_half_ways){ .marks = 0 };
    for (unsigned i = 0; i < h->n; i++) {
        const struct opencl_column *c = &h->column[i];
        uint32_t dword = pfd_byte_reader_peek_u32(payload, h->at[i]);
        bool is_one = is_telling(dword);
        if (is_extended(dword))
            ret->marks |= as_layout(c->mark, i);
        if (is_one ? !c->is_sure : c->mark && !is_extended(dword)) {
            as_half |= as_layout(mark_of(c, OPENCL_MARK_HALF), i);
            as_bfloat |= as_layout(mark_of(c, OPENCL_MARK_BFLOAT), i);
        } else if (is_extended(dword)) {
            as_half |= as_layout(c->mark, i);
            as_bfloat |= as_layout(c->mark, i);
        }
        ret->is_told |= is_one && c->mark && c->is_sure;
    }
    add_way(ret, as_half);
    add_way(ret, as_bfloat);
    ret->is_left_out = h->has_more && (ret->is_told || ret->n_others);
}
