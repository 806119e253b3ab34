/* SPDX-License-Identifier: MIT */
/*
 * Entries on their way to one subscriber that wants them collapsed: rows go in,
 * lines of its form come out, some later than others. Nothing waits for longer
 * than a second, and what waits has bounded memory. Whoever makes the reader's
 * page has it; the loop while nobody does.
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
    bool waits; /* something came since all of them were ended */
    bool failed;
    uint64_t ended_ns; /* then */
    char *text;        /* [n] of [size], made and not taken */
    size_t n;
    size_t size;
};

enum {
    PFDD_COLLAPSER_MAX = 1024 * 1024, /* bytes that may wait, */
    PFDD_COLLAPSER_MIN = 64 * 1024,   /* and those that always may */
};

/* Text, JSON or events; all times by uv_hrtime(). NULL: out of memory. */
struct pfdd_collapser *pfdd_collapser_new(enum pfdd_form form,
                                          const struct pfdd_wants *wants,
                                          uint64_t now_ns);
/* NULL is allowed. */
void pfdd_collapser_free(struct pfdd_collapser *collapser);

/* Bytes that it has, about. */
size_t pfdd_collapser_memory(const struct pfdd_collapser *collapser);
/* So many bytes may wait from now on: PFDD_COLLAPSER_MIN to PFDD_COLLAPSER_MAX, which is
 * what it begins with. Where that is less, lines end sooner. */
void pfdd_collapser_set_room(struct pfdd_collapser *collapser, size_t n);

/* Rows of pfd_lines_rows(). */
void pfdd_collapser_add(struct pfdd_collapser *collapser, const void *rows,
                        size_t n);

/* Ends all of them; seq: the last item that was added. Where nothing waits, a
 * stream of events may be resumed: only there events have an id. */
void pfdd_collapser_end(struct pfdd_collapser *collapser, uint64_t seq,
                        uint64_t now_ns);
/* True: it is time to. */
bool pfdd_collapser_is_due(const struct pfdd_collapser *collapser,
                           uint64_t now_ns);

/* What is made, [*n], allocated; NULL: nothing. */
char *pfdd_collapser_take(struct pfdd_collapser *collapser, size_t *n);

#endif
