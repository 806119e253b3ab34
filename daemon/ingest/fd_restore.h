/* SPDX-License-Identifier: MIT */
/* Follows stored buffers (fd_store.h) again after a restart. Loop thread only. */
#ifndef PFDD_FD_RESTORE_H
#define PFDD_FD_RESTORE_H

struct pfdd_fd_store;

/* Follows all buffers that the manager has stored, and ends those whose
 * producer is gone. */
void pfdd_fd_store_restore(struct pfdd_fd_store *fd_store);

#endif
