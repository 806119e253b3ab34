/* SPDX-License-Identifier: MIT */
/*
 * MessagePack, one object at a time and in place: an object's type and how much
 * follows it. The caller counts the objects that containers still need.
 * github.com/msgpack/msgpack/blob/master/spec.md
 */
#ifndef PFD_MSGPACK_H
#define PFD_MSGPACK_H

#include "core/base/byte_reader.h"

struct pfd_msgpack {
    enum {
        PFD_MSGPACK_OTHER, /* nil, bool, float, ext, a small negative integer */
        PFD_MSGPACK_NUMBER, /* another integer */
        PFD_MSGPACK_BYTES,  /* str or bin */
        PFD_MSGPACK_ITEMS,  /* array or map */
        PFD_MSGPACK_BAD,    /* no object begins so, or there is no byte */
    } kind;
    bool is_map;
    bool is_signed;    /* of a NUMBER */
    uint8_t small;     /* the value of a NUMBER without further bytes */
    uint64_t n_follow; /* bytes, which hold no objects; ITEMS: objects, at
                          least a byte each */
};

/* An object that begins with a byte from 0xc0 to 0xdf. */
struct pfd_msgpack pfd_msgpack_read_long(struct pfd_byte_reader *c,
                                         uint8_t first);

/* The next object; the reader then stands before the bytes that follow it. */
static inline struct pfd_msgpack pfd_msgpack_read(struct pfd_byte_reader *c)
{
    struct pfd_msgpack ret = { .kind = PFD_MSGPACK_NUMBER };
    uint8_t first = pfd_byte_reader_u8(c);
    if (!pfd_byte_reader_ok(c)) {
        ret.kind = PFD_MSGPACK_BAD;
    } else if (first < 0x80) {
        ret.small = first;
    } else if (first < 0xa0) {
        ret.kind = PFD_MSGPACK_ITEMS;
        ret.is_map = first < 0x90;
        ret.n_follow = (first & 15u) << ret.is_map;
    } else if (first < 0xc0) {
        ret.kind = PFD_MSGPACK_BYTES;
        ret.n_follow = first & 31u;
    } else if (first >= 0xe0) {
        ret.kind = PFD_MSGPACK_OTHER;
    } else {
        return pfd_msgpack_read_long(c, first);
    }
    return ret;
}

/* Bytes of the header of a map that begins with this byte; 0: none does. */
static inline size_t pfd_msgpack_map_header(uint8_t first)
{
    return first >> 4 == 8 ? 1 : first == 0xde ? 3 : first == 0xdf ? 5 : 0;
}

/* A big-endian number of n bytes, 8 at most; 0 where fewer are left. */
static inline uint64_t pfd_msgpack_big_endian(struct pfd_byte_reader *c,
                                              size_t n)
{
    const uint8_t *p = pfd_byte_reader_bytes(c, n);
    uint64_t number = 0;
    if (p && n && c->n - c->at >= sizeof number) { /* reads 8, drops the rest */
        memcpy(&number, p, sizeof number);
        return __builtin_bswap64(number) >> (64 - 8 * n);
    }
    for (size_t i = 0; p && i < n; i++)
        number = number << 8 | p[i];
    return number;
}

/* The next object as an unsigned integer; false: another type, or cut. The
 * reader is then no longer usable. */
static inline bool pfd_msgpack_read_number(struct pfd_byte_reader *c,
                                           uint64_t *ret)
{
    uint8_t first = pfd_byte_reader_u8(c);
    if (first >= 0xcc && first <= 0xcf) {
        *ret = pfd_msgpack_big_endian(c, (size_t)1 << (first - 0xcc));
    } else {
        *ret = first;
    }
    return pfd_byte_reader_ok(c) && (first < 0x80 || (first >> 2) == 0xcc >> 2);
}

/* Likewise, text or binary of *n bytes; NULL: another type, or cut. */
static inline const char *pfd_msgpack_read_bytes(struct pfd_byte_reader *c,
                                                 size_t *n)
{
    uint8_t first = pfd_byte_reader_u8(c);
    if (first >= 0xa0 && first < 0xc0) {
        *n = first & 31u;
    } else if (first >= 0xd9 && first <= 0xdb) {
        *n = (size_t)pfd_msgpack_big_endian(c, (size_t)1 << (first - 0xd9));
    } else if (first >= 0xc4 && first <= 0xc6) {
        *n = (size_t)pfd_msgpack_big_endian(c, (size_t)1 << (first - 0xc4));
    } else {
        return NULL;
    }
    return (const char *)pfd_byte_reader_bytes(c, *n);
}

#endif
