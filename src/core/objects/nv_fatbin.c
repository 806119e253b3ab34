/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA does not document this layout; it was derived from the output of nvcc
 * 13.0 in its five modes of --compress-mode. Little-endian:
 *
 *   header  50 ed 55 ba, u16 version (1), u16 bytes of the header, u64 bytes of
 *           all parts
 *   part    u16 kind (1: PTX, 2: an ELF file), u16 version, u32 bytes of its
 *           header, u64 bytes behind that, u32 how many of these are compressed
 *           code, 8 bytes, u32 target, 8 bytes, u64 flags (0x2000: LZ4,
 *           0x8000: zstd), 8 bytes, u64 bytes before it was compressed
 */
#include "core/objects/nv_fatbin.h"

enum {
    MAGIC_SIZE = 4,
    HEADER = 16,
    PART_HEADER = 64,
    KIND_ELF = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
};

/* The offset of its first part; *end: the end of the last one. */
static size_t parts_of(const void *bytes, size_t n, uint64_t *end)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    pfd_byte_reader_skip(&c, MAGIC_SIZE + 2);
    size_t from = pfd_byte_reader_u16(&c);
    uint64_t n_parts = pfd_byte_reader_u64(&c);
    bool fits = from <= n && n_parts <= n - from;
    *end = fits ? from + n_parts : 0;
    return from;
}

size_t pfd_fatbin_size(const void *bytes, size_t n)
{
    uint64_t end = 0;
    parts_of(bytes, n, &end);
    return (size_t)end;
}

bool pfd_fatbin_next(const void *bytes, size_t n, size_t *at,
                     struct pfd_fatbin_part *ret)
{
    uint64_t end = 0;
    size_t from = parts_of(bytes, n, &end);
    struct pfd_byte_reader c = pfd_byte_reader(bytes, end ? (size_t)end : n);
    pfd_byte_reader_seek(&c, *at ? *at : from);
    if (!pfd_byte_reader_ok(&c) || pfd_byte_reader_left(&c) < PART_HEADER)
        return false;
    size_t start = c.at;
    ret->is_elf = pfd_byte_reader_u16(&c) == KIND_ELF;
    pfd_byte_reader_skip(&c, 2);
    uint32_t n_header = pfd_byte_reader_u32(&c);
    uint64_t n_bytes = pfd_byte_reader_u64(&c);
    uint32_t n_packed = pfd_byte_reader_u32(&c);
    pfd_byte_reader_skip(&c, 8);
    ret->target = pfd_byte_reader_u32(&c);
    pfd_byte_reader_skip(&c, 8);
    uint64_t flags = pfd_byte_reader_u64(&c);
    pfd_byte_reader_skip(&c, 8);
    ret->n_out = pfd_byte_reader_u64(&c);
    ret->packing = flags & FLAG_ZSTD  ? PFD_FATBIN_ZSTD
                   : flags & FLAG_LZ4 ? PFD_FATBIN_LZ4
                                      : PFD_FATBIN_PLAIN;
    pfd_byte_reader_seek(&c, start);
    pfd_byte_reader_skip(&c, n_header);
    if (!pfd_byte_reader_ok(&c) || n_header < PART_HEADER ||
        n_bytes > pfd_byte_reader_left(&c) || n_packed > n_bytes)
        return false;
    ret->offset = c.at;
    ret->bytes = pfd_byte_reader_sub(&c, (size_t)n_bytes);
    if (ret->packing != PFD_FATBIN_PLAIN && n_packed)
        ret->bytes = pfd_byte_reader(ret->bytes.base, n_packed);
    *at = c.at;
    return true;
}
