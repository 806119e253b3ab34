/* SPDX-License-Identifier: MIT */
/*
 * The lists of code objects that a worker's loop has, and the fetches of
 * others: a few at a time, in turns, all within the memory for one.
 */
#ifndef PFDD_NATS_CODE_LISTS_H
#define PFDD_NATS_CODE_LISTS_H

#include <stdatomic.h>

#include "nats/nats_code.h"

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
