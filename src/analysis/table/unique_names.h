/* SPDX-License-Identifier: MIT */
/* Names that are each given once, whatever they are wanted to be. Upper and
 * lower case are the same: some readers cannot tell them apart. */
#ifndef PFD_UNIQUE_NAMES_H
#define PFD_UNIQUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfd_unique_names {
    char **slots; /* [n_slots], a power of two; owned, NULL: free */
    size_t n_slots;
    size_t n;
};

void pfd_unique_names_free(struct pfd_unique_names *unique_names);

/*
 * Makes name [room] one that was not given yet, by a number behind it where
 * needed: x, x_2, x_3. Control bytes and what is not UTF-8 become `_`, an empty
 * name `column`. False when out of memory.
 */
bool pfd_unique_names_give(struct pfd_unique_names *unique_names, char *name,
                           size_t room);

#endif
