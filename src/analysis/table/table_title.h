/* SPDX-License-Identifier: MIT */
/* What a table is called: the words of its format string. */
#ifndef PFD_TABLE_TITLE_H
#define PFD_TABLE_TITLE_H

#include <stddef.h>

#include "analysis/table/table_form.h"

/* Letters and digits of the text [n], 40 at most, with _ between; `table` where
 * it has none. Conversions are no words. */
void pfd_title_make(char *ret, size_t room, const char *text, size_t n);

/* Makes it another one where the form cannot have a table of that name. */
void pfd_title_avoid(char *name, size_t room,
                     const struct pfd_table_form *form);

#endif
