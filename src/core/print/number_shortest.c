/* SPDX-License-Identifier: MIT */
/*
 * The shortest decimal that reads back to the same float, by the method of
 * Raffaello Giulietti's paper "The Schubfach way to render doubles" (2020),
 * written from the paper: of the decimals with the largest exponent whose
 * distance is below the width of the interval that rounds to the float, at
 * most two lie around each of its borders, so that trying two candidates
 * above it and two at it finds the shortest and closest.
 */
#include "core/print/number_fast.h"

/* digits * 10^exponent; digits may end in zeros */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* The value and the borders of its rounding interval, each times 4 * 10^-k,
 * truncated with a sticky lowest bit ("round to odd"), so that comparing them
 * with multiples of 2 is exact. A border that does not read back to the value
 * (odd mantissa) is moved inside. */
struct interval {
    uint64_t lower;
    uint64_t value;
    uint64_t upper;
};

static inline __attribute__((always_inline)) struct decimal shortest_in(
    const struct interval *in, int k, bool closer)
{
    uint64_t s = in->value / 4;
    uint64_t s10 = s / 10;
    /* One digit less: 10 * s10 or 10 * (s10 + 1). For s < 10 that could be 0,
     * which is no candidate. */
    bool low_inside = in->lower <= 40 * s10;
    bool high_inside = 40 * s10 + 40 <= in->upper;
    bool is_shorter = (s >= 10) & (low_inside != high_inside);
    uint64_t shorter = s10 + high_inside;
    bool high = in->value + (s & 1) > 4 * s + 2; /* nearer, or tie to even */
    /* The interval has room for s or s + 1; only if the value is not in its
     * middle can that be the farther one. */
    if (closer) {
        low_inside = in->lower <= 4 * s;
        high_inside = 4 * s + 4 <= in->upper;
        high = low_inside != high_inside ? high_inside : high;
    }
    s += high;
    /* About every second float has a shorter form: no branch. */
    uint64_t mask = 0 - (uint64_t)is_shorter;
    return (struct decimal){ (shorter & mask) | (s & ~mask), k + is_shorter };
}

/* floor(log10(2^q)), or of 3/4 * 2^q */
static int floor_log10_pow2(int q, bool three_quarters)
{
    return (q * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static int floor_log2_pow10(int k)
{
    return (k * 1741647) >> 19;
}

/* cp * g / 2^128, g = hi:lo */
static uint64_t scale64(const struct pfd_pow10 *g, uint64_t cp)
{
    pfd_u128 low = (pfd_u128)cp * g->lo;
    pfd_u128 high = (pfd_u128)cp * g->hi + (low >> 64);
    /* An error of g's rounding only shows below the sticky bits. */
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static inline __attribute__((always_inline)) struct decimal shortest64(
    uint64_t fraction, unsigned exponent, bool closer)
{
    bool normal = exponent != 0;
    uint64_t c = fraction | (uint64_t)normal << 52;
    int q = (int)exponent - 1074 - normal;
    int k = floor_log10_pow2(q, closer);
    int h = q + floor_log2_pow10(-k) + 1;
    const struct pfd_pow10 *g = &pfd_pow10_table[-k - PFD_POW10_MIN];
    uint64_t odd = c & 1;
    struct interval in = {
        scale64(g, (4 * c - 2 + closer) << h) + odd,
        scale64(g, (4 * c) << h),
        scale64(g, (4 * c + 2) << h) - odd,
    };
    return shortest_in(&in, k, closer);
}

static uint64_t scale32(uint64_t g, uint64_t cp)
{
    pfd_u128 product = (pfd_u128)g * cp;
    return (uint64_t)(product >> 64) | ((uint64_t)product >> 32 > 1);
}

static inline __attribute__((always_inline)) struct decimal shortest32(
    uint32_t fraction, unsigned exponent, bool closer)
{
    bool normal = exponent != 0;
    uint64_t c = fraction | (uint32_t)normal << 23;
    int q = (int)exponent - 149 - normal;
    int k = floor_log10_pow2(q, closer);
    int h = q + floor_log2_pow10(-k) + 1;
    const struct pfd_pow10 *entry = &pfd_pow10_table[-k - PFD_POW10_MIN];
    /* The upper 64 bits, rounded up, are enough for a binary32. */
    uint64_t g = entry->hi + (entry->lo != 0);
    uint64_t odd = c & 1;
    struct interval in = {
        scale32(g, (4 * c - 2 + closer) << h) + odd,
        scale32(g, (4 * c) << h),
        scale32(g, (4 * c + 2) << h) - odd,
    };
    return shortest_in(&in, k, closer);
}

static char *put_integral(char *out, uint64_t value)
{
    out = pfd_put_u64(out, value);
    out[0] = '.';
    out[1] = '0';
    return out + 2;
}

/* Of a normal value the 16 or 17 digits of 4.5e15 and more, or one less. Only
 * comparisons: every later step waits for the result. */
static inline unsigned count_digits64(uint64_t value)
{
    if (__builtin_expect(value < UINT64_C(100000000000000), 0))
        return pfd_digits10_64(value);
    return 15u + (value >= UINT64_C(1000000000000000)) +
           (value >= UINT64_C(10000000000000000));
}

/* [point]: how many of the digits are before it. */
static inline __attribute__((always_inline)) char *put_repr(
    char *out, struct pfd_text17 text, int point)
{
    if (point > 0 && point <= 16) {
        unsigned n_integer = (unsigned)point;
        pfd_text17_put_point(out, &text, n_integer);
        bool integral = text.n_digits <= n_integer;
        return out + 1 + (integral ? n_integer + 1 : text.n_digits);
    }
    if (point <= 0 && point > -4) {
        pfd_put_zero_point(out);
        pfd_text17_put(out + 2 - point, &text);
        return out + 2 - point + text.n_digits;
    }
    pfd_text17_put_point(out, &text, 1);
    out += text.n_digits + (text.n_digits > 1);
    return pfd_put_exponent(out, point - 1, 'e');
}

static inline __attribute__((always_inline)) char *put_repr32(
    char *out, struct decimal value)
{
    uint32_t digits = (uint32_t)value.digits;
    unsigned n = pfd_digits10_32(digits);
    digits *= (uint32_t)pfd_pow10_u64[9 - n];
    return put_repr(out, pfd_text17_make9(digits), (int)n + value.exponent);
}

static inline __attribute__((always_inline)) char *put_repr64(
    char *out, struct decimal value)
{
    unsigned n = count_digits64(value.digits);
    value.digits *= pfd_pow10_u64[17 - n];
    return put_repr(out, pfd_text17_make(value.digits),
                    (int)n + value.exponent);
}

/*
 * From 1/8 to 2^23, where most values on GPUs are, a float is
 * integer + fraction / 2^shift with 1 <= shift <= 26, its integer is also that
 * of its shortest form (another integer would be another float), and its
 * shortest form has at most n decimals, 10^n the first power of ten that is
 * not below 2^shift. 2^shift * 10^n fits 64 bits, so all of it is exact
 * without a table of big powers.
 */
enum {
    PLAIN_EXPONENT = 124, /* of 1/8 */
    PLAIN_N = 26,
};

/* 10^n and the factor that makes n decimals eight, by shift. */
static const struct plain_scale {
    uint32_t pow10;
    uint32_t to_eight;
} plain_scales[PLAIN_N + 1] = {
    { 1, 100000000 }, { 10, 10000000 }, { 10, 10000000 }, { 10, 10000000 },
    { 100, 1000000 }, { 100, 1000000 }, { 100, 1000000 }, { 1000, 100000 },
    { 1000, 100000 }, { 1000, 100000 }, { 10000, 10000 }, { 10000, 10000 },
    { 10000, 10000 }, { 10000, 10000 }, { 100000, 1000 }, { 100000, 1000 },
    { 100000, 1000 }, { 1000000, 100 }, { 1000000, 100 }, { 1000000, 100 },
    { 10000000, 10 }, { 10000000, 10 }, { 10000000, 10 }, { 10000000, 10 },
    { 100000000, 1 }, { 100000000, 1 }, { 100000000, 1 },
};

struct plain {
    uint32_t integer;
    uint32_t fraction;
    unsigned shift;
};

static inline bool is_plain(uint32_t bits)
{
    return (bits >> 23 & 0xff) - PLAIN_EXPONENT < PLAIN_N;
}

static inline struct plain plain_of(uint32_t bits)
{
    uint32_t m = (bits & 0x7fffff) | 0x800000;
    unsigned shift = 150 - (bits >> 23 & 0xff);
    return (struct plain){ m >> shift, m & ((1u << shift) - 1), shift };
}

/* The decimals of the shortest form, as eight digits: in units of 10^-n, a
 * multiple of ten if that reads back, else the nearest. No branches: each would
 * be a coin toss. */
static inline uint32_t plain_decimals(const struct plain *v, uint32_t bits)
{
    const struct plain_scale *scale = &plain_scales[v->shift];
    /* Everything times 2^(shift + 1), so that half a float's distance, then
     * 10^n, is a whole number, too. */
    unsigned shift = v->shift + 1;
    uint64_t value = 2 * (uint64_t)v->fraction * scale->pow10;
    /* The borders read back to the value if it is even. */
    uint64_t reach = scale->pow10 - (bits & 1);
    uint64_t nearest = value >> shift;
    uint64_t tens = (uint64_t)((uint32_t)nearest / 10) * 10;
    uint64_t above = value - (tens << shift);
    bool low_inside = above <= reach;
    bool high_inside = above + reach >= UINT64_C(10) << shift;
    uint64_t rest = value - (nearest << shift);
    nearest += rest + (nearest & 1) > UINT64_C(1) << v->shift;
    uint64_t mask = 0 - (uint64_t)(low_inside | high_inside);
    tens += high_inside ? 10 : 0;
    return (uint32_t)((tens & mask) | (nearest & ~mask)) * scale->to_eight;
}

/* Digits of a number below 10^8 without zeros in front, but at least one. */
static inline char *put_integer8(char *out, uint64_t digits)
{
    /* The last byte stays, if all are zero. */
    unsigned n_zeros =
        (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    pfd_store64(out, (digits | PFD_WORD_OF('0')) >> (8 * n_zeros));
    return out + 8 - n_zeros;
}

/* A point and eight decimals without zeros at the end, but at least one. */
static inline char *put_decimals8(char *out, uint64_t digits)
{
    unsigned n = 8 - (unsigned)__builtin_clzll(digits | 1) / 8;
    *out++ = '.';
    pfd_store64(out, digits | PFD_WORD_OF('0'));
    return out + n;
}

static char *put_plain32(char *out, uint32_t bits)
{
    struct plain v = plain_of(bits);
    uint64_t before, after;
    pfd_digits8x2(v.integer, plain_decimals(&v, bits), &before, &after);
    return put_decimals8(put_integer8(out, before), after);
}

/* Below a power of two the floats are twice as close. Rare: not inlined. */
static __attribute__((noinline)) char *put_power_of_two32(char *out,
                                                          unsigned exponent)
{
    return put_repr32(out, shortest32(0, exponent, true));
}

static __attribute__((noinline)) char *put_power_of_two64(char *out,
                                                          unsigned exponent)
{
    return put_repr64(out, shortest64(0, exponent, true));
}

static char *put_name(char *out, bool is_nan, uint64_t sign)
{
    static const char names[3][8] = { "\"nan\"", "\"inf\"", "\"-inf\"" };
    unsigned i = is_nan ? 0 : 1 + (sign != 0);
    memcpy(out, names[i], sizeof(names[i]));
    return out + (i == 2 ? 6 : 5);
}

char *pfd_put_shortest32(char *out, uint32_t bits)
{
    unsigned exponent = bits >> 23 & 0xff;
    uint32_t fraction = bits & 0x7fffff;
    if (exponent == 0xff)
        return put_name(out, fraction != 0, bits >> 31);
    *out = '-';
    out += bits >> 31;
    if (__builtin_expect(is_plain(bits), 1))
        return put_plain32(out, bits);
    if (exponent == 0 && fraction == 0)
        return put_integral(out, 0);
    /* An integer below 2^24 is its own shortest form: no decimal with fewer
     * digits is within half of it. */
    unsigned t = 150 - exponent;
    uint32_t m = fraction | 0x800000;
    if (t < 24 && (m & ((1u << t) - 1)) == 0)
        return put_integral(out, m >> t);
    if (__builtin_expect(fraction == 0 && exponent > 1, 0))
        return put_power_of_two32(out, exponent);
    return put_repr32(out, shortest32(fraction, exponent, false));
}

static struct pfd_both put_apart(char *fixed, char *shortest, uint32_t bits,
                                 unsigned precision)
{
    return (struct pfd_both){
        pfd_put_fixed32(fixed, bits, precision),
        pfd_put_shortest32(shortest, bits),
    };
}

struct pfd_both pfd_put_fixed_shortest32(char *fixed, char *shortest,
                                         uint32_t bits, unsigned precision)
{
    if (__builtin_expect(!is_plain(bits) || precision - 1 >= 8, 0))
        return put_apart(fixed, shortest, bits, precision);
    struct plain v = plain_of(bits);
    uint64_t pow10 = pfd_pow10_u64[precision];
    uint64_t scaled = v.fraction * pow10;
    uint64_t half = UINT64_C(1) << (v.shift - 1);
    uint64_t decimals = (scaled + half) >> v.shift;
    bool tie = (scaled & (2 * half - 1)) == half;
    if (__builtin_expect(decimals == pow10 || tie, 0)) /* or a carry */
        return put_apart(fixed, shortest, bits, precision);
    decimals *= pfd_pow10_u64[8 - precision];
    uint64_t before, after;
    pfd_digits8x2(v.integer, (uint32_t)decimals, &before, &after);
    *fixed = *shortest = '-';
    fixed = put_integer8(fixed + (bits >> 31), before);
    fixed[0] = '.';
    pfd_store64(fixed + 1, after | PFD_WORD_OF('0'));
    shortest = put_integer8(shortest + (bits >> 31), before);
    shortest = put_decimals8(shortest, pfd_digits8(plain_decimals(&v, bits)));
    return (struct pfd_both){ fixed + 1 + precision, shortest };
}

char *pfd_put_shortest64(char *out, uint64_t bits)
{
    unsigned exponent = bits >> 52 & 0x7ff;
    uint64_t fraction = bits & 0xfffffffffffff;
    if (exponent == 0x7ff)
        return put_name(out, fraction != 0, bits >> 63);
    *out = '-';
    out += bits >> 63;
    if (exponent == 0 && fraction == 0)
        return put_integral(out, 0);
    unsigned t = 1075 - exponent;
    uint64_t m = fraction | 0x10000000000000;
    if (t < 53 && (m & ((UINT64_C(1) << t) - 1)) == 0)
        return put_integral(out, m >> t);
    if (__builtin_expect(fraction == 0 && exponent > 1, 0))
        return put_power_of_two64(out, exponent);
    return put_repr64(out, shortest64(fraction, exponent, false));
}
