/* SPDX-License-Identifier: MIT */
/* Code objects as `strings --verbose` lists them. */
#ifndef CLI_OBJECTS_H
#define CLI_OBJECTS_H

#include "options.h"

/* Lists what code objects the files have; those that cannot be read are left
 * out without a word. */
void objects_print(const struct options *options, bool json);

#endif
