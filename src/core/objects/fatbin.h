/* SPDX-License-Identifier: MIT */
/*
 * Device code of CUDA as nvcc puts it into a program, in the section
 * .nv_fatbin: one after another a header and parts of code, each for a kind of
 * device and perhaps compressed by itself. Borrows the bytes and hands out
 * ranges within them. Knows nothing of what a part is.
 */
#ifndef PFD_FATBIN_H
#define PFD_FATBIN_H

#include "core/base/byte_reader.h"

bool pfd_fatbin_recognise(const void *bytes, size_t n);

enum pfd_fatbin_packing {
    PFD_FATBIN_PLAIN,
    PFD_FATBIN_ZSTD,
    PFD_FATBIN_LZ4,
};

struct pfd_fatbin_part {
    bool is_elf;     /* else PTX, or what is not known */
    unsigned target; /* 75 is sm_75 */
    enum pfd_fatbin_packing packing;
    struct pfd_byte_reader bytes; /* as they are stored */
    uint64_t n_out;               /* what they inflate to */
    size_t offset;                /* of bytes */
};

/* Bytes of the one that begins at bytes [n]; 0: that cannot be told. */
size_t pfd_fatbin_size(const void *bytes, size_t n);

/* The part at *at (0: the first one), which is moved on. False: no more, or
 * what stands there is broken: then *at is not the size. */
bool pfd_fatbin_next(const void *bytes, size_t n, size_t *at,
                     struct pfd_fatbin_part *ret);

#endif
