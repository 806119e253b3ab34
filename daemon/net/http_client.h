/* SPDX-License-Identifier: MIT */
/*
 * Requests of ours to somebody's HTTP server, by libcurl on the loop: each
 * carries a body to one URL. Servers of HTTPS have to prove who they are.
 * Nothing is followed elsewhere, and no proxy of the environment is used. Loop
 * thread only.
 */
#ifndef PFDD_HTTP_CLIENT_H
#define PFDD_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "config/access.h"

enum {
    PFDD_ANSWER = 16 * 1024, /* bytes of an answer that are kept */
};

struct pfdd_http_client;

/* All borrowed until closed. */
struct pfdd_http_client_options {
    uv_loop_t *loop;
    const char *url;
    const struct pfdd_tls_config *tls; /* what is not given: no certificate of
                                          ours, the system's authorities */
    const char *const *headers;        /* [n_headers], whole lines */
    size_t n_headers;
    uint64_t timeout_ms;        /* for a request and its answer */
    void (*closed)(void *user); /* after pfdd_http_client_close() */
    void *user;
};

/* A request: its owner's memory, borrowed until done is called. */
struct pfdd_http_post {
    const char *body; /* [n] */
    size_t n;
    bool is_gzip;
    void (*done)(struct pfdd_http_post *http_post);
    /* What came of it. */
    long status; /* of HTTP; 0: there was no answer, why says why */
    char why[160];
    uint64_t retry_ms; /* the server wants to be left alone for so long; 0: it
                          does not say */
    char answer[PFDD_ANSWER]; /* [n_answer], the beginning */
    size_t n_answer;
    /* Private. */
    struct pfdd_http_client *of;
    void *easy;
};

/* What is wrong with the text of a URL that is posted to: NULL, or a sentence, static. */
const char *pfdd_http_post_check(const char *text, bool *is_https);

/* NULL: err [n_err] says why. */
struct pfdd_http_client *pfdd_http_client_new(
    const struct pfdd_http_client_options *options, char *err, size_t n_err);
/* Requests that are on their way end without a word; then `closed`. */
void pfdd_http_client_close(struct pfdd_http_client *http_client);

/* Never calls done before it returns. False: out of memory. */
bool pfdd_http_client_send(struct pfdd_http_client *http_client,
                           struct pfdd_http_post *http_post);
/* Of memory, about. */
size_t pfdd_http_client_memory(const struct pfdd_http_client *http_client);

#endif
