/* SPDX-License-Identifier: MIT */
/*
 * The folder of our service's sockets, and whether the service is ours: any
 * user may be able to make a folder of that name, and a client hands over a
 * program's memory.
 */
#ifndef PFD_SERVICE_SOCKET_H
#define PFD_SERVICE_SOCKET_H

#include <printfdecode/client.h>

/* True if only this user and root can have put a socket into the folder of
 * pfd_client_default_dir(). */
bool pfd_service_folder_is_ours(const char *folder);

/* True if the listener at the other end of a connected Unix socket is of this
 * user or root. */
bool pfd_service_peer_is_ours(int fd);

#endif
