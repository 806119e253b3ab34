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
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/http_head.h"
#include "base/log.h"
#include "config/request.h"
#include "outputs/http_connection.h"
#include "outputs/http_pages.h"
#include "outputs/slow_consumer.h"

/*
 * The query of an HTTP request for lines: the keys of a request (request.h) as
 * parameters, and Last-Event-ID.
 */

static bool is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) &&
           strlen(text) < 20;
}

/* A browser that reconnects repeats the URL, and adds the id of the last event
 * that it has. So the id overrides ?from=. */
static bool take_last_id(struct pfdd_request *ret, const char *id, char *err,
                         size_t n_err)
{
    if (!id)
        return true;
    snprintf(err, n_err, "'Last-Event-ID' is a sequence number");
    if (!is_digits(id))
        return false;
    ret->from = (struct pfdd_from){ .is_seq = true,
                                    .value = strtoull(id, NULL, 10) + 1 };
    return true;
}

/* Adds to ret, whose form was set from the path. False: see err [n]; the caller
 * frees ret all the same. */
static bool http_query_read(struct pfdd_request *ret,
                            const struct pfdd_http_request *q, char *err,
                            size_t n_err)
{
    for (size_t i = 0; i < q->n_args; i++) {
        if (!pfdd_request_set(ret, q->args[i].name, q->args[i].value, err,
                              n_err))
            return false;
    }
    return take_last_id(ret, q->fields[PFDD_HTTP_LAST_EVENT_ID], err, n_err);
}

enum {
    PAGES = 16, /* connections beyond max_clients streams */
};

/* ---- streams ---- */

static void go_on(struct pfdd_accepted_client *v)
{
    pfdd_http_connection_write_lines((struct pfdd_http_connection *)v);
}

static void on_lines(struct pfdd_cursor *cursor)
{
    struct pfdd_http_connection *c = cursor->user;
    /* If it already waits for the socket, it writes when the socket is
     * ready. */
    if (!c->answer && !(c->base.events & UV_WRITABLE)) {
        pfdd_http_connection_write_lines(c);
    } else if (pfdd_slow_consumer_is_dropped(c->socket_writer.output, cursor)) {
        pfdd_http_connection_close(c);
    }
}

static void start_stream(struct pfdd_http_connection *c,
                         const struct pfdd_http_request *q, enum pfdd_form form)
{
    static const char *const types[] = { "application/x-ndjson",
                                         "text/plain; charset=utf-8",
                                         "application/octet-stream",
                                         "application/octet-stream",
                                         "text/event-stream" };
    struct pfdd_http_output *o = pfdd_http_output_of(c);
    struct pfdd_request request = {
        .form = form,
        .n_patterns_max = pfdd_patterns_max(o->base.delivery),
    };
    char err[320] = "";
    char head[PFDD_HTTP_ANSWER_HEAD];
    if (!http_query_read(&request, q, err, sizeof err) ||
        !pfdd_request_finish(&request, err, sizeof err)) {
        pfdd_request_deinit(&request);
        pfdd_http_connection_refuse(c, q->is_head, 400, err);
        return;
    }
    c->keeps = false;
    size_t n_head = pfdd_http_connection_put_head(
        c, head, sizeof head, 200, types[request.form], PFDD_HTTP_NO_PAGE, -1);
    bool is_taken = !q->is_head &&
                    o->n_streams < o->base.config->access.max_clients &&
                    pfdd_socket_writer_open(&c->socket_writer, &o->base,
                                            &c->base, &request, go_on);
    pfdd_request_deinit(&request);
    if (q->is_head) {
        pfdd_http_connection_send(c, head, n_head, NULL, 0);
        return;
    }
    if (!is_taken) {
        pfdd_http_output_of(c)->base.delivery->count->refused++;
        pfdd_http_connection_refuse(
            c, false, 503, "too many streams, or no memory for one now");
        return;
    }
    c->socket_writer.cursor.wake = on_lines;
    c->socket_writer.cursor.user = c;
    c->socket_writer.cursor.name = o->label;
    c->state = PFDD_HTTP_STREAMING;
    o->n_streams++;
    pfdd_accepted_client_expect(&c->base, 0);
    pfdd_http_connection_send(c, head, n_head, NULL, 0);
}

/* ---- pages ---- */

static void give_events(struct pfdd_http_connection *c,
                        const struct pfdd_http_request *q)
{
    start_stream(c, q, PFDD_SSE);
}

static void give_lines(struct pfdd_http_connection *c,
                       const struct pfdd_http_request *q)
{
    start_stream(c, q, PFDD_JSON);
}

static const struct page {
    const char *path; /* NULL: any other path */
    bool has_args;
    void (*give)(struct pfdd_http_connection *c,
                 const struct pfdd_http_request *q);
} pages[] = {
    { "/metrics", false, pfdd_http_page_metrics },
    { "/healthz", false, pfdd_http_page_health },
    { "/readyz", false, pfdd_http_page_readiness },
    { "/events", true, give_events },
    { "/lines", true, give_lines },
    { "/state", false, pfdd_http_page_state },
    { "/excerpt", true, pfdd_http_page_excerpt },
    { NULL, false, pfdd_http_page_site },
};

static void give(struct pfdd_http_connection *c,
                 const struct pfdd_http_request *q)
{
    const struct page *page = pages;
    char err[160];
    while (page->path && strcmp(q->path, page->path) != 0)
        page++;
    if (q->n_args && !page->has_args) {
        snprintf(err, sizeof err, "there is no parameter '%.64s'",
                 q->args[0].name);
        pfdd_http_connection_refuse(c, q->is_head, 400, err);
    } else {
        page->give(c, q);
    }
}

static void answer(struct pfdd_http_connection *c,
                   const struct pfdd_http_request *q)
{
    const struct pfdd_output_config *config =
        pfdd_http_output_of(c)->base.config;
    /* A host name cannot lead to a unix socket; TLS proves names by itself. */
    if (!config->access.address.is_unix && !config->access.tls.certificate &&
        !pfdd_http_is_local(q)) {
        pfdd_http_connection_refuse(c, q->is_head, 403,
                                    "'Host' is not this machine");
    } else if (!pfdd_http_is_same_origin(q)) {
        pfdd_http_connection_refuse(c, q->is_head, 403,
                                    "this is not for pages of another origin");
    } else {
        give(c, q);
    }
}

/* ---- requests ---- */

/* Parses and answers a request once its head is complete. */
static void look_at_head(struct pfdd_http_connection *c)
{
    struct pfdd_http_request q;
    char head[PFDD_HTTP_HEAD];
    const char *why = NULL;
    size_t n = pfdd_http_head(c->head, c->n_head);
    c->keeps = false;
    if (n == 0) {
        if (c->n_head == sizeof c->head) {
            bool is_long = !memchr(c->head, '\n', c->n_head);
            pfdd_http_connection_refuse(c, false, is_long ? 414 : 431,
                                        "longer than 8 KiB");
        } else if (!pfdd_http_is_text(c->head, c->n_head)) {
            pfdd_http_connection_refuse(c, false, 400,
                                        "this is no request of HTTP/1.1");
        } else if (c->ended) {
            pfdd_http_connection_close(c);
        } else {
            pfdd_http_connection_watch(c, UV_READABLE);
        }
        return;
    }
    memcpy(head, c->head, n);
    c->n_head -= n;
    memmove(c->head, c->head + n, c->n_head);
    pfdd_http_output_of(c)->base.delivery->count->requests++;
    unsigned status = pfdd_http_read(&q, head, n, &why);
    if (status) {
        pfdd_http_connection_refuse(c, q.is_head, status, why);
        return;
    }
    c->keeps = q.keeps;
    answer(c, &q);
}

/* False: the connection was closed. */
static bool receive(struct pfdd_http_connection *c)
{
    char waste[4096];
    bool is_asking = c->state == PFDD_HTTP_ASKING;
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
    pfdd_http_connection_close(c);
    return false;
}

static void on_event(struct pfdd_accepted_client *v, int events)
{
    struct pfdd_http_connection *c = (struct pfdd_http_connection *)v;
    if ((events & UV_READABLE) && !receive(c))
        return;
    if (c->answer) {
        pfdd_http_connection_write(c);
    } else if (c->state == PFDD_HTTP_ASKING) {
        look_at_head(c);
    } else if (c->state == PFDD_HTTP_STREAMING && (events & UV_WRITABLE)) {
        pfdd_http_connection_write_lines(c);
    }
}

/* ---- connections ---- */

static void on_leave(struct pfdd_accepted_client *v)
{
    struct pfdd_http_connection *c = (struct pfdd_http_connection *)v;
    struct pfdd_http_output *o = pfdd_http_output_of(c);
    if (c->state != PFDD_HTTP_STREAMING)
        return;
    o->n_streams--;
    pfdd_socket_writer_close(&c->socket_writer);
    c->state = PFDD_HTTP_LINGERING;
}

static void on_gone(struct pfdd_accepted_client *v)
{
    struct pfdd_http_connection *c = (struct pfdd_http_connection *)v;
    free(c->answer);
    pfdd_http_connection_drop_body(c);
}

static void on_come(struct pfdd_accepted_client *v)
{
    pfdd_http_connection_ask((struct pfdd_http_connection *)v);
}

static void on_closed(struct pfdd_accepted_clients *vs)
{
    struct pfdd_http_output *o =
        PFDD_MEMBER_OF(struct pfdd_http_output, vs, accepted_clients);
    pfdd_output_closed(&o->base);
}

static const struct pfdd_accepted_clients_class clients = {
    .size = sizeof(struct pfdd_http_connection),
    .come = on_come,
    .event = on_event,
    .leave = on_leave,
    .gone = on_gone,
    .closed = on_closed,
};

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct pfdd_http_output *o = (struct pfdd_http_output *)output;
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
    struct pfdd_http_output *o = (struct pfdd_http_output *)output;
    pfdd_accepted_clients_close(&o->accepted_clients);
}

static bool is_drained(const struct pfdd_output *output)
{
    const struct pfdd_http_output *o = (const struct pfdd_http_output *)output;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct pfdd_http_connection *c =
            (const struct pfdd_http_connection *)v;
        if (c->state == PFDD_HTTP_STREAMING &&
            !pfdd_cursor_is_done(&c->socket_writer.cursor))
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct pfdd_http_output *o = (const struct pfdd_http_output *)output;
    size_t n = sizeof *o + pfdd_accepted_clients_memory(&o->accepted_clients) +
               o->n_metrics;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct pfdd_http_connection *c =
            (const struct pfdd_http_connection *)v;
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
      .at = offsetof(struct pfdd_http_config, idle_ms),
      .min = 100,
      .max = 3600000,
      .initial = 30000 },
    { 0 },
};
static const struct pfdd_group group = { keys, NULL };
static const struct pfdd_part parts[] = {
    { &pfdd_listen_group, offsetof(struct pfdd_http_config, base.access) },
    { &pfdd_tls_group, offsetof(struct pfdd_http_config, base.access) },
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
              .size = sizeof(struct pfdd_http_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct pfdd_http_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
};
