/* SPDX-License-Identifier: MIT */
/* The rows of a note in which nothing is unusual. */
#ifndef LLPC_NOTE_TABLE_H
#define LLPC_NOTE_TABLE_H

#include "llpc.h"

#define LLPC_TABLE_KEY "amdpal.format_strings"

/* A row: its id, its text, at most 64 arguments. */
struct llpc_note_table_row {
    uint64_t key;
    uint64_t mask;    /* of arguments that take two dwords */
    const char *text; /* [n_text], of the document */
    uint32_t n_text;
    uint32_t offset; /* in the document, of the first key's text */
    uint8_t n_arguments;
    uint8_t n_masks; /* words of the mask: 0 or 1 */
};

struct llpc_note_table {
    struct pfd_text rows; /* [n] of them */
    size_t n;
};

/*
 * Reads the document at the cursor, which may not have anything behind it.
 * False: it is not plain, or there is no memory; ret is empty. The caller frees
 * what is not: rows are borrowed from the document.
 */
bool llpc_note_table_read(struct pfd_byte_reader document,
                          struct llpc_note_table *ret);
struct llpc_note_table_row llpc_note_table_at(
    const struct llpc_note_table *plain, size_t i);
void llpc_note_table_free(struct llpc_note_table *plain);

#endif
