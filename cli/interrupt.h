/* SPDX-License-Identifier: MIT */
/* Who follows something ends in order when asked to. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM end pauses, and are only remembered. */
void interrupt_catch(void);

bool interrupt_came(void);

#endif
