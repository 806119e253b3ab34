/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4): names for content, which cannot be forged. Any thread.
 */
#ifndef PFDD_SHA256_H
#define PFDD_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    PFDD_SHA256_BYTES = 32,
    PFDD_SHA256_TEXT = 2 * PFDD_SHA256_BYTES + 1,
};

/* Hashes bytes [n]. */
void pfdd_sha256(const void *bytes, size_t n, uint8_t ret[PFDD_SHA256_BYTES]);

/* In hexadecimal, with a NUL. */
void pfdd_sha256_text(const uint8_t digest[PFDD_SHA256_BYTES],
                      char ret[PFDD_SHA256_TEXT]);

#endif
