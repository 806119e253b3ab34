/* SPDX-License-Identifier: MIT */
#include "core/base/msgpack.h"

/* Bytes 0xc0 to 0xdf. */
static const struct {
    uint8_t kind;
    uint8_t n_count; /* bytes of a count, of bytes or objects */
    uint8_t n_fixed; /* further bytes of fixed number */
} forms[32] = {
    /* nil, false, true */
    [0xc0 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 0 },
    [0xc1 - 0xc0] = { PFD_MSGPACK_BAD, 0, 0 },
    [0xc2 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 0 },
    [0xc3 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 0 },
    /* bin */
    [0xc4 - 0xc0] = { PFD_MSGPACK_BYTES, 1, 0 },
    [0xc5 - 0xc0] = { PFD_MSGPACK_BYTES, 2, 0 },
    [0xc6 - 0xc0] = { PFD_MSGPACK_BYTES, 4, 0 },
    /* ext: one byte more, its type */
    [0xc7 - 0xc0] = { PFD_MSGPACK_OTHER, 1, 1 },
    [0xc8 - 0xc0] = { PFD_MSGPACK_OTHER, 2, 1 },
    [0xc9 - 0xc0] = { PFD_MSGPACK_OTHER, 4, 1 },
    /* float */
    [0xca - 0xc0] = { PFD_MSGPACK_OTHER, 0, 4 },
    [0xcb - 0xc0] = { PFD_MSGPACK_OTHER, 0, 8 },
    /* uint, int */
    [0xcc - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 1 },
    [0xcd - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 2 },
    [0xce - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 4 },
    [0xcf - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 8 },
    [0xd0 - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 1 },
    [0xd1 - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 2 },
    [0xd2 - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 4 },
    [0xd3 - 0xc0] = { PFD_MSGPACK_NUMBER, 0, 8 },
    /* ext of 1, 2, 4, 8 and 16 bytes */
    [0xd4 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 2 },
    [0xd5 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 3 },
    [0xd6 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 5 },
    [0xd7 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 9 },
    [0xd8 - 0xc0] = { PFD_MSGPACK_OTHER, 0, 17 },
    /* str */
    [0xd9 - 0xc0] = { PFD_MSGPACK_BYTES, 1, 0 },
    [0xda - 0xc0] = { PFD_MSGPACK_BYTES, 2, 0 },
    [0xdb - 0xc0] = { PFD_MSGPACK_BYTES, 4, 0 },
    /* array, map */
    [0xdc - 0xc0] = { PFD_MSGPACK_ITEMS, 2, 0 },
    [0xdd - 0xc0] = { PFD_MSGPACK_ITEMS, 4, 0 },
    [0xde - 0xc0] = { PFD_MSGPACK_ITEMS, 2, 0 },
    [0xdf - 0xc0] = { PFD_MSGPACK_ITEMS, 4, 0 },
};

struct pfd_msgpack pfd_msgpack_read_long(struct pfd_byte_reader *c,
                                         uint8_t first)
{
    unsigned form = first & 31u;
    uint64_t count = pfd_msgpack_big_endian(c, forms[form].n_count);
    struct pfd_msgpack ret = {
        .is_map = first >= 0xde,
        .is_signed = first >= 0xd0,
        .n_follow = count + forms[form].n_fixed,
    };
    ret.kind = forms[form].kind;
    if (ret.is_map)
        ret.n_follow *= 2;
    return ret;
}
