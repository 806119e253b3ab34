/* SPDX-License-Identifier: MIT */
/* SHA-512, by which peers prove that they know a key. Needs OpenSSL. Any
 * thread. */
#ifndef PFDD_SHA512_H
#define PFDD_SHA512_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PFDD_SHA512_TEXT = 2 * 64 + 1
};

struct pfdd_piece {
    const void *at;
    size_t n;
};

/* Hashes concatenated pieces [n]; hexadecimal, with a NUL. False: it failed, or
 * OpenSSL is missing. */
bool pfdd_sha512(const struct pfdd_piece *pieces, size_t n,
                 char ret[PFDD_SHA512_TEXT]);

#endif
