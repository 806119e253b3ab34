/* SPDX-License-Identifier: MIT */
/* Makes a table's name from the words of its format string. */
#ifndef PFD_TABLE_TITLE_H
#define PFD_TABLE_TITLE_H

#include <stddef.h>

#include "analysis/table/table_form.h"

/* Letters and digits of the text [n], at most 40 bytes, with _ between words; `table`
 * if it has none. Conversions are skipped. */
void pfd_title_make(char *ret, size_t room, const char *text, size_t n);

/* Changes the name if the form cannot have a table of that name. */
void pfd_title_avoid(char *name, size_t room,
                     const struct pfd_table_form *form);

#endif
