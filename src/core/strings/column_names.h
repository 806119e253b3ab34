/* SPDX-License-Identifier: MIT */
/*
 * The names of a format string's arguments, from the words before its
 * conversions: "ray %u hit t=%.3f" has `ray` and `t`. Components of a vector
 * are `name.x`, `.y`, `.z` and `.w`, or `.0` to `.15` of longer ones, and so
 * are the parts of a list ("pixel %u,%u"; `pixel` also names its first part).
 * An argument without a word before it, or with the word of an earlier one, has
 * only its number as a name: `a0`, `a1` and so on; every argument has that one. A
 * name that the metadata has for an argument counts instead of words.
 * Knows compiled strings; does not know entries.
 */
#ifndef PFD_COLUMN_NAMES_H
#define PFD_COLUMN_NAMES_H

#include "core/strings/strings.h"

enum {
    PFD_COLUMN_NAME_MAX = 64 /* bytes, with the NUL */
};

/*
 * Writes the name of step i's argument into ret [PFD_COLUMN_NAME_MAX]; it is
 * unique in the string. number: the argument's number, for `aN` (`aN_2` where
 * `aN` is another argument's word).
 */
void pfd_column_name(const struct pfd_string *string, size_t i, size_t number,
                     char *ret);

/* Bytes of the letter, digit or _ that text [n] begins with, in UTF-8; 0: none
 * of them. Letters beyond ASCII are letters. */
size_t pfd_column_word_length(const char *text, size_t n);

/* Is step i the first part of a list? Then its name without ".x" works, too. */
bool pfd_column_is_first(const struct pfd_string *string, size_t i);

/* The step of the argument with this name, [n] bytes; SIZE_MAX: the string has
 * none. */
size_t pfd_column_find(const struct pfd_string *string, const char *name,
                       size_t n);

#endif
