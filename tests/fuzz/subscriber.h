/* SPDX-License-Identifier: MIT */
/*
 * A reader of the ring that checks what it gets: whole lines in its form, JSON
 * that can be read, sequence numbers without a hole that no gap record tells
 * of. Begins with the ring's first line, when none is there yet.
 */
#ifndef SUBSCRIBER_H
#define SUBSCRIBER_H

#include "daemon.h"
#include "ring/cursor.h"

struct subscriber {
    struct pfdd_cursor cursor;
    struct pfdd *d;
    bool is_filtered;
    size_t bite;   /* bytes taken at a time, at most */
    uint64_t next; /* sequence number */
    uint64_t id;   /* of the event of HTTP that is being read; 0: none */
    char *line;    /* [n_line] of line_size: not whole yet */
    size_t n_line;
    size_t line_size;
};

/* request: as of a client (request.h); SSE is a form that it cannot ask for. */
void subscriber_init(struct subscriber *s, struct pfdd *d, const char *request,
                     bool is_sse, size_t bite);

/* Reads what there is. */
void subscriber_read(struct subscriber *s);

/* Reads what is left: nothing may be missing that was not told. */
void subscriber_deinit(struct subscriber *s);

#endif
