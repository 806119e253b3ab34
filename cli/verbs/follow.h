/* SPDX-License-Identifier: MIT */
/* Follows growing buffers for consumers that need entries instead of lines. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "follow_taker.h"
#include "options/options.h"

/* Runs until a signal, --until-idle, --limit, or the end of its buffers, like
 * `follow`. Returns the exit status. */
int follow_take(const struct options *options,
                const struct follow_taker *taker);

/* Do the operands name a daemon, not a file? Then follow_client_take() is to be
 * called; taker NULL: prints lines. */
bool follow_client_wants(const struct options *options);
int follow_client_take(const struct options *options,
                       const struct follow_taker *taker);

#endif
