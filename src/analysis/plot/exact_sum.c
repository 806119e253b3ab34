/* SPDX-License-Identifier: MIT */
#include "analysis/plot/exact_sum.h"

#include <string.h>

enum {
    WORD = 64,
    HEADROOM = 44, /* bits: 2^43 numbers, and a sign */
    MARGIN = 20,   /* spare bits, so that sums rarely grow */
    WORDS_MAX = 40,
    MANTISSA = 53, /* of a double */
    BIAS = 1023,
};

/* ---- parts ---- */

struct pfd_units pfd_units_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    int exponent = (int)(bits >> (MANTISSA - 1)) & 0x7ff;
    int64_t units = (int64_t)(bits & ((UINT64_C(1) << (MANTISSA - 1)) - 1));
    if (exponent) {
        units |= INT64_C(1) << (MANTISSA - 1);
    } else {
        exponent = 1; /* subnormal numbers have fewer bits, in the same
                         places */
    }
    return (struct pfd_units){ bits >> 63 ? -units : units,
                               exponent - BIAS - (MANTISSA - 1) };
}

static unsigned __int128 size_of(__int128 units)
{
    return units < 0 ? -(unsigned __int128)units : (unsigned __int128)units;
}

static int count_zeros(unsigned __int128 u)
{
    uint64_t low = (uint64_t)u;
    return low ? __builtin_ctzll(low)
               : WORD + __builtin_ctzll((uint64_t)(u >> WORD));
}

static int count_bits(unsigned __int128 u)
{
    uint64_t high = (uint64_t)(u >> WORD);
    return high ? 2 * WORD - __builtin_clzll(high)
                : WORD - __builtin_clzll((uint64_t)u);
}

/* The range of bits [*low, *high) of a number; units are not 0. */
static void bits_of(struct pfd_units part, int *low, int *high)
{
    unsigned __int128 u = size_of(part.units);
    *low = part.exponent + count_zeros(u);
    *high = part.exponent + count_bits(u);
}

/* ---- width ---- */

static int end_of(const struct pfd_exact_sum *e)
{
    return e->low + (int)e->words * WORD;
}

bool pfd_exact_sum_holds(const struct pfd_exact_sum *e, struct pfd_units part)
{
    int low = 0;
    int high = 0;
    if (!part.units)
        return true;
    bits_of(part, &low, &high);
    return e->words && low >= e->low && high + HEADROOM <= end_of(e);
}

static int down(int bit)
{
    return bit >= 0 ? bit / WORD * WORD : -((-bit + WORD - 1) / WORD * WORD);
}

struct pfd_exact_sum pfd_exact_sum_grown(const struct pfd_exact_sum *e,
                                         struct pfd_units part)
{
    int low = 0;
    int high = 0;
    bits_of(part, &low, &high);
    low = down(low - MARGIN);
    high = down(high + HEADROOM + MARGIN + WORD - 1);
    if (e->words) {
        low = low < e->low ? low : e->low;
        high = high > end_of(e) ? high : end_of(e);
    }
    return (struct pfd_exact_sum){ low, (unsigned)((high - low) / WORD) };
}

void pfd_exact_sum_move(const struct pfd_exact_sum *from, const uint64_t *words,
                        const struct pfd_exact_sum *room, uint64_t *to)
{
    unsigned first = (unsigned)((from->low - room->low) / WORD);
    bool is_negative = from->words && words[from->words - 1] >> (WORD - 1);
    for (unsigned i = first; is_negative && i < room->words; i++)
        to[i] = UINT64_MAX;
    if (from->words)
        memcpy(to + first, words, from->words * sizeof *words);
}

/* ---- sums ---- */

void pfd_exact_sum_add(const struct pfd_exact_sum *e, uint64_t *words,
                       struct pfd_units part)
{
    __int128 units = part.units;
    int shift = part.exponent - e->low;
    if (!units)
        return;
    if (shift < 0) {
        /* Its bits below the first word are zeros. */
        units >>= -shift;
        shift = 0;
    }
    unsigned at = (unsigned)shift / WORD;
    unsigned bit = (unsigned)shift % WORD;
    uint64_t sign = units < 0 ? UINT64_MAX : 0;
    uint64_t low = (uint64_t)units;
    uint64_t high = (uint64_t)(units >> WORD);
    const uint64_t spread[3] = {
        low << bit,
        bit ? high << bit | low >> (WORD - bit) : high,
        bit ? sign << bit | high >> (WORD - bit) : sign,
    };
    unsigned carry = 0;
    for (unsigned i = at; i < e->words; i++) {
        uint64_t more = i - at < 3 ? spread[i - at] : sign;
        uint64_t sum = words[i] + more;
        unsigned over = sum < more;
        words[i] = sum + carry;
        carry = over | (words[i] < sum);
    }
}

void pfd_exact_sum_join(const struct pfd_exact_sum *e, uint64_t *words,
                        const uint64_t *other)
{
    unsigned carry = 0;
    for (unsigned i = 0; i < e->words; i++) {
        uint64_t sum = words[i] + other[i];
        unsigned over = sum < other[i];
        words[i] = sum + carry;
        carry = over | (words[i] < sum);
    }
}

/* ---- rounding ---- */

static void negate(uint64_t *words, unsigned n)
{
    unsigned carry = 1;
    for (unsigned i = 0; i < n; i++) {
        words[i] = ~words[i] + carry;
        carry = carry && !words[i];
    }
}

/* number * 2^exponent, of an integer of 32 bits: exact, except below the
 * smallest double. */
static double scaled(uint32_t number, int exponent)
{
    uint64_t bits = (uint64_t)(exponent + BIAS) << (MANTISSA - 1);
    double power;
    if (exponent <= -BIAS || exponent >= BIAS - WORD)
        return ldexp((double)number, exponent);
    memcpy(&power, &bits, sizeof power);
    return (double)number * power;
}

/* Is a sum [n] a double? Most are. */
static bool is_double(const uint64_t *size, unsigned n, int low, double *ret)
{
    unsigned top = n;
    while (top && !size[top - 1])
        top--;
    unsigned end = top > 2 ? top - 2 : 0;
    for (unsigned i = 0; i < end; i++) {
        if (size[i])
            return false;
    }
    *ret = 0;
    if (!top)
        return true;
    unsigned __int128 u = (unsigned __int128)(top > 1 ? size[top - 1] : 0)
                          << WORD;
    u |= size[end];
    int zeros = count_zeros(u);
    int exponent = low + (int)end * WORD + zeros;
    if (count_bits(u) - zeros > MANTISSA || exponent <= -BIAS ||
        exponent >= BIAS - WORD)
        return false;
    uint64_t bits = (uint64_t)(exponent + BIAS) << (MANTISSA - 1);
    double power;
    memcpy(&power, &bits, sizeof power);
    *ret = (double)(uint64_t)(u >> zeros) * power;
    return true;
}

struct pfd_double_double pfd_exact_sum_round(const struct pfd_exact_sum *e,
                                             const uint64_t *words)
{
    uint64_t size[WORDS_MAX];
    struct pfd_double_double sum = { 0, 0 };
    unsigned n = e->words;
    bool is_negative = n && words[n - 1] >> (WORD - 1);
    memcpy(size, words, n * sizeof *size);
    if (is_negative)
        negate(size, n);
    if (is_double(size, n, e->low, &sum.hi))
        return (struct pfd_double_double){ is_negative ? -sum.hi : sum.hi, 0 };
    /* From the most significant word on: far lower ones change nothing. */
    for (unsigned i = n; i-- > 0;) {
        int exponent = e->low + (int)i * WORD;
        if (!size[i])
            continue;
        struct pfd_double_double part = pfd_double_double_add2(
            scaled((uint32_t)(size[i] >> 32), exponent + 32),
            scaled((uint32_t)size[i], exponent));
        sum = pfd_double_double_add(sum, part);
    }
    return is_negative ? (struct pfd_double_double){ -sum.hi, -sum.lo } : sum;
}
