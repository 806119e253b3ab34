/* SPDX-License-Identifier: MIT */
/*
 * Rows of format strings that a compiler has put into a program's data, as
 * include/printfdecode/device/ has it do: found by their magic in any bytes,
 * and believed by their id, which is a hash of all of the row. The layout is
 * in formats/llpc/README.md.
 */
#ifndef PFD_SITE_ROWS_H
#define PFD_SITE_ROWS_H

#include <printfdecode/device/control.h>

#include "core/base/byte_reader.h"
#include "core/base/text.h"

/* One row, borrowed from the bytes. */
struct pfd_row {
    struct pfd_row_header header;
    const char *types;    /* [header.n_types] */
    const char *text;     /* [header.n_text] */
    const char *file;     /* [header.n_file] */
    const uint8_t *bytes; /* all of it, [header.n_bytes] */
    uint64_t offset;      /* in the bytes that were searched */
};

/* The next row of bytes from *at on, which is moved behind it. False: there is
 * none. */
bool pfd_row_next(const struct pfd_byte_reader *bytes, size_t *at,
                  struct pfd_row *ret);

/* Adds the row to ret: types, text and file [their sizes in the header, with
 * kind, level, flags and line]. Fills the header's other members. */
void pfd_row_write(struct pfd_row *row, struct pfd_text *ret);

/* Where device code looks for whether it is on: below PFD_GATES. */
uint32_t pfd_row_gate(const struct pfd_row *row);

#endif
