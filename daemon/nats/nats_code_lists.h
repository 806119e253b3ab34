/* SPDX-License-Identifier: MIT */
/*
 * The lists of code objects that a worker's loop has, and those that are fetched
 * for it: some at a time, in turns, within the memory that one may have.
 */
#ifndef PFDD_NATS_CODE_LISTS_H
#define PFDD_NATS_CODE_LISTS_H

#include <stdatomic.h>

#include "nats/nats_code.h"

enum {
    PFDD_CODES_KNOWN = 1024, /* lists that the loop has */
    PFDD_CODES_COMING = 8,   /* that are fetched at a time */
};

/* line, n_max and give are the owner's; the rest all zeros. */
struct pfdd_nats_code_lists {
    struct pfdd_nats *line;
    size_t n_max; /* bytes of all that are fetched */
    void (*give)(void *user, struct pfdd_worker_message *worker_message);
    void *user;
    atomic_size_t n_bytes; /* that they have; for any thread */
    char known[PFDD_CODES_KNOWN][PFDD_SHA256_TEXT]; /* [n_known] */
    size_t n_known;
    /* [n_coming], the oldest first; behind them one that has its first turn. */
    struct pfdd_nats_code *coming[PFDD_CODES_COMING + 1];
    size_t n_coming;
    /* The one that was missing last: many entries need the same. */
    char digest[PFDD_SHA256_TEXT];
    char place[PFDD_PLACE];
    uint64_t missed; /* ms */
};
void pfdd_nats_code_lists_deinit(struct pfdd_nats_code_lists *codes);

/* What entries need: PFDD_CODE_DONE: it has been given. PFDD_CODE_MORE: it is
 * fetched, ask again. PFDD_CODE_MISSING: it is not there, or too much else is
 * fetched. */
enum pfdd_code_state pfdd_nats_code_lists_bring(
    struct pfdd_nats_code_lists *codes,
    const struct pfdd_worker_message *worker_message);

/* A turn for each that is fetched. */
void pfdd_nats_code_lists_turn(struct pfdd_nats_code_lists *codes);

#endif
