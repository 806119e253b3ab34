/* SPDX-License-Identifier: MIT */
/* Arguments of a row by their names, which are those of a table's columns. */
#ifndef CLI_VIEW_ROW_ARGUMENTS_H
#define CLI_VIEW_ROW_ARGUMENTS_H

#include "core/output/value_rows.h"

enum {
    NO_ARGUMENT = UINT16_MAX /* no cell; a row has fewer */
};

/* The cells of these names [n], or NO_ARGUMENT, in rows that have the format
 * string of this one in them. False: out of memory. */
bool row_arguments_find(const struct pfd_row *row, const char *const *names,
                        size_t n, uint16_t *ret);

#endif
