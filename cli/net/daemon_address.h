/* SPDX-License-Identifier: MIT */
/* Where a daemon answers, as its users write it: the path of a socket, perhaps
 * with "unix:" before it; tcp:HOST:PORT, tls:HOST:PORT, or a URL of HTTP. */
#ifndef CLI_DAEMON_ADDRESS_H
#define CLI_DAEMON_ADDRESS_H

#include <stdbool.h>

#include "connection.h"

enum {
    ADDRESS_HOST_BYTES = 256,
};

struct daemon_address {
    const char *name; /* as given; borrowed */
    bool is_url;
    bool is_tls;
    char host[ADDRESS_HOST_BYTES]; /* host and port as given; "": a path */
    char bare[ADDRESS_HOST_BYTES]; /* the host alone */
    struct peer peer;              /* borrows `name`, `bare` and tls */
};

/* Is it one? A path is where a socket lies there, or "unix:" says so. */
bool daemon_address_is(const char *name);
bool daemon_address_is_url(const char *name);

/* Must not be copied or moved. tls: for addresses that have TLS. False: the port
 * is missing. */
bool daemon_address_read(struct daemon_address *ret, const char *name,
                         const struct tls_config *tls);

#endif
