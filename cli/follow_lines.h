/* SPDX-License-Identifier: MIT */
/*
 * Lines that a daemon sends, JSON as they come: whole ones are chosen, counted
 * and written in the form that is wanted. The daemon need not know which ids
 * and how many are wanted, nor what counts for the exit status.
 */
#ifndef CLI_FOLLOW_LINES_H
#define CLI_FOLLOW_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connection.h"

struct options;

struct follow_lines {
    const struct options *o;
    bool is_json;
    bool is_raw;
    char *bytes; /* [n] of [size], a line that is not whole yet */
    size_t n;
    size_t size;
    char *room; /* [n_room], to make text in */
    size_t n_room;
    uint64_t n_entries; /* that were written */
    uint64_t sequence;  /* of the last line, or 0 */
    bool is_closed;     /* the output: what came last may not be written */
    bool is_doubtful;   /* something came that counts for the exit status */
    char why[300];
};

void follow_lines_init(struct follow_lines *ret, const struct options *o);
void follow_lines_deinit(struct follow_lines *lines);

/* OUTCOME_STOPPED: no more are wanted; OUTCOME_FAILED: `why` says why. */
enum outcome follow_lines_take(struct follow_lines *lines, const char *bytes,
                               size_t n);

/* At the end of the connection: likewise. */
enum outcome follow_lines_end(struct follow_lines *lines);

#endif
