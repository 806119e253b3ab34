/* SPDX-License-Identifier: MIT */
/*
 * What the records of the queue on disk say (segments.h). One of number 0
 * describes a buffer: a place of a short table, from then on, in its segment,
 * and its `buffer` frame (printfdecode/wire.h). Every other one is a chunk: what
 * stands below, and the bytes of an `entries` frame, as the ring has them.
 *
 * Any bytes are safe to read.
 */
#ifndef PFDD_SPOOL_RECORD_H
#define PFDD_SPOOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/chunk.h"

enum {
    PFDD_PLACES = 256,            /* buffers that a segment knows at a time */
    PFDD_SPOOL_RECORD_PLACE = 8,  /* bytes before the frame of a buffer */
    PFDD_SPOOL_RECORD_CHUNK = 64, /* bytes before a chunk */
    PFDD_CHUNK_RECORD = 512,      /* more than a chunk of one item has, about */
};

/* Code objects of the queue (blob_store.h): the first n of a list. */
struct pfdd_manifest {
    uint64_t number; /* 0: none */
    uint32_t n;
};

/* A chunk's record. */
struct pfdd_spool_record_head {
    uint32_t place; /* of its buffer */
    struct pfdd_manifest manifest;
    uint64_t time;
    struct pfdd_contents contents;
};

void pfdd_spool_record_put(char ret[PFDD_SPOOL_RECORD_CHUNK],
                           const struct pfdd_spool_record_head *head);

/* Of the record's bytes [n]; false: they are none. What is behind the first
 * PFDD_SPOOL_RECORD_CHUNK is the chunk. */
bool pfdd_spool_record_get(const char *bytes, size_t n,
                           struct pfdd_spool_record_head *ret);

uint32_t pfdd_spool_record_items(const struct pfdd_spool_record_head *head);

/* The record of a buffer, [*n], allocated; NULL: out of memory. */
char *pfdd_spool_record_of_buffer(const struct pfdd_buffer *buffer,
                                  uint32_t place, size_t *n);

/* The buffer of a record's bytes [n], with a reference and no binding. NULL:
 * they describe none, or *no_memory. */
struct pfdd_buffer *pfdd_spool_record_buffer(const char *bytes, size_t n,
                                             uint32_t *place, bool *no_memory);

#endif
