/* SPDX-License-Identifier: MIT */
/*
 * HTTP: /metrics, /healthz, /readyz, and the lines as they come: /events as
 * server-sent events (Last-Event-ID resumes), /lines as ?output= says. ?from=
 * says where to begin, ?match=, ?source=, ?findings= and ?entries_only= choose.
 * What is asked for and not understood is refused, never left out.
 *
 * Nothing is read from a connection while an answer is on its way, so each has
 * one head and one answer. A connection that asks for nothing is closed after a
 * while, or as soon as another one wants its place.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/query.h"
#include "core/http.h"
#include "core/log.h"
#include "net/socket.h"
#include "outputs/pump.h"

enum {
    PAGES = 16,       /* connections beside max_clients streams */
    LINGER_MS = 1000, /* for the peer to read why, and to close */
};

enum state {
    ASKING,    /* a head is to come */
    ANSWERING, /* `answer` goes out */
    STREAMING, /* and lines behind it */
    LINGERING, /* all is sent; what comes is not read */
};

struct client {
    uv_poll_t poll;
    uv_timer_t timer;
    int fd;
    unsigned n_open;
    struct http_output *of;
    struct client *next;
    enum state state;
    bool keeps; /* another request may follow */
    bool ended; /* its own side */
    bool closing;
    int events; /* polled for */
    struct pfdd_guest
        guest; /* silent: it does not stream, and we wait for it */
    struct pfdd_reader reader;
    char head[PFDD_HTTP_HEAD];
    size_t n_head;
    char *answer; /* [n_answer] */
    size_t n_answer;
    size_t at;
};

struct http_output {
    struct pfdd_output base;
    struct pfdd_listener listener;
    struct client *clients;
    struct pfdd_crowd crowd;
    unsigned n_streams;
    bool listener_closed;
    char label[160]; /* of a stream, for the log */
};

/* ---- the end of a connection ---- */

static void finish_close(struct http_output *o)
{
    if (o->base.closing && o->listener_closed && !o->clients)
        pfdd_output_closed(&o->base);
}

static void client_closed(uv_handle_t *handle)
{
    struct client *c = handle->data;
    if (--c->n_open > 0)
        return;
    struct http_output *o = c->of;
    struct client **at = &o->clients;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c->answer);
    free(c);
    finish_close(o);
}

static void stop_stream(struct client *c)
{
    struct http_output *o = c->of;
    if (c->state != STREAMING)
        return;
    o->n_streams--;
    o->base.d->count.missed += c->reader.missed;
    pfdd_reader_deinit(&c->reader);
    c->state = LINGERING;
}

static void close_client(struct client *c)
{
    if (c->closing)
        return;
    c->closing = true;
    pfdd_crowd_leave(&c->of->crowd, &c->guest);
    stop_stream(c);
    uv_poll_stop(&c->poll);
    close(c->fd);
    uv_close((uv_handle_t *)&c->poll, client_closed);
    uv_close((uv_handle_t *)&c->timer, client_closed);
}

static void on_late(uv_timer_t *timer)
{
    close_client(timer->data);
}

static void on_event(uv_poll_t *poll, int status, int events);

static void watch(struct client *c, int events)
{
    if (c->events == events)
        return;
    c->events = events;
    if (events) {
        uv_poll_start(&c->poll, events, on_event);
    } else {
        uv_poll_stop(&c->poll);
    }
}

/* Whoever has not read the answer when bytes of theirs are thrown away would
 * lose it. */
static void linger(struct client *c)
{
    if (c->ended) {
        close_client(c);
        return;
    }
    c->state = LINGERING;
    c->guest.is_silent = true;
    shutdown(c->fd, SHUT_WR);
    uv_timer_start(&c->timer, on_late, LINGER_MS, 0);
    watch(c, UV_READABLE);
}

/* ---- answers ---- */

static void write_answer(struct client *c);

/* n: of the body, or -1: there are lines for as long as it likes. */
static size_t put_head(const struct client *c, char *ret, size_t n_ret,
                       unsigned status, const char *type, long long n)
{
    char length[40] = "";
    if (n >= 0)
        snprintf(length, sizeof length, "Content-Length: %lld\r\n", n);
    return (size_t)snprintf(ret, n_ret,
                            "HTTP/1.1 %u %s\r\n"
                            "Content-Type: %s\r\n%s%s"
                            "Cache-Control: no-store\r\n"
                            "X-Content-Type-Options: nosniff\r\n"
                            "Cross-Origin-Resource-Policy: same-origin\r\n"
                            "Content-Security-Policy: default-src 'none'; "
                            "frame-ancestors 'none'\r\n"
                            "Connection: %s\r\n\r\n",
                            status, pfdd_http_phrase(status), type, length,
                            status == 405 ? "Allow: GET, HEAD\r\n" : "",
                            c->keeps ? "keep-alive" : "close");
}

static void send_answer(struct client *c, const char *head, size_t n_head,
                        const char *body, size_t n)
{
    c->answer = malloc(n_head + n);
    if (!c->answer) {
        close_client(c);
        return;
    }
    memcpy(c->answer, head, n_head);
    if (n)
        memcpy(c->answer + n_head, body, n);
    c->n_answer = n_head + n;
    c->at = 0;
    if (c->state == ASKING)
        c->state = ANSWERING;
    c->guest.is_silent = false;
    write_answer(c);
}

static void give_page(struct client *c, bool is_head, unsigned status,
                      const char *type, const char *body, size_t n)
{
    char head[640];
    size_t n_head = put_head(c, head, sizeof head, status, type, (long long)n);
    send_answer(c, head, n_head, body, is_head ? 0 : n);
}

static void give_text(struct client *c, bool is_head, unsigned status,
                      const char *text)
{
    give_page(c, is_head, status, "text/plain; charset=utf-8", text,
              strlen(text));
}

/* With the end of the connection. */
static void refuse(struct client *c, bool is_head, unsigned status,
                   const char *why)
{
    char text[256];
    c->keeps = false;
    snprintf(text, sizeof text, "%.250s\n", why);
    give_text(c, is_head, status, text);
}

/* ---- streams ---- */

/* Writes what there is now. */
static void write_lines(struct client *c)
{
    switch (pfdd_pump(&c->of->base, &c->reader, c->fd)) {
    case PFDD_PUMP_BLOCKS:
    case PFDD_PUMP_TURN:
        watch(c, UV_READABLE | UV_WRITABLE);
        break;
    case PFDD_PUMP_EMPTY:
        watch(c, UV_READABLE);
        break;
    case PFDD_PUMP_END:
        close_client(c);
        break;
    }
}

static void on_lines(struct pfdd_reader *reader)
{
    struct client *c = reader->user;
    /* While it waits for the socket, there is nothing else to do. */
    if (!c->answer && !(c->events & UV_WRITABLE)) {
        write_lines(c);
    } else if (pfdd_pump_has_lagged(&c->of->base, reader)) {
        close_client(c);
    }
}

static void start_stream(struct client *c, const struct pfdd_http_request *q,
                         enum pfdd_form form)
{
    static const char *const types[] = { "application/x-ndjson",
                                         "text/plain; charset=utf-8",
                                         "application/octet-stream",
                                         "text/event-stream" };
    struct http_output *o = c->of;
    struct pfdd_request request = { .form = form };
    char err[320] = "";
    char head[640];
    if (!pfdd_query_read(&request, q, err, sizeof err) ||
        !pfdd_request_finish(&request, err, sizeof err)) {
        pfdd_request_deinit(&request);
        refuse(c, q->is_head, 400, err);
        return;
    }
    c->keeps = false;
    size_t n_head =
        put_head(c, head, sizeof head, 200, types[request.form], -1);
    bool is_taken = !q->is_head &&
                    o->n_streams < o->base.config->access.max_clients &&
                    pfdd_reader_init(&c->reader, &o->base.d->pages, &request);
    pfdd_request_deinit(&request);
    if (q->is_head) {
        send_answer(c, head, n_head, NULL, 0);
        return;
    }
    if (!is_taken) {
        refuse(c, false, 503, "too many streams");
        return;
    }
    c->reader.wake = on_lines;
    c->reader.user = c;
    c->reader.name = o->label;
    c->state = STREAMING;
    o->n_streams++;
    uv_timer_stop(&c->timer);
    send_answer(c, head, n_head, NULL, 0);
}

/* ---- pages ---- */

static void give_metrics(struct client *c, const struct pfdd_http_request *q)
{
    size_t n = 0;
    char *page = pfdd_metrics(c->of->base.d, &n);
    if (page) {
        give_page(c, q->is_head, 200,
                  "text/plain; version=0.0.4; charset=utf-8", page, n);
    } else {
        close_client(c);
    }
    free(page);
}

static void give_health(struct client *c, const struct pfdd_http_request *q)
{
    give_text(c, q->is_head, 200, "ok\n");
}

static void give_readiness(struct client *c, const struct pfdd_http_request *q)
{
    bool ready = pfdd_is_ready(c->of->base.d);
    give_text(c, q->is_head, ready ? 200 : 503,
              ready ? "ready\n" : "not ready\n");
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
    const char *path;
    bool has_args;
    void (*give)(struct client *c, const struct pfdd_http_request *q);
} pages[] = {
    { "/metrics", false, give_metrics },  { "/healthz", false, give_health },
    { "/readyz", false, give_readiness }, { "/events", true, give_events },
    { "/lines", true, give_lines },
};

static void answer(struct client *c, const struct pfdd_http_request *q)
{
    const struct pfdd_output_config *config = c->of->base.config;
    char err[160];
    /* No name leads to a unix socket; TLS proves names by itself. */
    if (!config->address.is_unix && !config->access.tls.certificate &&
        !pfdd_http_is_local(q)) {
        refuse(c, q->is_head, 403, "'Host' is not this machine");
        return;
    }
    if (!pfdd_http_is_same_origin(q)) {
        refuse(c, q->is_head, 403, "this is not for pages of another origin");
        return;
    }
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (strcmp(q->path, pages[i].path) != 0)
            continue;
        if (q->n_args && !pages[i].has_args) {
            snprintf(err, sizeof err, "there is no parameter '%.64s'",
                     q->args[0].name);
            refuse(c, q->is_head, 400, err);
        } else {
            pages[i].give(c, q);
        }
        return;
    }
    give_text(c, q->is_head, 404,
              "there are /metrics, /healthz, /readyz, /events and /lines\n");
}

/* ---- one after another ---- */

static void ask(struct client *c)
{
    struct pfdd *d = c->of->base.d;
    c->state = ASKING;
    c->guest.is_silent = true;
    c->guest.since = uv_now(d->loop);
    uv_timer_start(&c->timer, on_late, c->of->base.config->idle_ms, 0);
    /* What has come already has its turn as if it came now. */
    watch(c, c->n_head ? UV_READABLE | UV_WRITABLE : UV_READABLE);
}

static void end_answer(struct client *c)
{
    free(c->answer);
    c->answer = NULL;
    if (c->state == STREAMING) {
        write_lines(c);
    } else if (c->keeps) {
        ask(c);
    } else {
        linger(c);
    }
}

static void write_answer(struct client *c)
{
    while (c->at < c->n_answer) {
        ssize_t n =
            send(c->fd, c->answer + c->at, c->n_answer - c->at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            c->guest.is_silent = c->state == ANSWERING;
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

/* A head that has come whole is answered. */
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
    c->of->base.d->count.requests++;
    unsigned status = pfdd_http_read(&q, head, n, &why);
    if (status) {
        refuse(c, q.is_head, status, why);
        return;
    }
    c->keeps = q.keeps;
    answer(c, &q);
}

/* False: it is closed. */
static bool receive(struct client *c)
{
    char waste[4096];
    bool is_asking = c->state == ASKING;
    size_t room = is_asking ? sizeof c->head - c->n_head : sizeof waste;
    ssize_t n = recv(c->fd, is_asking ? c->head + c->n_head : waste, room,
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

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct client *c = poll->data;
    if (status < 0) {
        close_client(c);
        return;
    }
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

/* Streams never take the places of those that ask for pages. */
static bool make_place(struct http_output *o, const struct pfdd_peer_key *key)
{
    struct pfdd_guest *silent = NULL;
    unsigned n_max = (unsigned)o->base.config->access.max_clients + PAGES;
    if (o->base.closing || !pfdd_crowd_make_way(&o->crowd, key, n_max, &silent))
        return false;
    for (struct client *c = o->clients; silent && c; c = c->next) {
        if (&c->guest == silent) {
            close_client(c);
            break;
        }
    }
    return true;
}

static void on_accept(struct pfdd_listener *l, int fd)
{
    struct http_output *o = l->user;
    struct pfdd *d = o->base.d;
    struct pfdd_peer_key key = pfdd_listener_peer(l, fd);
    struct client *c = make_place(o, &key) ? calloc(1, sizeof *c) : NULL;
    if (!c || uv_poll_init(d->loop, &c->poll, fd) != 0) {
        free(c);
        d->count.refused++;
        close(fd);
        return;
    }
    uv_timer_init(d->loop, &c->timer);
    c->fd = fd;
    c->of = o;
    c->n_open = 2;
    c->poll.data = c;
    c->timer.data = c;
    c->next = o->clients;
    o->clients = c;
    pfdd_crowd_join(&o->crowd, &c->guest, &key, uv_now(d->loop));
    ask(c);
}

static void on_listener_closed(void *user)
{
    struct http_output *o = user;
    o->listener_closed = true;
    finish_close(o);
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct http_output *o = (struct http_output *)output;
    o->listener.user = o;
    o->listener.accept = on_accept;
    o->listener.closed = on_listener_closed;
    o->listener.refused = &output->d->count.refused;
    o->listener.out_of_fds = &output->d->count.out_of_fds;
    if (!pfdd_listener_open(&o->listener, output->d->loop,
                            &output->config->address, &output->config->access,
                            err, n_err))
        return false;
    snprintf(o->label, sizeof o->label, "a subscriber of %s",
             output->config->address_text);
    pfdd_log(PFDD_INFO, "http: %s", output->config->address_text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct http_output *o = (struct http_output *)output;
    pfdd_listener_close(&o->listener);
    for (struct client *c = o->clients; c; c = c->next)
        close_client(c);
}

static bool is_drained(const struct pfdd_output *output)
{
    const struct http_output *o = (const struct http_output *)output;
    for (const struct client *c = o->clients; c; c = c->next) {
        if (c->state == STREAMING && !pfdd_reader_is_done(&c->reader))
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct http_output *o = (const struct http_output *)output;
    size_t n = sizeof *o + pfdd_listener_memory(&o->listener);
    for (const struct client *c = o->clients; c; c = c->next) {
        n += sizeof *c + c->n_answer +
             (c->state == STREAMING ? pfdd_reader_memory(&c->reader) : 0);
    }
    return n;
}

const struct pfdd_output_class pfdd_output_http = {
    "http", sizeof(struct http_output), open_output, close_output, is_drained,
    memory,
};
