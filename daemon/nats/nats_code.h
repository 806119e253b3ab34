/* SPDX-License-Identifier: MIT */
/*
 * Fetches a list of code objects, and these objects, from GPUCODE. It fetches a
 * piece at a time, so that others get their turns. The contents are not
 * trusted: sizes and counts are limited before anything is read, and everything
 * is checked against its SHA-256.
 */
#ifndef PFDD_NATS_CODE_H
#define PFDD_NATS_CODE_H

#include "nats/nats_connection.h"
#include "nats/worker_message.h"
#include "remote/stored_message.h"

struct pfdd_manifest_list;

enum pfdd_code_state {
    PFDD_CODE_MORE,    /* more pieces are to be fetched */
    PFDD_CODE_DONE,    /* complete: pfdd_nats_code_take() */
    PFDD_CODE_MISSING, /* a part of it is not stored */
    PFDD_CODE_UNSURE,  /* no answer now: ask again */
};

struct pfdd_nats_code {
    char digest[PFDD_SHA256_TEXT]; /* of the list */
    char place[PFDD_PLACE];        /* the edge's own place, or "" */
    unsigned n_turns;              /* counted by the caller */
    /* The rest is private. */
    size_t n_max;
    struct pfdd_manifest_list *list; /* NULL: it is being fetched */
    size_t i;                        /* index of the next object */
    struct pfdd_worker_message *worker_message;
    /* The list or object that is being fetched. */
    bool is_own; /* from the edge's own place */
    bool is_all; /* no more pieces are stored */
    char *bytes; /* [n] */
    size_t n;
    size_t n_piece; /* pieces that were fetched */
    size_t n_first; /* bytes of the first one; only the last may have fewer */
    size_t n_held;  /* bytes of fetched objects and of the list */
};

/* n_max: limit of bytes for everything. NULL: out of memory. */
struct pfdd_nats_code *pfdd_nats_code_new(const char *digest, const char *place,
                                          size_t n_max);
void pfdd_nats_code_free(struct pfdd_nats_code *code);

/* Fetches one piece at most. */
enum pfdd_code_state pfdd_nats_code_step(struct pfdd_nats_code *code,
                                         struct pfdd_nats *line);

/* Bytes of memory. */
size_t pfdd_nats_code_memory(const struct pfdd_nats_code *code);

/* The list of a complete fetch; the caller takes ownership. */
struct pfdd_worker_message *pfdd_nats_code_take(struct pfdd_nats_code *code);

#endif
