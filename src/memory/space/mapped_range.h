/* SPDX-License-Identifier: MIT */
/* Which memory is worth searching, for whoever looks at all of it. */
#ifndef PFD_MAPPED_RANGE_H
#define PFD_MAPPED_RANGE_H

#include "memory/space/address_space.h"

/* Can a region be read, and does reading it do nothing? */
bool pfd_memory_is_wanted(const struct pfd_memory_region *region);

/*
 * The first stretch of a region at addresses [from, to) that may have other
 * bytes than zeros; false: there is none. Of memory without a file, that is
 * what has pages: the rest may be terabytes, and reading would make pages.
 */
bool pfd_memory_stretch(struct pfd_memory *memory,
                        const struct pfd_memory_region *region, uint64_t from,
                        uint64_t to, struct pfd_range *ret);

#endif
