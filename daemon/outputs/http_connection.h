/* SPDX-License-Identifier: MIT */
/*
 * A connection of an output `http`, and how an answer is sent on it. It has one
 * head and one answer at a time. Loop thread only.
 */
#ifndef PFDD_HTTP_CONNECTION_H
#define PFDD_HTTP_CONNECTION_H

#include "base/http_head.h"
#include "net/accepted_client.h"
#include "outputs/metrics.h"
#include "outputs/socket_writer.h"

enum {
    PFDD_HTTP_ANSWER_HEAD = 1024, /* bytes of the head of an answer, at most */
};

/* Policy of answers that are not the live page: a browser does nothing with
 * them. */
#define PFDD_HTTP_NO_PAGE "default-src 'none'; frame-ancestors 'none'"

enum pfdd_http_state {
    PFDD_HTTP_ASKING,    /* reads the head of a request */
    PFDD_HTTP_WAITING,   /* a worker makes the answer */
    PFDD_HTTP_ANSWERING, /* sends `answer` */
    PFDD_HTTP_STREAMING, /* sends lines after it */
    PFDD_HTTP_LINGERING, /* all is sent; input is discarded */
};

struct pfdd_http_connection {
    struct pfdd_accepted_client
        base; /* silent: no stream, and the peer is to act */
    enum pfdd_http_state state;
    bool keeps; /* another request may follow (keep-alive) */
    bool ended; /* the peer has shut down its sending side */
    struct pfdd_socket_writer socket_writer;
    char head[PFDD_HTTP_HEAD];
    size_t n_head;
    char *answer; /* [n_answer]: a head, and short bodies */
    size_t n_answer;
    const char *body; /* [n_body], goes out behind it, borrowed: built in, or */
    size_t n_body;
    size_t at;                    /* of both */
    struct pfdd_metrics *metrics; /* of this, a reference; else NULL */
    enum {
        PFDD_HTTP_NO_METRICS,
        PFDD_HTTP_NEXT,   /* waits for the next page, */
        PFDD_HTTP_MAKING, /* or for the one that is being made */
    } wish;
    bool wants_state; /* it waits for /state, not /metrics */
    bool is_head;     /* of that request: it is HEAD */
};

struct pfdd_http_config {
    struct pfdd_output_config base;
    uint64_t idle_ms; /* timeout of a connection without a request */
};

struct pfdd_http_output {
    struct pfdd_output base;
    struct pfdd_accepted_clients accepted_clients;
    unsigned n_streams;
    bool is_making[2]; /* a page of metrics; of the state */
    size_t n_metrics;  /* bytes of memory of these pages */
    char label[320];   /* of a stream, for the log */
};

static inline const struct pfdd_http_config *pfdd_http_config_of(
    const struct pfdd_http_output *o)
{
    return (const struct pfdd_http_config *)o->base.config;
}

static inline struct pfdd_http_output *pfdd_http_output_of(
    const struct pfdd_http_connection *c)
{
    return PFDD_MEMBER_OF(struct pfdd_http_output, c->base.of,
                          accepted_clients);
}

void pfdd_http_connection_close(struct pfdd_http_connection *c);
void pfdd_http_connection_watch(struct pfdd_http_connection *c, int events);

/* Releases the body of an answer, and a page of metrics, whose memory the
 * output counts. */
void pfdd_http_connection_drop_body(struct pfdd_http_connection *c);
void pfdd_http_connection_unref_metrics(struct pfdd_http_output *o,
                                        struct pfdd_metrics *m);

/* Writes the head of an answer. n: bytes of the body; -1: a stream. */
size_t pfdd_http_connection_put_head(const struct pfdd_http_connection *c,
                                     char *ret, size_t n_ret, unsigned status,
                                     const char *type, const char *policy,
                                     long long n);
/* Sends a head and a short body, which are copied. */
void pfdd_http_connection_send(struct pfdd_http_connection *c, const char *head,
                               size_t n_head, const char *body, size_t n);
/* A body that is not copied, and stays until the answer is sent. */
void pfdd_http_connection_send_body(struct pfdd_http_connection *c,
                                    bool is_head, const char *type,
                                    const char *policy, const char *body,
                                    size_t n);
void pfdd_http_connection_send_text(struct pfdd_http_connection *c,
                                    bool is_head, unsigned status,
                                    const char *text);
/* Closes the connection after the answer. */
void pfdd_http_connection_refuse(struct pfdd_http_connection *c, bool is_head,
                                 unsigned status, const char *why);

/* Goes on sending the answer; writes lines until the socket blocks or its turn
 * is over; waits for a request. */
void pfdd_http_connection_write(struct pfdd_http_connection *c);
void pfdd_http_connection_write_lines(struct pfdd_http_connection *c);
void pfdd_http_connection_ask(struct pfdd_http_connection *c);

#endif
