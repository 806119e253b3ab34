/* SPDX-License-Identifier: MIT */
#include "outputs/log_sender.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"

enum {
    BATCH = 64,          /* log records for one system call */
    PARTS = 3,           /* of a record: head, bytes, tail */
    TURN = 1 << 20,      /* bytes sent before other tasks run */
    SEND_ROOM = 4 << 20, /* bytes of the send buffer; the kernel may grant
                            less */
    WINDOW = 1 << 20,    /* bytes in flight, of a required output */
    LOOK_MS = 2,         /* polls for delivery and for batches */
};

/* Log records that are sent together. */
struct batch {
    size_t n;
    struct pfdd_wrap wraps[BATCH];
    struct iovec parts[BATCH * PARTS];
    struct pfdd_log_record_made notes[BATCH];
    size_t ends[BATCH]; /* offset of each record's end in the input */
};

enum outcome {
    EMPTY,   /* nothing left to send */
    TURNED,  /* there is more, but other tasks run first */
    BLOCKED, /* the peer does not accept more now */
    WAITING, /* enough is in flight */
    LOST,    /* the connection failed: see errno */
};

static const struct pfdd_access *access_of(const struct pfdd_log_sender *s)
{
    const struct pfdd_access *ours = &s->base.config->access;
    return ours->address.text[0] ? ours : &s->protocol->access;
}

/* ---- batches ---- */

static size_t part_bytes(const struct iovec *parts)
{
    return parts[0].iov_len + parts[1].iov_len + parts[2].iov_len;
}

/* The bytes are only read. */
static struct iovec part(const char *at, size_t n)
{
    return (struct iovec){ (void *)(uintptr_t)at, n };
}

static void gather(const struct pfdd_log_sender *s, struct batch *b,
                   const char *bytes, size_t n)
{
    size_t at = 0;
    assert(n > 0);
    for (b->n = 0; at < n && b->n < BATCH; b->n++) {
        struct pfdd_log_record_made *note = &b->notes[b->n];
        struct pfdd_wrap *w = &b->wraps[b->n];
        struct iovec *parts = &b->parts[b->n * PARTS];
        pfdd_log_record_at(bytes + at, n - at, note);
        *w = (struct pfdd_wrap){ .n_head = 0 };
        s->protocol->wrap(s->base.config, note->bytes, note->n, w);
        parts[0] = part(w->head, w->n_head);
        parts[1] = part(note->bytes + w->n_skip, note->n - w->n_skip);
        parts[2] = part(w->tail, w->n_tail);
        at += note->n_whole;
        b->ends[b->n] = at;
    }
}

/* ---- records in flight ---- */

static void on_timer(uv_timer_t *timer);

/* A record was sent whole. */
static void count_out(struct pfdd_log_sender *s, uint64_t sequence,
                      uint64_t time, size_t n_bytes)
{
    s->count.sent++;
    if (!s->log_feed.is_required)
        return;
    if (s->out.n++ == 0) {
        s->out.time = time;
        uv_timer_start(&s->timer, on_timer, LOOK_MS, LOOK_MS);
    }
    s->out.n_bytes += n_bytes;
    s->out.sequence = sequence;
}

/* The first n records were sent. */
static void take(struct pfdd_log_sender *s, const struct batch *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        count_out(s, b->notes[i].sequence, b->notes[i].time,
                  part_bytes(&b->parts[i * PARTS]));
    }
    if (n)
        pfdd_log_feed_consume(&s->log_feed, b->ends[n - 1]);
}

/* ---- datagrams ---- */

static bool write_all(int fd, const struct iovec *parts)
{
    for (size_t i = 0; i < PARTS; i++) {
        const char *at = parts[i].iov_base;
        size_t left = parts[i].iov_len;
        while (left) {
            ssize_t n = write(fd, at, left);
            if (n < 0)
                return false;
            at += n;
            left -= (size_t)n;
        }
    }
    return true;
}

static bool send_memory(int socket, int memory)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { .bytes = { 0 } };
    struct msghdr message = { .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    struct cmsghdr *m = CMSG_FIRSTHDR(&message);
    m->cmsg_level = SOL_SOCKET;
    m->cmsg_type = SCM_RIGHTS;
    m->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(m), &memory, sizeof memory);
    return sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

/* Sends a record that is larger than a datagram, as sealed memory. */
static bool send_large(const struct pfdd_log_sender *s,
                       const struct iovec *parts)
{
    int fd = memfd_create("note", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool ok =
        fd >= 0 && write_all(fd, parts) &&
        fcntl(fd, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0 &&
        send_memory(s->outbound.link->fd, fd);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return ok;
}

static bool is_full(int error)
{
    return error == EAGAIN || error == ENOBUFS || error == ENOMEM;
}

/* Handles the first record of a batch, which is larger than a datagram. */
static bool handle_oversized(struct pfdd_log_sender *s, struct batch *b)
{
    if (s->protocol->takes_memory) {
        if (!send_large(s, b->parts))
            return false;
        take(s, b, 1);
        return true;
    }
    if (s->count.dropped++ == 0) {
        pfdd_log(PFDD_WARNING,
                 "%s: a message of %zu bytes is no datagram: dropped, and "
                 "others like it",
                 access_of(s)->address.text, part_bytes(b->parts));
    }
    pfdd_log_feed_consume(&s->log_feed, b->ends[0]);
    if (!s->out.n)
        pfdd_log_feed_ack(&s->log_feed, b->notes[0].sequence);
    return true;
}

static enum outcome send_datagrams(struct pfdd_log_sender *s, struct batch *b,
                                   size_t *n_bytes)
{
    struct mmsghdr messages[BATCH] = { 0 };
    for (size_t i = 0; i < b->n; i++) {
        messages[i].msg_hdr.msg_iov = &b->parts[i * PARTS];
        messages[i].msg_hdr.msg_iovlen = PARTS;
    }
    int n =
        sendmmsg(s->outbound.link->fd, messages, (unsigned)b->n, MSG_NOSIGNAL);
    if (n > 0) {
        *n_bytes = b->ends[n - 1];
        take(s, b, (size_t)n);
        return EMPTY;
    }
    if (errno == EMSGSIZE && handle_oversized(s, b))
        return EMPTY;
    return is_full(errno) || errno == EINTR ? BLOCKED : LOST;
}

/* ---- streams ---- */

/* Keeps the whole record of which only a part was sent. */
static bool keep(struct pfdd_log_sender *s, const struct batch *b, size_t i,
                 size_t sent)
{
    const struct iovec *parts = &b->parts[i * PARTS];
    s->rest_sequence = b->notes[i].sequence;
    s->rest_time = b->notes[i].time;
    s->rest.n = 0;
    for (size_t k = 0; k < PARTS; k++)
        pfd_text_add(&s->rest, parts[k].iov_base, parts[k].iov_len);
    s->rest_at = sent;
    return !s->rest.failed;
}

static enum outcome send_stream(struct pfdd_log_sender *s, struct batch *b,
                                size_t *n_bytes)
{
    struct msghdr message = { .msg_iov = b->parts, .msg_iovlen = b->n * PARTS };
    ssize_t n = sendmsg(s->outbound.link->fd, &message, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? BLOCKED : LOST;
    size_t left = (size_t)n;
    size_t i = 0;
    *n_bytes = left;
    while (i < b->n && part_bytes(&b->parts[i * PARTS]) <= left)
        left -= part_bytes(&b->parts[i++ * PARTS]);
    bool ok = !left || keep(s, b, i, left);
    take(s, b, i);
    if (!left)
        return i < b->n ? BLOCKED : EMPTY;
    pfdd_log_feed_consume(&s->log_feed, b->ends[i] - (i ? b->ends[i - 1] : 0));
    if (ok)
        return BLOCKED;
    s->count.dropped += !s->log_feed.is_required;
    pfd_text_free(&s->rest);
    errno = ENOMEM;
    return LOST;
}

static enum outcome send_rest(struct pfdd_log_sender *s)
{
    while (s->rest_at < s->rest.n) {
        ssize_t n = send(s->outbound.link->fd, s->rest.data + s->rest_at,
                         s->rest.n - s->rest_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? BLOCKED : LOST;
        s->rest_at += (size_t)n;
    }
    count_out(s, s->rest_sequence, s->rest_time, s->rest.n);
    pfd_text_free(&s->rest);
    s->rest_at = 0;
    return EMPTY;
}

/* ---- the link ---- */

static void drop_link(struct pfdd_log_sender *s)
{
    s->count.retried += s->rest_at > 0;
    s->rest_at = 0; /* the next connection gets the whole record */
    if (s->log_feed.is_required) {
        s->count.retried += s->out.n;
        memset(&s->out, 0, sizeof s->out);
        pfd_text_free(&s->rest);
        pfdd_log_feed_set_connected(&s->log_feed, false);
        pfdd_log_feed_rewind(&s->log_feed);
    }
    pfdd_outbound_drop(&s->outbound);
}

static void lose_link(struct pfdd_log_sender *s, const char *why)
{
    drop_link(s);
    s->count.retried++;
    pfdd_outbound_lost(&s->outbound, why);
}

static enum outcome send_some(struct pfdd_log_sender *s)
{
    struct batch b;
    const char *bytes = NULL;
    size_t n = 0;
    size_t total = 0;
    enum outcome outcome = s->rest.n ? send_rest(s) : EMPTY;
    while (outcome == EMPTY &&
           pfdd_log_feed_peek_batch(&s->log_feed, &bytes, &n)) {
        size_t n_bytes = 0;
        if (s->out.n_bytes >= WINDOW)
            return WAITING;
        if (total >= TURN)
            return TURNED;
        gather(s, &b, bytes, n);
        outcome = s->is_datagram ? send_datagrams(s, &b, &n_bytes)
                                 : send_stream(s, &b, &n_bytes);
        total += n_bytes;
    }
    if (s->log_feed.batch_begun && !uv_is_active((uv_handle_t *)&s->timer))
        uv_timer_start(&s->timer, on_timer, LOOK_MS, LOOK_MS);
    return outcome;
}

static void go_on(struct pfdd_log_sender *s)
{
    /* On a stream, poll for its end. */
    int always = s->is_datagram ? 0 : UV_READABLE;
    enum outcome outcome = send_some(s);
    bool waits = outcome == EMPTY || outcome == WAITING;
    if (outcome == LOST) {
        lose_link(s, strerror(errno));
    } else {
        pfdd_outbound_watch(&s->outbound, always | (waits ? 0 : UV_WRITABLE));
    }
}

/* Acknowledges all records in flight if the kernel has delivered them and the
 * peer is still connected. */
static void check_delivery(struct pfdd_log_sender *s)
{
    int left = 0;
    if (ioctl(s->outbound.link->fd, SIOCOUTQ, &left) != 0 || left > 0)
        return;
    /* In this order: the kernel drops undelivered bytes after it has set the
     * error. */
    int error = pfdd_outbound_error(s->outbound.link->fd, 0);
    if (error) {
        lose_link(s, strerror(error));
        return;
    }
    bool was_waiting = s->out.n_bytes >= WINDOW;
    s->count.acked += s->out.n;
    pfdd_log_feed_ack(&s->log_feed, s->out.sequence);
    memset(&s->out, 0, sizeof s->out);
    if (was_waiting)
        go_on(s);
}

static void on_timer(uv_timer_t *timer)
{
    struct pfdd_log_sender *s = timer->data;
    if (s->outbound.link && s->out.n)
        check_delivery(s);
    if (s->outbound.link && s->log_feed.batch_begun &&
        !(s->outbound.link->events & UV_WRITABLE))
        go_on(s);
    if (!s->out.n && !(s->outbound.link && s->log_feed.batch_begun))
        uv_timer_stop(timer);
}

/* Discards input, which the protocols do not have, and detects its end. */
static bool has_ended(int fd)
{
    char waste[4096];
    ssize_t n = recv(fd, waste, sizeof waste, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void on_event(void *user, int status, int events)
{
    struct pfdd_log_sender *s = user;
    int fd = s->outbound.link->fd;
    if (status < 0) {
        lose_link(s, strerror(pfdd_outbound_error(fd, status)));
    } else if ((events & UV_READABLE) && has_ended(fd)) {
        lose_link(s, "the peer has gone");
    } else if (events & UV_WRITABLE) {
        go_on(s);
    }
}

static void on_up(void *user, int fd)
{
    struct pfdd_log_sender *s = user;
    int room = SEND_ROOM;
    if (!pfdd_outbound_keep(&s->outbound, fd)) {
        pfdd_outbound_lost(&s->outbound, "out of memory");
        return;
    }
    if (!s->is_datagram)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    pfdd_log_feed_set_connected(&s->log_feed, true);
    go_on(s);
}

static void finish_close(struct pfdd_log_sender *s);

static void on_notes(void *user)
{
    struct pfdd_log_sender *s = user;
    if (s->base.closing) {
        finish_close(s);
    } else if (s->outbound.link && !(s->outbound.link->events & UV_WRITABLE)) {
        go_on(s);
    }
}

/* ---- lifetime ---- */

static void finish_close(struct pfdd_log_sender *s)
{
    if (!s->base.closing || !s->outbound_closed || !s->timer_closed ||
        !pfdd_log_feed_can_close(&s->log_feed))
        return;
    pfdd_log_feed_close(&s->log_feed);
    pfd_text_free(&s->rest);
    pfdd_output_closed(&s->base);
}

static void on_uplink_closed(void *user)
{
    struct pfdd_log_sender *s = user;
    s->outbound_closed = true;
    finish_close(s);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct pfdd_log_sender *s = handle->data;
    s->timer_closed = true;
    finish_close(s);
}

bool pfdd_log_sender_open(struct pfdd_log_sender *s,
                          const struct pfdd_protocol *protocol, char *err,
                          size_t n_err)
{
    s->protocol = protocol;
    s->is_datagram = protocol->is_datagram(s->base.config);
    s->outbound = (struct pfdd_outbound){ .loop = s->base.delivery->loop,
                                          .access = access_of(s),
                                          .is_datagram = s->is_datagram,
                                          .up = on_up,
                                          .event = on_event,
                                          .closed = on_uplink_closed,
                                          .user = s };
    s->log_feed.wake = on_notes;
    s->log_feed.user = s;
    if (!pfdd_log_feed_open(&s->log_feed, &s->base, protocol->encoding, err,
                            n_err))
        return false;
    if (!pfdd_outbound_open(&s->outbound, err, n_err)) {
        pfdd_log_feed_close(&s->log_feed);
        return false;
    }
    uv_timer_init(s->base.delivery->loop, &s->timer);
    s->timer.data = s;
    pfdd_log_feed_prefetch(&s->log_feed);
    return true;
}

void pfdd_log_sender_close(struct pfdd_output *output)
{
    struct pfdd_log_sender *s = (struct pfdd_log_sender *)output;
    if (s->outbound.link)
        drop_link(s);
    uv_close((uv_handle_t *)&s->timer, on_timer_closed);
    pfdd_outbound_close(&s->outbound);
}

/* Does not wait for a peer that is down. */
bool pfdd_log_sender_is_drained(const struct pfdd_output *output)
{
    const struct pfdd_log_sender *s = (const struct pfdd_log_sender *)output;
    return s->outbound.is_down ||
           (!s->rest.n && !s->out.n && pfdd_log_feed_is_done(&s->log_feed));
}

size_t pfdd_log_sender_memory(const struct pfdd_output *output)
{
    const struct pfdd_log_sender *s = (const struct pfdd_log_sender *)output;
    return sizeof *s + pfdd_log_feed_memory(&s->log_feed) + s->rest.room +
           pfdd_outbound_memory(&s->outbound);
}

uint64_t pfdd_log_sender_place(const struct pfdd_output *output)
{
    const struct pfdd_log_sender *s = (const struct pfdd_log_sender *)output;
    return pfdd_log_feed_place(&s->log_feed, s->rest.n ? s->rest_sequence : 0);
}

struct pfdd_sent pfdd_log_sender_sent(const struct pfdd_output *output)
{
    const struct pfdd_log_sender *s = (const struct pfdd_log_sender *)output;
    uint64_t taken = s->out.n ? s->out.time : s->rest.n ? s->rest_time : 0;
    struct pfdd_sent ret = s->count;
    ret.dropped += pfdd_log_feed_dropped(&s->log_feed);
    ret.age_ns = pfdd_log_feed_age(&s->log_feed, taken);
    ret.is_connected = s->outbound.link;
    return ret;
}
