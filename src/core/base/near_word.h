/* SPDX-License-Identifier: MIT */
/*
 * Words that a mistyped one may stand for: an option, a verb, a key. Any thread.
 */
#ifndef PFD_NEAR_WORD_H
#define PFD_NEAR_WORD_H

#include <stdbool.h>

enum {
    PFD_NEAR_WORD_MAX = 32, /* bytes; longer words are near to none */
};

/* Is `given` a likely typing error for `meant` (letters that differ, also by
 * case, that are missing, additional or swapped), or its beginning? */
bool pfd_word_is_near(const char *given, const char *meant);

#endif
