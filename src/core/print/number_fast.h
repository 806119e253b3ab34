/* SPDX-License-Identifier: MIT */
/*
 * Numbers to text without flags and width, inline, for the loops that print
 * millions of them. Same rules as number.h: writes at `out`, returns the end,
 * no NUL; may scribble between the end and the stated room.
 *
 * Numbers vary in length at random, so a branch on the length is a coin toss
 * that costs more than the digits. All digits are therefore made eight at a
 * time in one 64-bit word (lowest byte = first character; hosts are little
 * endian), leading zeros are shifted out by a computed amount, and whole words
 * are stored.
 */
#ifndef PFD_NUMBER_FAST_H
#define PFD_NUMBER_FAST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(PFD_PORTABLE)
#define PFD_USE_SSE2 1
#include <emmintrin.h>
#endif

#include "core/print/number_tables.h"

__extension__ typedef unsigned __int128 pfd_u128;

/* Bytes that the functions below may write, scribbling included. */
enum {
    PFD_ROOM_INT = 32,
    PFD_ROOM_SHORTEST = 32,
    PFD_ROOM_SCRIBBLE = 32,
};

static inline size_t pfd_room_fixed32(unsigned precision)
{
    return 1 + 39 + 1 + (size_t)precision + PFD_ROOM_SCRIBBLE;
}

static inline size_t pfd_room_fixed64(unsigned precision)
{
    return 1 + 309 + 1 + (size_t)precision + PFD_ROOM_SCRIBBLE;
}

/* "%.*f" of any value and precision; the inline functions fall back to it. */
char *pfd_fixed32_slow(char *out, uint32_t bits, unsigned precision);
char *pfd_fixed64_slow(char *out, uint64_t bits, unsigned precision);

/* JSON number: the shortest digits that read back to this value, laid out as
 * Python's repr(float); "nan", "inf", "-inf" with the quotes. */
char *pfd_put_shortest32(char *out, uint32_t bits);
char *pfd_put_shortest64(char *out, uint64_t bits);

/* The ends of pfd_put_fixed32() and pfd_put_shortest32() of one value, written
 * at once because they share most of their work. */
struct pfd_both {
    char *fixed;
    char *shortest;
};
struct pfd_both pfd_put_fixed_shortest32(char *fixed, char *shortest,
                                         uint32_t bits, unsigned precision);

/* "%.*e" and "%.*g"; upper is for E and G; alternate is the # flag. Room: that
 * of pfd_number_room(). */
char *pfd_put_exponent64(char *out, uint64_t bits, unsigned precision,
                         bool upper, bool alternate);
char *pfd_put_general64(char *out, uint64_t bits, unsigned precision,
                        bool upper, bool alternate);

/* "%.*a"; precision < 0: as many digits as the value has. */
char *pfd_put_hexfloat64(char *out, uint64_t bits, int precision, bool upper,
                         bool alternate);

#define PFD_WORD_OF(byte) ((uint64_t)(byte)*0x0101010101010101u)

static inline void pfd_store64(char *out, uint64_t word)
{
    memcpy(out, &word, sizeof(word));
}

/* "0.000000" */
static inline void pfd_put_zero_point(char *out)
{
    pfd_store64(out, PFD_WORD_OF('0') - ((uint64_t)('0' - '.') << 8));
}

static inline unsigned pfd_digits10_32(uint32_t value)
{
    unsigned log2 = 31u - (unsigned)__builtin_clz(value | 1);
    return (unsigned)((value + pfd_digits10_table[log2]) >> 32);
}

static inline unsigned pfd_digits10_64(uint64_t value)
{
    /* 1233 / 4096 is just above log10(2); one step too far is taken back. */
    unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1);
    unsigned guess = (bits * 1233) >> 12;
    return guess + 1 - ((value | 1) < pfd_pow10_u64[guess]);
}

/*
 * The eight digits of a value below 10^8, one per byte, not yet ASCII: halves
 * in two 32-bit lanes, quarters in four 16-bit lanes, digits in eight. Each
 * division is a multiplication with a rounded reciprocal that is exact over
 * its lane's range (the unit test tries every quarter).
 */
static inline uint64_t pfd_digits8_portable(uint32_t value)
{
    uint64_t high = ((uint64_t)value * 109951163) >> 40;
    uint64_t x = ((uint64_t)value << 32) - high * ((UINT64_C(10000) << 32) - 1);
    uint64_t q = ((x * 10486) >> 20) & 0x0000007f0000007f;
    x = (x << 16) - q * ((100 << 16) - 1);
    q = ((x * 103) >> 10) & 0x000f000f000f000f;
    return (x << 8) - q * ((10 << 8) - 1);
}

#if defined(PFD_USE_SSE2)

/* The same, in both 64-bit halves; every x86-64 has SSE2. */
static inline __m128i pfd_digits8_sse2(__m128i x)
{
    __m128i q = _mm_srli_epi64(
        _mm_mul_epu32(x, _mm_set1_epi64x(INT64_C(3518437209))), 45);
    /* Rest below, quotient above; then the quotient first. */
    x = _mm_add_epi64(
        x, _mm_mul_epu32(q, _mm_set1_epi64x(INT64_C(0x100000000) - 10000)));
    x = _mm_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1));
    q = _mm_srli_epi16(_mm_mulhi_epu16(x, _mm_set1_epi16(5243)), 3);
    /* madd and mulhi, because gcc makes five shifts and additions of a mullo
     * by a constant; 160 << 12 is 10 << 16. */
    x = _mm_sub_epi16(x, _mm_madd_epi16(q, _mm_set1_epi32(100)));
    x = _mm_or_si128(q, _mm_slli_epi32(x, 16));
    q = _mm_mulhi_epu16(x, _mm_set1_epi16(6554));
    x = _mm_sub_epi16(
        x, _mm_mulhi_epu16(_mm_slli_epi16(q, 12), _mm_set1_epi16(160)));
    return _mm_or_si128(q, _mm_slli_epi16(x, 8));
}

static inline uint64_t pfd_digits8(uint32_t value)
{
    __m128i x = pfd_digits8_sse2(_mm_cvtsi32_si128((int)value));
    return (uint64_t)_mm_cvtsi128_si64(x);
}

static inline void pfd_digits8x2(uint32_t a, uint32_t b, uint64_t *ret_a,
                                 uint64_t *ret_b)
{
    __m128i x = _mm_unpacklo_epi64(_mm_cvtsi32_si128((int)a),
                                   _mm_cvtsi32_si128((int)b));
    x = pfd_digits8_sse2(x);
    *ret_a = (uint64_t)_mm_cvtsi128_si64(x);
    *ret_b = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(x, x));
}

#else

static inline uint64_t pfd_digits8(uint32_t value)
{
    return pfd_digits8_portable(value);
}

static inline void pfd_digits8x2(uint32_t a, uint32_t b, uint64_t *ret_a,
                                 uint64_t *ret_b)
{
    *ret_a = pfd_digits8_portable(a);
    *ret_b = pfd_digits8_portable(b);
}

#endif

/* Writes the last [len] of the 16 digits in [high], [low]; 1 <= len <= 16. */
static inline void pfd_put_words2(char *out, uint64_t high, uint64_t low,
                                  unsigned len)
{
    unsigned first = len > 8 ? len - 8 : 0;
    /* With first == 0 the first word is junk that the second one covers. */
    pfd_store64(out, high >> ((64 - 8 * first) & 63));
    pfd_store64(out + first, low >> (64 - 8 * (len - first)));
}

/* The same with 24 digits, 1 <= len <= 24. */
static inline void pfd_put_words3(char *out, uint64_t high, uint64_t mid,
                                  uint64_t low, unsigned len)
{
    unsigned first = len > 16 ? len - 16 : 0;
    pfd_store64(out, high >> ((64 - 8 * first) & 63));
    pfd_put_words2(out + first, mid, low, len - first);
}

/* [value] has [len] digits. */
static inline char *pfd_put_u32_len(char *out, uint32_t value, unsigned len)
{
    /* The one branch: values are mostly all large or mostly all small. */
    if (value < 100000000) {
        uint64_t digits = pfd_digits8(value) | PFD_WORD_OF('0');
        pfd_store64(out, digits >> (64 - 8 * len));
        return out + len;
    }
    uint32_t high = value / 100000000;
    uint64_t low = pfd_digits8(value - high * 100000000);
    /* One digit is the second of its pair. */
    memcpy(out, &pfd_digit_pairs[2 * high + (high < 10)], 2);
    pfd_store64(out + len - 8, low | PFD_WORD_OF('0'));
    return out + len;
}

static inline char *pfd_put_u64_len(char *out, uint64_t value, unsigned len)
{
    uint64_t zeros = PFD_WORD_OF('0');
    uint64_t top = value / 100000000;
    uint32_t low = (uint32_t)(value - top * 100000000);
    uint64_t mid_digits, low_digits;
    if (__builtin_expect(value < UINT64_C(10000000000000000), 1)) {
        pfd_digits8x2((uint32_t)top, low, &mid_digits, &low_digits);
        pfd_put_words2(out, mid_digits | zeros, low_digits | zeros, len);
        return out + len;
    }
    uint32_t mid = (uint32_t)(top % 100000000);
    pfd_digits8x2(mid, low, &mid_digits, &low_digits);
    uint64_t high_digits = pfd_digits8((uint32_t)(top / 100000000));
    pfd_put_words3(out, high_digits | zeros, mid_digits | zeros,
                   low_digits | zeros, len);
    return out + len;
}

static inline char *pfd_put_u32(char *out, uint32_t value)
{
    return pfd_put_u32_len(out, value, pfd_digits10_32(value));
}

static inline char *pfd_put_u64(char *out, uint64_t value)
{
    return pfd_put_u64_len(out, value, pfd_digits10_64(value));
}

static inline char *pfd_put_i32(char *out, int32_t value)
{
    uint32_t negative = (uint32_t)value >> 31;
    *out = '-';
    return pfd_put_u32(out + negative,
                       ((uint32_t)value ^ (0 - negative)) + negative);
}

static inline char *pfd_put_i64(char *out, int64_t value)
{
    uint64_t negative = (uint64_t)value >> 63;
    *out = '-';
    return pfd_put_u64(out + negative,
                       ((uint64_t)value ^ (0 - negative)) + negative);
}

/* Eight hex characters; [letter] is the distance from '9' + 1 to 'a' or 'A'. */
enum {
    PFD_HEX_LOWER = 'a' - '9' - 1,
    PFD_HEX_UPPER = 'A' - '9' - 1
};

static inline uint64_t pfd_hex8(uint32_t value, unsigned letter)
{
    uint64_t x = value;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = __builtin_bswap64(x);
    uint64_t is_letter = ((x + PFD_WORD_OF(6)) >> 4) & PFD_WORD_OF(1);
    return x + PFD_WORD_OF('0') + is_letter * letter;
}

static inline unsigned pfd_digits16(uint64_t value)
{
    return (67u - (unsigned)__builtin_clzll(value | 1)) / 4;
}

static inline char *pfd_put_hex_len(char *out, uint64_t value, unsigned letter,
                                    unsigned len)
{
    pfd_put_words2(out, pfd_hex8((uint32_t)(value >> 32), letter),
                   pfd_hex8((uint32_t)value, letter), len);
    return out + len;
}

static inline char *pfd_put_hex32_as(char *out, uint32_t value, unsigned letter)
{
    unsigned len = pfd_digits16(value);
    pfd_store64(out, pfd_hex8(value, letter) >> (64 - 8 * len));
    return out + len;
}

static inline char *pfd_put_hex32(char *out, uint32_t value)
{
    return pfd_put_hex32_as(out, value, PFD_HEX_LOWER);
}

static inline char *pfd_put_hex32_upper(char *out, uint32_t value)
{
    return pfd_put_hex32_as(out, value, PFD_HEX_UPPER);
}

static inline char *pfd_put_hex64(char *out, uint64_t value)
{
    return pfd_put_hex_len(out, value, PFD_HEX_LOWER, pfd_digits16(value));
}

static inline char *pfd_put_hex64_upper(char *out, uint64_t value)
{
    return pfd_put_hex_len(out, value, PFD_HEX_UPPER, pfd_digits16(value));
}

/* Eight octal characters of the low 24 bits. */
static inline uint64_t pfd_octal8(uint64_t value)
{
    uint64_t x = value & 0xffffff;
    x = (x | x << 20) & 0x00000fff00000fff;
    x = (x | x << 10) & 0x003f003f003f003f;
    x = (x | x << 5) & 0x0707070707070707;
    return __builtin_bswap64(x) | PFD_WORD_OF('0');
}

static inline unsigned pfd_digits8_octal(uint64_t value)
{
    return (66u - (unsigned)__builtin_clzll(value | 1)) / 3;
}

static inline char *pfd_put_octal_len(char *out, uint64_t value, unsigned len)
{
    pfd_put_words3(out, pfd_octal8(value >> 48), pfd_octal8(value >> 24),
                   pfd_octal8(value), len);
    return out + len;
}

static inline char *pfd_put_octal64(char *out, uint64_t value)
{
    return pfd_put_octal_len(out, value, pfd_digits8_octal(value));
}

/*
 * Fixed point. A value is m / 2^t. Its integer part is m >> t; its fraction,
 * as a binary fixed-point number F / 2^64 (or 2^128) times 10^precision, has
 * the wanted decimals above the point and the exact rest below it, so that
 * round-half-even is decided exactly.
 */
struct pfd_fixed {
    uint64_t integer;
    uint64_t decimals; /* below 10^precision */
};

/* [decimals] is a number with 64 bits below the point; [more]: something is
 * set below those. [pow10] is odd only for precision 0, where the digit before
 * the rounded place is the integer's. Ties and carries are rare, so they are
 * branches. */
static inline struct pfd_fixed pfd_fixed_round(uint64_t integer,
                                               pfd_u128 decimals, bool more,
                                               uint64_t pow10)
{
    const uint64_t half = UINT64_C(1) << 63;
    struct pfd_fixed ret = { integer, (uint64_t)((decimals + half) >> 64) };
    if (__builtin_expect((uint64_t)decimals == half, 0) && !more)
        ret.decimals -= (ret.decimals ^ (integer & pow10)) & 1;
    if (__builtin_expect(ret.decimals == pow10, 0)) {
        ret.integer++;
        ret.decimals = 0;
    }
    return ret;
}

/* m < 2^24, 1 <= t, pow10 <= 10^8. From t = 63 on, the value is below 2^-39:
 * its decimals are 0 and not near a half, so t needs no case of its own. */
static inline struct pfd_fixed pfd_fixed_split32(uint32_t m, unsigned t,
                                                 uint64_t pow10)
{
    t = t > 63 ? 63 : t;
    pfd_u128 product = (pfd_u128)((uint64_t)m << 1 << (63 - t)) * pow10;
    return pfd_fixed_round((uint64_t)m >> t, product, false, pow10);
}

/* m < 2^53, 1 <= t, pow10 <= 10^19. From t = 127 on, the value is below 2^-74
 * and its decimals are below 2^-10. */
static inline struct pfd_fixed pfd_fixed_split64(uint64_t m, unsigned t,
                                                 uint64_t pow10)
{
    t = t > 127 ? 127 : t;
    pfd_u128 fraction = (pfd_u128)m << (128 - t);
    pfd_u128 low = (pfd_u128)(uint64_t)fraction * pow10;
    pfd_u128 high = (fraction >> 64) * pow10 + (low >> 64);
    return pfd_fixed_round(t < 64 ? m >> t : 0, high, (uint64_t)low != 0,
                           pow10);
}

/* The length of the text that pfd_put_fixed_parts() writes. */
static inline unsigned pfd_fixed_len(struct pfd_fixed value, unsigned precision)
{
    return pfd_digits10_32((uint32_t)value.integer) + precision +
           (precision != 0);
}

/* integer < 10^8, precision <= 8 */
static inline char *pfd_put_fixed_parts(char *out, struct pfd_fixed value,
                                        unsigned precision)
{
    uint32_t integer = (uint32_t)value.integer;
    /* The decimals as the leading ones of eight digits. */
    uint32_t decimals =
        (uint32_t)(value.decimals * pfd_pow10_u64[8 - precision]);
    unsigned len = pfd_digits10_32(integer);
    uint64_t before, after;
    pfd_digits8x2(integer, decimals, &before, &after);
    pfd_store64(out, (before | PFD_WORD_OF('0')) >> (64 - 8 * len));
    out[len] = '.';
    pfd_store64(out + len + 1, after | PFD_WORD_OF('0'));
    return out + len + precision + (precision != 0);
}

/* "%.*f"; room: pfd_room_fixed32(). */
static inline char *pfd_put_fixed32(char *out, uint32_t bits,
                                    unsigned precision)
{
    unsigned exponent = bits >> 23 & 0xff;
    /* Below 2^23. */
    if (__builtin_expect(exponent > 149 || precision > 8, 0))
        return pfd_fixed32_slow(out, bits, precision);
    /* Denormals get a leading 1 too many: all of them print as zero. */
    uint32_t m = (bits & 0x7fffff) | 0x800000;
    *out = '-';
    return pfd_put_fixed_parts(
        out + (bits >> 31),
        pfd_fixed_split32(m, 150 - exponent, pfd_pow10_u64[precision]),
        precision);
}

/* Below 2^26, so below 10^8. */
static inline bool pfd_fixed_is_common(uint64_t bits, unsigned precision)
{
    return (bits >> 52 & 0x7ff) <= 1048 && precision <= 8;
}

/* Of bits for which pfd_fixed_is_common(). As above, denormals print as 0. */
static inline struct pfd_fixed pfd_fixed_common(uint64_t bits,
                                                unsigned precision)
{
    uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;
    unsigned exponent = bits >> 52 & 0x7ff;
    return pfd_fixed_split64(m, 1075 - exponent, pfd_pow10_u64[precision]);
}

/* "%.*f"; room: pfd_room_fixed64(). */
static inline char *pfd_put_fixed64(char *out, uint64_t bits,
                                    unsigned precision)
{
    if (__builtin_expect(!pfd_fixed_is_common(bits, precision), 0))
        return pfd_fixed64_slow(out, bits, precision);
    *out = '-';
    return pfd_put_fixed_parts(out + (bits >> 63),
                               pfd_fixed_common(bits, precision), precision);
}

/*
 * A decimal number of 17 significant digits (padded with zeros at the end) as
 * text: the exponent, general and shortest forms are laid out from it.
 */
struct pfd_text17 {
    uint64_t high;     /* digits 1 to 8 */
    uint64_t low;      /* digits 9 to 16 */
    char last;         /* digit 17 */
    unsigned n_digits; /* up to the last that is not 0; at least 1 */
};

/* 10^16 <= value < 10^17, or 0. */
static inline struct pfd_text17 pfd_text17_make(uint64_t value)
{
    struct pfd_text17 ret;
    uint64_t first16 = value / 10;
    unsigned last = (unsigned)(value - first16 * 10);
    uint32_t high8 = (uint32_t)(first16 / 100000000);
    uint32_t low8 = (uint32_t)(first16 - (uint64_t)high8 * 100000000);
    uint64_t high, low;
    pfd_digits8x2(high8, low8, &high, &low);
    /* The last eight digits in one word: whether it is 0 can be guessed better
     * than whether the last digit is. */
    uint64_t tail = low >> 8 | (uint64_t)last << 56;
    if (tail != 0)
        ret.n_digits = 17 - (unsigned)__builtin_clzll(tail) / 8;
    else
        ret.n_digits = low ? 9 : 8 - (unsigned)__builtin_clzll(high | 1) / 8;
    ret.high = high | PFD_WORD_OF('0');
    ret.low = low | PFD_WORD_OF('0');
    ret.last = (char)('0' + last);
    return ret;
}

/* The same of at most 9 digits, which take half the time: 10^8 <= value < 10^9,
 * or 0. */
static inline struct pfd_text17 pfd_text17_make9(uint32_t value)
{
    struct pfd_text17 ret;
    uint32_t first8 = value / 10;
    uint32_t last = value - first8 * 10;
    uint64_t high = pfd_digits8(first8);
    uint64_t tail = high >> 8 | (uint64_t)last << 56;
    ret.n_digits = tail ? 9 - (unsigned)__builtin_clzll(tail) / 8 : 1;
    ret.high = high | PFD_WORD_OF('0');
    ret.low = PFD_WORD_OF('0') + last;
    ret.last = '0';
    return ret;
}

/* The digits without a point; writes 17 bytes. */
static inline void pfd_text17_put(char *out, const struct pfd_text17 *text)
{
    pfd_store64(out, text->high);
    pfd_store64(out + 8, text->low);
    out[16] = text->last;
}

/* The digits with a point after the first [point] of them, 1 <= point <= 16;
 * writes up to 26 bytes, 18 of them text. */
static inline void pfd_text17_put_point(char *out,
                                        const struct pfd_text17 *text,
                                        unsigned point)
{
    pfd_u128 all = (pfd_u128)text->low << 64 | text->high;
    pfd_u128 rest = all >> (8 * (point & 15));
    pfd_store64(out, text->high);
    pfd_store64(out + 8, text->low);
    out[point] = '.';
    pfd_store64(out + point + 1, (uint64_t)rest);
    /* Beyond point == 8 the upper word holds no digits. */
    pfd_store64(out + (point > 8 ? 17 : point + 9), (uint64_t)(rest >> 64));
    out[17] = text->last;
}

/* "e-05", "e+123": at least two digits; writes 5 bytes. */
static inline char *pfd_put_exponent(char *out, int exponent, char letter)
{
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    unsigned hundreds = magnitude / 100;
    unsigned rest = magnitude - 100 * hundreds;
    unsigned is_long = hundreds != 0;
    out[0] = letter;
    out[1] = exponent < 0 ? '-' : '+';
    out[2] = (char)('0' + hundreds);
    memcpy(out + 2 + is_long, &pfd_digit_pairs[2 * rest], 2);
    return out + 4 + is_long;
}

#endif
