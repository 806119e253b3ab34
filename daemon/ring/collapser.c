/* SPDX-License-Identifier: MIT */
#include "ring/collapser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collapse/collapse.h"

#define WAIT_NS UINT64_C(1000000000)

enum {
    EMPTY = 10 << 10, /* bytes of one where nothing waits */
};

static void put(struct pfdd_collapser *r, const char *bytes, size_t n)
{
    if (r->size - r->n < n) {
        size_t size = 2 * (r->n + n);
        char *more = realloc(r->text, size);
        if (!more) {
            r->failed = true;
            return;
        }
        r->text = more;
        r->size = size;
    }
    memcpy(r->text + r->n, bytes, n);
    r->n += n;
}

/* ---- events ---- */

static void put_event(struct pfdd_collapser *r, const char *line, size_t n)
{
    static const char *const named[] = { "finding", "gap" };
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        char begin[40];
        int n_begin =
            snprintf(begin, sizeof begin, "{\"type\":\"%s\"", named[i]);
        if (n > (size_t)n_begin && !memcmp(line, begin, (size_t)n_begin)) {
            n_begin = snprintf(begin, sizeof begin, "event: %s\n", named[i]);
            put(r, begin, (size_t)n_begin);
        }
    }
    put(r, "data: ", 6);
    put(r, line, n); /* ends with a newline */
    put(r, "\n", 1);
}

static bool take_lines(void *user, const void *bytes, size_t n)
{
    struct pfdd_collapser *r = user;
    const char *at = bytes;
    if (!r->is_sse)
        put(r, bytes, n);
    while (r->is_sse && n) {
        const char *end = memchr(at, '\n', n);
        size_t n_line = end ? (size_t)(end - at) + 1 : n;
        put_event(r, at, n_line);
        at += n_line;
        n -= n_line;
    }
    return !r->failed;
}

/* ---- collapsing ---- */

struct pfdd_collapser *pfdd_collapser_new(enum pfdd_form form,
                                          const struct pfdd_selection *wants,
                                          uint64_t now_ns)
{
    struct pfdd_collapser *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    const struct pfd_collapse_spec spec = {
        .output = form == PFDD_TEXT ? "text" : "json",
        .equal = wants->collapse == PFDD_COLLAPSE_EQUAL,
        .window = wants->window,
        .write = take_lines,
        .write_user = r,
    };
    r->is_sse = form == PFDD_SSE;
    r->ended_ns = now_ns;
    if (pfd_collapse_new(&spec, &r->collapse, NULL) != PFD_OK) {
        free(r);
        return NULL;
    }
    pfdd_collapser_set_room(r, PFDD_COLLAPSER_MAX);
    return r;
}

void pfdd_collapser_free(struct pfdd_collapser *collapser)
{
    if (!collapser)
        return;
    pfd_collapse_free(collapser->collapse);
    free(collapser->text);
    free(collapser);
}

size_t pfdd_collapser_memory(const struct pfdd_collapser *collapser)
{
    return sizeof *collapser + collapser->size +
           pfd_collapse_memory(collapser->collapse);
}

void pfdd_collapser_set_room(struct pfdd_collapser *collapser, size_t n)
{
    n -= n < EMPTY ? n : EMPTY;
    pfd_collapse_set_room(collapser->collapse, n / 15 * 8);
}

void pfdd_collapser_add(struct pfdd_collapser *collapser, const void *rows,
                        size_t n)
{
    if (!rows || !n)
        return;
    collapser->waits = true;
    collapser->failed |= !pfd_collapse_write(collapser->collapse, rows, n);
}

void pfdd_collapser_end(struct pfdd_collapser *collapser, uint64_t seq,
                        uint64_t now_ns)
{
    char id[40];
    collapser->ended_ns = now_ns;
    if (!collapser->waits)
        return;
    collapser->waits = false;
    collapser->failed |= pfd_collapse_end(collapser->collapse) != PFD_OK;
    if (collapser->is_sse) {
        put(collapser, id,
            (size_t)snprintf(id, sizeof id, "id: %" PRIu64 "\n\n", seq));
    }
}

bool pfdd_collapser_is_due(const struct pfdd_collapser *collapser,
                           uint64_t now_ns)
{
    return collapser->waits && now_ns - collapser->ended_ns >= WAIT_NS;
}

char *pfdd_collapser_take(struct pfdd_collapser *collapser, size_t *n)
{
    char *text = collapser->text;
    *n = collapser->n;
    collapser->text = NULL;
    collapser->n = collapser->size = 0;
    return text;
}
