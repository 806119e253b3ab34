/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "spool_buffer.h"
#include "tls.h"

enum {
    NS_PER_S = 1000000000,
    BUSY_MS = 10,     /* between attempts at a busy unix socket */
    HANDSHAKE_S = 10, /* for the TLS handshake */
};

enum outcome connection_fail(struct connection *c, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    vsnprintf(c->why, sizeof c->why, text, ap);
    va_end(ap);
    return OUTCOME_FAILED;
}

static enum outcome fail(struct connection *c, int error)
{
    return connection_fail(c, "%s", strerror(error));
}

/* ---- waiting ---- */

/* Blocks SIGINT and SIGTERM, which stop_fd reports. They stay pending, so
 * stop_fd stays readable, and no signal is lost between a check and the wait
 * behind it. */
static bool hold_signals(struct connection *c)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigprocmask(SIG_BLOCK, &held, NULL);
    c->stop_fd = signalfd(-1, &held, SFD_CLOEXEC);
    return c->stop_fd >= 0;
}

/* The time in in_ns nanoseconds; UINT64_MAX: never. */
static uint64_t time_in(uint64_t in_ns)
{
    uint64_t now = pfd_clock_ns(CLOCK_MONOTONIC);
    return in_ns < UINT64_MAX - now ? now + in_ns : UINT64_MAX;
}

/* fd -1: waits for the time alone. */
static enum outcome wait_for(const struct connection *c, int fd, short events,
                             uint64_t until)
{
    struct pollfd polled[] = {
        { .fd = fd, .events = events },
        { .fd = c->stop_fd, .events = POLLIN },
    };
    uint64_t now = time_in(0);
    uint64_t left = until > now ? until - now : 0;
    struct timespec time = {
        .tv_sec = (time_t)(left / NS_PER_S),
        .tv_nsec = (long)(left % NS_PER_S),
    };
    int n = ppoll(polled, 2, until == UINT64_MAX ? NULL : &time, NULL);
    if (n > 0 && polled[1].revents)
        return OUTCOME_STOPPED;
    return n == 0 ? OUTCOME_LATE : OUTCOME_DONE;
}

/* Waits if *outcome asks for it. True: the caller has to try again. */
static bool has_waited(const struct connection *c, enum outcome *outcome,
                       uint64_t until)
{
    bool wants_read = *outcome == OUTCOME_WANTS_READ;
    if (!wants_read && *outcome != OUTCOME_WANTS_WRITE)
        return false;
    int fd = c->spool && wants_read ? spool_buffer_fd(c->spool) : c->fd;
    *outcome = wait_for(c, fd, wants_read ? POLLIN : POLLOUT, until);
    return *outcome == OUTCOME_DONE;
}

/* ---- the beginning ---- */

static enum outcome finish_connect(struct connection *c)
{
    int error = 0;
    socklen_t n = sizeof error;
    enum outcome outcome = wait_for(c, c->fd, POLLOUT, UINT64_MAX);
    if (outcome != OUTCOME_DONE)
        return outcome;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &n);
    return error ? fail(c, error) : OUTCOME_DONE;
}

static enum outcome connect_to(struct connection *c, const struct sockaddr *at,
                               socklen_t n)
{
    c->fd =
        socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->fd < 0)
        return fail(c, errno);
    while (connect(c->fd, at, n) != 0) {
        if (errno == EINPROGRESS)
            return finish_connect(c);
        /* EAGAIN of a unix socket: its backlog is full. */
        if (errno != EAGAIN)
            return fail(c, errno);
        if (wait_for(c, -1, 0, time_in((uint64_t)BUSY_MS * 1000000)) ==
            OUTCOME_STOPPED)
            return OUTCOME_STOPPED;
    }
    return OUTCOME_DONE;
}

static enum outcome connect_unix(struct connection *c, const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof at.sun_path)
        return fail(c, ENAMETOOLONG);
    memcpy(at.sun_path, path, strlen(path) + 1);
    if (!hold_signals(c))
        return fail(c, errno);
    return connect_to(c, (struct sockaddr *)&at, sizeof at);
}

/* The name is looked up before signals are blocked, so a signal ends the
 * process during the look-up. */
static enum outcome connect_tcp(struct connection *c, const struct peer *peer)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(peer->name, peer->port, &hints, &found);
    if (rc != 0)
        return connection_fail(c, "%s", gai_strerror(rc));
    enum outcome outcome = hold_signals(c) ? OUTCOME_FAILED : fail(c, errno);
    for (struct addrinfo *a = c->stop_fd < 0 ? NULL : found;
         a && outcome == OUTCOME_FAILED; a = a->ai_next) {
        if (c->fd >= 0)
            close(c->fd);
        outcome = connect_to(c, a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(found);
    return outcome;
}

static enum outcome tls_outcome(struct connection *c, enum outcome outcome)
{
    return outcome == OUTCOME_FAILED
               ? connection_fail(c, "%s", c->of->why(c->tls))
               : outcome;
}

static enum outcome shake_hands(struct connection *c, const char *name)
{
    uint64_t until = time_in((uint64_t)HANDSHAKE_S * NS_PER_S);
    enum outcome outcome = c->of->begin(c->tls, c->fd, name);
    if (outcome == OUTCOME_DONE) {
        do {
            outcome = c->of->shake_hands(c->tls);
        } while (has_waited(c, &outcome, until));
    }
    if (outcome == OUTCOME_LATE)
        return connection_fail(c, "no answer of TLS within %d s", HANDSHAKE_S);
    return tls_outcome(c, outcome);
}

enum outcome connection_open(struct connection *ret, const struct peer *peer)
{
    *ret = (struct connection){
        .fd = -1,
        .stop_fd = -1,
        .idle_ns = UINT64_MAX,
    };
    if (peer->path)
        return connect_unix(ret, peer->path);
    if (peer->tls) {
        ret->of = tls_load(ret->why, sizeof ret->why);
        if (ret->of)
            ret->tls = ret->of->make(peer->tls, ret->why, sizeof ret->why);
        if (!ret->tls)
            return OUTCOME_FAILED;
    }
    enum outcome outcome = connect_tcp(ret, peer);
    return outcome == OUTCOME_DONE && ret->tls ? shake_hands(ret, peer->name)
                                               : outcome;
}

enum outcome connection_spool(struct connection *c, const char *folder,
                              uint64_t max)
{
    int error = 0;
    if (c->tls)
        return connection_fail(c, "--spool-max is for connections without TLS");
    c->spool = spool_buffer_new(c->fd, folder, max, &error);
    return c->spool ? OUTCOME_DONE
                    : connection_fail(c, "%s: %s", folder, strerror(error));
}

void connection_close(struct connection *c)
{
    spool_buffer_free(c->spool);
    c->spool = NULL;
    if (c->tls)
        c->of->free(c->tls);
    if (c->fd >= 0)
        close(c->fd);
    if (c->stop_fd >= 0)
        close(c->stop_fd);
}

/* ---- bytes ---- */

static enum outcome send_some(struct connection *c, const char *bytes, size_t n,
                              size_t *n_ret)
{
    if (c->tls)
        return tls_outcome(c, c->of->send(c->tls, bytes, n, n_ret));
    ssize_t done = send(c->fd, bytes, n, MSG_NOSIGNAL);
    if (done >= 0) {
        *n_ret = (size_t)done;
        return OUTCOME_DONE;
    }
    if (errno == EAGAIN)
        return OUTCOME_WANTS_WRITE;
    if (errno == EPIPE || errno == ECONNRESET)
        return OUTCOME_END;
    return fail(c, errno);
}

static enum outcome receive_some(struct connection *c, char *bytes, size_t n,
                                 size_t *n_ret)
{
    int error = 0;
    if (c->spool) {
        enum outcome outcome =
            spool_buffer_take(c->spool, bytes, n, n_ret, &error);
        return outcome == OUTCOME_FAILED ? fail(c, error) : outcome;
    }
    if (c->tls)
        return tls_outcome(c, c->of->receive(c->tls, bytes, n, n_ret));
    ssize_t done = recv(c->fd, bytes, n, 0);
    if (done > 0) {
        *n_ret = (size_t)done;
        return OUTCOME_DONE;
    }
    if (done == 0)
        return OUTCOME_END;
    return errno == EAGAIN ? OUTCOME_WANTS_READ : fail(c, errno);
}

enum outcome connection_send(struct connection *c, const char *bytes, size_t n)
{
    enum outcome outcome = OUTCOME_DONE;
    while (n && outcome == OUTCOME_DONE) {
        size_t done = 0;
        do {
            outcome = send_some(c, bytes, n, &done);
        } while (has_waited(c, &outcome, UINT64_MAX));
        bytes += done;
        n -= done;
    }
    return outcome;
}

enum outcome connection_receive(struct connection *c, char *bytes, size_t n,
                                size_t *n_ret)
{
    uint64_t until = time_in(c->idle_ns);
    /* If data are always available, signals have to be polled for. */
    enum outcome outcome = wait_for(c, -1, 0, 0);
    if (outcome == OUTCOME_STOPPED)
        return outcome;
    do {
        outcome = receive_some(c, bytes, n, n_ret);
    } while (has_waited(c, &outcome, until));
    return outcome;
}
