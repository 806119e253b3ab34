/* SPDX-License-Identifier: MIT */
/* What the process gives up once it has started. */
#ifndef PFDD_SANDBOX_H
#define PFDD_SANDBOX_H

#include "config.h"

/* Where the kernel cannot, this is said and the daemon goes on. */
void pfdd_sandbox_enter(const struct pfdd_config *config);

#endif
