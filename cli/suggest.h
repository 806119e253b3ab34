/* SPDX-License-Identifier: MIT */
/* Which known word somebody may have meant. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stdbool.h>

/* Is `meant` so near to `given` that the one may be the other mistyped: letters
 * that differ, are missing, are too many or changed places, or its beginning? */
bool suggest_is_near(const char *given, const char *meant);

#endif
