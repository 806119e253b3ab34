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

/* Begins with text [n], which is borrowed while places in it are asked for. */
void pfd_highlight_begin(struct pfd_highlight *highlight, const char *text,
                         size_t n);

/* The first place behind the last one that a pattern matches, [*from, *to),
 * which is not empty; of several that begin there, the longest. A pattern is
 * left out of the rest of a text when it costs too much or matches no more, and
 * all are after a fixed number of searches. False: there is no such place. */
bool pfd_highlight_next(struct pfd_highlight *highlight, size_t *from,
                        size_t *to);

#endif
