/* SPDX-License-Identifier: MIT */
#include "daemon_address.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct scheme {
    const char *prefix;
    const char *port; /* default port; NULL: it has to be given */
    bool is_url;
    bool is_tls;
} schemes[] = {
    { "http://", "80", true, false },
    { "https://", "443", true, true },
    { "tcp:", NULL, false, false },
    { "tls:", NULL, false, true },
};

static const struct scheme *find_scheme(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (!strncmp(name, schemes[i].prefix, strlen(schemes[i].prefix)))
            return &schemes[i];
    }
    return NULL;
}

/* The path of a unix socket; the daemon's prefix for it is removed. */
static const char *socket_path(const char *name)
{
    static const char prefix[] = "unix:";
    size_t n = sizeof prefix - 1;
    return strncmp(name, prefix, n) != 0 ? name : name + n;
}

static bool is_socket(const char *name)
{
    struct stat st;
    const char *path = socket_path(name);
    return path != name || (stat(path, &st) == 0 && S_ISSOCK(st.st_mode));
}

bool daemon_address_is(const char *name)
{
    return find_scheme(name) || is_socket(name);
}

bool daemon_address_is_url(const char *name)
{
    const struct scheme *scheme = find_scheme(name);
    return scheme && scheme->is_url;
}

/* Parses the host: "name:port", "name" or "[address]:port". */
static void read_host(struct daemon_address *a, const struct scheme *scheme)
{
    snprintf(a->host, sizeof a->host, "%s", a->name + strlen(scheme->prefix));
    if (a->is_url)
        a->host[strcspn(a->host, "/")] = '\0';
    memcpy(a->bare, a->host, sizeof a->bare);
    char *end = strrchr(a->bare, ']');
    char *colon = strrchr(end ? end : a->bare, ':');
    if (colon)
        *colon = '\0';
    if (end)
        *end = '\0';
    a->peer.name = end ? a->bare + 1 : a->bare;
    a->peer.port = colon ? colon + 1 : scheme->port;
}

bool daemon_address_read(struct daemon_address *ret, const char *name,
                         const struct tls_config *tls)
{
    const struct scheme *scheme = find_scheme(name);
    *ret = (struct daemon_address){ .name = name };
    if (!scheme) {
        ret->peer.path = socket_path(name);
        return true;
    }
    ret->is_url = scheme->is_url;
    ret->is_tls = scheme->is_tls;
    ret->peer.tls = scheme->is_tls ? tls : NULL;
    read_host(ret, scheme);
    return ret->peer.port && *ret->peer.port;
}
