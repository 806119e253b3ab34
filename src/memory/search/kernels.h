/* SPDX-License-Identifier: MIT */
/*
 * Loaded kernels, by the addresses of their descriptors: dispatch packets name
 * them so. Owns its members.
 */
#ifndef PFD_KERNELS_H
#define PFD_KERNELS_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/decode/format.h"
#include "memory/space/address_space.h"

struct pfd_kernel {
    uint64_t address;       /* of the descriptor */
    uint64_t printf_buffer; /* offset of the buffer's address in the
                               arguments */
    const char *name;       /* NUL-terminated */
};

/* All zero is an empty set. */
struct pfd_kernels {
    struct pfd_kernel *at; /* [n], by address */
    size_t n;
    size_t room;
    struct pfd_arena names;
};

/* Loads the kernels that print into a buffer, from the code objects that ROCm's
 * runtime has loaded. PFD_OK, also where these cannot be read;
 * PFD_ERR_NOMEM. */
enum pfd_status pfd_kernels_load(struct pfd_kernels *kernels,
                                 struct pfd_memory *memory,
                                 struct pfd_error *err);
void pfd_kernels_free(struct pfd_kernels *kernels);

/* Dispatch packets that start a loaded kernel. */

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
