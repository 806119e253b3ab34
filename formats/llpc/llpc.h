/* SPDX-License-Identifier: MIT */
/*
 * AMD's LLPC DebugPrintf: what the files of this format share. Nothing
 * outside of this folder includes it but the list of formats.
 */
#ifndef LLPC_H
#define LLPC_H

#include "format.h"

extern const struct pfd_format pfd_format_llpc;

/* Bits of an id: an entry's header has 16 bits of size and 48 of id. */
enum {
    LLPC_ID_BITS = 48
};

/*
 * A message of OpAbortKHR in the place of a format string: a literal whose
 * layout words are the message's number of dwords, a bit for each of them (1:
 * constant), and the constants, two to a word. n_arguments: dwords that are
 * not constant, which an entry holds in their order.
 */
static inline bool llpc_is_abort(const struct pfd_string *s)
{
    return s->flags & PFD_STRING_LITERAL;
}

/* Dwords of the whole message. */
static inline uint32_t llpc_abort_dwords(const struct pfd_string *s)
{
    return (uint32_t)pfd_string_layout(s)[0];
}

/* Puts the message together: its bytes, and its text where it has one. */
void llpc_abort_make(const struct pfd_look *look, struct pfd_made *ret);

/*
 * Reads the string table of a code object into pfd_format_llpc.strings: key is
 * the 48-bit id, layout the bit mask of arguments that take two dwords, cut to
 * the arguments that there are and without zero words at its end, so that
 * equal layouts are equal.
 *
 * n_rows: how many rows the table has that could be read, those that no entry
 * can reach (wide_index) and those of another machine's file (wrong_machine)
 * included. What is odd is a finding, at its offset in the file; a file
 * without a table has none here.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status llpc_load(const struct pfd_image *image,
                          struct pfd_strings *strings,
                          struct pfd_report *report, size_t *n_rows,
                          struct pfd_error *err);

#endif
