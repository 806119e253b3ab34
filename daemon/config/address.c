/* SPDX-License-Identifier: MIT */
#include "config/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_unix(struct pfdd_address *ret, const char *path, char *err,
                      size_t n_err)
{
    size_t n = strlen(path);
    ret->is_unix = true;
    if (path[0] == '/' && n < sizeof ret->path) {
        memcpy(ret->path, path, n + 1);
        return true;
    }
    snprintf(err, n_err, "a unix address is unix:/PATH, of at most 103 bytes");
    return false;
}

/* True: a name whose last part is not a number. Otherwise it would be a
 * mistyped address. */
static bool is_name(const char *text)
{
    size_t n =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
                     "Z0123456789-._");
    const char *dot = strrchr(text, '.');
    const char *last = dot ? dot + 1 : text;
    return *text && *text != '-' && *text != '.' && !text[n] && *last &&
           (*last < '0' || *last > '9');
}

static bool read_host(struct pfdd_address *ret, const char *host, size_t n)
{
    unsigned char binary[16];
    if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
        host++;
        n -= 2;
    }
    if (n < sizeof ret->host)
        memcpy(ret->host, host, n);
    if (!strcmp(ret->host, "localhost"))
        strcpy(ret->host, "127.0.0.1");
    if (inet_pton(AF_INET, ret->host, binary) == 1) {
        ret->is_loopback = binary[0] == 127;
        return true;
    }
    ret->is_loopback = !strcmp(ret->host, "::1");
    if (inet_pton(AF_INET6, ret->host, binary) == 1)
        return true;
    ret->is_name = is_name(ret->host);
    return ret->is_name;
}

static bool read_port(struct pfdd_address *ret, const char *text)
{
    size_t n = strspn(text, "0123456789");
    unsigned long port = strtoul(text, NULL, 10);
    ret->port = (unsigned)port;
    return n > 0 && n < 6 && !text[n] && port <= 65535;
}

bool pfdd_address_read(struct pfdd_address *ret, const char *text, char *err,
                       size_t n_err)
{
    *ret = (struct pfdd_address){ 0 };
    snprintf(ret->text, sizeof ret->text, "%s", text);
    if (!strncmp(text, "unix:", 5))
        return read_unix(ret, text + 5, err, n_err);
    const char *colon = strrchr(text, ':');
    const char *why = NULL;
    if (strncmp(text, "tcp:", 4) != 0 || colon < text + 5) {
        why = "an address is unix:/PATH or tcp:HOST:PORT";
    } else if (!read_host(ret, text + 4, (size_t)(colon - text) - 4)) {
        why = "the host is an IP address or a name";
    } else if (!read_port(ret, colon + 1)) {
        why = "the port is from 0 to 65535";
    }
    if (why)
        snprintf(err, n_err, "%s", why);
    return !why;
}

/* All addresses of this machine. */
static bool is_any(const struct pfdd_address *a)
{
    return !strcmp(a->host, "0.0.0.0") || !strcmp(a->host, "::");
}

bool pfdd_address_is_same(const struct pfdd_address *a,
                          const struct pfdd_address *b)
{
    if (a->is_unix || b->is_unix)
        return a->is_unix && b->is_unix && !strcmp(a->path, b->path);
    return a->port && a->port == b->port &&
           (is_any(a) || is_any(b) || !strcmp(a->host, b->host));
}
