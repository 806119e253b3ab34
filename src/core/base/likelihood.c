/* SPDX-License-Identifier: MIT */
#include "core/base/likelihood.h"

#include "core/base/escape.h"

enum {
    TEXT_SEEN = 256,
    BITS_LETTER = 6, /* of printable ASCII */
    BITS_BYTE = 8,   /* of any other byte of a text */
    BITS_BINARY = 8, /* added when a text is not readable */
    ESCAPE = 0x1b,   /* terminals' colours */
    BITS_SIZE = 5,   /* how large a number is */
    BITS_ROUND = 6,  /* how many zeros it ends in */
    BITS_FLOAT = 8,
    BITS_TINY = 10, /* a float below the normal ones */
    /* Beyond these powers of two a float costs all bits of its exponent. */
    EXPONENT_MIN = -32,
    EXPONENT_MAX = 48,
};

static bool is_letter(uint8_t c)
{
    return (c >= 0x20 && c < 0x7f) || (c >= '\a' && c <= '\r') || c == ESCAPE;
}

unsigned pfd_likelihood_text(const uint8_t *text, size_t n)
{
    unsigned bits = 0;
    bool is_binary = false;
    if (n > TEXT_SEEN) {
        text += n - TEXT_SEEN;
        n = TEXT_SEEN;
        /* Do not start inside of a UTF-8 sequence. */
        for (; n > TEXT_SEEN - 3 && *text >> 6 == 2; n--)
            text++;
    }
    for (size_t i = 0; i < n; i++) {
        bits += is_letter(text[i]) ? BITS_LETTER : BITS_BYTE;
        is_binary |= text[i] < 0x80 && !is_letter(text[i]);
    }
    if (is_binary || !pfd_is_utf8((const char *)text, n))
        bits += BITS_BINARY;
    return bits;
}

/* Significant bits of a small number, or of one round in binary, as the limits
 * of types are. */
static unsigned bit_length(uint64_t value)
{
    if (!value)
        return 0;
    unsigned n = 64u - (unsigned)__builtin_clzll(value);
    unsigned n_round = BITS_ROUND + n - (unsigned)__builtin_ctzll(value);
    return n_round < n ? n_round : n;
}

static unsigned at_most(unsigned bits, unsigned max)
{
    return bits < max ? bits : max;
}

unsigned pfd_likelihood_integer(uint64_t value, unsigned n_bytes)
{
    unsigned n = 8 * n_bytes;
    uint64_t low = n < 64 ? value & ((UINT64_C(1) << n) - 1) : value;
    uint64_t mask = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    unsigned plain = bit_length(low);
    unsigned negative = bit_length(~low & mask) + 1;
    unsigned limit = bit_length((low + 1) & mask) + 1;
    unsigned least = plain < negative ? plain : negative;
    return at_most(BITS_SIZE + (limit < least ? limit : least), n + 2);
}

unsigned pfd_likelihood_float(uint64_t value, unsigned n_bytes)
{
    unsigned n_mantissa = n_bytes == 8 ? 52 : n_bytes == 4 ? 23 : 10;
    unsigned n_exponent = 8 * n_bytes - 1 - n_mantissa;
    uint64_t mantissa = value & ((UINT64_C(1) << n_mantissa) - 1);
    unsigned exponent =
        (unsigned)(value >> n_mantissa) & ((1u << n_exponent) - 1);
    int power = (int)exponent - ((1 << (n_exponent - 1)) - 1);
    if (!exponent && !mantissa)
        return BITS_SIZE;
    unsigned used = n_mantissa;
    used = mantissa ? used - (unsigned)__builtin_ctzll(mantissa) : 0;
    bool is_odd = power < EXPONENT_MIN || power > EXPONENT_MAX;
    return BITS_FLOAT + used + (is_odd ? n_exponent : 0) +
           (exponent ? 0 : BITS_TINY);
}

void pfd_ways_add(struct pfd_ways *ways, uint32_t bits, uint64_t choice)
{
    unsigned i = ways->n;
    if (i == PFD_WAYS_MAX && ways->way[i - 1].bits <= bits)
        return;
    if (i < PFD_WAYS_MAX) {
        ways->n++;
    } else {
        i--;
    }
    for (; i > 0 && ways->way[i - 1].bits > bits; i--)
        ways->way[i] = ways->way[i - 1];
    ways->way[i] = (struct pfd_way){ bits, choice };
}
