/* SPDX-License-Identifier: MIT */
#ifndef PFD_PROCESSOR_COUNT_H
#define PFD_PROCESSOR_COUNT_H

/* The number of processors this thread may run on; 1 where the system does not
 * report it. */
unsigned pfd_processor_count(void);

#endif
