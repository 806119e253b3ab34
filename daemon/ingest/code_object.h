/* SPDX-License-Identifier: MIT */
/*
 * Code objects of the string store (string_store.h): their state, how they are
 * read, and catalogues of them. References are counted on the loop.
 */
#ifndef PFDD_CODE_OBJECT_H
#define PFDD_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/strings.h>

#include "config/trusted_folder.h"
#include "ring/chunk.h"

struct pfdd_peer;
struct pfdd_producer;
struct pfdd_code_queue;

/* The result of reading its strings for the first time. */
struct pfdd_no_strings {
    bool is_true; /* it has none */
    bool is_note; /* as it should be */
    char why[256];
};

/* Where its bytes are read. */
struct pfdd_code_origin {
    bool is_file; /* of the configuration, or of a watched folder: it can be
                        read again */
    struct pfdd_trusted_folder
        *trusted_folder;    /* to read it from; NULL: the name is a path */
    struct pfdd_peer *peer; /* the peer that named it by a URI; NULL: none */
};

struct pfdd_code {
    struct pfdd_code *next;         /* in a list of incoming ones */
    unsigned refs;                  /* catalogues that have it; counted on the
                                       loop */
    struct pfdd_producer *producer; /* whose buffers alone use it; NULL: it is
                                       shared */
    uint64_t scope_number; /* of that producer, also when it has gone */
    uint64_t number;       /* unique */
    uint64_t since;        /* the change of the string store that it came
                              with */
    bool is_given;         /* sent by a producer: evicted for space once the
                              producer has gone */
    bool is_dropped;       /* removed with the next catalogue */
    struct pfdd_producer *sender; /* while incoming; NULL: none, or gone */
    struct pfdd_producer *
        *owners; /* [n_owners]: connected producers that sent it */
    size_t n_owners;
    struct pfdd_code *same; /* the build's: an older, identical object */
    bool is_renewed;        /* likewise: it is in the renewed set */
    struct pfdd_code_queue *code_queue; /* that it was put into */
    uint64_t spent; /* ns of processor time to read and load it */
    size_t n_set;   /* bytes that its strings take in the set */
    size_t *alive;  /* counter of the bytes of live objects; NULL: not
                             counted there */
    char *name;
    char *bytes; /* [n]; NULL: not read yet */
    size_t n;
    uint32_t crc;    /* of bytes, once they are read */
    size_t n_coming; /* bytes charged while it is incoming */
    struct pfdd_code_origin origin;
    bool is_kept;
    bool is_shader;
    uint32_t shader;    /* its number */
    char why[PFDD_WHY]; /* it cannot be used, or "" */
    struct pfdd_no_strings none;
};

/* Usable code objects, oldest first, so that numbers of strings stay the same.
 * Neither a catalogue nor an object in it changes: a job reads one while the
 * loop goes on to the next. References are counted on the loop. */
struct pfdd_catalogue {
    unsigned refs;
    size_t n;
    size_t size;
    struct pfdd_code *objects[]; /* [n] of [size], a reference to each */
};

/* Bytes that a code object of n_bytes is charged as. */
size_t pfdd_code_cost(size_t n_bytes);
/* Gives back the folder and the peer that it was read by. */
void pfdd_code_forget_origin(struct pfdd_code *o);
void pfdd_code_free(struct pfdd_code *o);
/* True: a producer sent it, and no connected producer owns it; it is not
 * dropped yet. */
bool pfdd_code_has_gone(const struct pfdd_code *o);
/* Frees a list, linked by `next`. */
void pfdd_code_free_all(struct pfdd_code *first);

/* On a worker: reads its bytes; at most n_max of a URI. */
void pfdd_code_read(struct pfdd_code *o, size_t n_max);
enum pfd_status pfdd_code_load(struct pfd_strings *set,
                               const struct pfdd_code *o,
                               struct pfdd_no_strings *none,
                               struct pfd_error *err);

/* For up to n_max objects. NULL: out of memory. */
struct pfdd_catalogue *pfdd_catalogue_new(size_t n_max);
/* A new catalogue of all objects that are not dropped, with space for n_more.
 * NULL: out of memory. */
struct pfdd_catalogue *pfdd_catalogue_sweep(const struct pfdd_catalogue *of,
                                            size_t n_more);
/* False: it has all that it is for. */
bool pfdd_catalogue_put(struct pfdd_catalogue *c, struct pfdd_code *o);
/* A reference to it; NULL is allowed. */
void pfdd_catalogue_drop(struct pfdd_catalogue *c);

/* Finds the objects of a catalogue by their content; used by one job. */
struct pfdd_code_index {
    const struct pfdd_catalogue *of;
    uint32_t *slots; /* [mask + 1]: index of an object + 1; 0: none */
    size_t mask;
};

/* Without memory, it finds nothing. */
void pfdd_code_index_init(struct pfdd_code_index *index,
                          const struct pfdd_catalogue *of);
void pfdd_code_index_deinit(struct pfdd_code_index *index);
/* An object with the bytes, shader and producer of o, which has been read.
 * NULL: none. */
struct pfdd_code *pfdd_code_index_find(const struct pfdd_code_index *index,
                                       const struct pfdd_code *o);

/* Object i, for users of object lists (ring/chunk.h). */
void pfdd_catalogue_get(const void *catalogue, size_t i,
                        struct pfdd_code_object *ret);

#endif
