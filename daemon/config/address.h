/* SPDX-License-Identifier: MIT */
/* The address of a socket: "unix:/path" or "tcp:127.0.0.1:9000". */
#ifndef PFDD_ADDRESS_H
#define PFDD_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

struct pfdd_address {
    char text[272]; /* as given */
    bool is_unix;
    char path[104]; /* unix */
    bool is_name;   /* tcp: host is a name; only for connecting */
    char host[256]; /* tcp: a numeric address, or a name */
    unsigned port;  /* 0: any free one */
    bool is_loopback;
};

/* False: see err [n]. */
bool pfdd_address_read(struct pfdd_address *ret, const char *text, char *err,
                       size_t n_err);

/* True: what listens at one cannot listen at the other, too. Port 0 is a new one
 * each time. */
bool pfdd_address_is_same(const struct pfdd_address *a,
                          const struct pfdd_address *b);

#endif
