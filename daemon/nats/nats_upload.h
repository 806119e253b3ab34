/* SPDX-License-Identifier: MIT */
/*
 * What an edge puts into GPUCODE: pieces of code objects and of lists, under the
 * SHA-256 of the whole, where all edges share them. The first message of a
 * subject stays there: where it is not what it should be, the edge has a place
 * of its own, whose name is said behind the pieces. Calls wait for the network.
 */
#ifndef PFDD_NATS_UPLOAD_H
#define PFDD_NATS_UPLOAD_H

#include "nats/nats_get.h"

/* line is borrowed; the rest all zeros. */
struct pfdd_nats_upload {
    struct pfdd_nats *line;
    bool is_doubtful; /* each piece is compared with what the servers have */
    bool uses_place;  /* set where the edge's own place was needed */
    char place[PFDD_PLACE];
};

/* Bytes [n] under their digest; what is there is not sent again. False: line->why
 * says why not. */
bool pfdd_nats_upload_put(struct pfdd_nats_upload *pieces, const char *digest,
                          const char *bytes, size_t n);

#endif
