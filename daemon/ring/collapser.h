/* SPDX-License-Identifier: MIT */
/*
 * Collapses entries on their way to one subscriber: rows go in, lines of the
 * subscriber's form come out, some of them later. An entry waits for at most a
 * second, in bounded memory. While the cursor's block is being rendered, its
 * job owns the collapser; at other times the loop does.
 */
#ifndef PFDD_COLLAPSER_H
#define PFDD_COLLAPSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/request.h"

struct pfd_collapse;

struct pfdd_collapser {
    struct pfd_collapse *collapse;
    bool is_sse;
    bool waits; /* rows were added since the last end */
    bool failed;
    uint64_t ended_ns; /* uv_hrtime() of the last end */
    char *text;        /* [n] of [size], lines that were not taken yet */
    size_t n;
    size_t size;
};

enum {
    PFDD_COLLAPSER_MAX = 1024 * 1024, /* bytes that it may take in all */
    PFDD_COLLAPSER_MIN = 64 * 1024,   /* bytes that it may always take */
};

/* form: text, JSON or server-sent events. All times by uv_hrtime(). NULL: out
 * of memory. */
struct pfdd_collapser *pfdd_collapser_new(enum pfdd_form form,
                                          const struct pfdd_selection *wants,
                                          uint64_t now_ns);
/* NULL is allowed. */
void pfdd_collapser_free(struct pfdd_collapser *collapser);

/* Bytes that it takes, about. */
size_t pfdd_collapser_memory(const struct pfdd_collapser *collapser);
/* Limits the bytes that it takes: PFDD_COLLAPSER_MIN to PFDD_COLLAPSER_MAX,
 * which is the initial limit. With a lower limit, lines end sooner. */
void pfdd_collapser_set_room(struct pfdd_collapser *collapser, size_t n);

/* Rows of pfd_lines_rows(). */
void pfdd_collapser_add(struct pfdd_collapser *collapser, const void *rows,
                        size_t n);

/* Flushes all waiting rows. seq: the last item that was added. Events get an id
 * only here, where nothing waits: a client can resume from there. */
void pfdd_collapser_end(struct pfdd_collapser *collapser, uint64_t seq,
                        uint64_t now_ns);
/* True: it is time to call pfdd_collapser_end(). */
bool pfdd_collapser_is_due(const struct pfdd_collapser *collapser,
                           uint64_t now_ns);

/* Takes the finished lines, [*n], allocated; NULL: none. */
char *pfdd_collapser_take(struct pfdd_collapser *collapser, size_t *n);

#endif
