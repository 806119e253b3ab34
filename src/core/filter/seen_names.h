/* SPDX-License-Identifier: MIT */
/*
 * The argument names of strings whose entries came, since some strings are in
 * no string set but in the buffer: says whether a condition's name exists. For
 * all runs of a filter; any thread.
 */
#ifndef PFD_SEEN_NAMES_H
#define PFD_SEEN_NAMES_H

#include "core/filter/where.h"

struct pfd_seen_names;

enum {
    PFD_SEEN_NAMES_BYTES = 512 /* that one takes, at most */
};

/* NULL: out of memory. */
struct pfd_seen_names *pfd_seen_names_new(const struct pfd_where *where);
/* NULL is allowed, here and where names are read: none were seen. */
void pfd_seen_names_free(struct pfd_seen_names *seen_names);

/* Notes that entries of this string came, and which names it has. NULL: of an
 * unknown id. */
void pfd_seen_names_note(struct pfd_seen_names *seen_names,
                         const struct pfd_where *where,
                         const struct pfd_string *s,
                         const struct pfd_where_bound *bound);

/* For pfd_filter_check(), pfd_filter_shadow(). */
enum pfd_status pfd_seen_names_check(struct pfd_seen_names *seen_names,
                                     const struct pfd_where *where,
                                     const struct pfd_strings *strings,
                                     struct pfd_error *err);
const char *pfd_seen_names_shadow(struct pfd_seen_names *seen_names,
                                  const struct pfd_where *where);

#endif
