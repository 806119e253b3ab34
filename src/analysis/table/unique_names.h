/* SPDX-License-Identifier: MIT */
/* Gives each name once, whatever names are requested. Case is ignored: some
 * readers cannot distinguish it. */
#ifndef PFD_UNIQUE_NAMES_H
#define PFD_UNIQUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/dictionary.h"

struct pfd_unique_names {
    struct pfd_dictionary given; /* in lower case */
};

void pfd_unique_names_free(struct pfd_unique_names *unique_names);

/*
 * Makes name [room] a new one, with a number behind it if needed: x, x_2, x_3.
 * Control bytes and invalid UTF-8 become `_`, an empty name `column`. False:
 * out of memory.
 */
bool pfd_unique_names_give(struct pfd_unique_names *unique_names, char *name,
                           size_t room);

#endif
