/* SPDX-License-Identifier: MIT */
/*
 * The only way input bytes are read. A byte reader is a borrowed range of bytes
 * and a position in it. Reads are little-endian and never pass the end. The
 * first read past the end sets `failed`, which stays set; that read and all
 * later ones return zero. A parser thus reads a whole header straight down and
 * calls pfd_byte_reader_ok() once, before any value becomes a length, count or
 * bound.
 */
#ifndef PFD_BYTE_READER_H
#define PFD_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pfd_byte_reader {
    const uint8_t *base; /* borrowed */
    size_t n;            /* bytes at base */
    size_t at;           /* always <= n */
    bool failed;
};

static inline struct pfd_byte_reader pfd_byte_reader(const void *bytes,
                                                     size_t n)
{
    return (struct pfd_byte_reader){ .base = (const uint8_t *)bytes, .n = n };
}

static inline bool pfd_byte_reader_ok(const struct pfd_byte_reader *c)
{
    return !c->failed;
}

static inline size_t pfd_byte_reader_left(const struct pfd_byte_reader *c)
{
    return c->n - c->at;
}

/* The next [n] bytes, borrowed, or NULL when fewer are left. */
static inline const uint8_t *pfd_byte_reader_bytes(struct pfd_byte_reader *c,
                                                   size_t n)
{
    if (c->failed || n > c->n - c->at) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->base + c->at;
    c->at += n;
    return p;
}

static inline void pfd_byte_reader_skip(struct pfd_byte_reader *c, size_t n)
{
    (void)pfd_byte_reader_bytes(c, n);
}

static inline uint8_t pfd_byte_reader_u8(struct pfd_byte_reader *c)
{
    const uint8_t *p = pfd_byte_reader_bytes(c, 1);
    return p ? *p : 0;
}

static inline uint16_t pfd_byte_reader_u16(struct pfd_byte_reader *c)
{
    uint16_t v = 0;
    const uint8_t *p = pfd_byte_reader_bytes(c, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t pfd_byte_reader_u32(struct pfd_byte_reader *c)
{
    uint32_t v = 0;
    const uint8_t *p = pfd_byte_reader_bytes(c, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t pfd_byte_reader_u64(struct pfd_byte_reader *c)
{
    uint64_t v = 0;
    const uint8_t *p = pfd_byte_reader_bytes(c, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

/* A reader of the next [n] bytes, which this consumes; it cannot leave them.
 * With fewer bytes left: an empty, failed reader. */
static inline struct pfd_byte_reader pfd_byte_reader_sub(
    struct pfd_byte_reader *c, size_t n)
{
    const uint8_t *p = pfd_byte_reader_bytes(c, n);
    struct pfd_byte_reader sub = pfd_byte_reader(p ? p : c->base, p ? n : 0);
    sub.failed = p == NULL;
    return sub;
}

/* Moves to an offset in the range; an offset beyond its end fails. */
static inline void pfd_byte_reader_seek(struct pfd_byte_reader *c, uint64_t at)
{
    if (c->failed || at > c->n)
        c->failed = true;
    else
        c->at = (size_t)at;
}

/* Reads at an offset without moving; the caller has checked that at + 4 (or 8)
 * is not beyond n. For hot loops that prove their bounds once. */
static inline uint32_t pfd_byte_reader_peek_u32(const struct pfd_byte_reader *c,
                                                size_t at)
{
    uint32_t v;
    memcpy(&v, c->base + at, sizeof v);
    return v;
}

static inline uint64_t pfd_byte_reader_peek_u64(const struct pfd_byte_reader *c,
                                                size_t at)
{
    uint64_t v;
    memcpy(&v, c->base + at, sizeof v);
    return v;
}

/* The bytes at an offset that the caller has checked, without moving. */
static inline const uint8_t *pfd_byte_reader_peek(
    const struct pfd_byte_reader *c, size_t at)
{
    return c->base + at;
}

#endif
