/* SPDX-License-Identifier: MIT */
/*
 * RFC 1321. The four rounds are one loop: a step's number determines the word
 * of the block that it takes and the rotation.
 */
#include "core/base/md5.h"

#include <string.h>

enum {
    BLOCK = 64,
    LENGTH_AT = 56, /* in the last block: the length in bits */
};

/* floor(2^32 * abs(sin(i + 1))) */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
    0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
    0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
    0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
    0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
    0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
    0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
    0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const uint8_t turns[4][4] = {
    { 7, 12, 17, 22 },
    { 5, 9, 14, 20 },
    { 4, 11, 16, 23 },
    { 6, 10, 15, 21 },
};

static uint32_t turn_left(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static void add_block(uint32_t state[4], const uint8_t *block)
{
    uint32_t words[16];
    uint32_t a = state[0];
    uint32_t b = state[1];
    uint32_t c = state[2];
    uint32_t d = state[3];
    memcpy(words, block, sizeof words);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t mix;
        unsigned word;
        switch (i / 16) {
        case 0:
            mix = (b & c) | (~b & d);
            word = i;
            break;
        case 1:
            mix = (d & b) | (~d & c);
            word = (5 * i + 1) % 16;
            break;
        case 2:
            mix = b ^ c ^ d;
            word = (3 * i + 5) % 16;
            break;
        default:
            mix = c ^ (b | ~d);
            word = 7 * i % 16;
            break;
        }
        uint32_t next = b + turn_left(a + mix + sines[i] + words[word],
                                      turns[i / 16][i % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void pfd_md5(const void *bytes, size_t n, uint8_t ret[16])
{
    uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    uint8_t tail[2 * BLOCK] = { 0 };
    const uint8_t *p = bytes;
    size_t rest = n % BLOCK;
    for (size_t i = 0; i < n / BLOCK; i++)
        add_block(state, p + i * BLOCK);
    if (rest > 0)
        memcpy(tail, p + (n - rest), rest);
    tail[rest] = 0x80;
    size_t n_tail = rest < LENGTH_AT ? BLOCK : 2 * BLOCK;
    uint64_t n_bits = (uint64_t)n * 8;
    memcpy(tail + n_tail - 8, &n_bits, sizeof n_bits);
    for (size_t i = 0; i < n_tail; i += BLOCK)
        add_block(state, tail + i);
    memcpy(ret, state, sizeof state);
}

uint64_t pfd_md5_u64(const void *bytes, size_t n)
{
    uint8_t digest[16];
    uint64_t number;
    pfd_md5(bytes, n, digest);
    memcpy(&number, digest, sizeof number);
    return number;
}
