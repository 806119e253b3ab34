/* SPDX-License-Identifier: MIT */
#include "stream/capture/service_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool pfd_client_default_dir(char *ret, size_t n)
{
    const char *folder = secure_getenv("PRINTFDECODE_DIR");
    const char *base = secure_getenv("XDG_RUNTIME_DIR");
    if (folder && folder[0] == '/') {
        int given = snprintf(ret, n, "%s", folder);
        return given > 0 && (size_t)given < n;
    }
    if (!base && geteuid() == 0)
        base = "/run";
    int length =
        base && base[0] == '/'
            ? snprintf(ret, n, "%s/printfdecode", base)
            : snprintf(ret, n, "/tmp/printfdecode-%u", (unsigned)geteuid());
    return length > 0 && (size_t)length < n;
}

static bool is_ours(uid_t user)
{
    return user == geteuid() || user == 0;
}

bool pfd_service_folder_is_ours(const char *folder)
{
    struct stat st;
    return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
           is_ours(st.st_uid) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool pfd_service_peer_is_ours(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           is_ours(peer.uid);
}
