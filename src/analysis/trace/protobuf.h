/* SPDX-License-Identifier: MIT */
/*
 * Appends fields of protocol buffers. Knows the wire format
 * (https://protobuf.dev/programming-guides/encoding/), no messages.
 */
#ifndef PFD_PROTOBUF_H
#define PFD_PROTOBUF_H

#include <stdint.h>
#include <string.h>

#include "core/base/text.h"

enum {
    PFD_PROTOBUF_VARINT = 0,
    PFD_PROTOBUF_I64 = 1,
    PFD_PROTOBUF_LEN = 2,
    PFD_PROTOBUF_VARINT_MAX = 10, /* bytes of 64 bits */
    PFD_PROTOBUF_N_LENGTH = 4,    /* bytes of a message's length, always */
};

#define PFD_PROTOBUF_LENGTH_MAX ((UINT32_C(1) << 7 * PFD_PROTOBUF_N_LENGTH) - 1)

static inline void pfd_protobuf_raw(struct pfd_text *out, uint64_t v)
{
    char *at = pfd_text_reserve(out, PFD_PROTOBUF_VARINT_MAX);
    if (!at)
        return;
    char *end = at;
    for (; v >= 0x80; v >>= 7)
        *end++ = (char)(v | 0x80);
    *end++ = (char)v;
    out->n += (size_t)(end - at);
}

static inline void pfd_protobuf_uint(struct pfd_text *out, unsigned field,
                                     uint64_t v)
{
    pfd_protobuf_raw(out, field << 3 | PFD_PROTOBUF_VARINT);
    pfd_protobuf_raw(out, v);
}

static inline void pfd_protobuf_double(struct pfd_text *out, unsigned field,
                                       double v)
{
    pfd_protobuf_raw(out, field << 3 | PFD_PROTOBUF_I64);
    pfd_text_add(out, &v, sizeof v); /* hosts are little-endian */
}

static inline void pfd_protobuf_bytes(struct pfd_text *out, unsigned field,
                                      const void *bytes, size_t n)
{
    pfd_protobuf_raw(out, field << 3 | PFD_PROTOBUF_LEN);
    pfd_protobuf_raw(out, n);
    pfd_text_add(out, bytes, n);
}

/* Begins a nested message; returns its place, for pfd_protobuf_end(). */
static inline size_t pfd_protobuf_begin(struct pfd_text *out, unsigned field)
{
    static const char length[PFD_PROTOBUF_N_LENGTH];
    pfd_protobuf_raw(out, field << 3 | PFD_PROTOBUF_LEN);
    pfd_text_add(out, length, sizeof length);
    return out->n;
}

/* Writes the length into the reserved bytes. False: the message is too long,
 * and so is the one around it. */
static inline bool pfd_protobuf_end(struct pfd_text *out, size_t begin)
{
    if (out->failed)
        return true;
    size_t n = out->n - begin;
    uint8_t *at = (uint8_t *)out->data + begin - PFD_PROTOBUF_N_LENGTH;
    if (n > PFD_PROTOBUF_LENGTH_MAX)
        return false;
    for (int i = 0; i < PFD_PROTOBUF_N_LENGTH; i++, n >>= 7)
        at[i] =
            (uint8_t)(n & 0x7f) | (i < PFD_PROTOBUF_N_LENGTH - 1 ? 0x80 : 0);
    return true;
}

#endif
