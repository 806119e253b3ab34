/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK = 64,
    LENGTH = 8, /* bytes at the end of the last block: the number of bits */
    ROUNDS = 64,
};

/* FIPS 180-4, 4.2.2. */
static const uint32_t k[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void spread(const uint8_t *block, uint32_t w[ROUNDS])
{
    for (unsigned i = 0; i < 16; i++) {
        uint32_t word = 0;
        memcpy(&word, block + 4 * i, sizeof word);
        w[i] = be32toh(word);
    }
    for (unsigned i = 16; i < ROUNDS; i++) {
        uint32_t a = w[i - 15];
        uint32_t b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void take_block(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[ROUNDS];
    uint32_t s[8]; /* a to h */
    spread(block, w);
    memcpy(s, h, sizeof s);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t e = s[4];
        uint32_t a = s[0];
        uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                      ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (unsigned i = 0; i < 8; i++)
        h[i] += s[i];
}

void pfdd_sha256(const void *bytes, size_t n, uint8_t ret[PFDD_SHA256_BYTES])
{
    uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    const uint8_t *at = bytes;
    uint8_t end[2 * BLOCK] = { 0 };
    size_t left = n % BLOCK;
    size_t n_end = left + 1 + LENGTH > BLOCK ? 2 * BLOCK : BLOCK;
    uint64_t n_bits = htobe64((uint64_t)n * 8);
    for (size_t i = 0; i < n / BLOCK; i++)
        take_block(h, at + i * BLOCK);
    if (left)
        memcpy(end, at + n - left, left);
    end[left] = 0x80;
    memcpy(end + n_end - LENGTH, &n_bits, LENGTH);
    for (size_t i = 0; i < n_end; i += BLOCK)
        take_block(h, end + i);
    for (unsigned i = 0; i < 8; i++) {
        uint32_t word = htobe32(h[i]);
        memcpy(ret + 4 * i, &word, sizeof word);
    }
}

void pfdd_sha256_text(const uint8_t digest[PFDD_SHA256_BYTES],
                      char ret[PFDD_SHA256_TEXT])
{
    for (unsigned i = 0; i < PFDD_SHA256_BYTES; i++)
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}
