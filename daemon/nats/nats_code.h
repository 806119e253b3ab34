/* SPDX-License-Identifier: MIT */
/*
 * A list of code objects, and these, as they are had from GPUCODE: a piece at a
 * time, so that others have their turns in between. What lies there anybody may
 * have written: the size and the number of what is taken are bounded before it is
 * read, and what counts is what its SHA-256 says.
 */
#ifndef PFDD_NATS_CODE_H
#define PFDD_NATS_CODE_H

#include "nats/nats_get.h"
#include "nats/worker_message.h"

struct pfdd_manifest_list;

enum pfdd_code_state {
    PFDD_CODE_MORE,    /* pieces are to be had */
    PFDD_CODE_DONE,    /* pfdd_nats_code_take() */
    PFDD_CODE_MISSING, /* something of it is not there */
    PFDD_CODE_UNSURE,  /* it did not come now: ask again */
};

struct pfdd_nats_code {
    char digest[PFDD_SHA256_TEXT]; /* of the list */
    char place[PFDD_PLACE];        /* the edge's own, or "" */
    unsigned n_turns;              /* the caller's */
    /* The rest is private. */
    size_t n_max;
    struct pfdd_manifest_list *list; /* NULL: that is on its way */
    size_t i;                        /* of its objects */
    struct pfdd_worker_message *worker_message;
    /* What is on its way. */
    bool is_own; /* it is looked for in the edge's own place */
    bool is_all; /* nothing stands behind what has come */
    char *bytes; /* [n] */
    size_t n;
    size_t n_piece; /* pieces of it */
    size_t n_held;  /* bytes of objects that have come, and of the list */
};

/* n_max: bytes that all of it may have. NULL: out of memory. */
struct pfdd_nats_code *pfdd_nats_code_new(const char *digest, const char *place,
                                          size_t n_max);
void pfdd_nats_code_free(struct pfdd_nats_code *code);

/* Asks for one piece at most. */
enum pfdd_code_state pfdd_nats_code_step(struct pfdd_nats_code *code,
                                         struct pfdd_nats *line);

/* Bytes that it holds. */
size_t pfdd_nats_code_memory(const struct pfdd_nats_code *code);

/* Of what is done, the caller's. */
struct pfdd_worker_message *pfdd_nats_code_take(struct pfdd_nats_code *code);

#endif
