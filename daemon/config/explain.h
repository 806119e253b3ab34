/* SPDX-License-Identifier: MIT */
/*
 * Explains a configuration in plain words, and warns of files and folders that
 * are not ready. Reads the file system, changes nothing.
 */
#ifndef PFDD_EXPLAIN_H
#define PFDD_EXPLAIN_H

#include <stdio.h>

#include "config/config.h"

/* Prints "ok: ..." and a line for each part to out; tell gets the warnings. False:
 * the daemon would not start with it, and it printed "not ok: ...". */
bool pfdd_explain_print(const struct pfdd_config *config, const char *path,
                        FILE *out, pfdd_config_tell_fn tell, void *user);

#endif
