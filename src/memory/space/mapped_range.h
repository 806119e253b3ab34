/* SPDX-License-Identifier: MIT */
/* Decides which memory is worth searching. */
#ifndef PFD_MAPPED_RANGE_H
#define PFD_MAPPED_RANGE_H

#include "memory/space/address_space.h"

/* Can the region be read, without effects? */
bool pfd_memory_is_wanted(const struct pfd_memory_region *region);

/*
 * The first range of a region at addresses [from, to) that may have bytes other
 * than zeros; false: there is none. In memory without a file only pages that
 * exist count: the rest may be terabytes, and reading it would create pages.
 */
bool pfd_memory_mapped_range(struct pfd_memory *memory,
                             const struct pfd_memory_region *region,
                             uint64_t from, uint64_t to, struct pfd_range *ret);

#endif
