/* SPDX-License-Identifier: MIT */
/* For what is made of entries of one format string: which one that is. */
#ifndef CLI_SELECT_STRING_H
#define CLI_SELECT_STRING_H

#include "filter.h"
#include "input.h"

/* Which one it is. */
struct selected_string {
    /* Its number among the inputs' strings; SIZE_MAX: none is known. */
    size_t number;
    /* A set of it alone, where it comes in the buffer; NULL: it does not. */
    struct pfd_strings *made;
};

void selected_string_deinit(struct selected_string *one);

/*
 * *ret: to be deinited, also where it fails. Reads all buffers to
 * find out, where what is asked for leaves several. False: entries are of
 * several, or it cannot be found out, which was said: `what` is of one, and
 * `how` to choose.
 */
bool selected_string_find(const struct options *options,
                          const struct inputs *inputs,
                          const struct filtering *filtering, const char *what,
                          const char *how, struct selected_string *ret);

/* The same where nothing has come yet: could entries be of several? */
bool selected_string_known(const struct pfd_strings *strings,
                           const struct filtering *filtering, const char *what,
                           const char *how, size_t *ret);

#endif
