/* SPDX-License-Identifier: MIT */
/* Numbers for byte strings, from 1 on in the order of arrival. The table is
 * bounded: when it is full, new strings are refused. */
#ifndef PFD_INTERN_H
#define PFD_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFD_INTERN_MAX = 1 << 16,  /* of one table */
    PFD_INTERN_BYTES_MAX = 512 /* of one text */
};

struct pfd_interned {
    uint64_t hash;
    char *bytes; /* [n], owned */
    size_t n;
    uint32_t number; /* 0: a free slot */
};

/* All zero is an empty table. */
struct pfd_intern {
    struct pfd_interned *slots; /* [n_slots], a power of two; owned */
    size_t n_slots;
    uint32_t n;
    bool failed; /* out of memory */
};

void pfd_intern_free(struct pfd_intern *intern);

/* A hash of bytes, chained through h. */
uint64_t pfd_intern_hash(uint64_t h, const void *bytes, size_t n);

/* The number of these bytes; *is_new: they were added now. 0: they were
 * refused. */
uint32_t pfd_intern_number(struct pfd_intern *intern, const void *bytes,
                           size_t n, bool *is_new);

#endif
