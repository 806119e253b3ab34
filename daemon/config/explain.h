/* SPDX-License-Identifier: MIT */
/*
 * What a configuration would do, in plain words, and what of this machine is
 * not ready for it. Looks at the file system, changes nothing.
 */
#ifndef PFDD_EXPLAIN_H
#define PFDD_EXPLAIN_H

#include <stdio.h>

#include "config/config.h"

/* Prints "ok: ..." and a line for each part to out; warnings go to tell. */
void pfdd_explain_print(const struct pfdd_config *config, const char *path,
                        FILE *out, pfdd_config_tell_fn tell, void *user);

#endif
