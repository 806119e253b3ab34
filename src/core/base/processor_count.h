/* SPDX-License-Identifier: MIT */
#ifndef PFD_PROCESSOR_COUNT_H
#define PFD_PROCESSOR_COUNT_H

/* How many processors this thread may run on: one at least, and where the system
 * does not say. */
unsigned pfd_processor_count(void);

#endif
