/* SPDX-License-Identifier: MIT */
#include "net/outbound.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "net/listener.h"

enum {
    SOONEST_MS = 50,
    LATEST_MS = 5000,
    CONNECT_MS = 10000,
};

/* A host name that is being looked up. `of` is NULL once the connection was
 * closed. */
struct pfdd_outbound_lookup {
    uv_getaddrinfo_t request;
    struct pfdd_outbound *of;
};

/* A socket that is connecting. */
struct pfdd_outbound_attempt {
    uv_poll_t poll;
    int fd;
    struct pfdd_outbound *of;
};

static void on_timer(uv_timer_t *timer);

static void finish_close(struct pfdd_outbound *u)
{
    if (u->closing && u->n_open == 0)
        u->closed(u->user);
}

/* ---- failures ---- */

/* Between half of ms and ms. */
static uint64_t uneven(unsigned ms)
{
    uint64_t mixed = uv_hrtime() * UINT64_C(0x9e3779b97f4a7c15);
    return ms / 2 + (mixed >> 32) % (ms / 2 + 1);
}

static void wait(struct pfdd_outbound *u)
{
    uv_timer_start(&u->timer, on_timer, uneven(u->wait_ms), 0);
    u->wait_ms = u->wait_ms * 2 < LATEST_MS ? u->wait_ms * 2 : LATEST_MS;
    u->n_peers = u->next_peer = 0;
}

static void tell(struct pfdd_outbound *u, const char *why)
{
    if (why)
        pfdd_outage_note(&u->outage, PFDD_WARNING, u->access->address.text,
                         why);
}

static void try_next(struct pfdd_outbound *u);

static void fail(struct pfdd_outbound *u, const char *why)
{
    if (u->closing)
        return;
    if (u->next_peer < u->n_peers) {
        try_next(u);
        return;
    }
    u->is_down = true;
    tell(u, why);
    wait(u);
}

static void come_up(struct pfdd_outbound *u, int fd)
{
    uv_timer_stop(&u->timer);
    pfdd_outage_end(&u->outage, u->access->address.text, "connected");
    u->is_down = false;
    u->came_up = uv_now(u->loop);
    u->up(u->user, fd);
}

void pfdd_outbound_lost(struct pfdd_outbound *u, const char *why)
{
    if (u->closing)
        return;
    if (uv_now(u->loop) - u->came_up > LATEST_MS)
        u->wait_ms = SOONEST_MS;
    u->is_down = true;
    tell(u, why);
    wait(u);
}

/* ---- a socket that is connecting ---- */

static void on_attempt_closed(uv_handle_t *handle)
{
    struct pfdd_outbound_attempt *a = handle->data;
    struct pfdd_outbound *u = a->of;
    free(a);
    u->n_open--;
    finish_close(u);
}

/* Ends the attempt. Returns its socket, which is still open. */
static int end_attempt(struct pfdd_outbound *u)
{
    struct pfdd_outbound_attempt *a = u->attempt;
    u->attempt = NULL;
    uv_poll_stop(&a->poll);
    uv_close((uv_handle_t *)&a->poll, on_attempt_closed);
    return a->fd;
}

int pfdd_outbound_error(int fd, int status)
{
    int error = 0;
    socklen_t n = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
        return errno;
    return error ? error : -status;
}

static void on_connected(uv_poll_t *poll, int status, int events)
{
    struct pfdd_outbound_attempt *a = poll->data;
    struct pfdd_outbound *u = a->of;
    int fd = end_attempt(u);
    int error = pfdd_outbound_error(fd, status);
    uv_timer_stop(&u->timer);
    if (error) {
        close(fd);
        fail(u, strerror(error));
    } else {
        come_up(u, fd);
    }
}

static void await(struct pfdd_outbound *u, int fd)
{
    struct pfdd_outbound_attempt *a = calloc(1, sizeof *a);
    if (!a || uv_poll_init(u->loop, &a->poll, fd) != 0) {
        free(a);
        close(fd);
        fail(u, "out of memory");
        return;
    }
    a->fd = fd;
    a->of = u;
    a->poll.data = a;
    u->attempt = a;
    u->n_open++;
    uv_poll_start(&a->poll, UV_WRITABLE, on_connected);
    uv_timer_start(&u->timer, on_timer, CONNECT_MS, 0);
}

static void try_next(struct pfdd_outbound *u)
{
    const struct pfdd_outbound_peer *peer = &u->peers[u->next_peer++];
    int fd = pfdd_socket_dial((const struct sockaddr *)&peer->to, peer->n,
                              u->is_datagram ? SOCK_DGRAM : SOCK_STREAM);
    if (fd < 0) {
        fail(u, strerror(-fd));
    } else if (u->tls) {
        pfdd_tls_begin(u->tls, fd);
    } else {
        await(u, fd);
    }
}

/* ---- names ---- */

static void on_found(uv_getaddrinfo_t *request, int status,
                     struct addrinfo *found)
{
    struct pfdd_outbound_lookup *lookup = request->data;
    struct pfdd_outbound *u = lookup->of;
    free(lookup);
    if (!u) {
        uv_freeaddrinfo(found);
        return;
    }
    u->lookup = NULL;
    for (struct addrinfo *a = found; a && u->n_peers < PFDD_OUTBOUND_PEERS;
         a = a->ai_next) {
        struct pfdd_outbound_peer *peer = &u->peers[u->n_peers];
        if (a->ai_addrlen > sizeof peer->to)
            continue;
        memcpy(&peer->to, a->ai_addr, a->ai_addrlen);
        peer->n = a->ai_addrlen;
        u->n_peers++;
    }
    uv_freeaddrinfo(found);
    if (status == 0 && u->n_peers) {
        try_next(u);
    } else {
        fail(u, status ? uv_strerror(status) : "the name has no address");
    }
}

static void look_up(struct pfdd_outbound *u)
{
    const struct pfdd_address *address = &u->access->address;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    char port[16];
    struct pfdd_outbound_lookup *lookup = calloc(1, sizeof *lookup);
    snprintf(port, sizeof port, "%u", address->port);
    if (!lookup) {
        fail(u, "out of memory");
        return;
    }
    lookup->of = u;
    lookup->request.data = lookup;
    int rc = uv_getaddrinfo(u->loop, &lookup->request, on_found, address->host,
                            port, &hints);
    if (rc != 0) {
        free(lookup);
        fail(u, uv_strerror(rc));
    } else {
        u->lookup = lookup;
    }
}

static void begin(struct pfdd_outbound *u)
{
    u->n_peers = u->next_peer = 0;
    if (u->access->address.is_name) {
        look_up(u);
        return;
    }
    u->peers[0].n = pfdd_socket_address(&u->access->address, &u->peers[0].to);
    u->n_peers = 1;
    try_next(u);
}

static void on_timer(uv_timer_t *timer)
{
    struct pfdd_outbound *u = timer->data;
    if (u->attempt) {
        close(end_attempt(u));
        fail(u, strerror(ETIMEDOUT));
    } else {
        begin(u);
    }
}

/* ---- TLS ---- */

static void on_known(void *user, int fd)
{
    struct pfdd_outbound *u = user;
    if (u->closing) {
        close(fd);
    } else {
        come_up(u, fd);
    }
}

/* TLS has logged the reason. */
static void on_unknown(void *user)
{
    fail(user, NULL);
}

static void on_tls_closed(void *user)
{
    struct pfdd_outbound *u = user;
    u->tls = NULL;
    u->n_open--;
    finish_close(u);
}

static bool open_tls(struct pfdd_outbound *u, char *err, size_t n_err)
{
    const struct pfdd_tls_options options = {
        .loop = u->loop,
        .config = &u->access->tls,
        .label = u->access->address.text,
        .peer = u->access->address.host,
        .is_name = u->access->address.is_name,
        .ready = on_known,
        .failed = on_unknown,
        .closed = on_tls_closed,
        .user = u,
    };
    if (!u->access->tls.certificate)
        return true;
    u->tls = pfdd_tls_new(&options, err, n_err);
    u->n_open += u->tls != NULL;
    return u->tls;
}

/* ---- the link ---- */

bool pfdd_outbound_keep(struct pfdd_outbound *u, int fd)
{
    struct pfdd_link *link = calloc(1, sizeof *link);
    if (!link || uv_poll_init(u->loop, &link->poll, fd) != 0) {
        free(link);
        close(fd);
        return false;
    }
    link->poll.data = link;
    link->fd = fd;
    link->of = u;
    u->link = link;
    u->n_open++;
    return true;
}

static void on_link_event(uv_poll_t *poll, int status, int events)
{
    const struct pfdd_link *link = poll->data;
    link->of->event(link->of->user, status, events);
}

void pfdd_outbound_watch(struct pfdd_outbound *u, int events)
{
    struct pfdd_link *link = u->link;
    if (link->events == events)
        return;
    link->events = events;
    if (events) {
        uv_poll_start(&link->poll, events, on_link_event);
    } else {
        uv_poll_stop(&link->poll);
    }
}

static void on_link_closed(uv_handle_t *handle)
{
    struct pfdd_link *link = handle->data;
    struct pfdd_outbound *u = link->of;
    free(link);
    u->n_open--;
    finish_close(u);
}

void pfdd_outbound_drop(struct pfdd_outbound *u)
{
    struct pfdd_link *link = u->link;
    u->link = NULL;
    uv_poll_stop(&link->poll);
    close(link->fd);
    uv_close((uv_handle_t *)&link->poll, on_link_closed);
}

/* ---- init and close ---- */

bool pfdd_outbound_open(struct pfdd_outbound *u, char *err, size_t n_err)
{
    if (!open_tls(u, err, n_err))
        return false;
    u->wait_ms = SOONEST_MS;
    u->n_open++;
    uv_timer_init(u->loop, &u->timer);
    u->timer.data = u;
    uv_timer_start(&u->timer, on_timer, 0, 0);
    return true;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct pfdd_outbound *u = handle->data;
    u->n_open--;
    finish_close(u);
}

void pfdd_outbound_close(struct pfdd_outbound *u)
{
    u->closing = true;
    uv_close((uv_handle_t *)&u->timer, on_timer_closed);
    if (u->attempt)
        close(end_attempt(u));
    if (u->lookup) {
        u->lookup->of = NULL;
        uv_cancel((uv_req_t *)&u->lookup->request);
        u->lookup = NULL;
    }
    if (u->tls)
        pfdd_tls_close(u->tls);
}

size_t pfdd_outbound_memory(const struct pfdd_outbound *u)
{
    return pfdd_tls_memory(u->tls) + (u->attempt ? sizeof *u->attempt : 0) +
           (u->link ? sizeof *u->link : 0);
}
