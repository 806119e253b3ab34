/* SPDX-License-Identifier: MIT */
/*
 * Where a service of ours has its sockets, and whether it is one: the folder
 * may lie where everybody can make one of that name, and what a client hands
 * over is a program's memory.
 */
#ifndef PFD_SERVICE_SOCKET_H
#define PFD_SERVICE_SOCKET_H

#include <printfdecode/client.h>

/* True when nobody but us and root can have put a socket into the folder of
 * pfd_client_default_dir(). */
bool pfd_service_folder_is_ours(const char *folder);

/* True when whoever listens at the other end of a connected Unix socket is us
 * or root. */
bool pfd_service_peer_is_ours(int fd);

#endif
