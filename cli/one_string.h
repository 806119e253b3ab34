/* SPDX-License-Identifier: MIT */
/* For what is made of entries of one format string: which one that is. */
#ifndef CLI_ONE_STRING_H
#define CLI_ONE_STRING_H

#include "filter.h"
#include "input.h"

/*
 * *ret: the string's number, SIZE_MAX where none is known. Reads all buffers to
 * find out, where what is asked for leaves several. False: entries are of
 * several, or it cannot be found out, which was said: `what` is of one, and
 * `how` to choose.
 */
bool one_string_find(const struct options *options, const struct inputs *inputs,
                     const struct filtering *filtering, const char *what,
                     const char *how, size_t *ret);

/* The same where nothing has come yet: could entries be of several? */
bool one_string_known(const struct pfd_strings *strings,
                      const struct filtering *filtering, const char *what,
                      const char *how, size_t *ret);

#endif
