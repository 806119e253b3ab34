/* SPDX-License-Identifier: MIT */
/*
 * Fetches a list of code objects, and these objects, from GPUCODE. It fetches a
 * piece at a time, so that others get their turns. The contents are not
 * trusted: sizes and counts are limited before anything is read, and everything
 * is checked against its SHA-256.
 */
#ifndef PFDD_NATS_CODE_H
#define PFDD_NATS_CODE_H

#include <stdatomic.h>

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

/*
 * The lists of code objects that a worker's loop has, and the fetches of
 * others: a few at a time, in turns, all within the memory for one.
 */

enum {
    PFDD_CODES_KNOWN = 1024, /* lists that the loop has */
    PFDD_CODES_COMING = 8,   /* fetches at a time */
};

/* line, n_max and give are the owner's; the rest all zeros. */
struct pfdd_nats_code_lists {
    struct pfdd_nats *line;
    size_t n_max; /* limit of bytes of all fetches */
    void (*give)(void *user, struct pfdd_worker_message *worker_message);
    void *user;
    atomic_size_t n_bytes; /* their bytes; read by any thread */
    char known[PFDD_CODES_KNOWN][PFDD_SHA256_TEXT]; /* [n_known] */
    size_t n_known;
    /* [n_coming], the oldest first; one more is in its first turn. */
    struct pfdd_nats_code *coming[PFDD_CODES_COMING + 1];
    size_t n_coming;
    /* The list that was missing last; many entries need the same one. */
    char digest[PFDD_SHA256_TEXT];
    char place[PFDD_PLACE];
    uint64_t missed; /* ms */
};

void pfdd_nats_code_lists_deinit(struct pfdd_nats_code_lists *codes);

/* Gets the list that entries need. PFDD_CODE_DONE: it was handed over.
 * PFDD_CODE_MORE: it is being fetched, ask again. PFDD_CODE_MISSING: it is not
 * stored, or too many others are being fetched. */
enum pfdd_code_state pfdd_nats_code_lists_bring(
    struct pfdd_nats_code_lists *codes, const struct pfdd_worker_message *p);

/* Gives each fetch a turn. */
void pfdd_nats_code_lists_turn(struct pfdd_nats_code_lists *codes);

#endif
