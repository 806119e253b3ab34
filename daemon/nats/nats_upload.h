/* SPDX-License-Identifier: MIT */
/*
 * Stores code objects and lists in GPUCODE for an edge, in pieces, under the
 * SHA-256 of the whole. Pieces are as large as the servers take, a power of two of
 * bytes, PFDD_CODE_PIECE at most. All edges share them there. A subject keeps its first
 * message: if that has other data, the edge uses a place of its own, whose name
 * follows the digest in subjects. Calls wait for the network.
 */
#ifndef PFDD_NATS_UPLOAD_H
#define PFDD_NATS_UPLOAD_H

#include "nats/nats_connection.h"
#include "remote/stored_message.h"

/* line is borrowed; the rest all zeros. */
struct pfdd_nats_upload {
    struct pfdd_nats *line;
    bool is_doubtful; /* compare every piece with the stored one */
    bool uses_place;  /* set when the edge's own place was used */
    bool is_never;    /* set when the servers never take a piece of this size */
    char place[PFDD_PLACE];
};

/* Stores bytes [n] under their digest, unless they are stored already. False:
 * line->why says why. */
bool pfdd_nats_upload_put(struct pfdd_nats_upload *pieces, const char *digest,
                          const char *bytes, size_t n);

#endif
