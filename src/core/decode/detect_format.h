/* SPDX-License-Identifier: MIT */
/*
 * Which format a buffer has: by name, or by its first bytes and the strings that
 * are loaded. These are the same however the buffer comes, from a file, from a
 * stream or in pieces, and so is the choice. A format is only taken where
 * something speaks for it: entries that strings explain, or what its probe()
 * finds.
 */
#ifndef PFD_DETECT_FORMAT_H
#define PFD_DETECT_FORMAT_H

#include "core/decode/format.h"

/* What is taken where nothing speaks for any format: its walk says so, and
 * passes over all bytes. No name leads to it. */
extern const struct pfd_format pfd_format_none;

/* The one format that loaded strings are of; NULL: of none, or of several. A
 * buffer that is still to be written is read as that. */
const struct pfd_format *pfd_format_of_strings(
    const struct pfd_strings *strings);

/* A buffer's format, and how it was found. */
struct pfd_format_choice {
    const struct pfd_format *format; /* NULL: the first bytes must decide;
                                        &pfd_format_none: none is likely */
    const struct pfd_format *other;  /* nearly as likely; NULL: none is */
    int score;                       /* of both, 0 to 100 */
    int other_score;
};

/*
 * view: what there is of the buffer from its start on, and whether that is all
 * of it (last); NULL where nothing is known yet, which leaves the format NULL
 * unless a name decides.
 *
 * PFD_OK; PFD_MORE: more bytes must be in view; PFD_ERR_USAGE: no such name;
 * PFD_ERR_NOMEM.
 */
enum pfd_status pfd_detect_format(const struct pfd_strings *strings,
                                  const char *name,
                                  const struct pfd_byte_reader *view, bool last,
                                  struct pfd_format_choice *ret,
                                  struct pfd_error *err);

/* The sentence of format_choice; false: the choice was not close. */
bool pfd_format_choice_describe(const struct pfd_format_choice *format_choice,
                                char *ret, size_t n);

/* Adds that finding to the walk's batch, if it was. */
void pfd_walk_report_choice(struct pfd_walk *walk,
                            const struct pfd_format_choice *format_choice);

#endif
