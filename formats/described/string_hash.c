/* SPDX-License-Identifier: MIT */
/* Hashes of texts, as shader languages and engines number their messages. */
#include <string.h>

#include "core/base/fnv.h"
#include "core/base/inflate.h"
#include "string_rule.h"

/* sdbm, as Slang's getStringHash(). */
static uint32_t sdbm(const char *text, size_t n)
{
    uint32_t h = 0;
    for (size_t i = 0; i < n; i++)
        h = (uint8_t)text[i] + (h << 6) + (h << 16) - h;
    return h;
}

/* FNV-1a of 32 bits. */
static uint32_t fnv1a(const char *text, size_t n)
{
    uint32_t h = 0x811c9dc5;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)text[i]) * 0x01000193;
    return h;
}

/* XXH32 with seed 0, by its specification (xxHash, doc/xxhash_spec.md). */
enum {
    STRIPE = 16,
};
#define PRIME1 0x9e3779b1u
#define PRIME2 0x85ebca77u
#define PRIME3 0xc2b2ae3du
#define PRIME4 0x27d4eb2fu
#define PRIME5 0x165667b1u

static uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

static uint32_t word_at(const char *text)
{
    uint32_t ret;
    memcpy(&ret, text, sizeof ret);
    return ret;
}

static uint32_t xxh32_stripes(const char *text, size_t n)
{
    uint32_t lanes[4] = { PRIME1 + PRIME2, PRIME2, 0, 0 - PRIME1 };
    for (size_t at = 0; n - at >= STRIPE; at += STRIPE) {
        for (size_t i = 0; i < 4; i++) {
            uint32_t word = word_at(text + at + 4 * i);
            lanes[i] = rotate(lanes[i] + word * PRIME2, 13) * PRIME1;
        }
    }
    return rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
           rotate(lanes[3], 18);
}

static uint32_t xxh32(const char *text, size_t n)
{
    uint32_t h = n < STRIPE ? PRIME5 : xxh32_stripes(text, n);
    size_t at = n / STRIPE * STRIPE;
    h += (uint32_t)n;
    for (; n - at >= 4; at += 4)
        h = rotate(h + word_at(text + at) * PRIME3, 17) * PRIME4;
    for (; at < n; at++)
        h = rotate(h + (uint8_t)text[at] * PRIME5, 11) * PRIME1;
    h = (h ^ h >> 15) * PRIME2;
    h = (h ^ h >> 13) * PRIME3;
    return h ^ h >> 16;
}

uint64_t string_hash(enum rule_id kind, bool is_wide, const char *text,
                     size_t n)
{
    switch (kind) {
    case ID_SDBM:
        return sdbm(text, n);
    case ID_FNV1A:
        return is_wide ? pfd_fnv1a(PFD_FNV_START, text, n) : fnv1a(text, n);
    case ID_CRC32:
        return pfd_crc32(text, n);
    case ID_XXH32:
        return xxh32(text, n);
    case ID_INDEX:
    case ID_OFFSET:
    case ID_ADDRESS:
        break;
    }
    return 0;
}
