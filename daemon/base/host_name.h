/* SPDX-License-Identifier: MIT */
/* This machine's name, as of the first call: a system call for each log record
 * would cost too much. Any thread. */
#ifndef PFDD_HOST_NAME_H
#define PFDD_HOST_NAME_H

/* Constant; "localhost" where it has none. */
const char *pfdd_host_name(void);

#endif
