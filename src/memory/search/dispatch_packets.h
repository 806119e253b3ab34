/* SPDX-License-Identifier: MIT */
/* Dispatch packets that start a loaded kernel. */
#ifndef PFD_DISPATCH_PACKETS_H
#define PFD_DISPATCH_PACKETS_H

#include "core/decode/format.h"
#include "memory/search/kernels.h"

/* The kernel and the arguments that a packet leads to. */
struct pfd_packet {
    const struct pfd_kernel *kernel;
    uint64_t arguments; /* their address */
    bool is_dispatch;   /* it is a dispatch, or was one that was taken */
};

/* The first place in [from, to) where a packet could be; `to` or more: there is
 * none. */
size_t pfd_packet_find(const struct pfd_kernels *kernels,
                       const struct pfd_field *field, size_t from, size_t to);

/* Reads the packet at a place that pfd_packet_find() returned. */
struct pfd_packet pfd_packet_read(const struct pfd_kernels *kernels,
                                  const struct pfd_field *field, size_t at);

#endif
