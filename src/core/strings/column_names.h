/* SPDX-License-Identifier: MIT */
/*
 * The names of a format string's arguments, from the words before its
 * conversions: "ray %u hit t=%.3f" has `ray` and `t`. Components of a vector
 * are `name.x`, `.y`, `.z` and `.w`, or `.0` to `.15` of longer ones, and so are
 * the parts of a list ("pixel %u,%u", of which `pixel` is the first as well); an
 * argument without a word before it, or with one that an earlier one has, is
 * known by its place alone: `a0`, `a1` and so on, which every argument has.
 * Knows compiled strings; knows no entries.
 */
#ifndef PFD_COLUMN_NAMES_H
#define PFD_COLUMN_NAMES_H

#include "core/strings/strings.h"

enum {
    PFD_COLUMN_NAME_MAX = 64 /* bytes, with the NUL */
};

/*
 * Writes the name of the argument that step i takes into ret
 * [PFD_COLUMN_NAME_MAX], which no other one of the string has; number: its place
 * among the arguments, for `aN` (`aN_2` where `aN` is another one's word).
 */
void pfd_column_name(const struct pfd_string *string, size_t i, size_t number,
                     char *ret);

/* Is step i the first part of a list? Its name without ".x" is known, too. */
bool pfd_column_is_first(const struct pfd_string *string, size_t i);

/* The step that takes the argument of this name, [n] bytes; SIZE_MAX: the
 * string has none. */
size_t pfd_column_find(const struct pfd_string *string, const char *name,
                       size_t n);

#endif
