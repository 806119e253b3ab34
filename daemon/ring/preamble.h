/* SPDX-License-Identifier: MIT */
/*
 * What one reader of entries has been told of: the stream that it gets is a
 * capture (src/stream/capture/README.md), in which a buffer and the code objects that its
 * strings come from stand before its entries, each once. Where that is much, it
 * goes out piece by piece. A reader that is told of very many buffers gets a new
 * stream behind the old one, in which all numbers begin anew. Loop thread only.
 */
#ifndef PFDD_PREAMBLE_H
#define PFDD_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/wire.h>

#include "ring/chunk.h"
#include "ring/chunk_objects.h"

/* All zeros: nothing. */
struct pfdd_preamble {
    bool has_begun;
    uint64_t n_streams; /* that were over; what was told in them is forgotten */
    uint64_t n_objects; /* numbers that code objects have */
    uint64_t n_bytes;   /* of them */
    uint64_t n_alive;   /* of those that there were, when it looked last */
    struct pfdd_preamble_buffer {
        uint64_t number;
        uint64_t generation;
    } * buffers; /* [n_buffers] */
    size_t n_buffers;
    /* Of everybody's code objects, and of those of a scope: up to which change
     * they were told. */
    struct pfdd_preamble_scope {
        uint64_t scope;
        uint64_t changes;
    } * scopes; /* [n_scopes] */
    size_t n_scopes;
    /* What is being told: a list of code objects, and where in it. */
    const struct pfdd_object_lists *lists;
    const void *list;             /* NULL: nothing */
    struct pfdd_strings *strings; /* whose own it is, a reference; NULL: it is
                                     everybody's */
    size_t n_list;
    size_t i;
    size_t at;        /* bytes of object i */
    uint64_t changes; /* of the list */
    uint64_t scope;   /* that it is told for */
};

void pfdd_preamble_deinit(struct pfdd_preamble *preamble);

/* Begins the stream, if it has not been begun. False: out of memory, or write
 * said so, here and below. */
bool pfdd_preamble_begin(struct pfdd_preamble *preamble,
                         pfd_wire_write_fn write, void *user);

/*
 * Tells the next piece of what has to stand before entries of a generation of a
 * buffer. *done: nothing is missing.
 */
bool pfdd_preamble_write(struct pfdd_preamble *preamble,
                         const struct pfdd_object_lists *lists,
                         const struct pfdd_buffer *buffer, uint64_t generation,
                         pfd_wire_write_fn write, void *user, bool *done);

/* Bytes that it holds. */
size_t pfdd_preamble_memory(const struct pfdd_preamble *preamble);

#endif
