/* SPDX-License-Identifier: MIT */
/* Prints messages that edges have published to NATS servers: those stored now,
 * or also those to come. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "options/options.h"

/* Runs with --nats; is_endless: continues with later messages. Returns the exit
 * status. */
int replay_take(const struct options *options, bool is_endless);

#endif
