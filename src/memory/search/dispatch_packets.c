/* SPDX-License-Identifier: MIT */
/*
 * Source of a dispatch packet's layout: hsa_kernel_dispatch_packet_t of the HSA
 * runtime's specification, 1.2. The packet processor sets a packet's type to
 * "invalid" once it has taken it, and leaves the other fields.
 */
#include "memory/search/dispatch_packets.h"

enum {
    PACKET = 64,
    PACKET_KERNEL = 32,
    PACKET_ARGUMENTS = 40,
    PACKET_INVALID = 1,
    PACKET_DISPATCH = 2,
};

size_t pfd_packet_find(const struct pfd_kernels *kernels,
                       const struct pfd_field *field, size_t from, size_t to)
{
    const struct pfd_byte_reader c = pfd_byte_reader(field->bytes, field->n);
    if (!kernels->n)
        return to;
    uint64_t first = kernels->at[0].address;
    uint64_t last = kernels->at[kernels->n - 1].address;
    size_t at = from + (size_t)(-(field->address + from) % PACKET);
    for (; at < to && field->n - at >= PACKET; at += PACKET) {
        uint64_t address = pfd_byte_reader_peek_u64(&c, at + PACKET_KERNEL);
        if (address >= first && address <= last &&
            pfd_kernels_find(kernels, address))
            return at;
    }
    return to;
}

struct pfd_packet pfd_packet_read(const struct pfd_kernels *kernels,
                                  const struct pfd_field *field, size_t at)
{
    struct pfd_byte_reader c = pfd_byte_reader(field->bytes + at, PACKET);
    uint8_t type = pfd_byte_reader_u8(&c);
    pfd_byte_reader_seek(&c, PACKET_KERNEL);
    uint64_t kernel = pfd_byte_reader_u64(&c);
    return (struct pfd_packet){
        .kernel = pfd_kernels_find(kernels, kernel),
        .arguments = pfd_byte_reader_u64(&c),
        .is_dispatch = type == PACKET_INVALID || type == PACKET_DISPATCH,
    };
}
