/* SPDX-License-Identifier: MIT */
/*
 * Chunks as the daemon stores them: the bytes of a frame of entries
 * (printfdecode/capture.h), which never change, with metadata that is known
 * without parsing them. References are counted on the loop.
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

/* Everything that a reader of a chunk needs to know of its buffer. */
struct pfdd_buffer {
    unsigned refs;
    char *name;                   /* of the source */
    char *host;                   /* likewise; "": this machine, or not known */
    char *origin;                 /* members of "origin" in JSON, or NULL */
    struct pfd_options options;   /* of the decoder */
    struct pfdd_binding *binding; /* a reference, or NULL */
    size_t n_bytes;               /* of memory */
    /* The counter that n_bytes was added to when the first chunk entered the
     * ring; NULL: not yet. */
    size_t *held;
    unsigned n_in_ring; /* its chunks in the ring */
    /* Owned: the `buffer` frame that announces it in a stream of entries, of
     * generation 0; its number is unique. */
    struct pfd_wire_frame *frame;
};

/* All borrowed for the call. */
struct pfdd_buffer_options {
    const char *name;
    const struct pfd_wire_frame *frame; /* as its producer sent it; NULL:
                                           none */
    const char *origin;           /* likewise, as members of "origin" in JSON */
    struct pfdd_binding *binding; /* a reference is taken; may be NULL */
    uint64_t scope;               /* of the shaders that its entries may refer
                                     to */
    const struct pfd_options *options; /* NULL: the defaults */
};

/* NULL: out of memory. */
struct pfdd_buffer *pfdd_buffer_new(const struct pfdd_buffer_options *options);
/* True: of the source of that name; host: of the machine of that name, too; NULL:
 * of any. */
bool pfdd_buffer_is_of(const struct pfdd_buffer *buffer, const char *source,
                       const char *host);
enum {
    PFDD_BUFFER_KEY = 300,
};
/* The key of a buffer that is resumed after a restart: its name, and the
 * process that has it. */
void pfdd_buffer_key(const struct pfdd_buffer *buffer,
                     char ret[PFDD_BUFFER_KEY]);
struct pfdd_buffer *pfdd_buffer_ref(struct pfdd_buffer *buffer);
/* NULL is allowed. */
void pfdd_buffer_unref(struct pfdd_buffer *buffer);

/* What a chunk contains, as counted by the chunker. */
struct pfdd_contents {
    uint32_t n[PFDD_N_KINDS]; /* items */
    uint64_t generation;
    struct pfdd_source_offset last; /* position of the last entry, if there is
                                       one */
    uint32_t last_bytes;            /* of that entry */
};

struct pfdd_chunk {
    unsigned refs;
    size_t *held; /* the counter that its bytes were added to, or NULL */
    struct pfdd_chunk *next;    /* in a list that is appended as one */
    struct pfdd_buffer *buffer; /* a reference */
    uint32_t source;
    uint32_t n_items;
    uint64_t first_seq;
    uint64_t time; /* ns since 1970 */
    uint64_t at;   /* bytes appended to the ring before it */
    struct pfdd_contents contents;
    size_t n;     /* bytes */
    char bytes[]; /* of a frame of entries */
};

/* Any thread; bytes [n] are copied. NULL: out of memory. */
struct pfdd_chunk *pfdd_chunk_new(const struct pfdd_contents *contents,
                                  const void *bytes, size_t n);
struct pfdd_chunk *pfdd_chunk_ref(struct pfdd_chunk *chunk);
/* NULL is allowed. */
void pfdd_chunk_unref(struct pfdd_chunk *chunk);
/* Bytes of memory. */
size_t pfdd_chunk_bytes(const struct pfdd_chunk *chunk);

/*
 * Code objects of the strings of chunks, for consumers that pass chunks on:
 * subscribers that render themselves, and the spool, which outlives producers.
 * The string store implements the functions. Loop thread only; any thread may
 * read the bytes of a list that is held.
 */

/* An object of a list, borrowed as long as the list is held. */
struct pfdd_code_object {
    const char *name;
    const void *bytes; /* [n] */
    size_t n;
    uint64_t number; /* unique */
    uint64_t scope;  /* of the buffers that may need it; 0: all may */
    uint64_t since;  /* number of the change that added it */
    bool is_shader;  /* a SPIR-V module; the layer's records refer to it by
                        `shader` */
    uint32_t shader;
};

struct pfdd_object_lists {
    /* Opens the list of code objects that all buffers may need, and of scopes
     * whose producers are connected. Other objects of a scope are only in
     * pfdd_strings.own. Oldest first: [*n], never changed. *changes: number of
     * changes so far. close() releases the list and its bytes. */
    const void *(*open)(void *user, size_t *n, uint64_t *changes);
    void (*get)(const void *list, size_t i, struct pfdd_code_object *ret);
    void (*close)(void *user, const void *list);
    void *user;
};

#endif
