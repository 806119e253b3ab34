/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon.h"
#include "log.h"

enum {
    FDS = 16 /* of one message */
};

static void finish_close(struct pfdd_connection *c)
{
    if (c->poll_closed && !c->stream)
        c->closed(c);
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct pfdd_connection *c = handle->data;
    c->poll_closed = true;
    c->d->input_bytes -= sizeof *c;
    finish_close(c);
}

static void on_stream_ended(void *user)
{
    struct pfdd_connection *c = user;
    c->stream = NULL;
    if (c->closing)
        finish_close(c);
}

void pfdd_connection_close(struct pfdd_connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    uv_poll_stop(&c->poll);
    close(c->fd);
    uv_close((uv_handle_t *)&c->poll, on_poll_closed);
    pfdd_stream_end(c->stream);
}

/* Hands over what was read; false: it waits for the stream, or is closed. */
static bool hand_over(struct pfdd_connection *c, const int *fds, size_t n_fds)
{
    size_t taken = 0;
    bool ok = pfdd_stream_feed(c->stream, c->bytes + c->at, c->n - c->at, fds,
                               n_fds, &taken);
    c->at += taken;
    if (!ok) {
        pfdd_connection_close(c);
        return false;
    }
    return c->at == c->n && !pfdd_stream_is_waiting(c->stream);
}

static size_t take_fds(struct msghdr *message, int *ret)
{
    size_t n = 0;
    for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m;
         m = CMSG_NXTHDR(message, m)) {
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n_here = (m->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret + n, CMSG_DATA(m), n_here * sizeof(int));
        n += n_here;
    }
    return n;
}

static void on_readable(uv_poll_t *poll, int status, int events);

static void watch(struct pfdd_connection *c, bool polling)
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
    struct pfdd_connection *c = poll->data;
    union {
        char bytes[CMSG_SPACE(FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec io = { c->bytes, sizeof c->bytes };
    struct msghdr message = { .msg_iov = &io,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    int fds[FDS];
    ssize_t n = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        pfdd_connection_close(c);
        return;
    }
    if (message.msg_flags & MSG_CTRUNC) {
        c->d->count.out_of_fds++;
        pfdd_log(PFDD_WARNING, "descriptors of a producer were lost");
    }
    c->at = 0;
    c->n = (size_t)n;
    size_t n_fds = take_fds(&message, fds);
    if (!hand_over(c, fds, n_fds) && !c->closing)
        watch(c, false);
}

static void on_resume(void *user)
{
    struct pfdd_connection *c = user;
    if (c->closing)
        return;
    if (hand_over(c, NULL, 0))
        watch(c, true);
}

/* Of a unix socket: as the kernel knows it. */
static long long peer_pid(int fd)
{
    struct ucred peer = { .pid = 0 };
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 ? peer.pid
                                                                   : 0;
}

bool pfdd_connection_open(struct pfdd_connection *c, struct pfdd *d, int fd,
                          const char *name, uint64_t settle_ms)
{
    struct pfdd_stream_options options = {
        .name = name,
        .settle_ms = settle_ms,
        .pid = peer_pid(fd),
        .resume = on_resume,
        .ended = on_stream_ended,
        .user = c,
    };
    c->d = d;
    c->fd = fd;
    c->stream = pfdd_stream_new(d, &options);
    if (c->stream && uv_poll_init(d->loop, &c->poll, fd) == 0) {
        c->poll.data = c;
        d->input_bytes += sizeof *c;
        watch(c, true);
        return true;
    }
    if (c->stream) /* It has no sessions: gone at once. */
        pfdd_stream_end(c->stream);
    close(fd);
    return false;
}
