/* SPDX-License-Identifier: MIT */
/* Signals that ask a verb which follows to end in order. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on, SIGINT and SIGTERM end pauses and set a flag; they no longer end
 * the process. */
void interrupt_catch(void);

bool interrupt_came(void);

#endif
