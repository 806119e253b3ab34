/* SPDX-License-Identifier: MIT */
/* Rows of a note in the usual form. */
#ifndef LLPC_NOTE_TABLE_H
#define LLPC_NOTE_TABLE_H

#include "layout.h"

#define LLPC_TABLE_KEY "amdpal.format_strings"

/* A row with its id, its text and at most 64 arguments. */
struct llpc_note_table_row {
    uint64_t key;
    uint64_t mask;    /* of arguments that take two dwords */
    const char *text; /* [n_text], borrowed from the document */
    uint32_t n_text;
    uint32_t offset; /* of the first key's text, in the document */
    uint8_t n_arguments;
    uint8_t n_masks; /* words of the mask: 0 or 1 */
};

struct llpc_note_table {
    struct pfd_text rows; /* [n] of them */
    size_t n;
};

/*
 * Reads the document at the cursor; nothing may follow it. False: it has an
 * unusual form, or out of memory; ret is empty. The caller frees ret; the texts
 * of its rows are borrowed from the document.
 */
bool llpc_note_table_read(struct pfd_byte_reader document,
                          struct llpc_note_table *ret);
struct llpc_note_table_row llpc_note_table_at(
    const struct llpc_note_table *plain, size_t i);
void llpc_note_table_free(struct llpc_note_table *plain);

#endif
