/* SPDX-License-Identifier: MIT */
/* Dispatch packets that start a kernel which is loaded. */
#ifndef PFD_DISPATCH_PACKETS_H
#define PFD_DISPATCH_PACKETS_H

#include "memory/search/prefilter.h"

/* What one leads to. */
struct pfd_packet {
    const struct pfd_kernel *kernel;
    uint64_t arguments; /* where these are */
    bool is_dispatch;   /* it is one, or was one that was taken */
};

/* The first place in [from, to) where a packet could be; `to` or beyond: there
 * is none. */
size_t pfd_packet_find(const struct pfd_kernels *kernels,
                       const struct pfd_field *field, size_t from, size_t to);

/* Reads the one at a place that pfd_packet_find() gave. */
struct pfd_packet pfd_packet_read(const struct pfd_kernels *kernels,
                                  const struct pfd_field *field, size_t at);

#endif
