/* SPDX-License-Identifier: MIT */
/* In which order the files of a command line are loaded. */
#ifndef FILE_ORDER_H
#define FILE_ORDER_H

#include <stddef.h>

#include "options/options.h"

/* The numbers of options->files [n_files], the caller's to free(): descriptions of
 * rings first, since they say how messages are read from other files. */
size_t *file_order(const struct options *options);

#endif
