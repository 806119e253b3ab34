/* SPDX-License-Identifier: MIT */
#include "analysis/plot/cell_sums.h"

#include <string.h>

#include "core/base/large_pages.h"

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

/* Does it fit, including the sum of up to 2^43 summands of its size? */
static bool exact_sum_holds(const struct pfd_exact_sum *e,
                            struct pfd_units part)
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

/* The width that takes it and all that fitted before. */
static struct pfd_exact_sum exact_sum_grown(const struct pfd_exact_sum *e,
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

/* Moves a sum to a greater width; `to` is zero. */
static void exact_sum_move(const struct pfd_exact_sum *from,
                           const uint64_t *words,
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

/* Adds to a sum [e->words], in which the summand fits. */
static void exact_sum_add(const struct pfd_exact_sum *e, uint64_t *words,
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

/* Adds another sum of the same width. */
static void exact_sum_join(const struct pfd_exact_sum *e, uint64_t *words,
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

/* The sum, rounded to twice a double's places. */
static struct pfd_double_double exact_sum_round(const struct pfd_exact_sum *e,
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

static size_t bytes_of(const struct pfd_cell_sums *cell_sums, size_t n)
{
    return n * cell_sums->exact_sum.words * sizeof(uint64_t);
}

void pfd_cell_sums_deinit(struct pfd_cell_sums *cell_sums)
{
    for (size_t i = 0; i < cell_sums->n_panels; i++) {
        pfd_zeroed_free(cell_sums->panels[i],
                        bytes_of(cell_sums, cell_sums->n));
    }
    *cell_sums = (struct pfd_cell_sums){ 0 };
}

/* Allocates panels without sums. */
static enum pfd_cell_sums_room make(struct pfd_exact_sum exact_sum,
                                    size_t n_panels, size_t n, bool is_whole,
                                    struct pfd_cell_sums *ret)
{
    *ret = (struct pfd_cell_sums){ .exact_sum = exact_sum,
                                   .n = n,
                                   .is_whole = is_whole };
    if (exact_sum.words &&
        n * n_panels > PFD_CELL_SUMS_WORDS_MAX / exact_sum.words)
        return PFD_CELL_SUMS_TOO_WIDE;
    for (; ret->n_panels < n_panels; ret->n_panels++) {
        uint64_t *panel =
            exact_sum.words ? pfd_zeroed_new(bytes_of(ret, n)) : NULL;
        if (exact_sum.words && !panel) {
            pfd_cell_sums_deinit(ret);
            return PFD_CELL_SUMS_NO_MEMORY;
        }
        if (is_whole)
            pfd_zeroed_whole(panel, bytes_of(ret, n));
        ret->panels[ret->n_panels] = panel;
    }
    return PFD_CELL_SUMS_OK;
}

enum pfd_cell_sums_room pfd_cell_sums_like(
    const struct pfd_cell_sums *cell_sums, size_t n_panels, size_t n,
    bool is_whole, struct pfd_cell_sums *ret)
{
    return make(cell_sums->exact_sum, n_panels, n, is_whole, ret);
}

enum pfd_cell_sums_room pfd_cell_sums_extend(struct pfd_cell_sums *cell_sums,
                                             size_t n)
{
    unsigned words = cell_sums->exact_sum.words;
    if (words && n > PFD_CELL_SUMS_WORDS_MAX / words)
        return PFD_CELL_SUMS_TOO_WIDE;
    if (words) {
        uint64_t *panel = pfd_zeroed_grow(cell_sums->panels[0],
                                          bytes_of(cell_sums, cell_sums->n),
                                          bytes_of(cell_sums, n));
        if (!panel)
            return PFD_CELL_SUMS_NO_MEMORY;
        cell_sums->panels[0] = panel;
        if (cell_sums->is_whole)
            pfd_zeroed_whole(panel, bytes_of(cell_sums, n));
    }
    cell_sums->n = n;
    return PFD_CELL_SUMS_OK;
}

enum pfd_cell_sums_room pfd_cell_sums_add_panel(struct pfd_cell_sums *cell_sums,
                                                size_t n)
{
    struct pfd_cell_sums one;
    size_t n_all = cell_sums->n_panels + 1;
    unsigned words = cell_sums->exact_sum.words;
    if (words && n * n_all > PFD_CELL_SUMS_WORDS_MAX / words)
        return PFD_CELL_SUMS_TOO_WIDE;
    enum pfd_cell_sums_room room =
        make(cell_sums->exact_sum, 1, n, false, &one);
    if (room == PFD_CELL_SUMS_OK)
        cell_sums->panels[cell_sums->n_panels++] = one.panels[0];
    cell_sums->n = n;
    return room;
}

static uint64_t *at(const struct pfd_cell_sums *cell_sums, size_t panel,
                    size_t i)
{
    return cell_sums->panels[panel] + i * cell_sums->exact_sum.words;
}

static bool is_zero(const uint64_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (words[i])
            return false;
    }
    return true;
}

/* Adds words to each sum, so that the part fits. */
static enum pfd_cell_sums_room widen(struct pfd_cell_sums *cell_sums,
                                     struct pfd_units part)
{
    struct pfd_cell_sums wider;
    struct pfd_exact_sum exact_sum =
        exact_sum_grown(&cell_sums->exact_sum, part);
    enum pfd_cell_sums_room room =
        make(exact_sum, cell_sums->n_panels, cell_sums->n, cell_sums->is_whole,
             &wider);
    if (room != PFD_CELL_SUMS_OK)
        return room;
    for (size_t p = 0; p < cell_sums->n_panels && cell_sums->exact_sum.words;
         p++) {
        for (size_t i = 0; i < cell_sums->n; i++) {
            if (!is_zero(at(cell_sums, p, i), cell_sums->exact_sum.words)) {
                exact_sum_move(&cell_sums->exact_sum, at(cell_sums, p, i),
                               &exact_sum, at(&wider, p, i));
            }
        }
    }
    pfd_cell_sums_deinit(cell_sums);
    *cell_sums = wider;
    return PFD_CELL_SUMS_OK;
}

enum pfd_cell_sums_room pfd_cell_sums_add(struct pfd_cell_sums *cell_sums,
                                          size_t panel, size_t i,
                                          struct pfd_units part)
{
    if (!exact_sum_holds(&cell_sums->exact_sum, part)) {
        enum pfd_cell_sums_room room = widen(cell_sums, part);
        if (room != PFD_CELL_SUMS_OK)
            return room;
    }
    if (part.units)
        exact_sum_add(&cell_sums->exact_sum, at(cell_sums, panel, i), part);
    return PFD_CELL_SUMS_OK;
}

void pfd_cell_sums_join(struct pfd_cell_sums *cell_sums, size_t panel, size_t i,
                        const struct pfd_cell_sums *other, size_t k)
{
    if (cell_sums->exact_sum.words) {
        exact_sum_join(&cell_sums->exact_sum, at(cell_sums, panel, i),
                       at(other, panel, k));
    }
}

struct pfd_double_double pfd_cell_sums_round(
    const struct pfd_cell_sums *cell_sums, size_t panel, size_t i)
{
    return cell_sums->exact_sum.words
               ? exact_sum_round(&cell_sums->exact_sum, at(cell_sums, panel, i))
               : pfd_double_double_round(0);
}
