/* SPDX-License-Identifier: MIT */
/*
 * The preamble of one cursor's stream of entries. The stream is a capture
 * (src/stream/capture/README.md): a buffer, and the code objects of its
 * strings, come before the buffer's entries, each once. Large objects are
 * written in several frames. After very many buffers, the stream ends and a new
 * one follows, in which all numbers begin anew. Loop thread only.
 */
#ifndef PFDD_PREAMBLE_H
#define PFDD_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/wire.h>

#include "ring/chunk.h"

enum {
    PFDD_PREAMBLE_PART = 256 * 1024, /* bytes of a code object in one frame */
};

/* All zeros: nothing was sent. */
struct pfdd_preamble {
    bool has_begun;
    uint64_t n_streams; /* streams that have ended; their preamble is void */
    uint64_t n_objects; /* numbers given to code objects */
    uint64_t n_bytes;   /* of these objects */
    uint64_t n_alive;   /* of all objects, when they were counted last */
    struct pfdd_preamble_buffer {
        uint64_t number;
        uint64_t generation;
    } * buffers; /* [n_buffers] */
    size_t n_buffers;
    /* For shared code objects (scope 0) and for each scope: the last change
     * that was sent. */
    struct pfdd_preamble_scope {
        uint64_t scope;
        uint64_t changes;
    } * scopes; /* [n_scopes] */
    size_t n_scopes;
    /* Being sent: a list of code objects, and the position in it. */
    const struct pfdd_object_lists *lists;
    const void *list; /* NULL: nothing */
    /* Whose own list it is, a reference; NULL: it is the shared list. */
    struct pfdd_strings *strings;
    size_t n_list;
    size_t i;
    size_t at;        /* bytes sent of object i */
    uint64_t changes; /* of the list */
    uint64_t scope;   /* of the buffer that it is sent for */
};

void pfdd_preamble_deinit(struct pfdd_preamble *t);

/* Begins the stream unless it has begun. False, here and below: out of memory,
 * or write failed. */
bool pfdd_preamble_begin(struct pfdd_preamble *preamble,
                         pfd_wire_write_fn write, void *user);

/*
 * Writes the next frames that have to precede entries of a generation of a
 * buffer. *done: nothing is missing.
 */
bool pfdd_preamble_write(struct pfdd_preamble *preamble,
                         const struct pfdd_object_lists *lists,
                         const struct pfdd_buffer *buffer, uint64_t generation,
                         pfd_wire_write_fn write, void *user, bool *done);

/* Parts of any preamble. The beginning of a stream; the next frame of a code
 * object, from *at on, and behind its last one the shader that it is. False:
 * write failed. */
bool pfdd_preamble_hello(pfd_wire_write_fn write, void *user);
bool pfdd_preamble_object(const struct pfdd_code_object *o, uint64_t number,
                          size_t *at, pfd_wire_write_fn write, void *user);

/* Bytes that it holds. */
size_t pfdd_preamble_memory(const struct pfdd_preamble *t);

#endif
