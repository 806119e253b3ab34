/* SPDX-License-Identifier: MIT */
#include "net/accepted_client.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/job_pool.h"

/* ---- closing ---- */

static void finish_close(struct pfdd_accepted_clients *vs)
{
    if (vs->closing && vs->listener_closed && !vs->first)
        vs->class->closed(vs);
}

void pfdd_accepted_client_hold(struct pfdd_accepted_client *v)
{
    v->n_holds++;
}

void pfdd_accepted_client_let_go(struct pfdd_accepted_client *v)
{
    struct pfdd_accepted_clients *vs = v->of;
    struct pfdd_accepted_client **at = &vs->first;
    if (--v->n_holds > 0)
        return;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    if (vs->class->gone)
        vs->class->gone(v);
    free(v);
    finish_close(vs);
}

static void on_handle_closed(uv_handle_t *handle)
{
    pfdd_accepted_client_let_go(handle->data);
}

void pfdd_accepted_client_close(struct pfdd_accepted_client *v)
{
    if (v->closing)
        return;
    v->closing = true;
    pfdd_peer_limit_leave(&v->of->peer_limit, &v->limited_peer);
    if (v->of->class->leave)
        v->of->class->leave(v);
    uv_poll_stop(&v->poll);
    if (v->is_lent) {
        shutdown(v->fd, SHUT_RDWR);
    } else {
        close(v->fd);
    }
    uv_close((uv_handle_t *)&v->poll, on_handle_closed);
    uv_close((uv_handle_t *)&v->timer, on_handle_closed);
}

/* ---- open clients ---- */

void pfdd_accepted_client_lend(struct pfdd_accepted_client *v)
{
    pfdd_accepted_client_hold(v);
    v->is_lent = true;
}

void pfdd_accepted_client_take_back(struct pfdd_accepted_client *v)
{
    v->is_lent = false;
    if (v->closing)
        close(v->fd);
    pfdd_accepted_client_let_go(v);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct pfdd_accepted_client *v = poll->data;
    if (status >= 0) {
        v->of->class->event(v, events);
        return;
    }
    if (v->of->class->broken)
        v->of->class->broken(v);
    pfdd_accepted_client_close(v);
}

void pfdd_accepted_client_watch(struct pfdd_accepted_client *v, int events)
{
    if (v->events == events)
        return;
    v->events = events;
    if (events) {
        uv_poll_start(&v->poll, events, on_event);
    } else {
        uv_poll_stop(&v->poll);
    }
}

/* What has arrived by now came in time, however late the loop looks: it is
 * handled before. */
static bool has_arrived(struct pfdd_accepted_client *v)
{
    struct pollfd fd = { .fd = v->fd, .events = POLLIN };
    bool ret = !v->was_late && (v->events & UV_READABLE) &&
               poll(&fd, 1, 0) > 0 && (fd.revents & POLLIN);
    v->was_late = true;
    return ret;
}

static void on_late(uv_timer_t *timer)
{
    struct pfdd_accepted_client *v = timer->data;
    if (has_arrived(v)) {
        uv_timer_start(&v->timer, on_late, 1, 0);
    } else if (v->of->class->late) {
        v->of->class->late(v);
    } else {
        pfdd_accepted_client_close(v);
    }
}

void pfdd_accepted_client_expect(struct pfdd_accepted_client *v, uint64_t ms)
{
    v->was_late = false;
    if (ms) {
        uv_timer_start(&v->timer, on_late, ms, 0);
    } else {
        uv_timer_stop(&v->timer);
    }
}

void pfdd_accepted_client_fall_silent(struct pfdd_accepted_client *v)
{
    v->limited_peer.is_silent = true;
    v->limited_peer.since = uv_now(v->of->loop);
}

/* ---- admission ---- */

/* Evicts the client that has been silent the longest, if necessary. False:
 * there is no place. */
static bool make_place(struct pfdd_accepted_clients *vs,
                       const struct pfdd_peer_key *key)
{
    struct pfdd_limited_peer *silent = NULL;
    if (vs->closing ||
        !pfdd_peer_limit_evict(&vs->peer_limit, key, vs->n_max, &silent))
        return false;
    if (silent) {
        pfdd_accepted_client_close(
            PFDD_MEMBER_OF(struct pfdd_accepted_client, silent, limited_peer));
    }
    return true;
}

/* NULL: there is no place, or no memory. */
static struct pfdd_accepted_client *let_in(struct pfdd_accepted_clients *vs,
                                           int fd,
                                           const struct pfdd_peer_key *key)
{
    struct pfdd_accepted_client *v = NULL;
    if (vs->class->admit && !vs->class->admit(vs, fd))
        return NULL;
    if (make_place(vs, key))
        v = calloc(1, vs->class->size);
    if (!v || uv_poll_init(vs->loop, &v->poll, fd) != 0) {
        free(v);
        return NULL;
    }
    uv_timer_init(vs->loop, &v->timer);
    v->n_holds = 2;
    v->poll.data = v;
    v->timer.data = v;
    v->fd = fd;
    v->of = vs;
    v->next = vs->first;
    vs->first = v;
    pfdd_peer_limit_join(&vs->peer_limit, &v->limited_peer, key,
                         uv_now(vs->loop));
    return v;
}

static void on_accept(struct pfdd_listener *l, int fd)
{
    struct pfdd_accepted_clients *vs = l->user;
    struct pfdd_peer_key key = pfdd_listener_peer(l, fd);
    struct pfdd_accepted_client *v = let_in(vs, fd, &key);
    if (v) {
        vs->class->come(v);
    } else {
        vs->count->refused++;
        close(fd);
    }
}

/* ---- all clients ---- */

static void on_listener_closed(void *user)
{
    struct pfdd_accepted_clients *vs = user;
    vs->listener_closed = true;
    finish_close(vs);
}

bool pfdd_accepted_clients_open(struct pfdd_accepted_clients *accepted_clients,
                                const struct pfdd_access *access, char *err,
                                size_t n_err)
{
    struct pfdd_listener *l = &accepted_clients->listener;
    l->user = accepted_clients;
    l->accept = on_accept;
    l->closed = on_listener_closed;
    l->refused = &accepted_clients->count->refused;
    l->out_of_fds = &accepted_clients->count->out_of_fds;
    return pfdd_listener_open(l, accepted_clients->loop, &access->address,
                              access, err, n_err);
}

void pfdd_accepted_clients_close(struct pfdd_accepted_clients *accepted_clients)
{
    accepted_clients->closing = true;
    pfdd_listener_close(&accepted_clients->listener);
    for (struct pfdd_accepted_client *v = accepted_clients->first; v;
         v = v->next)
        pfdd_accepted_client_close(v);
}

size_t pfdd_accepted_clients_memory(
    const struct pfdd_accepted_clients *accepted_clients)
{
    return pfdd_listener_memory(&accepted_clients->listener);
}
