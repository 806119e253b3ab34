/* SPDX-License-Identifier: MIT */
/* What edges have sent to servers of NATS, printed: up to now, or as it comes. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "options.h"

/* With --nats: is_endless: what comes later, too. The exit status. */
int replay_take(const struct options *options, bool is_endless);

#endif
