/* SPDX-License-Identifier: MIT */
/* Suggestions for mistyped words. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stdbool.h>

/* Is `given` a likely typing error for `meant` (different, missing, additional
 * or swapped letters), or its beginning? */
bool suggest_is_near(const char *given, const char *meant);

#endif
