/* SPDX-License-Identifier: MIT */
/* This machine's name, as it was when somebody first asked; asked for each note
 * it would be a system call. Any thread. */
#ifndef PFDD_HOST_NAME_H
#define PFDD_HOST_NAME_H

/* Constant; "localhost" where it has none. */
const char *pfdd_host_name(void);

#endif
