/* SPDX-License-Identifier: MIT */
/*
 * Buffers of edges (input_nats.c), as if they were local, and the lists of code
 * objects that their entries are read with. Loop thread only.
 */
#ifndef PFDD_EDGE_BUFFERS_H
#define PFDD_EDGE_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include <printfdecode/wire.h>

#include "base/sha256.h"
#include "nats/worker_message.h"

struct pfdd_ingest;
struct pfdd_buffer;
struct pfdd_producer;

enum {
    PFDD_EDGE_CODES = 1024,      /* lists of code objects */
    PFDD_EDGE_BUFFERS = 1024,    /* buffers that are known at a time */
    PFDD_EDGE_FRAME = 128 << 10, /* bytes of a buffer's frame, at most */
};

/* A list of code objects that entries refer to. */
struct pfdd_edge_code {
    char digest[PFDD_SHA256_TEXT];
    struct pfdd_producer *producer;
};

/* A buffer of an edge. */
struct pfdd_edge_buffer {
    char edge[PFDD_EDGE_NAME];
    const struct pfdd_edge_code *code; /* NULL: none */
    char *said;                        /* [n_said], owned: its frame */
    size_t n_said;
    struct pfdd_buffer *buffer; /* a reference */
    uint64_t used;
};

/* d is borrowed; the rest all zeros: none is known. */
struct pfdd_edge_buffers {
    struct pfdd_ingest *ingest;
    struct pfdd_edge_code codes[PFDD_EDGE_CODES]; /* [n_codes] */
    size_t n_codes;
    struct pfdd_edge_buffer buffers[PFDD_EDGE_BUFFERS]; /* [n_buffers] */
    size_t n_buffers;
    size_t n_bytes; /* of memory, for their frames */
    uint64_t clock;
};

/* Forgets all buffers and lists. */
void pfdd_edge_buffers_forget(struct pfdd_edge_buffers *known);

/* The list with this digest; NULL: it has not come. Borrowed until all are
 * forgotten, which a new list may cause. */
const struct pfdd_edge_code *pfdd_edge_code_find(
    const struct pfdd_edge_buffers *known, const char *digest);

/* Adds a list that has come, with its objects, which are moved out of the
 * message. */
void pfdd_edge_code_take(struct pfdd_edge_buffers *known,
                         struct pfdd_worker_message *p);

/* The buffer of a worker message's frame, which has PFDD_EDGE_FRAME bytes at
 * most; borrowed until the next one. NULL: out of memory. */
struct pfdd_buffer *pfdd_edge_buffer_find(struct pfdd_edge_buffers *known,
                                          const struct pfdd_worker_message *p,
                                          const struct pfdd_edge_code *code,
                                          const struct pfd_wire_frame *frame);

/* Likewise a buffer that is not remembered; a reference. */
struct pfdd_buffer *pfdd_edge_buffer_make(struct pfdd_edge_buffers *known,
                                          const struct pfdd_worker_message *p,
                                          const struct pfdd_edge_code *code,
                                          const struct pfd_wire_frame *frame);

#endif
