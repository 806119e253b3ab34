/* SPDX-License-Identifier: MIT */
/* Shows what a command line names on a terminal, until its user has enough. */
#ifndef CLI_VIEW_SHOW_H
#define CLI_VIEW_SHOW_H

#include "options/options.h"

/* Is it the socket of a daemon, of this machine or another? */
bool view_is_of_daemon(const struct options *options);

/* Returns the exit status; errors were printed. memory_max: limit of bytes; 0:
 * the usual one. */
int view_show(const struct options *options, uint64_t memory_max);

#endif
