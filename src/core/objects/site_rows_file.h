/* SPDX-License-Identifier: MIT */
/* A file for rows alone: the smallest ELF file that has a section. */
#ifndef PFD_SITE_ROWS_FILE_H
#define PFD_SITE_ROWS_FILE_H

#include "core/base/text.h"

/* Begins the file in an empty text; append whole rows, then finish it. */
void pfd_rows_begin_file(struct pfd_text *ret);
void pfd_rows_finish_file(struct pfd_text *ret);

#endif
