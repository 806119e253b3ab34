/* SPDX-License-Identifier: MIT */
#include "sources/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/capture.h>
#include <printfdecode/wire.h>

#include "config/owned.h"
#include "core/descriptors.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/name.h"
#include "core/peer.h"
#include "sources/daemon.h"
#include "sources/library.h"
#include "sources/origin.h"
#include "sources/session.h"
#include "sources/shelf.h"
#include "sources/stream_objects.h"

enum {
    BUFFERS_MAX = 1024,      /* of one stream */
    SESSION_BYTES = 1 << 20, /* that have to be free for another buffer */
    FDS_MAX = 16,            /* that wait for their frame */
    BAD_MAX = 100,           /* bad places until a stream is given up */
    FRAME_MAX = 16 << 20,
    PIECE = 64 << 10, /* bytes handed to the reader at once */
    PAGES = 8192,     /* bytes of memory that bytes may take more */
};

#define BUFFER_MAX (UINT64_C(1) << 30) /* bytes kept for one buffer */

struct doorbell {
    uv_poll_t poll;
    int fd;
    struct buffer *buffer; /* NULL: the buffer is gone */
};

struct buffer {
    struct buffer *next;
    struct pfdd_stream *of;
    uint64_t number;
    uint64_t generation;
    bool is_past;   /* of an earlier stream: its number says nothing */
    bool is_shared; /* memory of the producer */
    bool done;      /* this generation */
    struct pfdd_session *session;
    struct doorbell *doorbell;
    struct pfdd_slot *slot; /* NULL: not kept over a restart */
    char *name;
    const char *format; /* static; NULL: chosen */
    struct pfd_options options;
};

struct pfdd_stream {
    struct pfdd *d;
    struct pfdd_stream_options options;
    char *name;
    struct pfd_wire_reader *reader;
    size_t reader_bytes; /* that are counted */
    size_t reader_left;  /* that are reserved beside them */
    struct buffer *buffers;
    size_t n_buffers;
    size_t n_sessions;
    int fds[FDS_MAX];
    size_t n_fds;
    unsigned n_bad;
    uint64_t n_frames;
    bool raw;
    uint64_t raw_bytes; /* so far */
    bool started;
    bool ending;
    bool failed;
    struct buffer *waiting_for; /* its old session has to end first */
    /* Of the sender. */
    char host[PFDD_NAME_ROOM];
    char process[PFDD_NAME_ROOM];
    uint64_t pid;
    struct pfdd_objects objects;
    /* The frame that has to wait, done again. */
    struct pfd_wire_frame frame;
    bool has_frame;
};

/* n bytes from now on; up to PFDD_STREAM_SMALL were reserved when it came. */
static void charge_reader(struct pfdd_stream *st, size_t n)
{
    struct pfdd *d = st->d;
    size_t left = n < PFDD_STREAM_SMALL ? PFDD_STREAM_SMALL - n : 0;
    d->frame_bytes += n - st->reader_bytes;
    d->frame_reserve += left - st->reader_left;
    st->reader_bytes = n;
    st->reader_left = left;
    pfdd_note_memory(d);
}

/* What half frames hold is memory, too. */
static void count_reader(struct pfdd_stream *st)
{
    charge_reader(st, pfd_wire_reader_memory(st->reader, 0));
}

static void bad_frame(struct pfdd_stream *st, const char *why);

static void refuse_object(void *user, const char *why)
{
    bad_frame(user, why);
}

struct pfdd_stream *pfdd_stream_new(struct pfdd *d,
                                    const struct pfdd_stream_options *options)
{
    struct pfdd_stream *st = calloc(1, sizeof *st);
    if (!st)
        return NULL;
    st->d = d;
    st->options = *options;
    st->name = strdup(options->name);
    st->reader = pfd_wire_reader_new(FRAME_MAX);
    if (!st->name || !st->reader) {
        pfd_wire_reader_free(st->reader);
        free(st->name);
        free(st);
        return NULL;
    }
    st->objects = (struct pfdd_objects){ .d = d,
                                         .name = st->name,
                                         .peer = pfdd_peer_ref(options->peer),
                                         .is_kept = options->is_kept,
                                         .refused = refuse_object,
                                         .user = st };
    pfdd_objects_init(&st->objects);
    count_reader(st);
    return st;
}

/* ---- buffers ---- */

static void doorbell_closed(uv_handle_t *handle)
{
    struct doorbell *bell = handle->data;
    close(bell->fd);
    free(bell);
}

static void drop_doorbell(struct buffer *b)
{
    if (!b->doorbell)
        return;
    b->doorbell->buffer = NULL;
    uv_poll_stop(&b->doorbell->poll);
    uv_close((uv_handle_t *)&b->doorbell->poll, doorbell_closed);
    b->doorbell = NULL;
}

static void on_doorbell(uv_poll_t *poll, int status, int events)
{
    struct doorbell *bell = poll->data;
    int error = status < 0 ? EIO : pfdd_foreign_take(bell->fd);
    if (error && error != EAGAIN && bell->buffer) {
        drop_doorbell(bell->buffer);
    } else if (!error && bell->buffer && bell->buffer->session) {
        pfdd_session_ring(bell->buffer->session);
    }
}

static void hang_doorbell(struct buffer *b, int fd)
{
    struct doorbell *bell =
        pfdd_foreign_is_eventfd(fd) ? calloc(1, sizeof *bell) : NULL;
    if (!bell || uv_poll_init(b->of->d->loop, &bell->poll, fd) != 0) {
        free(bell);
        pfdd_foreign_close(fd);
        return;
    }
    bell->fd = fd;
    bell->buffer = b;
    bell->poll.data = bell;
    b->doorbell = bell;
    uv_poll_start(&bell->poll, UV_READABLE, on_doorbell);
}

static void free_stream(struct pfdd_stream *st)
{
    void (*ended)(void *) = st->options.ended;
    void *user = st->options.user;
    for (size_t i = 0; i < st->n_fds; i++)
        pfdd_foreign_close(st->fds[i]);
    while (st->buffers) {
        struct buffer *b = st->buffers;
        st->buffers = b->next;
        free(b->name);
        free(b);
    }
    st->d->frame_bytes -= st->reader_bytes;
    st->d->frame_reserve -= st->reader_left;
    pfd_wire_reader_free(st->reader);
    pfdd_objects_deinit(&st->objects);
    free(st->name);
    free(st);
    ended(user);
}

static void session_ended(void *user)
{
    struct buffer *b = user;
    struct pfdd_stream *st = b->of;
    b->session = NULL;
    if (b->slot)
        pfdd_shelf_drop(b->slot);
    b->slot = NULL;
    st->n_sessions--;
    bool was_awaited = st->waiting_for == b;
    if (was_awaited)
        st->waiting_for = NULL;
    if (st->ending && st->n_sessions == 0) {
        free_stream(st);
    } else if (!st->ending && was_awaited) {
        st->options.resume(st->options.user); /* may end the stream */
    }
}

static bool start_session(struct buffer *b, int fd,
                          const struct pfd_wire_frame *frame)
{
    const struct pfd_wire_frame none = { 0 };
    struct pfdd_origin origin;
    struct pfdd_stream *st = b->of;
    if (2 * (st->n_sessions + 1) + FDS_MAX > pfdd_descriptors_share()) {
        close(fd);
        bad_frame(st, "too many descriptors: a buffer is not followed");
        return false;
    }
    if (!pfdd_has_room(st->d, SESSION_BYTES)) {
        close(fd);
        bad_frame(st, "memory is up to its cap: a buffer is not followed");
        return false;
    }
    const char *why = pfdd_origin_init(&origin, frame ? frame : &none);
    if (why)
        bad_frame(st, why);
    /* A buffer's frame does not say whose it is. */
    if (!origin.frame.host.n)
        origin.frame.host = pfd_wire_text(st->host);
    if (!origin.frame.process.n)
        origin.frame.process = pfd_wire_text(st->process);
    if (!origin.frame.pid)
        origin.frame.pid = st->pid;
    struct pfdd_session_options options = {
        .name = b->name,
        .format = b->format,
        .options = b->options,
        .origin = &origin.frame,
        .scope = st->objects.scope,
        .fd = fd,
        .settle_ms = st->options.settle_ms,
        .arrives = !b->is_shared,
        .generation = b->generation,
        .kept = b->slot ? b->slot->kept : NULL,
        .ended = session_ended,
        .user = b,
    };
    b->session = pfdd_session_new(st->d, &options);
    pfdd_origin_deinit(&origin);
    st->n_sessions += b->session != NULL;
    b->done = false;
    return b->session != NULL;
}

static void stream_gap(struct pfdd_stream *st, struct buffer *b,
                       const char *reason, uint64_t missed)
{
    if (b && b->session) {
        pfdd_session_gap(b->session, reason, missed);
        return;
    }
    struct pfdd_stamp stamp = {
        .source = pfdd_sources_find(&st->d->sources, st->name),
        .time = pfdd_time_now(),
    };
    stamp.buffer = pfdd_buffer_new(
        st->name, NULL, pfdd_library_bind(st->d->library, NULL), NULL);
    st->d->count.gap_lines += missed;
    pfdd_sources_count(&st->d->sources, stamp.source, 0, 1);
    if (stamp.buffer)
        pfdd_ring_gap(&st->d->ring, &stamp, reason, missed);
    pfdd_buffer_unref(stamp.buffer);
}

static int own_memory(void)
{
    int fd = memfd_create("printfdecoded", MFD_CLOEXEC);
    if (fd < 0 || pfdd_descriptor_is_spare(fd))
        return fd;
    close(fd);
    return -1;
}

/* ---- frames ---- */

static struct buffer *find_buffer(struct pfdd_stream *st, uint64_t number)
{
    struct buffer *b = st->buffers;
    while (b && (b->is_past || b->number != number))
        b = b->next;
    return b;
}

static struct buffer *add_buffer(struct pfdd_stream *st, uint64_t number)
{
    struct buffer *b = st->buffers;
    while (b && (!b->is_past || b->session))
        b = b->next;
    if (b) {
        b->number = number;
        b->is_past = false;
        return b;
    }
    b = st->n_buffers < BUFFERS_MAX ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->of = st;
    b->number = number;
    b->next = st->buffers;
    st->buffers = b;
    st->n_buffers++;
    return b;
}

static void describe(struct buffer *b, const struct pfd_wire_frame *f)
{
    char name[PFDD_NAME_ROOM];
    struct pfd_error err;
    free(b->name);
    b->name = NULL;
    b->options = b->of->options.options;
    if (pfd_capture_reading(f, &b->format, &b->options, &err) != PFD_OK)
        bad_frame(b->of, err.text);
    if (pfdd_name_put(name, f->name.at, f->name.n) &&
        pfdd_name_disown(b->of->d->config->config, name)) {
        b->name = strdup(name);
    }
    b->generation = f->generation;
    if (f->name.n && !b->name) {
        bad_frame(b->of, "a buffer's name is longer than 255 bytes: it goes by "
                         "its number");
    }
    if (!b->name &&
        asprintf(&b->name, "%s/%" PRIu64, b->of->name, f->buffer) < 0)
        b->name = NULL;
}

static int take_fd(struct pfdd_stream *st)
{
    if (st->n_fds == 0)
        return -1;
    int fd = st->fds[0];
    st->n_fds--;
    memmove(st->fds, st->fds + 1, st->n_fds * sizeof *st->fds);
    return fd;
}

static void bad_frame(struct pfdd_stream *st, const char *why)
{
    st->d->count.bad_frames++;
    st->n_bad++;
    pfdd_log_about(&st->d->told_peers, PFDD_WARNING, "%s: %s", st->name, why);
    stream_gap(st, NULL, "bad_frame", 0);
}

/* Leaves it with the service manager, or finds that it was left there. */
static void shelve(struct pfdd_stream *st, struct buffer *b, int memory,
                   int bell, const struct pfd_wire_frame *f)
{
    struct pfdd_shelf *shelf = st->d->shelf;
    struct pfd_wire_frame hello = { .type = PFD_WIRE_HELLO };
    struct pfd_wire_frame buffer = *f;
    b->slot = pfdd_shelf_find(shelf, memory);
    if (b->slot) {
        /* What another buffer has in use is kept for that one. */
        if (!b->slot->stream) {
            b->slot = NULL;
        } else if (st == b->slot->stream) {
            b->slot->scope = pfdd_scope_number(st->objects.scope);
        }
        return;
    }
    hello.pid = st->pid;
    hello.host = pfd_wire_text(st->host);
    hello.process = pfd_wire_text(st->process);
    buffer.name = pfd_wire_text(b->name);
    buffer.fds = bell >= 0 ? 2 : 1;
    b->slot = pfdd_shelf_put(shelf, memory, bell, pfdd_stream_pid(st),
                             st->objects.scope, &hello, &buffer);
}

/* The producer of a buffer that was followed on over a restart is here again:
 * the session goes on under its name. */
static bool adopt(struct pfdd_stream *st, struct buffer *b)
{
    struct pfdd_slot *slot = b->slot;
    struct buffer *old = slot ? slot->holder : NULL;
    if (!old || !slot->stream || !old->session)
        return false;
    b->session = old->session;
    b->done = false;
    st->n_sessions++;
    pfdd_session_hand_over(b->session, b);
    /* It has sent its shaders again, or relies on those that were kept. */
    if (pfdd_scope_count(st->objects.scope)) {
        pfdd_session_use(b->session, st->objects.scope);
        slot->scope = pfdd_scope_number(st->objects.scope);
    }
    drop_doorbell(old);
    old->session = NULL;
    old->slot = NULL;
    old->of->n_sessions--;
    pfdd_stream_end(slot->stream);
    slot->stream = NULL;
    slot->kept->pid = pfdd_stream_pid(st);
    return true;
}

/* One that is not followed leaves the slot, or nobody would ever. */
static void keep_slot(struct buffer *b, bool is_followed)
{
    struct pfdd_slot *slot = b->slot;
    if (slot && is_followed) {
        slot->holder = b;
    } else if (slot) {
        b->slot = NULL;
        if (!slot->stream)
            pfdd_shelf_drop(slot);
    }
}

static void share_memory(struct pfdd_stream *st, struct buffer *b,
                         const struct pfd_wire_frame *f)
{
    int memory = take_fd(st);
    int bell = f->fds > 1 ? take_fd(st) : -1;
    for (uint64_t i = 2; i < f->fds && st->n_fds; i++)
        pfdd_foreign_close(take_fd(st));
    /* What is no eventfd is nothing that one could wait for. */
    if (bell >= 0 && !pfdd_foreign_is_eventfd(bell)) {
        pfdd_foreign_close(bell);
        bell = -1;
        bad_frame(st, "a doorbell that is no eventfd");
    }
    if (memory < 0 || !pfdd_foreign_is_memory(memory, f->size)) {
        bad_frame(st, memory < 0 ? "a buffer's memory did not come with it"
                                 : "shared memory without a seal against "
                                   "shrinking, or smaller than it says");
        if (memory >= 0)
            pfdd_foreign_close(memory);
        if (bell >= 0)
            pfdd_foreign_close(bell);
        return;
    }
    b->is_shared = true;
    shelve(st, b, memory, bell, f);
    bool is_followed = adopt(st, b);
    if (is_followed) {
        close(memory);
    } else {
        is_followed = start_session(b, memory, f);
    }
    keep_slot(b, is_followed);
    if (is_followed && bell >= 0) {
        hang_doorbell(b, bell);
    } else if (bell >= 0) {
        pfdd_foreign_close(bell);
    }
}

/* False: the buffer's last generation has to be read to its end first. */
static bool take_buffer(struct pfdd_stream *st, const struct pfd_wire_frame *f)
{
    struct buffer *b = find_buffer(st, f->buffer);
    if (b && b->session && b->is_shared && !f->fds) {
        b->generation = f->generation;
        b->done = false;
        pfdd_session_restart(b->session);
        return true;
    }
    if (b && b->session) {
        drop_doorbell(b);
        pfdd_session_close(b->session);
        st->waiting_for = b;
        return false;
    }
    if (!b)
        b = add_buffer(st, f->buffer);
    if (!b) {
        bad_frame(st, "more than 1024 buffers");
        return true;
    }
    describe(b, f);
    b->is_shared = false;
    if (!b->name) {
        bad_frame(st, "out of memory");
    } else if (f->fds) {
        share_memory(st, b, f);
    } else {
        int fd = own_memory();
        if (fd < 0) {
            bad_frame(st, "no memory or descriptor for a buffer");
        } else {
            start_session(b, fd, f);
        }
    }
    return true;
}

static void take_data(struct pfdd_stream *st, const struct pfd_wire_frame *f)
{
    struct buffer *b = find_buffer(st, f->buffer);
    if (!b || !b->session || b->is_shared || b->done ||
        f->generation != b->generation) {
        bad_frame(st, "data for a buffer that was not announced");
        return;
    }
    uint64_t end = 0;
    if (!f->bytes.n)
        return; /* zeros, as all is that was not sent */
    if (__builtin_add_overflow(f->offset, f->bytes.n, &end) ||
        end > BUFFER_MAX || !pfdd_has_room(st->d, f->bytes.n + PAGES)) {
        stream_gap(st, b, "too_large", 0);
        st->d->count.bad_frames++;
        return;
    }
    if (!pfdd_session_write(b->session, f->offset, f->bytes.at, f->bytes.n)) {
        stream_gap(st, b, "no_memory", 0);
        return;
    }
    pfdd_session_time(b->session, f->time);
    pfdd_session_ring(b->session);
}

static void take_done(struct pfdd_stream *st, const struct pfd_wire_frame *f)
{
    struct buffer *b = find_buffer(st, f->buffer);
    if (!b || !b->session || b->generation != f->generation)
        return;
    b->done = true;
    if (b->is_shared) {
        pfdd_session_complete(b->session);
        return;
    }
    pfdd_session_close(b->session);
}

/* False: it cannot be done yet. */
static bool take_frame(struct pfdd_stream *st, const struct pfd_wire_frame *f)
{
    if (f->type != PFD_WIRE_START)
        pfdd_objects_take(&st->objects, f);
    switch (f->type) {
    case PFD_WIRE_START:
        /* Another stream begins: its numbers are its own. */
        pfdd_objects_reset(&st->objects);
        for (struct buffer *b = st->buffers; b; b = b->next) {
            b->is_past = true;
            drop_doorbell(b);
            if (b->session)
                pfdd_session_close(b->session);
        }
        return true;
    case PFD_WIRE_HELLO:
        pfdd_name_put(st->host, f->host.at, f->host.n);
        pfdd_name_put(st->process, f->process.at, f->process.n);
        st->pid = f->pid;
        return true;
    case PFD_WIRE_BUFFER:
        return take_buffer(st, f);
    case PFD_WIRE_DATA:
        take_data(st, f);
        return true;
    case PFD_WIRE_DONE:
        take_done(st, f);
        return true;
    case PFD_WIRE_GAP:
        stream_gap(st, find_buffer(st, f->buffer), "sender_lost",
                   f->lost_frames);
        return true;
    case PFD_WIRE_ENTRIES: /* what comes is decoded here */
        stream_gap(st, find_buffer(st, f->buffer), "decoded_already", 0);
        return true;
    case PFD_WIRE_CODE_OBJECT: /* taken above */
    case PFD_WIRE_SHADER:
    case PFD_WIRE_END: /* the reader has compared it */
    case PFD_WIRE_UNKNOWN:
    case PFD_WIRE_N_TYPES:
        break;
    }
    return true;
}

/* Takes frames until bytes are needed or something has to be waited for. */
static bool take_frames(struct pfdd_stream *st)
{
    struct pfd_error err;
    while (!st->waiting_for) {
        if (!st->has_frame) {
            enum pfd_status status =
                pfd_wire_reader_next(st->reader, &st->frame, &err);
            if (status == PFD_MORE || status == PFD_END)
                return true;
            if (status == PFD_ERR_CORRUPT && st->n_frames &&
                st->n_bad < BAD_MAX) {
                bad_frame(st, err.text);
                continue;
            }
            if (status != PFD_OK) {
                bad_frame(st, err.text);
                return false;
            }
        }
        st->n_frames++;
        st->has_frame = !take_frame(st, &st->frame);
    }
    return true;
}

static bool feed_raw(struct pfdd_stream *st, const void *bytes, size_t n)
{
    struct buffer *b = st->buffers;
    if (!b) {
        int fd = own_memory();
        b = add_buffer(st, 1);
        if (b)
            b->name = strdup(st->name);
        if (fd < 0 || !b || !b->name || !start_session(b, fd, NULL)) {
            bad_frame(st, "no memory or descriptor for a buffer");
            return false;
        }
    }
    if (st->raw_bytes + n > BUFFER_MAX || !pfdd_has_room(st->d, n + PAGES)) {
        stream_gap(st, b, "too_large", 0);
        return false;
    }
    if (!pfdd_session_write(b->session, st->raw_bytes, bytes, n)) {
        stream_gap(st, b, "no_memory", 0);
        return false;
    }
    st->raw_bytes += n;
    pfdd_session_ring(b->session);
    return true;
}

/* A frame that has not come whole takes memory only below the cap: beyond it
 * the frame is lost, not the stream. */
static void make_room(struct pfdd_stream *st, size_t n)
{
    size_t wanted = pfd_wire_reader_memory(st->reader, n);
    if (wanted <= PFDD_STREAM_SMALL || wanted <= st->reader_bytes ||
        pfdd_has_frame_room(st->d, wanted - st->reader_bytes))
        return;
    uint64_t n_frame = pfd_wire_reader_pass(st->reader);
    count_reader(st);
    st->d->count.bad_frames++;
    pfdd_log(PFDD_WARNING,
             "%s: memory is up to its cap: a frame of %" PRIu64
             " bytes is not taken",
             st->name, n_frame);
    stream_gap(st, NULL, "too_large", 0);
}

/* Some of bytes [n]; false: no use can be made of them. */
static bool feed_reader(struct pfdd_stream *st, const char *bytes, size_t n,
                        size_t *taken)
{
    struct pfd_error err;
    n = n < PIECE ? n : PIECE;
    make_room(st, n);
    if (pfd_wire_reader_feed(st->reader, bytes, n, taken, &err) < 0) {
        bad_frame(st, err.text);
        return false;
    }
    count_reader(st);
    return true;
}

bool pfdd_stream_feed(struct pfdd_stream *st, const void *bytes, size_t n,
                      const int *fds, size_t n_fds, size_t *taken)
{
    *taken = 0;
    for (size_t i = 0; i < n_fds; i++) {
        if (st->n_fds < FDS_MAX) {
            st->fds[st->n_fds++] = fds[i];
        } else {
            pfdd_foreign_close(fds[i]);
        }
    }
    if (!st->started && n) {
        char magic = *(const char *)bytes;
        st->started = true;
        st->raw = st->options.may_be_raw && magic != '\x89';
    }
    if (st->raw) {
        *taken = n;
        return feed_raw(st, bytes, n);
    }
    for (;;) {
        if (!take_frames(st))
            return false;
        size_t done = 0;
        count_reader(st);
        if (st->waiting_for || *taken == n)
            return true;
        if (!feed_reader(st, (const char *)bytes + *taken, n - *taken, &done))
            return false;
        *taken += done;
    }
}

long long pfdd_stream_pid(const struct pfdd_stream *st)
{
    return st->options.pid ? st->options.pid : (long long)st->pid;
}

void pfdd_stream_settle(struct pfdd_stream *st)
{
    pfdd_objects_settle(&st->objects);
}

bool pfdd_stream_is_waiting(const struct pfdd_stream *st)
{
    return st->waiting_for != NULL;
}

void pfdd_stream_end(struct pfdd_stream *st)
{
    if (!st->raw && !st->failed) {
        st->failed = true;
        pfd_wire_reader_finish(st->reader);
        take_frames(st);
    }
    st->ending = true;
    pfdd_objects_finish(&st->objects);
    for (struct buffer *b = st->buffers; b; b = b->next) {
        drop_doorbell(b);
        if (b->session)
            pfdd_session_close(b->session);
    }
    if (st->n_sessions == 0)
        free_stream(st);
}
