/* SPDX-License-Identifier: MIT */
/*
 * Records of the spool (spool_records.h). A record with number 0 describes a buffer:
 * its place in a short table, valid in its segment until the place is reused,
 * and its `buffer` frame (printfdecode/wire.h). All others are chunks: the head
 * below, and the bytes of an `entries` frame, as in the ring.
 *
 * Any bytes are safe to parse.
 */
#ifndef PFDD_SPOOL_FRAME_H
#define PFDD_SPOOL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/chunk.h"

enum {
    PFDD_PLACES = 256,            /* described in a segment at a time */
    PFDD_SPOOL_RECORD_PLACE = 8,  /* bytes before the frame of a buffer */
    PFDD_SPOOL_RECORD_CHUNK = 64, /* bytes before a chunk */
    PFDD_CHUNK_RECORD = 512,      /* of one item: at most, about */
};

/* The first n code objects of a manifest (blob_store.h). */
struct pfdd_manifest {
    uint64_t number; /* 0: none */
    uint32_t n;
};

/* The head of a chunk's record. */
struct pfdd_spool_record_head {
    uint32_t place; /* of its buffer */
    struct pfdd_manifest manifest;
    uint64_t time;
    struct pfdd_contents contents;
};

void pfdd_spool_record_put(char ret[PFDD_SPOOL_RECORD_CHUNK],
                           const struct pfdd_spool_record_head *head);

/* Parses the head of a record [n]; its chunk is behind the first
 * PFDD_SPOOL_RECORD_CHUNK bytes. False: malformed. */
bool pfdd_spool_record_get(const char *bytes, size_t n,
                           struct pfdd_spool_record_head *ret);

uint32_t pfdd_spool_record_items(const struct pfdd_spool_record_head *head);

/* The record that describes a buffer, [*n], allocated. NULL: out of memory. */
char *pfdd_spool_record_of_buffer(const struct pfdd_buffer *buffer,
                                  uint32_t place, size_t *n);

/* The buffer that a record [n] describes, a reference, without binding. NULL:
 * malformed, or *no_memory. */
struct pfdd_buffer *pfdd_spool_record_buffer(const char *bytes, size_t n,
                                             uint32_t *place, bool *no_memory);

#endif
