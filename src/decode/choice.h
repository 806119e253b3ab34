/* SPDX-License-Identifier: MIT */
/*
 * Which format a buffer has: by name, by the strings that are loaded, or by its
 * first bytes. These are the same however the buffer comes, from a file, from a
 * stream or in pieces, and so is the choice.
 */
#ifndef PFD_CHOICE_H
#define PFD_CHOICE_H

#include "decode/format.h"

/* A buffer's format, and how it was found. */
struct pfd_choice {
    const struct pfd_format *format; /* NULL: the first bytes must decide */
    const struct pfd_format *other;  /* nearly as likely; NULL: none is */
    int score;                       /* of both, 0 to 100 */
    int other_score;
};

/*
 * view: what there is of the buffer from its start on, and whether that is all
 * of it (last); NULL where nothing is known yet, which leaves the format NULL
 * unless a name or the strings decide.
 *
 * PFD_OK; PFD_MORE: more bytes must be in view; PFD_ERR_USAGE: no such name.
 */
enum pfd_status pfd_format_choose(const struct pfd_strings *strings,
                                  const char *name,
                                  const struct pfd_cursor *view, bool last,
                                  struct pfd_choice *ret,
                                  struct pfd_error *err);

/* The sentence of format_choice; false: the choice was not close. */
bool pfd_choice_describe(const struct pfd_choice *choice, char *ret, size_t n);

/* Adds that finding to the walk's batch, if it was. */
void pfd_walk_report_choice(struct pfd_walk *walk,
                            const struct pfd_choice *choice);

#endif
