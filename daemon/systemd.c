/* SPDX-License-Identifier: MIT */
#include "systemd.h"

#include <string.h>

#ifdef HAVE_SYSTEMD
#include <fcntl.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum {
    SOCKETS_MAX = 64
};

static int sockets[SOCKETS_MAX];
static int n_sockets;

void pfdd_systemd_init(void)
{
    int n = sd_listen_fds(1);
    for (int i = 0; i < n && n_sockets < SOCKETS_MAX; i++) {
        int fd = SD_LISTEN_FDS_START + i;
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        sockets[n_sockets++] = fd;
    }
}

static bool is_for(int fd, const struct pfdd_address *a)
{
    if (a->is_unix)
        return sd_is_socket_unix(fd, SOCK_STREAM, 1, a->path, 0) > 0;
    return sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, (uint16_t)a->port) >
           0;
}

/* A copy: the socket outlives a reload of the configuration. */
int pfdd_systemd_socket(const struct pfdd_address *address)
{
    for (int i = 0; i < n_sockets; i++) {
        if (is_for(sockets[i], address))
            return fcntl(sockets[i], F_DUPFD_CLOEXEC, 3);
    }
    return -1;
}

void pfdd_systemd_notify(const char *state)
{
    sd_notify(0, state);
}

uint64_t pfdd_systemd_watchdog_ms(void)
{
    uint64_t us = 0;
    return sd_watchdog_enabled(0, &us) > 0 ? us / 2000 : 0;
}

#else

void pfdd_systemd_init(void)
{
}

int pfdd_systemd_socket(const struct pfdd_address *address)
{
    return -1;
}

void pfdd_systemd_notify(const char *state)
{
}

uint64_t pfdd_systemd_watchdog_ms(void)
{
    return 0;
}

#endif
