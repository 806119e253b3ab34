/* SPDX-License-Identifier: MIT */
/* Bytes that are each known by a number, from 1 on in the order in which they
 * came. Their memory is bounded: then no more are taken. */
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

/* All zero is an empty one. */
struct pfd_intern {
    struct pfd_interned *slots; /* [n_slots], a power of two; owned */
    size_t n_slots;
    uint32_t n;
    bool failed; /* out of memory */
};

void pfd_intern_free(struct pfd_intern *intern);

/* Of what is the same only when it is the same. */
uint64_t pfd_intern_hash(uint64_t h, const void *bytes, size_t n);

/* The number of these bytes; *is_new: nobody knows it yet. 0: they are not
 * taken. */
uint32_t pfd_intern_number(struct pfd_intern *intern, const void *bytes,
                           size_t n, bool *is_new);

#endif
