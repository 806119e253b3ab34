/* SPDX-License-Identifier: MIT */
/*
 * A copy of a range of a buffer's bytes at one moment. Knows how to read them,
 * not their meaning.
 */
#ifndef PFD_TAIL_COPY_H
#define PFD_TAIL_COPY_H

#include <printfdecode/tail.h>

/* Bytes [base, base + n). */
struct pfd_tail_copy {
    uint8_t *bytes; /* [n] of [room]; owned */
    size_t n;
    size_t room;
    uint64_t base;
};

/* Reads bytes [from, from + n), or as many as there are. PFD_OK; PFD_ERR_IO;
 * PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_copy_read(struct pfd_tail_copy *copy,
                                   const struct pfd_tail_options *source,
                                   uint64_t from, size_t n,
                                   struct pfd_error *err);

/* Frees memory that only a burst needed. */
void pfd_tail_copy_shrink(struct pfd_tail_copy *copy);

void pfd_tail_copy_drop(struct pfd_tail_copy *copy);

#endif
