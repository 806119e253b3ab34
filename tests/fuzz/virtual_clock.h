/* SPDX-License-Identifier: MIT */
/*
 * A clock that stands still until it is told to go on: what waits for
 * milliseconds needs none. It is CLOCK_MONOTONIC and usleep() of the whole
 * program; the calendar's clock is the system's. Any thread.
 */
#ifndef VIRTUAL_CLOCK_H
#define VIRTUAL_CLOCK_H

#include <stdint.h>

void virtual_clock_advance(uint64_t ns);

#endif
