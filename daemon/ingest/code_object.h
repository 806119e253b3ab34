/* SPDX-License-Identifier: MIT */
/*
 * Code objects that came to the library (string_store.h): what of them is known, how
 * they are read, and sets of them. References are counted on the loop.
 */
#ifndef PFDD_CODE_OBJECT_H
#define PFDD_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/strings.h>

#include "config/trusted_folder.h"
#include "ring/chunk_objects.h"

struct pfdd_peer;
struct pfdd_producer;
struct pfdd_fair_queue_task;

/* What was found in one when its strings were read first. */
struct pfdd_no_strings {
    bool is_true; /* it has none */
    bool is_note; /* as it should be */
    char why[256];
};

struct pfdd_code {
    struct pfdd_code *next;         /* of those that come */
    unsigned refs;                  /* the sets' that it is in; the loop's */
    struct pfdd_producer *producer; /* NULL: everybody's */
    uint64_t scope_number; /* it says so also when the scope has gone */
    uint64_t number;       /* no other one's */
    uint64_t since;        /* the change of the library that it came with */
    bool is_given;         /* by a producer: it goes when room is wanted */
    bool is_dropped;       /* it goes with the next set */
    struct pfdd_producer *sender; /* of one that comes; NULL: none, or gone */
    struct pfdd_producer *
        *owners; /* [n_owners]: who has sent it, and is here */
    size_t n_owners;
    struct pfdd_code *same; /* the build's: an older one that is as this */
    bool is_renewed;        /* likewise: it is in the set that is made anew */
    struct pfdd_fair_queue_task
        *fair_queue_task; /* the queue (fair_queue.h) that it has waited in */
    uint64_t spent;       /* ns of processor time that reading it took */
    size_t n_set;         /* bytes that its strings take in the set */
    size_t *alive;        /* what counts the bytes of those that are there */
    char *name;
    char *bytes; /* [n]; NULL: to be read */
    size_t n;
    uint32_t crc;    /* of bytes, once they are read */
    size_t n_coming; /* bytes that count as coming */
    bool is_file;    /* of the configuration: it can be read again */
    struct pfdd_trusted_folder
        *trusted_folder;    /* to be read from; NULL: it is a path */
    struct pfdd_peer *peer; /* who named it by a URI; NULL: nobody */
    bool is_kept;
    bool is_shader;
    uint32_t shader;    /* its number */
    char why[PFDD_WHY]; /* it cannot be used, or "" */
    struct pfdd_no_strings none;
};

/* What came in and can be used, oldest first, so that numbers of strings stay
 * the same. Neither a set nor an object of it changes: a job reads one while
 * the loop goes on to the next. Counted on the loop. */
struct pfdd_catalogue {
    unsigned refs;
    size_t n;
    size_t size;
    struct pfdd_code *objects[]; /* [n] of [size], a reference to each */
};

/* What it takes of the library's room. */
size_t pfdd_code_cost(size_t n_bytes);
void pfdd_code_free(struct pfdd_code *o);
/* By a producer, and nobody who is here has sent it. */
bool pfdd_code_has_gone(const struct pfdd_code *o);
/* A list, by `next`. */
void pfdd_code_free_all(struct pfdd_code *first);

/* On a worker: its bytes, of a URI at most n_max. */
void pfdd_code_read(struct pfdd_code *o, size_t n_max);
enum pfd_status pfdd_code_load(struct pfd_strings *set,
                               const struct pfdd_code *o,
                               struct pfdd_no_strings *none,
                               struct pfd_error *err);

/* For up to n_max; NULL: out of memory. */
struct pfdd_catalogue *pfdd_catalogue_new(size_t n_max);
/* Another one, of those that are not dropped, and for n_more; NULL: out of
 * memory. */
struct pfdd_catalogue *pfdd_catalogue_sweep(const struct pfdd_catalogue *of,
                                            size_t n_more);
/* False: it has all that it is for. */
bool pfdd_catalogue_put(struct pfdd_catalogue *c, struct pfdd_code *o);
/* A reference to it; NULL is allowed. */
void pfdd_catalogue_drop(struct pfdd_catalogue *c);

/* Finds the objects of a catalogue by what is in them; of one job. */
struct pfdd_code_index {
    const struct pfdd_catalogue *of;
    uint32_t *slots; /* [mask + 1]: place + 1; 0: none */
    size_t mask;
};

/* Without memory it finds nothing. */
void pfdd_code_index_init(struct pfdd_code_index *index,
                          const struct pfdd_catalogue *of);
void pfdd_code_index_deinit(struct pfdd_code_index *index);
/* One that is the same as o, which has been read, for the same scope; NULL:
 * there is none. */
struct pfdd_code *pfdd_code_index_find(const struct pfdd_code_index *index,
                                       const struct pfdd_code *o);

/* Object i, for those who are handed lists (chunk_objects.h). */
void pfdd_catalogue_get(const void *catalogue, size_t i,
                        struct pfdd_code_object *ret);

#endif
