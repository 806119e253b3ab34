/* SPDX-License-Identifier: MIT */
/* Producers that connect to us, and send capture frames or hand over memory. */
#include <stdlib.h>
#include <unistd.h>

#include "core/log.h"
#include "net/connection.h"
#include "net/socket.h"
#include "sources/daemon.h"
#include "sources/stream.h"

struct listen_input {
    struct pfdd_input base;
    struct pfdd_listener listener;
    struct pfdd_connection *connections;
    unsigned n_connections; /* with those that are being closed */
    struct pfdd_crowd crowd;
    uint64_t n_accepted;
    bool listener_closed;
};

static void finish_close(struct listen_input *in)
{
    if (in->base.closing && in->listener_closed && !in->connections)
        pfdd_input_closed(&in->base);
}

static void on_closed(struct pfdd_connection *c)
{
    struct listen_input *in = c->user;
    struct pfdd_connection **at = &in->connections;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    in->n_connections--;
    free(c);
    finish_close(in);
}

/* Whoever has not said what a producer says makes way for others. */
static bool make_place(struct listen_input *in, const struct pfdd_peer_key *key)
{
    struct pfdd_guest *silent = NULL;
    unsigned n_max = (unsigned)in->base.config->access.max_clients;
    size_t n = sizeof(struct pfdd_connection) + PFDD_STREAM_SMALL;
    if (in->n_connections >= 2 * n_max || !pfdd_has_room(in->base.d, n) ||
        !pfdd_crowd_make_way(&in->crowd, key, n_max, &silent))
        return false;
    for (struct pfdd_connection *c = in->connections; silent && c;
         c = c->next) {
        if (&c->guest != silent)
            continue;
        in->base.d->count.refused++;
        pfdd_connection_close(c);
        break;
    }
    return true;
}

static void on_accept(struct pfdd_listener *l, int fd)
{
    struct listen_input *in = l->user;
    char name[64];
    struct pfdd_peer_key key = pfdd_listener_peer(l, fd);
    struct pfdd_connection *c =
        make_place(in, &key) ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        in->base.d->count.refused++;
        close(fd);
        return;
    }
    c->closed = on_closed;
    c->user = in;
    snprintf(name, sizeof name, "producer %llu",
             (unsigned long long)++in->n_accepted);
    if (!pfdd_connection_open(c, in->base.d, fd, name, in->base.config)) {
        free(c);
        return;
    }
    c->next = in->connections;
    in->connections = c;
    in->n_connections++;
    c->crowd = &in->crowd;
    pfdd_crowd_join(&in->crowd, &c->guest, &key, uv_now(in->base.d->loop));
}

static void on_listener_closed(void *user)
{
    struct listen_input *in = user;
    in->listener_closed = true;
    finish_close(in);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct listen_input *in = (struct listen_input *)input;
    in->listener.user = in;
    in->listener.accept = on_accept;
    in->listener.closed = on_listener_closed;
    in->listener.refused = &input->d->count.refused;
    in->listener.out_of_fds = &input->d->count.out_of_fds;
    if (!pfdd_listener_open(&in->listener, input->d->loop,
                            &input->config->address, &input->config->access,
                            err, n_err))
        return false;
    pfdd_log(PFDD_INFO, "producers: %s", input->config->address_text);
    return true;
}

static void close_input(struct pfdd_input *input)
{
    struct listen_input *in = (struct listen_input *)input;
    pfdd_listener_close(&in->listener);
    for (struct pfdd_connection *c = in->connections; c; c = c->next)
        pfdd_connection_close(c);
}

const struct pfdd_input_class pfdd_input_listen = {
    "listen",
    sizeof(struct listen_input),
    open_input,
    close_input,
};
