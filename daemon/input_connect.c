/* SPDX-License-Identifier: MIT */
/* A socket of somebody else that sends capture frames; connected again when it
 * goes away, less and less often. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "daemon.h"
#include "log.h"
#include "socket.h"

enum {
    SOONEST_MS = 50,
    LATEST_MS = 5000,
};

struct connect_input {
    struct pfdd_input base;
    uv_timer_t timer;
    struct pfdd_connection *connection;
    unsigned wait_ms;
    uint64_t connected; /* uv_now() */
    bool complained;
    bool timer_closed;
};

static void finish_close(struct connect_input *in)
{
    if (in->base.closing && in->timer_closed && !in->connection)
        pfdd_input_closed(&in->base);
}

static void on_timer(uv_timer_t *timer);

static void try_later(struct connect_input *in)
{
    uv_timer_start(&in->timer, on_timer, in->wait_ms, 0);
    in->wait_ms = in->wait_ms * 2 < LATEST_MS ? in->wait_ms * 2 : LATEST_MS;
}

static void on_closed(struct pfdd_connection *c)
{
    struct connect_input *in = c->user;
    free(c);
    in->connection = NULL;
    if (in->base.closing) {
        finish_close(in);
        return;
    }
    if (uv_now(in->base.d->loop) - in->connected > LATEST_MS)
        in->wait_ms = SOONEST_MS;
    try_later(in);
}

static void on_timer(uv_timer_t *timer)
{
    struct connect_input *in = timer->data;
    const struct pfdd_input_config *config = in->base.config;
    struct pfdd *d = in->base.d;
    int fd = pfdd_socket_connect(&config->address);
    struct pfdd_connection *c = fd >= 0 ? calloc(1, sizeof *c) : NULL;
    if (c) {
        c->closed = on_closed;
        c->user = in;
    }
    if (c && pfdd_connection_open(c, d, fd, config->address_text,
                                  config->settle_ms)) {
        in->connection = c;
        in->connected = uv_now(d->loop);
        in->complained = false;
        return;
    }
    free(c);
    if (!in->complained) {
        pfdd_log(PFDD_WARNING, "%s: %s; trying again", config->address_text,
                 fd < 0 ? strerror(-fd) : "out of memory");
    }
    in->complained = true;
    try_later(in);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct connect_input *in = (struct connect_input *)input;
    in->wait_ms = SOONEST_MS;
    uv_timer_init(input->d->loop, &in->timer);
    in->timer.data = in;
    uv_timer_start(&in->timer, on_timer, 0, 0);
    return true;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct connect_input *in = handle->data;
    in->timer_closed = true;
    finish_close(in);
}

static void close_input(struct pfdd_input *input)
{
    struct connect_input *in = (struct connect_input *)input;
    uv_close((uv_handle_t *)&in->timer, on_timer_closed);
    if (in->connection)
        pfdd_connection_close(in->connection);
}

const struct pfdd_input_class pfdd_input_connect = {
    "connect",
    sizeof(struct connect_input),
    open_input,
    close_input,
};
