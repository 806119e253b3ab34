/* SPDX-License-Identifier: MIT */
/*
 * Selects a buffer's format: by name, or by its first bytes and the loaded
 * strings. The first bytes do not depend on the source (a file, a stream,
 * pieces), and so neither does the choice. A format is selected only on
 * evidence: entries that match strings, or the score of its probe().
 */
#ifndef PFD_DETECT_FORMAT_H
#define PFD_DETECT_FORMAT_H

#include "core/decode/format.h"

/* Selected where no format has evidence, and instead of a named one for a file
 * of another kind that has none for it: its walk reports that and skips all
 * bytes. It has no name. */
extern const struct pfd_format pfd_format_none;

/* The only format with loaded strings; NULL: none has, or several have. Used
 * for a buffer that is still empty. */
const struct pfd_format *pfd_format_of_strings(
    const struct pfd_strings *strings);

/* A buffer's format, and the scores behind the choice. */
struct pfd_format_choice {
    const struct pfd_format *format; /* NULL: the first bytes must decide;
                                        &pfd_format_none: none is likely */
    const struct pfd_format *other;  /* nearly as likely, or NULL */
    int score;                       /* of both, 0 to 100 */
    int other_score;
};

/*
 * view: the available bytes from the buffer's start on; last: the buffer ends
 * there. NULL: no bytes are known yet, which leaves the format NULL unless it
 * is named. A named format needs more bytes only where they begin as a file of
 * another kind does.
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

/* Adds that finding to the walk's batch, if the choice was close. */
void pfd_walk_report_choice(struct pfd_walk *walk,
                            const struct pfd_format_choice *format_choice);

#endif
