/* SPDX-License-Identifier: MIT */
/*
 * Stores an edge's code objects and the lists of them at the servers, and
 * remembers the stored ones. Calls wait for the network and the disk.
 */
#ifndef PFDD_NATS_EDGE_CODE_H
#define PFDD_NATS_EDGE_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "nats/nats_upload.h"
#include "spool/spool_frame.h"

enum {
    PFDD_KNOWN_CODES = 256, /* lists that are known to be stored */
};

/* A list of code objects that the servers store. */
struct pfdd_known_code {
    struct pfdd_manifest manifest;
    char digest[PFDD_SHA256_TEXT];
    char place[PFDD_PLACE]; /* our own place, if needed; or "" */
};

/* dir and pieces.line are borrowed; the rest all zeros. */
struct pfdd_nats_edge_code {
    const char *dir;                                /* the state folder */
    struct pfdd_known_code known[PFDD_KNOWN_CODES]; /* [n] */
    size_t n;
    struct pfdd_nats_upload pieces;
};

/* Stores a manifest's list and code objects, unless they are known to be stored.
 * A code object that the servers cannot take is left out of the list. NULL:
 * failed, try again later; pieces.line->why says why. */
const struct pfdd_known_code *pfdd_nats_edge_code_send(
    struct pfdd_nats_edge_code *code, const struct pfdd_manifest *manifest);

#endif
