/* SPDX-License-Identifier: MIT */
/* Everything that is known of an entry, a line each. */
#ifndef CLI_VIEW_DETAILS_H
#define CLI_VIEW_DETAILS_H

#include "core/output/value_rows.h"
#include "source.h"

/* An entry, and what its row has not. */
struct detailed_entry {
    uint32_t item;
    const struct pfd_row *row;         /* with its line */
    const struct pfd_strings *strings; /* of the row; NULL: it has its text */
    struct view_string string;
    const char *source; /* the buffer's name; NULL: unknown */
};

void details_give(const struct detailed_entry *entry, view_line_fn take,
                  void *user);

#endif
