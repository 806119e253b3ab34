/* SPDX-License-Identifier: MIT */
#include "config/systemd.h"

#include <stdlib.h>
#include <string.h>

#if HAVE_SYSTEMD
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum {
    SOCKETS_MAX = 64,
    STORED_MAX = 512,
};

static const char *const parts[] = { "memory", "bell", "meta" };

struct stored {
    unsigned number;
    unsigned part; /* index of a descriptor of a buffer */
    int fd;
};

static int sockets[SOCKETS_MAX];
static int n_sockets;
static struct stored stored[STORED_MAX];
static size_t n_stored;

/* True: the descriptor was stored by an earlier process. */
static bool take_stored(const char *name, int fd)
{
    static const char prefix[] = "buffer-";
    char *part = NULL;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    unsigned long number = strtoul(name + sizeof prefix - 1, &part, 10);
    if (*part++ != '-' || number > UINT_MAX)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(part, parts[i]) && n_stored < STORED_MAX) {
            stored[n_stored++] = (struct stored){ (unsigned)number, i, fd };
            return true;
        }
    }
    return false;
}

void pfdd_systemd_init(void)
{
    char **names = NULL;
    int n = sd_listen_fds_with_names(1, &names);
    for (int i = 0; i < n; i++) {
        int fd = SD_LISTEN_FDS_START + i;
        if (!take_stored(names[i], fd) && n_sockets < SOCKETS_MAX) {
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
            sockets[n_sockets++] = fd;
        }
        free(names[i]);
    }
    free(names);
}

bool pfdd_systemd_stores(void)
{
    return getenv("NOTIFY_SOCKET") != NULL;
}

void pfdd_systemd_store(const char *name, int fd)
{
    char state[128];
    snprintf(state, sizeof state, "FDSTORE=1\nFDNAME=%s\nFDPOLL=0", name);
    sd_pid_notify_with_fds(0, 0, state, &fd, 1);
}

void pfdd_systemd_unstore(const char *name)
{
    char state[128];
    snprintf(state, sizeof state, "FDSTOREREMOVE=1\nFDNAME=%s", name);
    sd_notify(0, state);
}

bool pfdd_systemd_stored(size_t i, unsigned *number)
{
    if (i < n_stored)
        *number = stored[i].number;
    return i < n_stored;
}

bool pfdd_systemd_parts(unsigned number, int ret[3])
{
    bool found = false;
    for (size_t i = 0; i < n_stored; i++) {
        if (stored[i].number == number) {
            ret[stored[i].part] = stored[i].fd;
            found = true;
        }
    }
    return found;
}

void pfdd_systemd_forget(void)
{
    for (size_t i = 0; i < n_stored; i++)
        close(stored[i].fd);
    n_stored = 0;
}

static bool is_for(int fd, const struct pfdd_address *a)
{
    if (a->is_unix)
        return sd_is_socket_unix(fd, SOCK_STREAM, 1, a->path, 0) > 0;
    return sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, (uint16_t)a->port) >
           0;
}

/* Returns a copy: the socket outlives a reload of the configuration. */
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

#include "base/features.h"
#include "base/log.h"

/* A unit that waits for READY=1 would never be ready. */
void pfdd_systemd_init(void)
{
    if (getenv("NOTIFY_SOCKET") || getenv("LISTEN_FDS")) {
        pfdd_log(PFDD_WARNING,
                 "systemd has started this, but it is built without systemd: "
                 "%s",
                 pfdd_feature_remedy(PFDD_FEATURE_SYSTEMD));
    }
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

bool pfdd_systemd_stores(void)
{
    return false;
}

void pfdd_systemd_store(const char *name, int fd)
{
}

void pfdd_systemd_unstore(const char *name)
{
}

bool pfdd_systemd_stored(size_t i, unsigned *number)
{
    return false;
}

bool pfdd_systemd_parts(unsigned number, int ret[3])
{
    return false;
}

void pfdd_systemd_forget(void)
{
}

#endif
