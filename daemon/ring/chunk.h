/* SPDX-License-Identifier: MIT */
/*
 * Chunks as the daemon keeps them: the bytes of a frame of entries
 * (printfdecode/chunk.h), settled and never changed, and what is known of them
 * without reading them. References are counted on the loop.
 */
#ifndef PFDD_CHUNK_H
#define PFDD_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

#include "ring/binding.h"
#include "ring/source_offsets.h"

enum pfdd_kind {
    PFDD_ENTRY,
    PFDD_FINDING,
    PFDD_GAP,
    PFDD_N_KINDS
};

/* What those who read a chunk have to know of its buffer. */
struct pfdd_buffer {
    unsigned refs;
    char *name;                   /* of the source */
    char *origin;                 /* members of "origin" in JSON, or NULL */
    struct pfd_options options;   /* how it is read */
    struct pfdd_binding *binding; /* a reference, or NULL */
    size_t n_bytes;               /* of memory */
    size_t *held; /* what counts them once a chunk was in the ring, or NULL */
    unsigned n_in_ring;           /* chunks of it */
    struct pfd_wire_frame *frame; /* owned: the `buffer` frame by which others
                                     are told of it, of generation 0; its number
                                     is no other buffer's */
};

/* All borrowed for the call. */
struct pfdd_buffer_options {
    const char *name;
    const struct pfd_wire_frame *frame; /* what its producer said; NULL: nothing
                                         */
    const char *origin;           /* the same, as members of "origin" in JSON */
    struct pfdd_binding *binding; /* a reference is taken; may be NULL */
    uint64_t scope;               /* whose shaders its entries may have */
    const struct pfd_options *options; /* NULL: the defaults */
};

/* NULL: out of memory. */
struct pfdd_buffer *pfdd_buffer_new(const struct pfdd_buffer_options *options);
struct pfdd_buffer *pfdd_buffer_ref(struct pfdd_buffer *buffer);
/* NULL is allowed. */
void pfdd_buffer_unref(struct pfdd_buffer *buffer);

/* What its maker knows of a chunk. */
struct pfdd_contents {
    uint32_t n[PFDD_N_KINDS]; /* items */
    uint64_t generation;
    struct pfdd_source_offset last; /* of its entries, if there are any */
    uint32_t last_bytes;            /* of that entry */
};

struct pfdd_chunk {
    unsigned refs;
    size_t *held; /* what counts the bytes of those that are alive, or NULL */
    struct pfdd_chunk *next;    /* of those that go in together */
    struct pfdd_buffer *buffer; /* a reference */
    uint32_t source;
    uint32_t n_items;
    uint64_t first_seq;
    uint64_t time; /* ns since 1970 */
    uint64_t at;   /* bytes that went into the ring before it */
    struct pfdd_contents contents;
    size_t n;     /* of bytes */
    char bytes[]; /* of a frame of entries */
};

/* Any thread; bytes [n] are copied. NULL: out of memory. */
struct pfdd_chunk *pfdd_chunk_new(const struct pfdd_contents *contents,
                                  const void *bytes, size_t n);
struct pfdd_chunk *pfdd_chunk_ref(struct pfdd_chunk *chunk);
/* NULL is allowed. */
void pfdd_chunk_unref(struct pfdd_chunk *chunk);
/* Of memory. */
size_t pfdd_chunk_bytes(const struct pfdd_chunk *chunk);

#endif
