/* SPDX-License-Identifier: MIT */
/* Rows in a file of their own: the smallest ELF file that has a section. */
#ifndef PFD_SITE_ROWS_FILE_H
#define PFD_SITE_ROWS_FILE_H

#include "core/base/text.h"

/* Into an empty text; whole rows are added behind it, then it is finished. */
void pfd_rows_begin_file(struct pfd_text *ret);
void pfd_rows_finish_file(struct pfd_text *ret);

#endif
