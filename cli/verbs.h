/* SPDX-License-Identifier: MIT */
/* The table of verbs. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "options/options.h"

extern const struct verbs verbs;

#endif
