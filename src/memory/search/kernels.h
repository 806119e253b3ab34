/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are loaded, by the address of their descriptors, which is what
 * dispatch packets name them by. Owns what it holds.
 */
#ifndef PFD_KERNELS_H
#define PFD_KERNELS_H

#include <printfdecode/memory.h>

#include "core/base/arena.h"
#include "core/base/error.h"

struct pfd_kernel {
    uint64_t address;       /* of its descriptor */
    uint64_t printf_buffer; /* where its arguments have the buffer's address */
    const char *name;       /* NUL-terminated */
};

/* All zero is an empty set. */
struct pfd_kernels {
    struct pfd_kernel *at; /* [n], by address */
    size_t n;
    size_t room;
    struct pfd_arena names;
};

/* Those that print into a buffer, of the code objects that ROCm's runtime has
 * loaded. PFD_OK, also where these cannot be read; PFD_ERR_NOMEM. */
enum pfd_status pfd_kernels_load(struct pfd_kernels *kernels,
                                 struct pfd_memory *memory,
                                 struct pfd_error *err);
void pfd_kernels_free(struct pfd_kernels *kernels);

/* The kernel whose descriptor is at an address; NULL: none is. */
const struct pfd_kernel *pfd_kernels_find(const struct pfd_kernels *kernels,
                                          uint64_t address);

#endif
