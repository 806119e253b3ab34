/* SPDX-License-Identifier: MIT */
/*
 * Posts requests to one URL of an HTTP server, by libcurl on the loop. HTTPS
 * servers must prove their identity. Redirects are not followed, and proxies of
 * the environment are not used. Loop thread only.
 */
#ifndef PFDD_HTTP_CLIENT_H
#define PFDD_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "config/access.h"

enum {
    PFDD_ANSWER = 16 * 1024, /* bytes of an answer that are kept, at most */
};

struct pfdd_http_client;

/* All borrowed until closed. */
struct pfdd_http_client_options {
    uv_loop_t *loop;
    const char *url;
    /* Members that are NULL: no client certificate, the system's
     * authorities. */
    const struct pfdd_tls_config *tls;
    const char *const *headers; /* [n_headers], whole lines */
    size_t n_headers;
    uint64_t timeout_ms;        /* for a request and its answer */
    void (*closed)(void *user); /* after pfdd_http_client_close() */
    void *user;
};

/* A request; owned by the caller, borrowed until done is called. */
struct pfdd_http_post {
    const char *body; /* [n] */
    size_t n;
    bool is_gzip;
    void (*done)(struct pfdd_http_post *http_post);
    /* The result. */
    long status; /* of HTTP; 0: no answer, see `why` */
    char why[160];
    char type[80];            /* Content-Type of the answer; "": none */
    uint64_t retry_ms;        /* the server's Retry-After; 0: none */
    char answer[PFDD_ANSWER]; /* [n_answer], the beginning of the answer */
    size_t n_answer;
    /* Private. */
    struct pfdd_http_client *of;
    void *easy;
};

/* Checks a URL to post to. NULL: valid; otherwise the error, a static
 * sentence. */
const char *pfdd_http_post_check(const char *text, bool *is_https);

/* NULL: err [n_err] says why. */
struct pfdd_http_client *pfdd_http_client_new(
    const struct pfdd_http_client_options *options, char *err, size_t n_err);
/* Requests in flight end without `done`; `closed` is called afterwards. */
void pfdd_http_client_close(struct pfdd_http_client *p);

/* Starts a request. Never calls done before it returns. False: out of memory,
 * or too many requests. */
bool pfdd_http_client_send(struct pfdd_http_client *http_client,
                           struct pfdd_http_post *http_post);
/* Bytes of memory, about. */
size_t pfdd_http_client_memory(const struct pfdd_http_client *p);

#endif
