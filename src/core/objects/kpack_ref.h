/* SPDX-License-Identifier: MIT */
/*
 * What a program says of the kpack archives that ROCm has put its device code
 * in: section .rocm_kpack_ref, a map of MessagePack with kernel_name and
 * kpack_search_paths, a list of names relative to the program, in which
 * @GFXARCH@ stands for any architecture.
 */
#ifndef PFD_KPACK_REF_H
#define PFD_KPACK_REF_H

#include "core/objects/elf_image.h"

bool pfd_kpack_is_ref(const struct pfd_section *section);

/* The names, one after another. */
struct pfd_kpack_names {
    struct pfd_byte_reader c;
    uint64_t left;
};

/* Borrows the section's bytes, all of which it may read. */
struct pfd_kpack_names pfd_kpack_names(const struct pfd_section *section);

/* NULL: that was all. [*n] bytes, any bytes, not NUL-terminated. */
const char *pfd_kpack_next_name(struct pfd_kpack_names *names, size_t *n);

#endif
