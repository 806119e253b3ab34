/* SPDX-License-Identifier: MIT */
/*
 * The shortest decimal that reads back to the same float, by the method of
 * Raffaello Giulietti's paper "The Schubfach way to render doubles" (2020),
 * written from the paper: of the decimals with the largest exponent whose
 * distance is below the width of the interval that rounds to the float, at
 * most two lie around each of its borders, so that trying two candidates
 * above it and two at it finds the shortest and closest.
 */
#include "number_fast.h"

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

/* Of a normal value the 16 or 17 digits of 4.5e15 and more, or one less; only
 * comparisons, because everything else waits for it. */
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

/* ceil(2^64 / 10^i): the high half of a 32-bit number times this is the number
 * divided by 10^i, exactly. */
static const uint64_t inverse_pow10[] = {
    0,
    UINT64_C(0x199999999999999a),
    UINT64_C(0x028f5c28f5c28f5d),
    UINT64_C(0x004189374bc6a7f0),
    UINT64_C(0x00068db8bac710cc),
    UINT64_C(0x0000a7c5ac471b48),
    UINT64_C(0x000010c6f7a0b5ee),
    UINT64_C(0x000001ad7f29abcb),
    UINT64_C(0x0000002af31dc462),
};

/* Eight digits as text, from pairs: more loads than pfd_digits8(), but a
 * chain of half its length. */
static inline uint64_t digits8_by_table(uint32_t value)
{
    uint32_t high = value / 10000;
    uint32_t low = value - high * 10000;
    uint32_t high2 = high / 100;
    uint32_t low2 = low / 100;
    uint16_t pairs[4];
    memcpy(&pairs[0], pfd_digit_pairs + 2 * high2, 2);
    memcpy(&pairs[1], pfd_digit_pairs + 2 * (high - high2 * 100), 2);
    memcpy(&pairs[2], pfd_digit_pairs + 2 * low2, 2);
    memcpy(&pairs[3], pfd_digit_pairs + 2 * (low - low2 * 100), 2);
    return (uint64_t)pairs[0] | (uint64_t)pairs[1] << 16 |
           (uint64_t)pairs[2] << 32 | (uint64_t)pairs[3] << 48;
}

/*
 * digits / 10^n_decimals with digits below 10^9, both parts below 10^8, and
 * n_decimals 1 to 8: what most values on GPUs are. Both parts are eight digits
 * each, made at once; no digit is counted before that.
 */
static inline __attribute__((always_inline)) char *put_plain32(
    char *out, uint32_t digits, unsigned n_decimals)
{
    uint32_t integer =
        (uint32_t)((pfd_u128)digits * inverse_pow10[n_decimals] >> 64);
    uint32_t decimals = digits - integer * (uint32_t)pfd_pow10_u64[n_decimals];
    /* Both wait for nothing else, and all else waits for them: by table. */
    uint64_t before = digits8_by_table(integer);
    uint64_t after =
        digits8_by_table(decimals * (uint32_t)pfd_pow10_u64[8 - n_decimals]);
    /* The last byte stays, if all are zero. */
    unsigned n_zeros = (unsigned)__builtin_ctzll((before ^ PFD_WORD_OF('0')) |
                                                 UINT64_C(1) << 56) /
                       8;
    unsigned n_after =
        8 - (unsigned)__builtin_clzll((after ^ PFD_WORD_OF('0')) | 1) / 8;
    pfd_store64(out, before >> (8 * n_zeros));
    out += 8 - n_zeros;
    *out++ = '.';
    pfd_store64(out, after);
    return out + n_after;
}

/* Below a power of two the floats are twice as close; rare, so apart. */
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
    /* From 1/8 to 2^23: at most eight decimals. */
    if (__builtin_expect(exponent - 124 < 26 && fraction != 0, 1)) {
        struct decimal value = shortest32(fraction, exponent, false);
        if (__builtin_expect(value.exponent < 0, 1)) {
            return put_plain32(out, (uint32_t)value.digits,
                               (unsigned)-value.exponent);
        }
        return put_repr32(out, value);
    }
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
