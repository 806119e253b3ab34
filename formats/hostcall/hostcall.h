/* SPDX-License-Identifier: MIT */
/* The parts of hostcall: hostcall.c puts messages together, words.c names
 * dwords. */
#ifndef HOSTCALL_H
#define HOSTCALL_H

#include "format.h"

enum {
    HOSTCALL_LANES = 64,
    HOSTCALL_SLOT = 64, /* bytes: a lane's part of a payload, 8 qwords */
    HOSTCALL_PAYLOAD = HOSTCALL_LANES * HOSTCALL_SLOT,
};

/* Where in a dump everything is, in bytes from its start. */
struct hostcall_map {
    bool is_new;  /* the pool of 2026 */
    bool is_pool; /* as in memory; else packets, each with its payload behind */
    uint64_t headers;
    uint64_t header_step; /* from one packet's to the next */
    uint64_t payloads;
    uint64_t payload_step;
    uint64_t phases[2]; /* of a new pool: device's and host's */
    uint32_t n_packets;
};

/* The format's buffer_word(), with the map of the dump. */
bool hostcall_word(const struct pfd_walk *walk, const struct hostcall_map *map,
                   uint64_t at, struct pfd_word *ret);

#endif
