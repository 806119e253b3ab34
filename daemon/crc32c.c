/* SPDX-License-Identifier: MIT */
#include "crc32c.h"

#include <pthread.h>

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (int k = 1; k < 8; k++) {
            table[k][i] =
                table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
        }
    }
}

uint32_t pfdd_crc32c(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    pthread_once(&once, fill_table);
    crc = ~crc;
    for (; n >= 8; n -= 8, at += 8) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
               (uint32_t)at[3] << 24;
        crc = table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^
              table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
              table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
              table[0][at[7]];
    }
    for (; n; n--, at++)
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    return ~crc;
}
