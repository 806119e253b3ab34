/* SPDX-License-Identifier: MIT */
/*
 * Subscribers on a unix or TCP socket. A client may send one line with a
 * request (request.h) at once; without one it gets, after a grace period, the
 * lines that the configuration chooses. If the client shuts down its sending
 * side, it gets the available lines, and then the end.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <printfdecode/wire.h>

#include "base/log.h"
#include "net/accepted_client.h"
#include "outputs/slow_consumer.h"
#include "outputs/socket_writer.h"
#include "stream/capture/wire.h"

enum {
    GRACE_MS = 100,      /* for the client to send a request */
    SEND_ROOM = 1 << 20, /* bytes of a client's send buffer; the kernel may
                            grant less */
};

struct client {
    struct pfdd_accepted_client base; /* never silent: no request is needed */
    struct pfdd_socket_writer socket_writer;
    bool ended; /* the client has shut down its sending side */
    char request[PFDD_REQUEST_MAX];
    size_t n_request;
};

struct listen_output {
    struct pfdd_output base;
    struct pfdd_accepted_clients accepted_clients;
    char label[320];        /* of a subscriber, for the log */
    struct pfdd_sent count; /* of subscribers that are gone */
};

static struct listen_output *output_of(const struct client *c)
{
    return PFDD_MEMBER_OF(struct listen_output, c->base.of, accepted_clients);
}

static void on_leave(struct pfdd_accepted_client *v)
{
    pfdd_socket_writer_close(&((struct client *)v)->socket_writer);
}

/* Writes lines until the socket blocks or its turn is over. */
static void pump(struct client *c)
{
    int readable = c->ended ? 0 : UV_READABLE;
    switch (pfdd_socket_writer_turn(&c->socket_writer)) {
    case PFDD_SOCKET_WRITER_BLOCKS:
    case PFDD_SOCKET_WRITER_TURN:
        pfdd_accepted_client_watch(&c->base, readable | UV_WRITABLE);
        break;
    case PFDD_SOCKET_WRITER_EMPTY:
        if (c->ended && pfdd_cursor_is_done(&c->socket_writer.cursor)) {
            pfdd_accepted_client_close(&c->base);
        } else {
            pfdd_accepted_client_watch(&c->base, readable);
        }
        break;
    case PFDD_SOCKET_WRITER_AWAY:
        pfdd_accepted_client_watch(&c->base, readable);
        break;
    case PFDD_SOCKET_WRITER_END:
        pfdd_accepted_client_close(&c->base);
        break;
    }
}

static void go_on(struct pfdd_accepted_client *v)
{
    pump((struct client *)v);
}

static void on_lines(struct pfdd_cursor *cursor)
{
    struct client *c = cursor->user;
    /* If it already waits for the socket, it writes when the socket is
     * ready. */
    if (!(c->base.events & UV_WRITABLE)) {
        pump(c);
    } else if (pfdd_slow_consumer_is_dropped(c->socket_writer.output, cursor)) {
        pfdd_accepted_client_close(&c->base);
    }
}

static void refuse(struct client *c, const char *why)
{
    pfdd_socket_refuse(c->base.fd, why);
    pfdd_accepted_client_close(&c->base);
}

static bool read_request(const struct client *c, struct pfdd_request *ret,
                         const char *line, size_t n, char *err, size_t n_err)
{
    bool ok = pfdd_output_request(output_of(c)->base.config, ret, err, n_err);
    if (n) /* The client's filter replaces the configured one. */
        pfdd_request_widen(ret);
    ret->n_patterns_max = pfdd_patterns_max(output_of(c)->base.delivery);
    return ok && (!n || pfdd_request_read(ret, line, n, err, n_err)) &&
           pfdd_request_finish(ret, err, n_err);
}

/* The begin of a stream, at once: then its reader knows that all sources wait
 * for it. */
static void say_hello(struct pfdd_cursor *cursor)
{
    if (cursor->form == PFDD_ENTRIES &&
        !pfdd_preamble_begin(&cursor->preamble, pfdd_cursor_add_bytes, cursor))
        cursor->is_over = true;
}

static void begin(struct client *c, const char *line, size_t n)
{
    struct pfdd_request request;
    char err[256] = "no memory for it now";
    bool ok = read_request(c, &request, line, n, err, sizeof err);
    if (!ok && n && pfd_wire_may_begin(line, n)) {
        snprintf(err, sizeof err,
                 "subscribers connect here; producers connect to an input");
    }
    ok = ok && pfdd_socket_writer_open(&c->socket_writer, &output_of(c)->base,
                                       &c->base, &request, go_on);
    pfdd_request_deinit(&request);
    if (!ok) {
        refuse(c, err);
        return;
    }
    pfdd_accepted_client_expect(&c->base, 0);
    c->socket_writer.gone = &output_of(c)->count;
    c->socket_writer.cursor.user = c;
    /* Sources wait for it as they are told to: no news for the log. */
    bool is_awaited = output_of(c)->base.config->on_lag == PFDD_WAIT;
    c->socket_writer.cursor.name = is_awaited ? NULL : output_of(c)->label;
    c->socket_writer.cursor.wake = on_lines;
    if (is_awaited)
        say_hello(&c->socket_writer.cursor);
    pump(c);
}

static void on_grace(struct pfdd_accepted_client *v)
{
    struct client *c = (struct client *)v;
    if (!c->socket_writer.is_open && c->n_request == 0)
        begin(c, NULL, 0);
}

static void on_end(struct client *c)
{
    c->ended = true;
    if (c->socket_writer.is_open) {
        pump(c);
    } else {
        begin(c, c->request, c->n_request);
    }
}

static void on_input(struct client *c)
{
    char waste[4096];
    bool reads = c->socket_writer.is_open;
    char *to = reads ? waste : c->request + c->n_request;
    size_t room = reads ? sizeof waste : sizeof c->request - c->n_request;
    ssize_t n = recv(c->base.fd, to, room, MSG_DONTWAIT);
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            pfdd_accepted_client_close(&c->base);
        return;
    }
    if (n == 0) {
        on_end(c);
        return;
    }
    if (reads)
        return;
    c->n_request += (size_t)n;
    const char *newline = memchr(c->request, '\n', c->n_request);
    if (newline) {
        begin(c, c->request, (size_t)(newline - c->request));
    } else if (c->n_request == sizeof c->request) {
        refuse(c, "the request is longer than 4096 bytes");
    }
}

static void on_event(struct pfdd_accepted_client *v, int events)
{
    struct client *c = (struct client *)v;
    if (events & UV_READABLE)
        on_input(c);
    if (!v->closing && c->socket_writer.is_open && (events & UV_WRITABLE))
        pump(c);
}

static void on_come(struct pfdd_accepted_client *v)
{
    int room = SEND_ROOM;
    setsockopt(v->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    v->limited_peer.is_silent = false;
    pfdd_accepted_client_watch(v, UV_READABLE);
    pfdd_accepted_client_expect(v, GRACE_MS);
}

static void on_closed(struct pfdd_accepted_clients *vs)
{
    struct listen_output *o =
        PFDD_MEMBER_OF(struct listen_output, vs, accepted_clients);
    pfdd_output_closed(&o->base);
}

static const struct pfdd_accepted_clients_class clients = {
    .size = sizeof(struct client),
    .come = on_come,
    .event = on_event,
    .late = on_grace,
    .leave = on_leave,
    .closed = on_closed,
};

/* ---- lifetime ---- */

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct listen_output *o = (struct listen_output *)output;
    const struct pfdd_access *access = &output->config->access;
    o->accepted_clients.class = &clients;
    o->accepted_clients.loop = output->delivery->loop;
    o->accepted_clients.count = output->delivery->count;
    o->accepted_clients.n_max = (unsigned)access->max_clients;
    if (!pfdd_accepted_clients_open(&o->accepted_clients, access, err, n_err))
        return false;
    snprintf(o->label, sizeof o->label, "a subscriber of %s",
             access->address.text);
    pfdd_log(PFDD_INFO, "subscribers: %s", access->address.text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct listen_output *o = (struct listen_output *)output;
    pfdd_accepted_clients_close(&o->accepted_clients);
}

static bool is_drained(const struct pfdd_output *output)
{
    const struct listen_output *o = (const struct listen_output *)output;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct client *c = (const struct client *)v;
        if (c->socket_writer.is_open &&
            !pfdd_cursor_is_done(&c->socket_writer.cursor))
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct listen_output *o = (const struct listen_output *)output;
    size_t n = sizeof *o + pfdd_accepted_clients_memory(&o->accepted_clients);
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct client *c = (const struct client *)v;
        n += sizeof *c;
        n += c->socket_writer.is_open
                 ? pfdd_cursor_memory(&c->socket_writer.cursor)
                 : 0;
    }
    return n;
}

/* All of its subscribers together. */
static struct pfdd_sent sent(const struct pfdd_output *output)
{
    const struct listen_output *o = (const struct listen_output *)output;
    struct pfdd_sent ret = o->count;
    uint64_t oldest = 0;
    for (struct pfdd_accepted_client *v = o->accepted_clients.first; v;
         v = v->next) {
        const struct client *c = (const struct client *)v;
        const struct pfdd_cursor *r = &c->socket_writer.cursor;
        if (!c->socket_writer.is_open)
            continue;
        uint64_t time =
            pfdd_cursor_is_done(r)
                ? 0
                : pfdd_ring_time(output->delivery->ring, pfdd_cursor_seq(r));
        ret.is_connected = true;
        ret.sent += r->written;
        ret.dropped += pfdd_cursor_dropped(r);
        if (time && (!oldest || time < oldest))
            oldest = time;
    }
    ret.age_ns = pfdd_time_since(oldest);
    return ret;
}

/* ---- keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_output_config *config = group;
    if (config->required && config->on_lag == PFDD_DISCONNECT) {
        pfdd_diagnostics_add(
            places, "on_lag",
            "a required output is waited for, whatever its lag");
    }
    if (config->name && !config->required) {
        pfdd_diagnostics_add(
            places, "name",
            "'name' is for required outputs: the checkpoint has it");
    }
}

static const struct pfdd_key no_keys[] = { { 0 } };
static const struct pfdd_group group = { no_keys, check };
static const struct pfdd_part parts[] = {
    { &pfdd_listen_group, offsetof(struct pfdd_output_config, access) },
    { &pfdd_tls_group, offsetof(struct pfdd_output_config, access) },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_form_group, 0 },
    { &pfdd_lag_group, 0 },
    { &group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_output_config *config =
        (const struct pfdd_output_config *)block;
    const char *address = config->access.address.text;
    if (config->required) {
        fprintf(out, "one subscriber connects to %s", address);
    } else {
        fprintf(out, "subscribers connect to %s, by default for %s", address,
                pfdd_output_form(config));
    }
    pfdd_access_explain(&config->access, out);
    pfdd_output_explain(config, out);
    if (config->required) {
        fputs(", and lines wait from the start on, until it acknowledges them "
              "(printfdecode follow --ack)",
              out);
    }
}

static const char *checkpoint_name(const struct pfdd_output_config *config)
{
    return config->name ? config->name : config->access.address.text;
}

extern const struct pfdd_output_class pfdd_output_required;

const struct pfdd_output_class pfdd_output_listen = {
    .base = { .name = "listen",
              .size = sizeof(struct pfdd_output_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct listen_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
    .sent = sent,
    .checkpoint_name = checkpoint_name,
    .when_required = &pfdd_output_required,
};
