/* SPDX-License-Identifier: MIT */
/*
 * Floats in fixed, exponent, general and hex form, correctly rounded (half to
 * even) whatever the rounding mode of the process: no floating-point
 * arithmetic is used. Three methods, tried in this order until one decides:
 * fixed point in 128 bits, scaling by a 128-bit power of ten, and the exact
 * decimal expansion.
 */
#include "core/print/number.h"
#include "core/print/number_fast.h"

enum {
    FRACTION_BITS = 52,
    EXPONENT_MAX = 0x7ff,
    EXPONENT_BIAS = 1023,
    SCALED_DIGITS_MAX = 17,  /* of scale() */
    FIXED_DECIMALS_MAX = 19, /* of pfd_fixed_split64() */
};

/* |value| = m * 2^q */
struct binary {
    uint64_t m;
    int q;
};

static struct binary binary_of(uint64_t bits)
{
    int exponent = (int)(bits >> FRACTION_BITS & EXPONENT_MAX);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    struct binary ret = { fraction, 1 - EXPONENT_BIAS - FRACTION_BITS };
    if (exponent != 0) {
        ret.m |= UINT64_C(1) << FRACTION_BITS;
        ret.q += exponent - 1;
    }
    return ret;
}

static bool is_finite(uint64_t bits)
{
    return (bits >> FRACTION_BITS & EXPONENT_MAX) != EXPONENT_MAX;
}

static char *put_text(char *out, const char *text, size_t len)
{
    memcpy(out, text, len);
    return out + len;
}

static char *put_zeros(char *out, size_t n)
{
    memset(out, '0', n);
    return out + n;
}

/* Infinity or NaN, without its sign. */
static char *put_nonfinite(char *out, uint64_t bits, bool upper)
{
    bool is_nan = (bits << 12) != 0;
    const char *lower_text = is_nan ? "nan" : "inf";
    const char *upper_text = is_nan ? "NAN" : "INF";
    return put_text(out, upper ? upper_text : lower_text, 3);
}

/* ---- exact decimal expansion ---- */

enum {
    CHUNK = 1000000000, /* nine digits are made at a time */
    CHUNK_DIGITS = 9,
    /* A leading 0 for a carry, then at most 309 + 52 (large values) or
     * 17 + 1074 (small ones) digits, and a chunk's overhang. */
    EXACT_DIGITS_MAX = 1 + 17 + 1074 + 2 * CHUNK_DIGITS,
    INTEGER_LIMBS = 36,  /* of nine digits: 2^1024 has 309 */
    FRACTION_WORDS = 34, /* of 32 bits: 1074 */
};

/* The digits of a value, integer part first. digits[0] is a 0 before it. */
struct exact {
    char digits[EXACT_DIGITS_MAX];
    unsigned n;         /* digits made, with the leading 0 */
    unsigned n_integer; /* of them before the point; the leading 0 aside */
    unsigned first;     /* index of the first nonzero digit; n: none yet */
    bool more;          /* a nonzero digit follows */
};

static void exact_add_chunk(struct exact *exact, uint32_t chunk)
{
    char *p = exact->digits + exact->n;
    for (int i = CHUNK_DIGITS - 1; i >= 0; i--) {
        p[i] = (char)('0' + chunk % 10);
        chunk /= 10;
    }
    exact->n += CHUNK_DIGITS;
}

static void exact_add_integer(struct exact *exact, uint64_t value)
{
    char text[PFD_ROOM_INT];
    if (value == 0)
        return;
    size_t len = (size_t)(pfd_put_u64(text, value) - text);
    memcpy(exact->digits + exact->n, text, len);
    exact->n += (unsigned)len;
}

/* m * 2^q for 0 <= q, into limbs of nine digits, 32 bits at a time. */
static void exact_add_large(struct exact *exact, uint64_t m, unsigned q)
{
    uint32_t limbs[INTEGER_LIMBS] = { (uint32_t)(m % CHUNK),
                                      (uint32_t)(m / CHUNK % CHUNK) };
    unsigned n = 2;
    while (q > 0) {
        unsigned step = q < 32 ? q : 32;
        uint64_t carry = 0;
        for (unsigned i = 0; i < n; i++) {
            carry += (uint64_t)limbs[i] << step;
            limbs[i] = (uint32_t)(carry % CHUNK);
            carry /= CHUNK;
        }
        for (; carry > 0; carry /= CHUNK)
            limbs[n++] = (uint32_t)(carry % CHUNK);
        q -= step;
    }
    while (n > 1 && limbs[n - 1] == 0)
        n--;
    exact_add_integer(exact, limbs[n - 1]);
    for (n--; n > 0; n--)
        exact_add_chunk(exact, limbs[n - 1]);
}

static void exact_find_first(struct exact *exact)
{
    while (exact->first < exact->n && exact->digits[exact->first] == '0')
        exact->first++;
}

/* Digits needed so far to have [decimals] after the point, or [significant]
 * ones if that is not 0, and the one after them. */
static unsigned exact_need(const struct exact *exact, unsigned decimals,
                           unsigned significant)
{
    if (significant == 0)
        return 1 + exact->n_integer + decimals + 1;
    return exact->first + significant + 1;
}

/* fraction / 2^t, fraction < 2^t: each multiplication by 10^9 moves nine
 * digits over the point. */
static void exact_add_fraction(struct exact *exact, uint64_t fraction,
                               unsigned t, unsigned decimals,
                               unsigned significant)
{
    uint32_t words[FRACTION_WORDS + 2] = { 0 };
    unsigned n = (t + 31) / 32;
    pfd_u128 low = (pfd_u128)fraction << (32 * n - t);
    for (unsigned i = n; i > 0 && low != 0; i--, low >>= 32)
        words[i - 1] = (uint32_t)low;
    for (;;) {
        while (n > 0 && words[n - 1] == 0)
            n--;
        exact->more = n > 0;
        exact_find_first(exact);
        if (n == 0 || exact->n >= exact_need(exact, decimals, significant))
            return;
        uint64_t carry = 0;
        for (unsigned i = n; i > 0; i--) {
            carry += (uint64_t)words[i - 1] * CHUNK;
            words[i - 1] = (uint32_t)carry;
            carry >>= 32;
        }
        exact_add_chunk(exact, (uint32_t)carry);
    }
}

static void exact_make(struct exact *exact, struct binary value,
                       unsigned decimals, unsigned significant)
{
    exact->digits[0] = '0';
    exact->n = 1;
    exact->first = 1;
    exact->more = false;
    if (value.q >= 0) {
        exact_add_large(exact, value.m, (unsigned)value.q);
        exact->n_integer = exact->n - 1;
        return;
    }
    unsigned t = (unsigned)-value.q;
    uint64_t integer = t < 64 ? value.m >> t : 0;
    exact_add_integer(exact, integer);
    exact->n_integer = exact->n - 1;
    uint64_t fraction = t < 64 ? value.m - (integer << t) : value.m;
    exact_add_fraction(exact, fraction, t, decimals, significant);
}

/* Keeps the first [keep] digits, rounded half to even. */
static void exact_round(struct exact *exact, unsigned keep)
{
    if (keep >= exact->n)
        return;
    const char *d = exact->digits;
    bool beyond = exact->more;
    for (unsigned i = keep + 1; i < exact->n && !beyond; i++)
        beyond = d[i] != '0';
    bool odd = (d[keep - 1] & 1) != 0;
    bool up = d[keep] > '5' || (d[keep] == '5' && (beyond || odd));
    exact->n = keep;
    exact->more = false;
    if (!up)
        return;
    /* The leading 0 ends the carry. */
    while (exact->digits[keep - 1] == '9')
        exact->digits[--keep] = '0';
    exact->digits[keep - 1]++;
}

static char *exact_put_fixed(char *out, struct binary value, unsigned precision)
{
    struct exact exact;
    exact_make(&exact, value, precision, 0);
    unsigned point = 1 + exact.n_integer;
    exact_round(&exact, point + precision);
    unsigned start = exact.n_integer > 0 && exact.digits[0] == '0';
    out = put_text(out, exact.digits + start, point - start);
    if (precision == 0)
        return out;
    *out++ = '.';
    unsigned n = exact.n - point;
    out = put_text(out, exact.digits + point, n);
    return put_zeros(out, precision - n);
}

/* ---- fixed ---- */

/* [decimals] as [precision] digits, zeros in front; precision <= 19. */
static char *put_decimals(char *out, uint64_t decimals, unsigned precision)
{
    if (precision <= 8) { /* as the leading ones of eight, nearly always */
        uint64_t digits =
            pfd_digits8((uint32_t)(decimals * pfd_pow10_u64[8 - precision]));
        pfd_store64(out, digits | PFD_WORD_OF('0'));
        return out + precision;
    }
    uint64_t top = decimals / 100000000;
    pfd_put_words3(
        out, PFD_WORD_OF('0') | pfd_digits8((uint32_t)(top / 100000000)),
        PFD_WORD_OF('0') | pfd_digits8((uint32_t)(top % 100000000)),
        PFD_WORD_OF('0') | pfd_digits8((uint32_t)(decimals - top * 100000000)),
        precision);
    return out + precision;
}

/* value >= 2^64 */
static __attribute__((noinline)) char *put_u128(char *out, pfd_u128 value)
{
    const uint64_t base = UINT64_C(10000000000000000000);
    pfd_u128 high = value / base;
    out = high >> 64 ? put_u128(out, high) : pfd_put_u64(out, (uint64_t)high);
    return put_decimals(out, (uint64_t)(value % base), 19);
}

static char *put_fixed_integer(char *out, pfd_u128 value, unsigned precision)
{
    out =
        value >> 64 ? put_u128(out, value) : pfd_put_u64(out, (uint64_t)value);
    if (precision == 0)
        return out;
    *out++ = '.';
    if (precision > 8)
        return put_zeros(out, precision);
    pfd_store64(out, PFD_WORD_OF('0'));
    return out + precision;
}

static char *put_fixed(char *out, struct binary value, unsigned precision)
{
    if (value.m == 0)
        return put_fixed_integer(out, 0, precision);
    if (value.q >= 0) {
        if (value.q <= 127 - FRACTION_BITS) {
            return put_fixed_integer(out, (pfd_u128)value.m << value.q,
                                     precision);
        }
        return exact_put_fixed(out, value, precision);
    }
    if (precision > FIXED_DECIMALS_MAX)
        return exact_put_fixed(out, value, precision);
    struct pfd_fixed parts = pfd_fixed_split64(value.m, (unsigned)-value.q,
                                               pfd_pow10_u64[precision]);
    out = pfd_put_u64(out, parts.integer);
    if (precision == 0)
        return out;
    *out++ = '.';
    return put_decimals(out, parts.decimals, precision);
}

static char *put_sign(char *out, uint64_t bits)
{
    *out = '-';
    return out + (bits >> 63);
}

__attribute__((noinline)) char *pfd_fixed64_slow(char *out, uint64_t bits,
                                                 unsigned precision)
{
    out = put_sign(out, bits);
    if (!is_finite(bits))
        return put_nonfinite(out, bits, false);
    return put_fixed(out, binary_of(bits), precision);
}

/* A binary32 is a binary64 too. In integers, because a processor that treats
 * denormals as zero does so in conversions, too. */
static uint64_t bits64_of32(uint32_t bits)
{
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    uint32_t exponent = bits >> 23 & 0xff;
    uint64_t fraction = bits & 0x7fffff;
    if (exponent == 0xff)
        return sign | (uint64_t)EXPONENT_MAX << FRACTION_BITS | fraction << 29;
    if (exponent == 0) {
        if (fraction == 0)
            return sign;
        unsigned shift = (unsigned)__builtin_clz((uint32_t)fraction) - 8;
        fraction = fraction << shift & 0x7fffff;
        exponent = 1 - shift; /* wraps, and back below */
    }
    exponent += EXPONENT_BIAS - 127;
    return sign | (uint64_t)exponent << FRACTION_BITS | fraction << 29;
}

__attribute__((noinline)) char *pfd_fixed32_slow(char *out, uint32_t bits,
                                                 unsigned precision)
{
    return pfd_fixed64_slow(out, bits64_of32(bits), precision);
}

/* ---- scaling to n digits ---- */

/* |value| rounded to n digits: digits * 10^(exponent - n + 1). */
struct scaled {
    uint64_t digits; /* 10^(n-1) <= digits < 10^n, or 0 */
    int exponent;    /* of the first digit */
    bool carried;    /* rounding made 10^n of it */
};

static int floor_log2_pow10(int k)
{
    return (k * 1741647) >> 19;
}

static const struct pfd_pow10 *pow10_of(int k)
{
    return &pfd_pow10_table[k - PFD_POW10_MIN];
}

/* floor(log10(m * 2^(e2 - 63))), m with its top bit set. 2^e2 has one of two
 * decimal exponents; the larger if the value is not below that power of ten.
 * Powers that are rounded up in the table differ from every m in [lo]. */
static int floor_log10(uint64_t m, int e2)
{
    int guess = (e2 * 1262611) >> 22;
    const struct pfd_pow10 *next = pow10_of(guess + 1);
    bool reaches = m >= next->hi + (next->lo != 0);
    return guess + (reaches & (floor_log2_pow10(guess + 1) == e2));
}

static int tie_up(uint64_t digits)
{
    return (int)(digits & 1);
}

/*
 * The bits that the table gave below [digits] are one half and nothing else.
 * An exact power (0 <= s <= 55) leaves [below] as the rest. A negative s
 * rounds up, so the value may be a tie or just below one: it is a tie if
 * (2 * digits + 1) * 10^-s / 2 is the value, compared by odd part and power
 * of two. Returns -1 for undecided: a value that is not a tie, but is nearer
 * to one than the table is to its power (s > 55 has no ties).
 */
static __attribute__((noinline)) int round_half(struct binary value, int s,
                                                uint64_t digits, uint64_t below)
{
    if (s >= 0 && s <= 55)
        return below != 0 ? 1 : tie_up(digits);
    if (s > 0 || s < -22) /* 5^23 divides no m */
        return -1;
    int zeros = __builtin_ctzll(value.m);
    pfd_u128 odd = 2 * digits + 1;
    for (int i = 0; i < -s; i++)
        odd *= 5;
    bool is_tie = odd == value.m >> zeros && value.q + zeros + 1 == -s;
    return is_tie ? tie_up(digits) : -1;
}

/*
 * value * 10^s = m * g * 2^-shift, s chosen so that n digits are before the
 * point; m * g has 192 bits, of which the lowest 64 are below the error of g
 * (at most one unit of g too large, so the product at most 2^64 too large).
 * The digits are in the uppermost word, the half's bit below them. With that
 * bit clear the true value is below the half. With it set and anything else
 * set in the upper 128 bits, the true value is beyond the half. The remaining
 * case goes to round_half(). Returns false if the digits are not decided.
 */
static inline __attribute__((always_inline)) bool scale(struct binary value,
                                                        unsigned n,
                                                        struct scaled *ret)
{
    int zeros = __builtin_clzll(value.m);
    uint64_t m = value.m << zeros;
    int e2 = value.q + 63 - zeros;
    int exponent = floor_log10(m, e2);
    int s = (int)n - 1 - exponent;
    const struct pfd_pow10 *g = pow10_of(s);
    pfd_u128 low = (pfd_u128)m * g->lo;
    pfd_u128 high = (pfd_u128)m * g->hi + (low >> 64);
    unsigned shift = (unsigned)(62 - e2 - floor_log2_pow10(s));
    uint64_t top = (uint64_t)(high >> 64);
    uint64_t digits = top >> shift;
    uint64_t half = top >> (shift - 1) & 1;
    uint64_t rest = (top << (65 - shift)) | (uint64_t)high;
    if (__builtin_expect((half & (rest == 0)) != 0, 0)) {
        int up = round_half(value, s, digits, (uint64_t)low);
        if (up < 0)
            return false;
        half = (uint64_t)up;
    }
    digits += half;
    bool carry = digits == pfd_pow10_u64[n];
    ret->digits = carry ? pfd_pow10_u64[n - 1] : digits;
    ret->exponent = exponent + carry;
    ret->carried = carry;
    return true;
}

/* Digits padded with zeros to 17. */
static inline struct pfd_text17 scaled_text(const struct scaled *scaled,
                                            unsigned n)
{
    if (n <= 9) {
        return pfd_text17_make9(
            (uint32_t)(scaled->digits * pfd_pow10_u64[9 - n]));
    }
    return pfd_text17_make(scaled->digits *
                           pfd_pow10_u64[SCALED_DIGITS_MAX - n]);
}

/* ---- exponent and general ---- */

/* Digits and layout of one e or g conversion; not owned. Past n_digits they
 * are zeros. */
struct layout {
    const char *digits;
    unsigned n_digits;
    int exponent;       /* of the first digit */
    bool carried;       /* rounding made a power of ten of it */
    unsigned precision; /* of e: digits after the first; of g: all digits */
    bool upper;
    bool alternate;
};

/* [n] digits from [from] on, zeros after the last. */
static char *put_digits(char *out, const struct layout *l, unsigned from,
                        unsigned n)
{
    unsigned have = l->n_digits > from ? l->n_digits - from : 0;
    have = have < n ? have : n;
    if (have > 0)
        out = put_text(out, l->digits + from, have);
    return put_zeros(out, n - have);
}

static char *layout_exponent(char *out, const struct layout *l, unsigned n)
{
    out = put_digits(out, l, 0, 1);
    if (n > 1 || l->alternate)
        *out++ = '.';
    if (n > 1)
        out = put_digits(out, l, 1, n - 1);
    return pfd_put_exponent(out, l->exponent, l->upper ? 'E' : 'e');
}

/* Fixed notation of n significant digits (trailing zeros are gone, so there
 * may be fewer than the integer part needs). */
static char *layout_fixed(char *out, const struct layout *l, unsigned n)
{
    if (l->exponent < 0) {
        unsigned zeros = (unsigned)(-l->exponent - 1);
        out = put_zeros(put_text(out, "0.", 2), zeros);
        return put_digits(out, l, 0, n);
    }
    unsigned n_integer = (unsigned)l->exponent + 1;
    out = put_digits(out, l, 0, n_integer);
    if (n > n_integer || l->alternate)
        *out++ = '.';
    if (n > n_integer)
        out = put_digits(out, l, n_integer, n - n_integer);
    return out;
}

static bool general_is_fixed(int exponent, unsigned precision)
{
    return exponent >= -4 && exponent < (int)precision;
}

/* glibc (2.36) decides between the notations before it rounds. If the rounding
 * then needs the other one, it forgets that # keeps the zeros: "%#g" of
 * 999999.9 is "1.e+06". */
static bool general_lost_zeros(bool carried, int exponent, unsigned precision)
{
    return carried && exponent == (int)precision;
}

static char *layout_general(char *out, const struct layout *l)
{
    unsigned n = l->precision;
    if (general_lost_zeros(l->carried, l->exponent, n))
        return layout_exponent(out, l, 1);
    if (!l->alternate) {
        n = n < l->n_digits ? n : l->n_digits;
        while (n > 1 && l->digits[n - 1] == '0')
            n--;
    }
    if (general_is_fixed(l->exponent, l->precision))
        return layout_fixed(out, l, n);
    return layout_exponent(out, l, n);
}

/* The first n digits of the exact expansion (not of 0). */
static void exact_layout(struct exact *exact, struct binary value, unsigned n,
                         struct layout *ret)
{
    exact_make(exact, value, 0, n);
    unsigned first = exact->first;
    exact_round(exact, first + n);
    ret->carried = exact->digits[first - 1] != '0'; /* 99.9 became 100 */
    first -= ret->carried;
    unsigned made = exact->n - first;
    ret->digits = exact->digits + first;
    ret->n_digits = made < n ? made : n;
    ret->exponent = (int)exact->n_integer - (int)first;
}

static char *put_exponent_slow(char *out, struct binary value,
                               unsigned precision, bool upper, bool alternate)
{
    struct exact exact;
    struct layout l = { .digits = "0",
                        .n_digits = 1,
                        .precision = precision,
                        .upper = upper,
                        .alternate = alternate };
    if (value.m != 0)
        exact_layout(&exact, value, precision + 1, &l);
    return layout_exponent(out, &l, precision + 1);
}

static char *put_general_slow(char *out, struct binary value,
                              unsigned precision, bool upper, bool alternate)
{
    struct exact exact;
    struct layout l = { .digits = "0",
                        .n_digits = 1,
                        .precision = precision,
                        .upper = upper,
                        .alternate = alternate };
    if (value.m != 0)
        exact_layout(&exact, value, precision, &l);
    return layout_general(out, &l);
}

char *pfd_put_exponent64(char *out, uint64_t bits, unsigned precision,
                         bool upper, bool alternate)
{
    out = put_sign(out, bits);
    if (!is_finite(bits))
        return put_nonfinite(out, bits, upper);
    struct binary value = binary_of(bits);
    struct scaled scaled;
    if (precision >= SCALED_DIGITS_MAX || value.m == 0 ||
        !scale(value, precision + 1, &scaled))
        return put_exponent_slow(out, value, precision, upper, alternate);
    struct pfd_text17 text = scaled_text(&scaled, precision + 1);
    pfd_text17_put_point(out, &text, 1);
    out += 1 + precision + (precision != 0 || alternate);
    return pfd_put_exponent(out, scaled.exponent, upper ? 'E' : 'e');
}

/* Fixed notation of n digits for -4 <= exponent <= 16. */
static char *put_text17_fixed(char *out, const struct pfd_text17 *text,
                              int exponent, unsigned n, bool alternate)
{
    if (exponent < 0) {
        pfd_put_zero_point(out);
        unsigned skip = (unsigned)(1 - exponent);
        pfd_text17_put(out + skip, text);
        return out + skip + n;
    }
    unsigned n_integer = (unsigned)exponent + 1;
    if (n_integer == SCALED_DIGITS_MAX) {
        pfd_text17_put(out, text);
        out[SCALED_DIGITS_MAX] = '.';
    } else {
        pfd_text17_put_point(out, text, n_integer);
    }
    if (n > n_integer)
        return out + n + 1;
    return out + n_integer + alternate;
}

char *pfd_put_general64(char *out, uint64_t bits, unsigned precision,
                        bool upper, bool alternate)
{
    out = put_sign(out, bits);
    if (!is_finite(bits))
        return put_nonfinite(out, bits, upper);
    struct binary value = binary_of(bits);
    struct scaled scaled;
    precision += precision == 0;
    if (precision > SCALED_DIGITS_MAX || value.m == 0 ||
        !scale(value, precision, &scaled))
        return put_general_slow(out, value, precision, upper, alternate);
    struct pfd_text17 text = scaled_text(&scaled, precision);
    unsigned n = alternate ? precision : text.n_digits;
    if (general_lost_zeros(scaled.carried, scaled.exponent, precision))
        n = 1;
    if (general_is_fixed(scaled.exponent, precision))
        return put_text17_fixed(out, &text, scaled.exponent, n, alternate);
    pfd_text17_put_point(out, &text, 1);
    out += n + (n > 1 || alternate);
    return pfd_put_exponent(out, scaled.exponent, upper ? 'E' : 'e');
}

/* ---- hex ---- */

/* Rounds 1.52-bit m to [precision] hex digits, half to even. The carry may
 * make the leading digit 2; so does glibc. */
static uint64_t hex_round(uint64_t m, unsigned precision)
{
    unsigned drop = FRACTION_BITS - 4 * precision;
    uint64_t unit = UINT64_C(1) << drop;
    uint64_t rest = m & (unit - 1);
    uint64_t odd = m >> drop & 1;
    m -= rest;
    if (rest > unit / 2 || (rest == unit / 2 && odd))
        m += unit;
    return m;
}

/* precision < 0: as many digits as the value has. */
char *pfd_put_hexfloat64(char *out, uint64_t bits, int precision, bool upper,
                         bool alternate)
{
    enum {
        HEX_DIGITS = FRACTION_BITS / 4
    };
    out = put_sign(out, bits);
    if (!is_finite(bits))
        return put_nonfinite(out, bits, upper);
    struct binary value = binary_of(bits);
    int exponent = value.m == 0 ? 0 : value.q + FRACTION_BITS;
    if (precision >= 0 && precision < HEX_DIGITS)
        value.m = hex_round(value.m, (unsigned)precision);
    uint64_t fraction = value.m << (64 - FRACTION_BITS);
    unsigned n = (unsigned)precision;
    if (precision < 0)
        n = fraction ? (67 - (unsigned)__builtin_ctzll(fraction)) / 4 : 0;
    out = put_text(out, upper ? "0X" : "0x", 2);
    *out++ = (char)('0' + (value.m >> FRACTION_BITS));
    if (n > 0 || alternate)
        *out++ = '.';
    unsigned n_digits = n < HEX_DIGITS ? n : HEX_DIGITS;
    pfd_put_hex_len(out, fraction, upper ? PFD_HEX_UPPER : PFD_HEX_LOWER, 16);
    out = put_zeros(out + n_digits, n - n_digits);
    *out++ = upper ? 'P' : 'p';
    *out++ = exponent < 0 ? '-' : '+';
    return pfd_put_u32(out, (uint32_t)(exponent < 0 ? -exponent : exponent));
}
