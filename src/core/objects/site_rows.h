/* SPDX-License-Identifier: MIT */
/*
 * Rows of format strings that a compiler has put into a program's data, as
 * include/printfdecode/device/ makes it do. They are found by their magic in
 * any bytes and verified by their id, a hash of the whole row. The layout is in
 * formats/llpc/README.md.
 */
#ifndef PFD_SITE_ROWS_H
#define PFD_SITE_ROWS_H

#include <printfdecode/device/control.h>

#include "core/base/byte_reader.h"
#include "core/base/text.h"

/* One row, borrowed from the bytes. */
struct pfd_site_row {
    struct pfd_row_header header;
    const char *types;    /* [header.n_types] */
    const char *text;     /* [header.n_text] */
    const char *file;     /* [header.n_file] */
    const uint8_t *bytes; /* the whole row, [header.n_bytes] */
    uint64_t offset;      /* in the bytes that were searched */
};

/* Finds the next row of bytes from *at on, and moves *at behind it. False:
 * there is none. */
bool pfd_site_row_next(const struct pfd_byte_reader *bytes, size_t *at,
                       struct pfd_site_row *ret);

/* Adds the row to ret: types, text and file [their sizes in the header, with
 * kind, level, flags and line]. Fills the header's other members. */
void pfd_site_row_write(struct pfd_site_row *row, struct pfd_text *ret);

/* The offset of the row's gate, where device code reads whether it is on: below
 * PFD_GATES. */
uint32_t pfd_site_row_gate(const struct pfd_site_row *row);

/* A file for rows alone: the smallest ELF file that has a section. */

/* Begins the file in an empty text; append whole rows, then finish it. */
void pfd_rows_begin_file(struct pfd_text *ret);

void pfd_rows_finish_file(struct pfd_text *ret);

#endif
