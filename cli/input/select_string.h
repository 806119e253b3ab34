/* SPDX-License-Identifier: MIT */
/* Chooses the format string for an output that shows entries of one format
 * string only. */
#ifndef CLI_SELECT_STRING_H
#define CLI_SELECT_STRING_H

#include "filter.h"
#include "input.h"

/* The chosen string. */
struct selected_string {
    /* Index among the inputs' strings; SIZE_MAX: not known. */
    size_t number;
    /* A set with this string alone, if it comes in the buffer; else NULL. */
    struct pfd_strings *made;
};

void selected_string_deinit(struct selected_string *one);

/*
 * Chooses the string. Reads all buffers when the options leave several. *ret
 * must be deinited, also after a failure. False: the entries have several
 * strings, or the inputs cannot be read twice; an error was printed, with
 * `what` (the output) and `how` (the way to choose).
 */
bool selected_string_find(const struct options *options,
                          const struct inputs *inputs,
                          const struct filtering *filtering, const char *what,
                          const char *how, struct selected_string *ret);

/* Like selected_string_find(), before any entry was read: fails if the options
 * leave several strings. */
bool selected_string_known(const struct pfd_strings *strings,
                           const struct filtering *filtering, const char *what,
                           const char *how, size_t *ret);

#endif
