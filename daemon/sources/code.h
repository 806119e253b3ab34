/* SPDX-License-Identifier: MIT */
/*
 * Code objects that came to the library (library.h): what of them is known, how
 * they are read, and sets of them. References are counted on the loop.
 */
#ifndef PFDD_CODE_H
#define PFDD_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/strings.h>

#include "config/folder.h"

struct pfdd_peer;
struct pfdd_scope;

struct pfdd_code {
    struct pfdd_code *next;     /* of those that come */
    unsigned refs;              /* the sets' that it is in; the loop's */
    struct pfdd_scope *scope;   /* NULL: everybody's */
    bool is_given;              /* by a producer: it goes when room is wanted */
    bool is_dropped;            /* it goes with the next set */
    struct pfdd_scope *sender;  /* of one that comes; NULL: none, or gone */
    struct pfdd_scope **owners; /* [n_owners]: who has sent it, and is here */
    size_t n_owners;
    struct pfdd_code *same; /* the job's: an older one that is as this */
    char *name;
    char *bytes; /* [n]; NULL: to be read */
    size_t n;
    uint32_t crc;               /* of bytes, once they are read */
    size_t n_coming;            /* bytes that count as coming */
    bool is_file;               /* of the configuration: it can be read again */
    struct pfdd_folder *folder; /* to be read from; NULL: it is a path */
    struct pfdd_peer *peer;     /* who named it by a URI; NULL: nobody */
    bool is_kept;
    bool is_shader;
    uint32_t shader;    /* its number */
    char why[PFDD_WHY]; /* it cannot be used, or "" */
};

/* What came in and can be used, oldest first, so that numbers of strings stay
 * the same. Neither a set nor an object of it changes: a job reads one while
 * the loop goes on to the next. Counted on the loop. */
struct pfdd_catalogue {
    unsigned refs;
    size_t n;
    struct pfdd_code *objects[]; /* [n], a reference to each */
};

/* What it takes of the library's room. */
size_t pfdd_code_cost(size_t n_bytes);
void pfdd_code_free(struct pfdd_code *o);

/* Who has sent it, too, keeps it here, and does no more. */
void pfdd_code_own(struct pfdd_code *o, struct pfdd_scope *sender);
void pfdd_code_disown(struct pfdd_code *o, const struct pfdd_scope *scope);

/* On a worker: its bytes, of a URI at most n_max. */
void pfdd_code_read(struct pfdd_code *o, size_t n_max);
enum pfd_status pfdd_code_load(struct pfd_strings *set,
                               const struct pfdd_code *o,
                               struct pfd_error *err);

/* For up to n_max; NULL: out of memory. */
struct pfdd_catalogue *pfdd_catalogue_new(size_t n_max);
void pfdd_catalogue_put(struct pfdd_catalogue *c, struct pfdd_code *o);
/* A reference to it; NULL is allowed. */
void pfdd_catalogue_drop(struct pfdd_catalogue *c);

#endif
