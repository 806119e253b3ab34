/* SPDX-License-Identifier: MIT */
/*
 * HTTP: the live page (web/), /state, /metrics, /healthz, /readyz, /excerpt,
 * and streams of lines: /events sends server-sent events (Last-Event-ID
 * resumes), /lines the form that ?output= names. ?from= is the start; ?match=,
 * ?source=, ?findings= and ?entries_only= filter. A request with an unknown
 * parameter is refused, never answered in part.
 *
 * A connection is not read while an answer is being made or sent, so it has one
 * head and one answer at a time. A connection without a request is closed after
 * a timeout, or as soon as another one needs its place.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/http_head.h"
#include "base/log.h"
#include "config/http_query.h"
#include "net/accepted_client.h"
#include "outputs/excerpt.h"
#include "outputs/metrics.h"
#include "outputs/socket_writer.h"
#include "web/site.h"

enum {
    HEAD = 1024,      /* bytes of the head of an answer, at most */
    PAGES = 16,       /* connections beyond max_clients streams */
    LINGER_MS = 1000, /* for the peer to read the answer and close */
};

enum state {
    ASKING,    /* reads the head of a request */
    WAITING,   /* a worker makes the answer */
    ANSWERING, /* sends `answer` */
    STREAMING, /* sends lines after it */
    LINGERING, /* all is sent; input is discarded */
};

struct client {
    struct pfdd_accepted_client
        base; /* silent: no stream, and the peer is to act */
    enum state state;
    bool keeps; /* another request may follow (keep-alive) */
    bool ended; /* the peer has shut down its sending side */
    struct pfdd_socket_writer socket_writer;
    char head[PFDD_HTTP_HEAD];
    size_t n_head;
    char *answer; /* [n_answer]: a head, and what is short */
    size_t n_answer;
    const char *body; /* [n_body], goes out behind it, borrowed: built in, or */
    size_t n_body;
    size_t at;                    /* of both */
    struct pfdd_metrics *metrics; /* of this, a reference; else NULL */
    enum metrics_wish {
        NO_METRICS,
        NEXT,   /* waits for the next page, */
        MAKING, /* or for the one that is being made */
    } wish;
    bool wants_state; /* it waits for /state, not /metrics */
    bool is_head;     /* of that request: it is HEAD */
};

struct http_config {
    struct pfdd_output_config base;
    uint64_t idle_ms; /* timeout of a connection without a request */
};

struct http_output {
    struct pfdd_output base;
    struct pfdd_accepted_clients accepted_clients;
    unsigned n_streams;
    bool is_making[2]; /* a page of metrics; of the state */
    size_t n_metrics;  /* bytes of memory of these pages */
    char label[320];   /* of a stream, for the log */
};

/* ---- closing a connection ---- */

static const struct http_config *config_of(const struct http_output *o)
{
    return (const struct http_config *)o->base.config;
}

static struct http_output *output_of(const struct client *c)
{
    return PFDD_MEMBER_OF(struct http_output, c->base.of, accepted_clients);
}

static void close_client(struct client *c)
{
    pfdd_accepted_client_close(&c->base);
}

static void watch(struct client *c, int events)
{
    pfdd_accepted_client_watch(&c->base, events);
}

static void on_leave(struct pfdd_accepted_client *v)
{
    struct client *c = (struct client *)v;
    struct http_output *o = output_of(c);
    if (c->state != STREAMING)
        return;
    o->n_streams--;
    pfdd_socket_writer_close(&c->socket_writer);
    c->state = LINGERING;
}

static void unref_metrics(struct http_output *o, struct pfdd_metrics *m)
{
    if (m && m->refs == 1)
        o->n_metrics -= m->n_held;
    pfdd_metrics_unref(m);
}

static void drop_body(struct client *c)
{
    struct pfdd_metrics *m = c->metrics;
    c->metrics = NULL;
    c->body = NULL;
    c->n_body = 0;
    unref_metrics(output_of(c), m);
}

static void on_gone(struct pfdd_accepted_client *v)
{
    struct client *c = (struct client *)v;
    free(c->answer);
    drop_body(c);
}

/* Shuts down the sending side and discards input for a while: closing a socket
 * with unread input could destroy the answer. */
static void linger(struct client *c)
{
    if (c->ended) {
        close_client(c);
        return;
    }
    c->state = LINGERING;
    c->base.limited_peer.is_silent = true;
    shutdown(c->base.fd, SHUT_WR);
    pfdd_accepted_client_expect(&c->base, LINGER_MS);
    watch(c, UV_READABLE);
}

/* ---- answers ---- */

static void write_answer(struct client *c);

/* Policy of answers that are not the live page: a browser does nothing with
 * them. */
static const char no_page[] = "default-src 'none'; frame-ancestors 'none'";

/* n: bytes of the body; -1: a stream. */
static size_t put_head(const struct client *c, char *ret, size_t n_ret,
                       unsigned status, const char *type, const char *policy,
                       long long n)
{
    return pfdd_http_put_head(ret, n_ret, status, type, policy, n, c->keeps);
}

static void send_answer(struct client *c, const char *head, size_t n_head,
                        const char *body, size_t n)
{
    c->answer = n_head ? malloc(n_head + n) : NULL;
    if (!c->answer) {
        close_client(c);
        return;
    }
    memcpy(c->answer, head, n_head);
    if (body)
        memcpy(c->answer + n_head, body, n);
    c->n_answer = n_head + n;
    c->at = 0;
    if (c->state == ASKING || c->state == WAITING)
        c->state = ANSWERING;
    c->base.limited_peer.is_silent = false;
    write_answer(c);
}

/* A body that is not copied, and stays until the answer is sent. */
static void send_body(struct client *c, bool is_head, const char *type,
                      const char *policy, const char *body, size_t n)
{
    char head[HEAD];
    size_t n_head =
        put_head(c, head, sizeof head, 200, type, policy, (long long)n);
    c->body = body;
    c->n_body = is_head ? 0 : n;
    send_answer(c, head, n_head, NULL, 0);
}

/* What is short. */
static void give_text(struct client *c, bool is_head, unsigned status,
                      const char *text)
{
    char head[HEAD];
    size_t n = strlen(text);
    size_t n_head =
        put_head(c, head, sizeof head, status, "text/plain; charset=utf-8",
                 no_page, (long long)n);
    send_answer(c, head, n_head, text, is_head ? 0 : n);
}

/* Closes the connection after the answer. */
static void refuse(struct client *c, bool is_head, unsigned status,
                   const char *why)
{
    char text[256];
    c->keeps = false;
    snprintf(text, sizeof text, "%.250s\n", why);
    give_text(c, is_head, status, text);
}

/* ---- streams ---- */

/* Writes lines until the socket blocks or its turn is over. */
static void write_lines(struct client *c)
{
    switch (pfdd_socket_writer_turn(&c->socket_writer)) {
    case PFDD_SOCKET_WRITER_BLOCKS:
    case PFDD_SOCKET_WRITER_TURN:
        watch(c, UV_READABLE | UV_WRITABLE);
        break;
    case PFDD_SOCKET_WRITER_EMPTY:
    case PFDD_SOCKET_WRITER_AWAY:
        watch(c, UV_READABLE);
        break;
    case PFDD_SOCKET_WRITER_END:
        close_client(c);
        break;
    }
}

static void go_on(struct pfdd_accepted_client *v)
{
    write_lines((struct client *)v);
}

static void on_lines(struct pfdd_cursor *cursor)
{
    struct client *c = cursor->user;
    /* If it already waits for the socket, it writes when the socket is
     * ready. */
    if (!c->answer && !(c->base.events & UV_WRITABLE)) {
        write_lines(c);
    } else if (pfdd_socket_writer_has_lagged(&c->socket_writer)) {
        close_client(c);
    }
}

static void start_stream(struct client *c, const struct pfdd_http_request *q,
                         enum pfdd_form form)
{
    static const char *const types[] = { "application/x-ndjson",
                                         "text/plain; charset=utf-8",
                                         "application/octet-stream",
                                         "application/octet-stream",
                                         "text/event-stream" };
    struct http_output *o = output_of(c);
    struct pfdd_request request = {
        .form = form,
        .n_patterns_max =
            pfdd_reader_quota_of_patterns(&o->base.delivery->reader_quotas),
    };
    char err[320] = "";
    char head[HEAD];
    if (!pfdd_http_query_read(&request, q, err, sizeof err) ||
        !pfdd_request_finish(&request, err, sizeof err)) {
        pfdd_request_deinit(&request);
        refuse(c, q->is_head, 400, err);
        return;
    }
    c->keeps = false;
    size_t n_head =
        put_head(c, head, sizeof head, 200, types[request.form], no_page, -1);
    bool is_taken = !q->is_head &&
                    o->n_streams < o->base.config->access.max_clients &&
                    pfdd_socket_writer_open(&c->socket_writer, &o->base,
                                            &c->base, &request, go_on);
    pfdd_request_deinit(&request);
    if (q->is_head) {
        send_answer(c, head, n_head, NULL, 0);
        return;
    }
    if (!is_taken) {
        refuse(c, false, 503, "too many streams, or no memory for one now");
        return;
    }
    c->socket_writer.cursor.wake = on_lines;
    c->socket_writer.cursor.user = c;
    c->socket_writer.cursor.name = o->label;
    c->state = STREAMING;
    o->n_streams++;
    pfdd_accepted_client_expect(&c->base, 0);
    send_answer(c, head, n_head, NULL, 0);
}

/* ---- pages ---- */

static void refuse_metrics(struct client *c)
{
    c->wish = NO_METRICS;
    refuse(c, c->is_head, 503, "no memory for it now");
}

static void send_metrics(struct client *c, struct pfdd_metrics *m,
                         const char *type)
{
    c->wish = NO_METRICS;
    m->refs++;
    c->metrics = m;
    send_body(c, c->is_head, type, no_page, m->text, m->n);
}

static void make_metrics(struct http_output *o, bool is_state);

/* Sends the page to all clients that asked before it was begun. */
static void metrics_done(struct pfdd_job *job)
{
    struct pfdd_metrics *m = PFDD_MEMBER_OF(struct pfdd_metrics, job, job);
    struct pfdd_accepted_client *hold = m->user;
    struct http_output *o = output_of((struct client *)hold);
    struct pfdd_accepted_client *next = NULL;
    o->n_metrics -= m->n_held;
    pfdd_metrics_finish(m);
    o->n_metrics += m->n_held;
    o->is_making[m->is_state] = false;
    bool is_state = m->is_state;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = next) {
        struct client *c = (struct client *)v;
        next = v->next;
        if (v->closing || c->wish != MAKING || c->wants_state != is_state)
            continue;
        if (m->text) {
            send_metrics(c, m,
                         is_state ? "application/json"
                                  : "text/plain; version=0.0.4; "
                                    "charset=utf-8");
        } else {
            refuse_metrics(c);
        }
    }
    unref_metrics(o, m);
    make_metrics(o, is_state);
    pfdd_accepted_client_let_go(hold);
}

/* Of a user who asks, a reference; NULL: out of memory. */
static struct pfdd_reader_quota *quota_of(const struct client *c)
{
    return pfdd_reader_quota_join(&output_of(c)->base.delivery->page_quotas,
                                  &c->base.limited_peer.key);
}

/* The bytes are those of a user who asks. NULL: there is no room. */
static struct pfdd_metrics *new_metrics(struct client *c)
{
    struct pfdd_delivery *delivery = output_of(c)->base.delivery;
    struct pfdd_reader_quota *reader_quota = quota_of(c);
    struct pfdd_metrics *ret =
        reader_quota ? pfdd_metrics_new(delivery, reader_quota, c->wants_state)
                     : NULL;
    pfdd_reader_quota_leave(reader_quota);
    return ret;
}

/* Starts a page for all waiting clients, if there are any and none is being
 * made. */
static void make_metrics(struct http_output *o, bool is_state)
{
    struct pfdd_metrics *m = NULL;
    struct pfdd_accepted_client *next = NULL;
    if (o->is_making[is_state])
        return;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v && !m;
         v = next) {
        struct client *c = (struct client *)v;
        next = v->next;
        if (v->closing || c->wish != NEXT || c->wants_state != is_state)
            continue;
        m = new_metrics(c);
        if (!m) {
            refuse_metrics(c);
            continue;
        }
        m->user = v;
        pfdd_accepted_client_hold(v);
    }
    if (!m)
        return;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        struct client *c = (struct client *)v;
        if (c->wish == NEXT && c->wants_state == is_state)
            c->wish = MAKING;
    }
    o->is_making[is_state] = true;
    o->n_metrics += m->n_held;
    m->job.done = metrics_done;
    pfdd_pool_submit(o->base.delivery->thread_pools->choosers, &m->job);
}

static void await_metrics(struct client *c, const struct pfdd_http_request *q,
                          bool is_state)
{
    c->is_head = q->is_head;
    c->wants_state = is_state;
    c->wish = NEXT;
    c->state = WAITING;
    c->base.limited_peer.is_silent = false;
    watch(c, 0);
    make_metrics(output_of(c), is_state);
}

static void give_metrics(struct client *c, const struct pfdd_http_request *q)
{
    await_metrics(c, q, false);
}

static void give_state(struct client *c, const struct pfdd_http_request *q)
{
    await_metrics(c, q, true);
}

static void give_health(struct client *c, const struct pfdd_http_request *q)
{
    give_text(c, q->is_head, 200, "ok\n");
}

static void give_readiness(struct client *c, const struct pfdd_http_request *q)
{
    bool ready = pfdd_is_ready(output_of(c)->base.delivery);
    give_text(c, q->is_head, ready ? 200 : 503,
              ready ? "ready\n" : "not ready\n");
}

/* Its text is the client's from now on: what it was made in is for others. */
static void send_excerpt(struct client *c, struct pfdd_excerpt *e)
{
    struct http_output *o = output_of(c);
    struct pfdd_reader_quota *reader_quota = quota_of(c);
    struct pfdd_metrics *m = reader_quota && e->text
                                 ? pfdd_metrics_of(reader_quota, e->text, e->n)
                                 : NULL;
    pfdd_reader_quota_leave(reader_quota);
    c->is_head = e->is_head;
    if (!m) {
        refuse_metrics(c);
        return;
    }
    e->text = NULL;
    o->n_metrics += m->n_held;
    send_metrics(c, m, "application/json");
    unref_metrics(o, m);
}

static void excerpt_done(struct pfdd_excerpt *e)
{
    struct client *c = e->user;
    if (!c->base.closing)
        send_excerpt(c, e);
    pfdd_excerpt_free(e);
    pfdd_accepted_client_let_go(&c->base);
}

/* Stops reading the connection until the excerpt is done. */
static void give_excerpt(struct client *c, const struct pfdd_http_request *q)
{
    char err[160];
    unsigned status =
        pfdd_excerpt_ask(output_of(c)->base.delivery->render_cache, q,
                         excerpt_done, c, err, sizeof err);
    if (status) {
        refuse(c, q->is_head, status, err);
        return;
    }
    pfdd_accepted_client_hold(&c->base);
    c->state = WAITING;
    c->base.limited_peer.is_silent = false;
    watch(c, 0);
}

/* A file of the live page, or 404. */
static void give_site(struct client *c, const struct pfdd_http_request *q)
{
    const struct pfdd_site_file *f = pfdd_site_find(q->path);
    if (!f) {
        give_text(c, q->is_head, 404,
                  "there are /, /state, /excerpt, /metrics, /healthz, /readyz, "
                  "/events and /lines\n");
        return;
    }
    send_body(c, q->is_head, f->type, pfdd_site_policy, (const char *)f->bytes,
              f->n);
}

static void give_events(struct client *c, const struct pfdd_http_request *q)
{
    start_stream(c, q, PFDD_SSE);
}

static void give_lines(struct client *c, const struct pfdd_http_request *q)
{
    start_stream(c, q, PFDD_JSON);
}

static const struct page {
    const char *path; /* NULL: any other path */
    bool has_args;
    void (*give)(struct client *c, const struct pfdd_http_request *q);
} pages[] = {
    { "/metrics", false, give_metrics },  { "/healthz", false, give_health },
    { "/readyz", false, give_readiness }, { "/events", true, give_events },
    { "/lines", true, give_lines },       { "/state", false, give_state },
    { "/excerpt", true, give_excerpt },   { NULL, false, give_site },
};

static void give(struct client *c, const struct pfdd_http_request *q)
{
    const struct page *page = pages;
    char err[160];
    while (page->path && strcmp(q->path, page->path) != 0)
        page++;
    if (q->n_args && !page->has_args) {
        snprintf(err, sizeof err, "there is no parameter '%.64s'",
                 q->args[0].name);
        refuse(c, q->is_head, 400, err);
    } else {
        page->give(c, q);
    }
}

static void answer(struct client *c, const struct pfdd_http_request *q)
{
    const struct pfdd_output_config *config = output_of(c)->base.config;
    /* A host name cannot lead to a unix socket; TLS proves names by itself. */
    if (!config->access.address.is_unix && !config->access.tls.certificate &&
        !pfdd_http_is_local(q)) {
        refuse(c, q->is_head, 403, "'Host' is not this machine");
    } else if (!pfdd_http_is_same_origin(q)) {
        refuse(c, q->is_head, 403, "this is not for pages of another origin");
    } else {
        give(c, q);
    }
}

/* ---- requests ---- */

static void ask(struct client *c)
{
    c->state = ASKING;
    pfdd_accepted_client_fall_silent(&c->base);
    pfdd_accepted_client_expect(&c->base, config_of(output_of(c))->idle_ms);
    /* Input that arrived meanwhile is handled on the next event. */
    watch(c, c->n_head ? UV_READABLE | UV_WRITABLE : UV_READABLE);
}

static void end_answer(struct client *c)
{
    free(c->answer);
    c->answer = NULL;
    drop_body(c);
    if (c->state == STREAMING) {
        write_lines(c);
    } else if (c->keeps) {
        ask(c);
    } else {
        linger(c);
    }
}

static const char *what_is_left(const struct client *c, size_t *n)
{
    if (c->at < c->n_answer) {
        *n = c->n_answer - c->at;
        return c->answer + c->at;
    }
    *n = c->n_answer + c->n_body - c->at;
    return c->body + (c->at - c->n_answer);
}

static void write_answer(struct client *c)
{
    while (c->at < c->n_answer + c->n_body) {
        size_t n_left = 0;
        const char *left = what_is_left(c, &n_left);
        ssize_t n = send(c->base.fd, left, n_left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            c->base.limited_peer.is_silent = c->state == ANSWERING;
            watch(c, UV_WRITABLE);
            return;
        }
        if (n < 0) {
            close_client(c);
            return;
        }
        c->at += (size_t)n;
    }
    end_answer(c);
}

/* Parses and answers a request once its head is complete. */
static void look_at_head(struct client *c)
{
    struct pfdd_http_request q;
    char head[PFDD_HTTP_HEAD];
    const char *why = NULL;
    size_t n = pfdd_http_head(c->head, c->n_head);
    c->keeps = false;
    if (n == 0) {
        if (c->n_head == sizeof c->head) {
            bool is_long = !memchr(c->head, '\n', c->n_head);
            refuse(c, false, is_long ? 414 : 431, "longer than 8 KiB");
        } else if (!pfdd_http_is_text(c->head, c->n_head)) {
            refuse(c, false, 400, "this is no request of HTTP/1.1");
        } else if (c->ended) {
            close_client(c);
        } else {
            watch(c, UV_READABLE);
        }
        return;
    }
    memcpy(head, c->head, n);
    c->n_head -= n;
    memmove(c->head, c->head + n, c->n_head);
    output_of(c)->base.delivery->count->requests++;
    unsigned status = pfdd_http_read(&q, head, n, &why);
    if (status) {
        refuse(c, q.is_head, status, why);
        return;
    }
    c->keeps = q.keeps;
    answer(c, &q);
}

/* False: the connection was closed. */
static bool receive(struct client *c)
{
    char waste[4096];
    bool is_asking = c->state == ASKING;
    size_t room = is_asking ? sizeof c->head - c->n_head : sizeof waste;
    ssize_t n = recv(c->base.fd, is_asking ? c->head + c->n_head : waste, room,
                     MSG_DONTWAIT);
    if (n > 0 && is_asking)
        c->n_head += (size_t)n;
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return true;
    c->ended = true;
    if (n == 0 && is_asking && c->n_head)
        return true;
    close_client(c);
    return false;
}

static void on_event(struct pfdd_accepted_client *v, int events)
{
    struct client *c = (struct client *)v;
    if ((events & UV_READABLE) && !receive(c))
        return;
    if (c->answer) {
        write_answer(c);
    } else if (c->state == ASKING) {
        look_at_head(c);
    } else if (c->state == STREAMING && (events & UV_WRITABLE)) {
        write_lines(c);
    }
}

/* ---- connections ---- */

static void on_come(struct pfdd_accepted_client *v)
{
    ask((struct client *)v);
}

static void on_closed(struct pfdd_accepted_clients *vs)
{
    struct http_output *o =
        PFDD_MEMBER_OF(struct http_output, vs, accepted_clients);
    pfdd_output_closed(&o->base);
}

static const struct pfdd_accepted_clients_class clients = {
    .size = sizeof(struct client),
    .come = on_come,
    .event = on_event,
    .leave = on_leave,
    .gone = on_gone,
    .closed = on_closed,
};

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct http_output *o = (struct http_output *)output;
    const struct pfdd_access *access = &output->config->access;
    o->accepted_clients.class = &clients;
    o->accepted_clients.loop = output->delivery->loop;
    o->accepted_clients.count = output->delivery->count;
    /* Places beyond max_clients, which streams never take. */
    o->accepted_clients.n_max = (unsigned)access->max_clients + PAGES;
    if (!pfdd_accepted_clients_open(&o->accepted_clients, access, err, n_err))
        return false;
    snprintf(o->label, sizeof o->label, "a subscriber of %s",
             access->address.text);
    pfdd_log(PFDD_INFO, "http: %s", access->address.text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct http_output *o = (struct http_output *)output;
    pfdd_accepted_clients_close(&o->accepted_clients);
}

static bool is_drained(const struct pfdd_output *output)
{
    const struct http_output *o = (const struct http_output *)output;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct client *c = (const struct client *)v;
        if (c->state == STREAMING &&
            !pfdd_cursor_is_done(&c->socket_writer.cursor))
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct http_output *o = (const struct http_output *)output;
    size_t n = sizeof *o + pfdd_accepted_clients_memory(&o->accepted_clients) +
               o->n_metrics;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct client *c = (const struct client *)v;
        n += sizeof *c + c->n_answer;
        n += c->socket_writer.is_open
                 ? pfdd_cursor_memory(&c->socket_writer.cursor)
                 : 0;
    }
    return n;
}

/* ---- keys ---- */

static const struct pfdd_key keys[] = {
    { .name = "idle_timeout",
      .kind = PFDD_KEY_TIME,
      .at = offsetof(struct http_config, idle_ms),
      .min = 100,
      .max = 3600000,
      .initial = 30000 },
    { 0 },
};
static const struct pfdd_group group = { keys, NULL };
static const struct pfdd_part parts[] = {
    { &pfdd_listen_group, offsetof(struct http_config, base.access) },
    { &pfdd_tls_group, offsetof(struct http_config, base.access) },
    { &pfdd_lag_group, 0 },
    { &group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_output_config *config =
        (const struct pfdd_output_config *)block;
    fprintf(out, "HTTP at %s", config->access.address.text);
    pfdd_access_explain(&config->access, out);
}

const struct pfdd_output_class pfdd_output_http = {
    .base = { .name = "http",
              .size = sizeof(struct http_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct http_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
};
