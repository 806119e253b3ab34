/* SPDX-License-Identifier: MIT */
/*
 * Where the patterns of a filter match in a message that it let through: what
 * is shown in colour.
 */
#ifndef PFD_HIGHLIGHT_H
#define PFD_HIGHLIGHT_H

#include <printfdecode/filter.h>

struct pfd_highlight; /* one thread's */

/* Borrows the filter. *ret: NULL where there is nothing to show: no pattern
 * for messages, or they are inverted. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_highlight_new(const struct pfd_filter *filter,
                                  struct pfd_highlight **ret,
                                  struct pfd_error *err);

/* NULL is allowed. */
void pfd_highlight_free(struct pfd_highlight *highlight);

/* The first place in text [n] from *from on that a pattern matches, [*from,
 * *to), which is not empty; of several that begin there, the longest. False:
 * there is none, or to look for it costs too much. */
bool pfd_highlight_next(struct pfd_highlight *highlight, const char *text,
                        size_t n, size_t *from, size_t *to);

#endif
