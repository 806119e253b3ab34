/* SPDX-License-Identifier: MIT */
/*
 * Subscribers on a unix or TCP socket. A client may send one line with a
 * request (request.h) at once; one that says nothing for a moment gets what the
 * configuration says. A client that ends its own side gets what there is and
 * the end.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "core/log.h"
#include "net/socket.h"
#include "outputs/pump.h"

enum {
    GRACE_MS = 100,      /* to send a request */
    SEND_ROOM = 1 << 20, /* that the kernel may hold for a client; it gives
                            less where the system says so */
};

struct client {
    uv_poll_t poll;
    uv_timer_t grace;
    int fd;
    unsigned n_open;
    struct listen_output *of;
    struct client *next;
    struct pfdd_guest guest; /* it need not say anything */
    struct pfdd_reader reader;
    bool reading; /* reader is in use */
    bool ended;   /* its own side */
    bool closing;
    int events; /* polled for */
    char request[PFDD_REQUEST_MAX];
    size_t n_request;
};

struct listen_output {
    struct pfdd_output base;
    struct pfdd_listener listener;
    struct client *clients;
    struct pfdd_crowd crowd;
    bool listener_closed;
    char label[160]; /* of a subscriber, for the log */
};

static void finish_close(struct listen_output *o)
{
    if (o->base.closing && o->listener_closed && !o->clients)
        pfdd_output_closed(&o->base);
}

static void client_closed(uv_handle_t *handle)
{
    struct client *c = handle->data;
    if (--c->n_open > 0)
        return;
    struct listen_output *o = c->of;
    struct client **at = &o->clients;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
    finish_close(o);
}

static void close_client(struct client *c)
{
    if (c->closing)
        return;
    c->closing = true;
    pfdd_crowd_leave(&c->of->crowd, &c->guest);
    if (c->reading) {
        c->of->base.d->count.missed += c->reader.missed;
        pfdd_reader_deinit(&c->reader);
        c->reading = false;
    }
    uv_poll_stop(&c->poll);
    close(c->fd);
    uv_close((uv_handle_t *)&c->poll, client_closed);
    uv_close((uv_handle_t *)&c->grace, client_closed);
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

/* Writes what there is now. */
static void pump(struct client *c)
{
    int readable = c->ended ? 0 : UV_READABLE;
    switch (pfdd_pump(&c->of->base, &c->reader, c->fd)) {
    case PFDD_PUMP_BLOCKS:
    case PFDD_PUMP_TURN:
        watch(c, readable | UV_WRITABLE);
        break;
    case PFDD_PUMP_EMPTY:
        if (c->ended && pfdd_reader_is_done(&c->reader)) {
            close_client(c);
        } else {
            watch(c, readable);
        }
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
    if (!(c->events & UV_WRITABLE)) {
        pump(c);
    } else if (pfdd_pump_has_lagged(&c->of->base, reader)) {
        close_client(c);
    }
}

static void refuse(struct client *c, const char *why)
{
    pfdd_socket_refuse(c->fd, why);
    close_client(c);
}

static bool read_request(const struct client *c, struct pfdd_request *ret,
                         const char *line, size_t n, char *err, size_t n_err)
{
    bool ok = pfdd_config_request(c->of->base.config, ret, err, n_err);
    if (n) /* The client's own choice takes the place of the default one. */
        pfdd_request_widen(ret);
    return ok && (!n || pfdd_request_read(ret, line, n, err, n_err)) &&
           pfdd_request_finish(ret, err, n_err);
}

static void begin(struct client *c, const char *line, size_t n)
{
    struct pfdd_request request;
    char err[256] = "out of memory";
    bool ok = read_request(c, &request, line, n, err, sizeof err);
    if (!ok && n && pfd_wire_may_begin(line, n)) {
        snprintf(err, sizeof err,
                 "subscribers connect here; producers connect to an input");
    }
    ok = ok && pfdd_reader_init(&c->reader, &c->of->base.d->pages, &request);
    pfdd_request_deinit(&request);
    if (!ok) {
        refuse(c, err);
        return;
    }
    uv_timer_stop(&c->grace);
    c->reading = true;
    c->reader.user = c;
    c->reader.name = c->of->label;
    c->reader.wake = on_lines;
    pump(c);
}

static void on_grace(uv_timer_t *timer)
{
    struct client *c = timer->data;
    if (!c->reading && c->n_request == 0)
        begin(c, NULL, 0);
}

static void on_end(struct client *c)
{
    c->ended = true;
    if (c->reading) {
        pump(c);
    } else {
        begin(c, c->request, c->n_request);
    }
}

static void on_input(struct client *c)
{
    char waste[4096];
    char *to = c->reading ? waste : c->request + c->n_request;
    size_t room = c->reading ? sizeof waste : sizeof c->request - c->n_request;
    ssize_t n = recv(c->fd, to, room, MSG_DONTWAIT);
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            close_client(c);
        return;
    }
    if (n == 0) {
        on_end(c);
        return;
    }
    if (c->reading)
        return;
    c->n_request += (size_t)n;
    const char *newline = memchr(c->request, '\n', c->n_request);
    if (newline) {
        begin(c, c->request, (size_t)(newline - c->request));
    } else if (c->n_request == sizeof c->request) {
        refuse(c, "the request is longer than 4096 bytes");
    }
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct client *c = poll->data;
    if (status < 0) {
        close_client(c);
        return;
    }
    if (events & UV_READABLE)
        on_input(c);
    if (!c->closing && c->reading && (events & UV_WRITABLE))
        pump(c);
}

static void on_accept(struct pfdd_listener *l, int fd)
{
    struct listen_output *o = l->user;
    struct pfdd *d = o->base.d;
    struct client *c = NULL;
    unsigned n_max = (unsigned)o->base.config->access.max_clients;
    struct pfdd_peer_key key = pfdd_listener_peer(l, fd);
    struct pfdd_guest *nobody = NULL; /* is silent */
    if (!o->base.closing &&
        pfdd_crowd_make_way(&o->crowd, &key, n_max, &nobody)) {
        c = calloc(1, sizeof *c);
    } else {
        d->count.refused++;
    }
    if (c && uv_poll_init(d->loop, &c->poll, fd) != 0) {
        free(c);
        c = NULL;
    }
    if (!c) {
        close(fd);
        return;
    }
    int room = SEND_ROOM;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    uv_timer_init(d->loop, &c->grace);
    c->fd = fd;
    c->of = o;
    c->n_open = 2;
    c->poll.data = c;
    c->grace.data = c;
    c->next = o->clients;
    o->clients = c;
    pfdd_crowd_join(&o->crowd, &c->guest, &key, uv_now(d->loop));
    c->guest.is_silent = false;
    watch(c, UV_READABLE);
    uv_timer_start(&c->grace, on_grace, GRACE_MS, 0);
}

static void on_listener_closed(void *user)
{
    struct listen_output *o = user;
    o->listener_closed = true;
    finish_close(o);
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct listen_output *o = (struct listen_output *)output;
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
    pfdd_log(PFDD_INFO, "subscribers: %s", output->config->address_text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct listen_output *o = (struct listen_output *)output;
    pfdd_listener_close(&o->listener);
    for (struct client *c = o->clients; c; c = c->next)
        close_client(c);
}

static bool is_drained(const struct pfdd_output *output)
{
    const struct listen_output *o = (const struct listen_output *)output;
    for (const struct client *c = o->clients; c; c = c->next) {
        if (c->reading && !pfdd_reader_is_done(&c->reader))
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct listen_output *o = (const struct listen_output *)output;
    size_t n = sizeof *o + pfdd_listener_memory(&o->listener);
    for (const struct client *c = o->clients; c; c = c->next)
        n += sizeof *c + (c->reading ? pfdd_reader_memory(&c->reader) : 0);
    return n;
}

const struct pfdd_output_class pfdd_output_listen = {
    "listen",    sizeof(struct listen_output),
    open_output, close_output,
    is_drained,  memory,
};
