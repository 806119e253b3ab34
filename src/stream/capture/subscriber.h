/* SPDX-License-Identifier: MIT */
/* The inside of a subscriber, for the code that connects it. */
#ifndef PFD_SUBSCRIBER_H
#define PFD_SUBSCRIBER_H

#include <printfdecode/subscriber.h>

/* Hands over a connection; the subscriber owns it from now on. */
void pfd_subscriber_use(struct pfd_subscriber *subscriber, int fd);
/* Feeds it bytes [n], all of them. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_subscriber_take(struct pfd_subscriber *subscriber,
                                    const char *bytes, size_t n,
                                    struct pfd_error *err);
/* Closes a connection. Below 0 is allowed. */
void pfd_subscriber_hang_up(int fd);

#endif
