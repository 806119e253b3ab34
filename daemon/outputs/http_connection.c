/* SPDX-License-Identifier: MIT */
#include "outputs/http_connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    LINGER_MS = 1000, /* for the peer to read the answer and close */
};

void pfdd_http_connection_close(struct pfdd_http_connection *c)
{
    pfdd_accepted_client_close(&c->base);
}

void pfdd_http_connection_watch(struct pfdd_http_connection *c, int events)
{
    pfdd_accepted_client_watch(&c->base, events);
}

void pfdd_http_connection_unref_metrics(struct pfdd_http_output *o,
                                        struct pfdd_metrics *m)
{
    if (m && m->refs == 1)
        o->n_metrics -= m->account.n_bytes;
    pfdd_metrics_unref(m);
}

void pfdd_http_connection_drop_body(struct pfdd_http_connection *c)
{
    struct pfdd_metrics *m = c->metrics;
    c->metrics = NULL;
    c->body = NULL;
    c->n_body = 0;
    pfdd_http_connection_unref_metrics(pfdd_http_output_of(c), m);
}

/* Shuts down the sending side and discards input for a while: closing a socket
 * with unread input could destroy the answer. */
static void linger(struct pfdd_http_connection *c)
{
    if (c->ended) {
        pfdd_http_connection_close(c);
        return;
    }
    c->state = PFDD_HTTP_LINGERING;
    c->base.limited_peer.is_silent = true;
    shutdown(c->base.fd, SHUT_WR);
    pfdd_accepted_client_expect(&c->base, LINGER_MS);
    pfdd_http_connection_watch(c, UV_READABLE);
}

void pfdd_http_connection_write_lines(struct pfdd_http_connection *c)
{
    switch (pfdd_socket_writer_turn(&c->socket_writer)) {
    case PFDD_SOCKET_WRITER_BLOCKS:
    case PFDD_SOCKET_WRITER_TURN:
        pfdd_http_connection_watch(c, UV_READABLE | UV_WRITABLE);
        break;
    case PFDD_SOCKET_WRITER_EMPTY:
    case PFDD_SOCKET_WRITER_AWAY:
        pfdd_http_connection_watch(c, UV_READABLE);
        break;
    case PFDD_SOCKET_WRITER_END:
        pfdd_http_connection_close(c);
        break;
    }
}

size_t pfdd_http_connection_put_head(const struct pfdd_http_connection *c,
                                     char *ret, size_t n_ret, unsigned status,
                                     const char *type, const char *policy,
                                     long long n)
{
    return pfdd_http_put_head(ret, n_ret, status, type, policy, n, c->keeps);
}

void pfdd_http_connection_send(struct pfdd_http_connection *c, const char *head,
                               size_t n_head, const char *body, size_t n)
{
    c->answer = n_head ? malloc(n_head + n) : NULL;
    if (!c->answer) {
        pfdd_http_connection_close(c);
        return;
    }
    memcpy(c->answer, head, n_head);
    if (body)
        memcpy(c->answer + n_head, body, n);
    c->n_answer = n_head + n;
    c->at = 0;
    if (c->state == PFDD_HTTP_ASKING || c->state == PFDD_HTTP_WAITING)
        c->state = PFDD_HTTP_ANSWERING;
    c->base.limited_peer.is_silent = false;
    pfdd_http_connection_write(c);
}

void pfdd_http_connection_send_body(struct pfdd_http_connection *c,
                                    bool is_head, const char *type,
                                    const char *policy, const char *body,
                                    size_t n)
{
    char head[PFDD_HTTP_ANSWER_HEAD];
    size_t n_head = pfdd_http_connection_put_head(c, head, sizeof head, 200,
                                                  type, policy, (long long)n);
    c->body = body;
    c->n_body = is_head ? 0 : n;
    pfdd_http_connection_send(c, head, n_head, NULL, 0);
}

void pfdd_http_connection_send_text(struct pfdd_http_connection *c,
                                    bool is_head, unsigned status,
                                    const char *text)
{
    char head[PFDD_HTTP_ANSWER_HEAD];
    size_t n = strlen(text);
    size_t n_head = pfdd_http_connection_put_head(
        c, head, sizeof head, status, "text/plain; charset=utf-8",
        PFDD_HTTP_NO_PAGE, (long long)n);
    pfdd_http_connection_send(c, head, n_head, text, is_head ? 0 : n);
}

void pfdd_http_connection_refuse(struct pfdd_http_connection *c, bool is_head,
                                 unsigned status, const char *why)
{
    char text[256];
    c->keeps = false;
    snprintf(text, sizeof text, "%.250s\n", why);
    pfdd_http_connection_send_text(c, is_head, status, text);
}

void pfdd_http_connection_ask(struct pfdd_http_connection *c)
{
    c->state = PFDD_HTTP_ASKING;
    pfdd_accepted_client_fall_silent(&c->base);
    pfdd_accepted_client_expect(
        &c->base, pfdd_http_config_of(pfdd_http_output_of(c))->idle_ms);
    /* Input that arrived meanwhile is handled on the next event. */
    pfdd_http_connection_watch(c, c->n_head ? UV_READABLE | UV_WRITABLE
                                            : UV_READABLE);
}

static void end_answer(struct pfdd_http_connection *c)
{
    free(c->answer);
    c->answer = NULL;
    pfdd_http_connection_drop_body(c);
    if (c->state == PFDD_HTTP_STREAMING) {
        pfdd_http_connection_write_lines(c);
    } else if (c->keeps) {
        pfdd_http_connection_ask(c);
    } else {
        linger(c);
    }
}

static const char *what_is_left(const struct pfdd_http_connection *c, size_t *n)
{
    if (c->at < c->n_answer) {
        *n = c->n_answer - c->at;
        return c->answer + c->at;
    }
    *n = c->n_answer + c->n_body - c->at;
    return c->body + (c->at - c->n_answer);
}

void pfdd_http_connection_write(struct pfdd_http_connection *c)
{
    while (c->at < c->n_answer + c->n_body) {
        size_t n_left = 0;
        const char *left = what_is_left(c, &n_left);
        ssize_t n = send(c->base.fd, left, n_left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            c->base.limited_peer.is_silent = c->state == PFDD_HTTP_ANSWERING;
            pfdd_http_connection_watch(c, UV_WRITABLE);
            return;
        }
        if (n < 0) {
            pfdd_http_connection_close(c);
            return;
        }
        c->at += (size_t)n;
    }
    end_answer(c);
}
