/* SPDX-License-Identifier: MIT */
/* A socket of somebody else that sends capture frames; connected again when it
 * goes away, less and less often. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/name.h"
#include "net/connection.h"
#include "net/socket.h"
#include "sources/daemon.h"

enum {
    SOONEST_MS = 50,
    LATEST_MS = 5000,
};

struct connect_input {
    struct pfdd_input base;
    uv_timer_t timer;
    struct pfdd_connection *connection;
    struct pfdd_tls *tls; /* NULL: bytes go as they are */
    unsigned wait_ms;
    uint64_t connected; /* uv_now() */
    bool complained;
    bool timer_closed;
};

static void finish_close(struct connect_input *in)
{
    if (in->base.closing && in->timer_closed && !in->connection && !in->tls)
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

static void complain(struct connect_input *in, const char *why)
{
    if (!in->complained) {
        pfdd_log(PFDD_WARNING, "%s: %s; trying again",
                 in->base.config->address_text, why);
    }
    in->complained = true;
    try_later(in);
}

static void take(struct connect_input *in, int fd)
{
    const struct pfdd_input_config *config = in->base.config;
    struct pfdd *d = in->base.d;
    struct pfdd_connection *c = calloc(1, sizeof *c);
    char name[PFDD_NAME_ROOM];
    pfdd_name_put(name, config->address_text, strlen(config->address_text));
    if (c) {
        c->closed = on_closed;
        c->user = in;
    }
    if (c && pfdd_connection_open(c, d, fd, name, config)) {
        in->connection = c;
        in->connected = uv_now(d->loop);
        in->complained = false;
        return;
    }
    if (!c)
        close(fd);
    free(c);
    complain(in, "out of memory");
}

static void on_timer(uv_timer_t *timer)
{
    struct connect_input *in = timer->data;
    int fd = pfdd_socket_connect(&in->base.config->address);
    if (fd < 0) {
        complain(in, strerror(-fd));
    } else if (in->tls) {
        pfdd_tls_begin(in->tls, fd);
    } else {
        take(in, fd);
    }
}

static void on_known(void *user, int fd)
{
    take(user, fd);
}

static void on_unknown(void *user)
{
    struct connect_input *in = user;
    if (!in->base.closing)
        try_later(in);
}

static void on_tls_closed(void *user)
{
    struct connect_input *in = user;
    in->tls = NULL;
    finish_close(in);
}

static bool open_tls(struct connect_input *in, char *err, size_t n_err)
{
    const struct pfdd_input_config *config = in->base.config;
    struct pfdd_tls_options options = {
        .loop = in->base.d->loop,
        .config = &config->access.tls,
        .label = config->address_text,
        .peer = config->address.host,
        .ready = on_known,
        .failed = on_unknown,
        .closed = on_tls_closed,
        .user = in,
    };
    if (!config->access.tls.certificate)
        return true;
    in->tls = pfdd_tls_new(&options, err, n_err);
    return in->tls != NULL;
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct connect_input *in = (struct connect_input *)input;
    if (!open_tls(in, err, n_err))
        return false;
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
    if (in->tls)
        pfdd_tls_close(in->tls);
}

const struct pfdd_input_class pfdd_input_connect = {
    "connect",
    sizeof(struct connect_input),
    open_input,
    close_input,
};
