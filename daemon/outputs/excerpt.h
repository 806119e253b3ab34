/* SPDX-License-Identifier: MIT */
/*
 * Source context of one line of the ring. A request names the line by its
 * sequence number; a worker reads the source with the strings of the line's
 * chunk, and writes an object of JSON. Knows no sockets. Loop thread only.
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
    bool is_head; /* it answers a HEAD request */
    void (*done)(struct pfdd_excerpt *excerpt);
    void *user;
    char *text; /* JSON [n]; NULL: out of memory */
    size_t n;
};

/*
 * Parses ?sequence=, ?source= and ?lines=, and starts a job. `done` is called
 * with `user` when the job has ended, never before this returns. Returns 0, or
 * a status of HTTP, and `err`: 400: bad parameters; 404: the line was evicted,
 * does not exist, or is of another source; 503: out of memory.
 */
unsigned pfdd_excerpt_ask(struct pfdd_render_cache *render_cache,
                          const struct pfdd_http_request *q,
                          void (*done)(struct pfdd_excerpt *excerpt),
                          void *user, char *err, size_t n_err);
/* Within `done` or after it. */
void pfdd_excerpt_free(struct pfdd_excerpt *excerpt);

#endif
