/* SPDX-License-Identifier: MIT */
/*
 * CUDA device code as nvcc embeds it into a program's section .nv_fatbin: a
 * sequence of headers, each with parts of code, one for each kind of device and
 * perhaps compressed separately. Borrows the bytes and returns ranges within
 * them. Does not know the parts' content.
 */
#ifndef PFD_NV_FATBIN_H
#define PFD_NV_FATBIN_H

#include "core/base/byte_reader.h"

enum pfd_fatbin_packing {
    PFD_FATBIN_PLAIN,
    PFD_FATBIN_ZSTD,
    PFD_FATBIN_LZ4,
};

struct pfd_fatbin_part {
    bool is_elf;     /* else PTX, or an unknown kind */
    unsigned target; /* 75 is sm_75 */
    enum pfd_fatbin_packing packing;
    struct pfd_byte_reader bytes; /* as they are stored */
    uint64_t n_out;               /* inflated size */
    size_t offset;                /* of bytes */
};

/* Bytes of the fatbin that begins at bytes [n]; 0: unknown. */
size_t pfd_fatbin_size(const void *bytes, size_t n);

/* The part at *at (0: the first one), which then moves on. False: no more, or
 * the part is broken, in which case *at is not the size. */
bool pfd_fatbin_next(const void *bytes, size_t n, size_t *at,
                     struct pfd_fatbin_part *ret);

#endif
