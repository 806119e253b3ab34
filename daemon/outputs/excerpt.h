/* SPDX-License-Identifier: MIT */
/*
 * The source around one line of the ring: asked for by the line's number, read
 * on a worker with the strings that the line's chunk is read with, and told as
 * an object of JSON. Knows no sockets. Loop thread only.
 */
#ifndef PFDD_EXCERPT_H
#define PFDD_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/http_head.h"
#include "base/job_pool.h"
#include "ring/render_cache.h"

struct pfdd_excerpt {
    struct pfdd_job job;
    struct pfdd_render_cache *of;
    struct pfdd_chunk *chunk;     /* a reference */
    struct pfdd_strings *strings; /* likewise */
    uint64_t sequence;
    uint32_t around;
    bool is_head; /* of the request */
    void (*done)(struct pfdd_excerpt *excerpt);
    void *user;
    char *text; /* [n] of JSON; NULL: there was no memory */
    size_t n;
};

/*
 * What ?sequence=, ?source= and ?lines= ask for; `done` is called, with `user`,
 * when it is there, and not before this returns. 0, or the status to answer
 * with: 400 for what is not understood, 404 for a line that is not there (any
 * more) or of another source, 503 while there is no room; `err` says why.
 */
unsigned pfdd_excerpt_ask(struct pfdd_render_cache *render_cache,
                          const struct pfdd_http_request *q,
                          void (*done)(struct pfdd_excerpt *excerpt),
                          void *user, char *err, size_t n_err);
/* In `done`, or later. */
void pfdd_excerpt_free(struct pfdd_excerpt *excerpt);

#endif
