/* SPDX-License-Identifier: MIT */
#include "ingest/producer_connection.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "base/peer.h"
#include "base/resource_account.h"
#include "ingest/ingest.h"
#include "net/listener.h"
#include "stream/capture/wire.h"

enum {
    FDS = 16 /* descriptors of one message */
};

static void finish_close(struct pfdd_producer_connection *c)
{
    if (c->n_handles == 0 && !c->stream)
        c->closed(c);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct pfdd_producer_connection *c = handle->data;
    if (--c->n_handles > 0)
        return;
    c->ingest->budget->inputs -= sizeof *c;
    finish_close(c);
}

static void on_stream_ended(void *user)
{
    struct pfdd_producer_connection *c = user;
    c->stream = NULL;
    if (c->closing)
        finish_close(c);
}

void pfdd_producer_connection_close(struct pfdd_producer_connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    if (c->peer_limit)
        pfdd_peer_limit_leave(c->peer_limit, &c->limited_peer);
    uv_poll_stop(&c->poll);
    close(c->fd);
    uv_close((uv_handle_t *)&c->poll, on_handle_closed);
    uv_close((uv_handle_t *)&c->timer, on_handle_closed);
    pfdd_stream_end(c->stream);
}

/* A producer with a buffer may be silent: its buffer is polled. Other idle
 * connections are closed; a producer that connects again sends everything
 * again. */
static void on_timer(uv_timer_t *timer)
{
    struct pfdd_producer_connection *c = timer->data;
    uint64_t now = uv_now(c->ingest->loop);
    if (pfdd_stream_has_buffers(c->stream) || pfdd_stream_is_waiting(c->stream))
        c->heard = now;
    uint64_t end = c->heard + c->idle_ms;
    if (now < end) {
        uv_timer_start(timer, on_timer, end - now, 0);
        return;
    }
    c->ingest->count->idle++;
    pfdd_producer_connection_close(c);
}

/* Feeds the bytes read to the stream. False: the connection waits for the
 * stream, or is closed. */
static bool hand_over(struct pfdd_producer_connection *c, const int *fds,
                      size_t n_fds)
{
    size_t taken = 0;
    bool ok = pfdd_stream_feed(c->stream, c->bytes + c->at, c->n - c->at, fds,
                               n_fds, &taken);
    c->at += taken;
    if (!ok) {
        pfdd_producer_connection_close(c);
        return false;
    }
    return c->at == c->n && !pfdd_stream_is_waiting(c->stream);
}

/* A peer that sends anything else, such as a subscriber at the wrong socket,
 * gets an error text. No data is lost by that. */
static void refuse(struct pfdd_producer_connection *c)
{
    char shown[24] = "";
    for (size_t i = 0; i < c->n && i + 1 < sizeof shown; i++)
        shown[i] = c->bytes[i] >= ' ' && c->bytes[i] <= '~' ? c->bytes[i] : '.';
    pfdd_log_peer(PFDD_WARNING,
                  "refused as a producer who sends no frames: '%s'", shown);
    c->ingest->count->refused++;
    pfdd_socket_refuse(c->fd, "producers connect here, and send frames of "
                              "captures; subscribers connect to an output");
    pfdd_producer_connection_close(c);
}

/* Bytes are not processed until the first ones show that they are a stream of
 * frames. False: they are not. */
static bool recognise(struct pfdd_producer_connection *c)
{
    if (!c->is_known && !pfd_wire_may_begin(c->bytes, c->n))
        return false;
    c->is_known |= c->n >= PFD_WIRE_MAGIC_BYTES;
    c->limited_peer.is_silent = !c->is_known;
    c->n_early = c->is_known ? 0 : c->n;
    c->n -= c->n_early;
    return true;
}

static void close_all(const int *fds, size_t n)
{
    while (n)
        close(fds[--n]);
}

static bool are_spare(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!pfdd_descriptor_limit_is_spare(fds[i]))
            return false;
    }
    return true;
}

/* More than there is a place for are closed. */
static size_t take_fds(struct msghdr *message, int ret[FDS])
{
    size_t n = 0;
    for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m;
         m = CMSG_NXTHDR(message, m)) {
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n_here = (m->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n_here; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(m) + i * sizeof fd, sizeof fd);
            if (n < FDS) {
                ret[n++] = fd;
            } else {
                close(fd);
            }
        }
    }
    return n;
}

/* Ends a connection that is to end, once the stream has all of its bytes. */
static void close_if_taken(struct pfdd_producer_connection *c)
{
    if (c->is_ending && !c->closing && c->n_left == 0 && c->at == c->n &&
        !pfdd_stream_is_waiting(c->stream))
        pfdd_producer_connection_close(c);
}

static void on_readable(uv_poll_t *poll, int status, int events);

static void watch(struct pfdd_producer_connection *c, bool polling)
{
    if (c->polling == polling)
        return;
    c->polling = polling;
    if (polling) {
        uv_poll_start(&c->poll, UV_READABLE, on_readable);
    } else {
        uv_poll_stop(&c->poll);
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct pfdd_producer_connection *c = poll->data;
    union {
        char bytes[CMSG_SPACE(FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec io = { c->bytes + c->n_early, sizeof c->bytes - c->n_early };
    if (c->is_ending && io.iov_len > c->n_left)
        io.iov_len = c->n_left;
    struct msghdr message = { .msg_iov = &io,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    int fds[FDS];
    ssize_t n = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        pfdd_producer_connection_close(c);
        return;
    }
    c->heard = uv_now(c->ingest->loop);
    c->n_left -= c->is_ending ? (size_t)n : 0;
    c->at = 0;
    c->n = c->n_early + (size_t)n;
    size_t n_fds = take_fds(&message, fds);
    if (!are_spare(fds, n_fds)) {
        close_all(fds, n_fds);
        n_fds = 0;
        message.msg_flags |= MSG_CTRUNC;
    }
    if (message.msg_flags & MSG_CTRUNC) {
        c->ingest->count->out_of_fds++;
        pfdd_log_peer(PFDD_WARNING, "descriptors of a producer were lost");
    }
    if (!recognise(c)) {
        close_all(fds, n_fds);
        refuse(c);
        return;
    }
    if (!hand_over(c, fds, n_fds) && !c->closing)
        watch(c, false);
    close_if_taken(c);
}

static void on_resume(void *user)
{
    struct pfdd_producer_connection *c = user;
    if (c->closing)
        return;
    if (hand_over(c, NULL, 0))
        watch(c, true);
    close_if_taken(c);
}

void pfdd_producer_connection_finish(struct pfdd_producer_connection *c)
{
    int n = 0;
    if (c->closing)
        return;
    c->is_ending = true;
    c->n_left = ioctl(c->fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
    close_if_taken(c);
}

/* Pid of the peer of a unix socket, from the kernel; 0: of another socket. With
 * TLS, fd is a unix socket, too, but its peer is this process. */
static long long peer_pid(int fd, const struct pfdd_input_config *config)
{
    struct ucred peer = { .pid = 0 };
    socklen_t n = sizeof peer;
    return config->access.address.is_unix &&
                   getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0
               ? peer.pid
               : 0;
}

/* The peer with whose rights code objects named by URIs are read. NULL: this
 * producer may not name any. */
static struct pfdd_peer *find_uri_peer(int fd,
                                       const struct pfdd_input_config *config)
{
    bool none =
        !config->access.address.is_unix || config->uris == PFDD_URIS_NONE;
    struct pfdd_peer *peer = none ? NULL : pfdd_peer_new(fd);
    if (!peer || config->uris == PFDD_URIS_ALL || peer->uid == geteuid())
        return peer;
    pfdd_peer_unref(peer);
    return NULL;
}

bool pfdd_producer_connection_open(struct pfdd_producer_connection *c,
                                   const struct pfdd_input *input, int fd,
                                   const char *name)
{
    struct pfdd_ingest *ingest = input->ingest;
    const struct pfdd_input_config *config = input->config;
    struct pfdd_stream_options options = {
        .name = name,
        .settle_ms = config->settle_ms,
        .options = config->options,
        .format = pfdd_input_format(config),
        .description = &input->description,
        .pid = peer_pid(fd, config),
        .peer = find_uri_peer(fd, config),
        .account = c->account.of ? &c->account : NULL,
        .resume = on_resume,
        .ended = on_stream_ended,
        .user = c,
    };
    c->ingest = ingest;
    c->fd = fd;
    c->stream = pfdd_stream_new(ingest, &options);
    pfdd_peer_unref(options.peer);
    c->idle_ms = config->idle_ms;
    c->heard = uv_now(ingest->loop);
    if (c->stream && uv_poll_init(ingest->loop, &c->poll, fd) == 0) {
        uv_timer_init(ingest->loop, &c->timer);
        c->poll.data = c->timer.data = c;
        c->n_handles = 2;
        ingest->budget->inputs += sizeof *c;
        if (c->idle_ms)
            uv_timer_start(&c->timer, on_timer, c->idle_ms, 0);
        watch(c, true);
        return true;
    }
    if (c->stream) /* It has no followers: gone at once. */
        pfdd_stream_end(c->stream);
    close(fd);
    return false;
}
