/* SPDX-License-Identifier: MIT */
#include "ingest/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/wire.h>

#include "base/log.h"
#include "base/loop_scheduler.h"
#include "base/peer.h"
#include "base/resource_account.h"
#include "ingest/ingest.h"
#include "ingest/stream_buffers.h"
#include "ingest/stream_objects.h"
#include "ingest/string_store.h"
#include "stream/capture/wire.h"

enum {
    BAD_MAX = 100, /* bad places until a stream is given up */
    FRAME_MAX = 16 << 20,
    PIECE = 64 << 10, /* bytes handed to the reader at once */
    RETRY_MS = 10,
    SHORT_MS = 10000, /* for which a stream waits for memory that others have */
};

struct pfdd_stream {
    struct pfdd_ingest *ingest;
    struct pfdd_stream_options options;
    char *name;
    struct pfd_wire_reader *reader;
    size_t reader_bytes; /* bytes charged */
    size_t reader_left;  /* bytes reserved beside them */
    unsigned n_bad;
    uint64_t n_frames;
    bool raw;
    bool started;
    bool ending;
    bool failed;
    struct pfdd_objects objects;
    struct pfdd_stream_buffers buffers;
    /* The frame that has to wait, and is retried. */
    struct pfd_wire_frame frame;
    bool has_frame;
    struct pfdd_loop_task task;
    bool rests;           /* other streams have their turn first */
    uv_timer_t *retry;    /* NULL: it was never needed */
    bool retries;         /* the frame waits for the ring, or for memory, */
    bool is_short;        /* there was no memory for the last frame, */
    uint64_t short_since; /* since then (uv_now()); */
    bool waits;           /* the memory is others', which may soon go */
};

/* Charges n bytes from now on. Up to PFDD_STREAM_SMALL bytes were reserved when
 * the stream came. */
static void charge_reader(struct pfdd_stream *st, size_t n)
{
    struct pfdd_ingest *ingest = st->ingest;
    size_t left = n < PFDD_STREAM_SMALL ? PFDD_STREAM_SMALL - n : 0;
    ingest->budget->frames += n - st->reader_bytes;
    pfdd_resource_account_count(st->options.account, st->reader_bytes, n);
    ingest->budget->frame_reserve += left - st->reader_left;
    st->reader_bytes = n;
    st->reader_left = left;
    pfdd_memory_budget_note(ingest->budget);
}

/* Charges the memory of incomplete frames. */
static void count_reader(struct pfdd_stream *st)
{
    charge_reader(st, pfd_wire_reader_memory(st->reader, 0));
}

static void lose_frame(struct pfdd_stream *st)
{
    st->ingest->count->bad_frames++;
    st->n_bad++;
    pfdd_stream_buffers_gap(&st->buffers, NULL, "bad_frame", 0);
}

static void bad_frame(struct pfdd_stream *st, const char *why)
{
    pfdd_log_peer(PFDD_WARNING, "%s: %s", st->name, why);
    lose_frame(st);
}

static void on_refused(void *user, const char *why)
{
    bad_frame(user, why);
}

/* Memory or descriptors lack: not the peer's mistake. */
static void on_lacking(void *user, const char *why)
{
    struct pfdd_stream *st = user;
    pfdd_log_peer(PFDD_WARNING, "%s: %s", st->name, why);
    lose_frame(st);
}

static void free_timer(uv_handle_t *handle)
{
    free(handle);
}

static void on_retry(uv_timer_t *timer)
{
    struct pfdd_stream *st = timer->data;
    st->retries = false;
    st->options.resume(st->options.user); /* may end the stream */
}

/* The ring is full of entries that a consumer must have, or memory is short:
 * the sender waits. False: the stream has ended, or out of memory. */
static bool try_later(struct pfdd_stream *st)
{
    if (st->failed)
        return false;
    if (!st->retry) {
        st->retry = malloc(sizeof *st->retry);
        if (!st->retry)
            return false;
        uv_timer_init(st->ingest->loop, st->retry);
        st->retry->data = st;
    }
    st->retries = true;
    uv_timer_start(st->retry, on_retry, RETRY_MS, 0);
    return true;
}

static void on_turn(struct pfdd_loop_task *task)
{
    struct pfdd_stream *st = PFDD_MEMBER_OF(struct pfdd_stream, task, task);
    st->rests = false;
    st->options.resume(st->options.user); /* may end the stream */
}

static void free_stream(struct pfdd_stream *st)
{
    pfdd_loop_scheduler_leave(st->ingest->scheduler, &st->task);
    if (st->retry)
        uv_close((uv_handle_t *)st->retry, free_timer);

    void (*ended)(void *) = st->options.ended;
    void *user = st->options.user;
    pfdd_stream_buffers_deinit(&st->buffers);
    st->ingest->budget->n_waiting -= st->waits;
    st->ingest->budget->frames -= st->reader_bytes;
    pfdd_resource_account_count(st->options.account, st->reader_bytes, 0);
    st->ingest->budget->frame_reserve -= st->reader_left;
    pfd_wire_reader_free(st->reader);
    pfdd_objects_deinit(&st->objects);
    free(st->name);
    free(st);
    ended(user);
}

static void on_follower_ended(void *user, bool was_awaited)
{
    struct pfdd_stream *st = user;
    if (st->ending && st->buffers.n_followers == 0) {
        free_stream(st);
    } else if (!st->ending && was_awaited) {
        st->options.resume(st->options.user); /* may end the stream */
    }
}

struct pfdd_stream *pfdd_stream_new(struct pfdd_ingest *ingest,
                                    const struct pfdd_stream_options *options)
{
    struct pfdd_stream *st = calloc(1, sizeof *st);
    if (!st)
        return NULL;
    st->ingest = ingest;
    st->options = *options;
    st->task.turn = on_turn;
    st->name = strdup(options->name);
    st->reader = pfd_wire_reader_new(FRAME_MAX);
    if (!st->name || !st->reader) {
        pfd_wire_reader_free(st->reader);
        free(st->name);
        free(st);
        return NULL;
    }
    st->objects = (struct pfdd_objects){ .ingest = ingest,
                                         .name = st->name,
                                         .peer = pfdd_peer_ref(options->peer),
                                         .account = options->account,
                                         .is_kept = options->is_kept,
                                         .description = options->description,
                                         .refused = on_refused,
                                         .lacking = on_lacking,
                                         .user = st };
    st->buffers = (struct pfdd_stream_buffers){ .ingest = ingest,
                                                .stream = st,
                                                .name = st->name,
                                                .objects = &st->objects,
                                                .options = &st->options.options,
                                                .format = options->format,
                                                .settle_ms = options->settle_ms,
                                                .pid = options->pid,
                                                .account = options->account,
                                                .refused = on_refused,
                                                .lacking = on_lacking,
                                                .ended = on_follower_ended,
                                                .user = st };
    pfdd_objects_init(&st->objects);
    count_reader(st);
    return st;
}

/* ---- frames ---- */

static bool is_object(const struct pfd_wire_frame *f)
{
    return f->type == PFD_WIRE_CODE_OBJECT || f->type == PFD_WIRE_SHADER;
}

static bool has_room(struct pfdd_stream *st, const struct pfd_wire_frame *f)
{
    return is_object(f) ? pfdd_objects_have_room(&st->objects, f)
                        : pfdd_stream_buffers_have_room(&st->buffers, f);
}

static bool is_short(const struct pfdd_stream *st,
                     const struct pfd_wire_frame *f)
{
    return is_object(f) ? pfdd_objects_are_short(&st->objects, f)
                        : pfdd_stream_buffers_are_short(&st->buffers, f);
}

static void set_waiting(struct pfdd_stream *st, bool waits)
{
    st->ingest->budget->n_waiting += (unsigned)waits - (unsigned)st->waits;
    st->waits = waits;
}

/* Memory of code objects that are being read, and of producers that go, is soon
 * free again. A producer that has little waits for it a while, but only once
 * until there was memory again, however many frames come. */
static bool waits_for_room(struct pfdd_stream *st,
                           const struct pfd_wire_frame *f)
{
    uint64_t now = uv_now(st->ingest->loop);
    bool was_short = st->is_short;
    st->is_short = !has_room(st, f);
    if (!st->is_short) {
        set_waiting(st, false);
        return false;
    }
    if (!was_short)
        st->short_since = now;
    bool is_patient = now - st->short_since < SHORT_MS && is_short(st, f);
    bool is_soon = f->type == PFD_WIRE_BUFFER &&
                   pfdd_string_store_is_busy(st->ingest->string_store);
    bool waits = (is_patient || is_soon) && try_later(st);
    set_waiting(st, waits && is_patient);
    return waits;
}

/* False: not yet. */
static bool take_frame(struct pfdd_stream *st, const struct pfd_wire_frame *f)
{
    if (is_object(f) && waits_for_room(st, f))
        return false;
    if (f->type != PFD_WIRE_START)
        pfdd_objects_take(&st->objects, f);
    switch (f->type) {
    case PFD_WIRE_START:
        /* Another stream begins: its numbers are its own. */
        st->ingest->count->streams++;
        pfdd_objects_reset(&st->objects);
        pfdd_stream_buffers_leave(&st->buffers);
        st->buffers.features = f->features;
        return true;
    case PFD_WIRE_HELLO:
        pfdd_stream_buffers_hello(&st->buffers, f);
        return true;
    case PFD_WIRE_BUFFER:
        return !waits_for_room(st, f) &&
               pfdd_stream_buffers_take(&st->buffers, f);
    case PFD_WIRE_DATA:
        if (waits_for_room(st, f))
            return false;
        pfdd_stream_buffers_data(&st->buffers, f);
        return true;
    case PFD_WIRE_DONE:
        pfdd_stream_buffers_done(&st->buffers, f);
        return true;
    case PFD_WIRE_GAP:
        pfdd_stream_buffers_gap(&st->buffers, &f->buffer, "sender_lost",
                                f->lost_frames + f->lost_entries);
        return true;
    case PFD_WIRE_ERROR:
        pfdd_stream_buffers_gap(&st->buffers, NULL, "sender_gave_up", 0);
        return true;
    case PFD_WIRE_ENTRIES:
        if (pfdd_stream_buffers_entries(&st->buffers, f) || try_later(st))
            return !st->retries;
        pfdd_stream_buffers_gap(&st->buffers, &f->buffer, "no_room", 0);
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

/* Takes frames until more bytes are needed, or a frame has to wait. */
static bool take_frames(struct pfdd_stream *st)
{
    struct pfd_error err;
    while (!pfdd_stream_is_waiting(st)) {
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
        st->rests =
            !st->failed && pfdd_loop_scheduler_is_over(st->ingest->scheduler);
    }
    return true;
}

/* An incomplete frame takes memory only below the cap. Beyond the cap the frame
 * is dropped, not the stream. */
static void make_room(struct pfdd_stream *st, size_t n)
{
    size_t wanted = pfd_wire_reader_memory(st->reader, n);
    if (wanted <= PFDD_STREAM_SMALL || wanted <= st->reader_bytes ||
        pfdd_memory_budget_has_for_frame(
            st->ingest->budget, st->options.account, wanted - st->reader_bytes))
        return;
    uint64_t n_frame = pfd_wire_reader_pass(st->reader);
    count_reader(st);
    st->ingest->count->bad_frames++;
    pfdd_log(PFDD_WARNING,
             "%s: memory, or this producer's share of it, is up to its cap: a "
             "frame of %" PRIu64 " bytes is not taken",
             st->name, n_frame);
    pfdd_stream_buffers_gap(&st->buffers, NULL, "too_large", 0);
}

/* Feeds some of bytes [n] to the reader. False: they cannot be used. */
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

static bool feed(struct pfdd_stream *st, const void *bytes, size_t n,
                 size_t *taken)
{
    if (!st->started && n) {
        char magic = *(const char *)bytes;
        st->started = true;
        st->raw = st->options.may_be_raw && magic != '\x89';
    }
    if (st->raw) {
        *taken = n;
        return pfdd_stream_buffers_raw(&st->buffers, bytes, n);
    }
    for (;;) {
        if (!take_frames(st))
            return false;
        size_t done = 0;
        count_reader(st);
        if (pfdd_stream_is_waiting(st) || *taken == n)
            return true;
        if (!feed_reader(st, (const char *)bytes + *taken, n - *taken, &done))
            return false;
        *taken += done;
    }
}

bool pfdd_stream_feed(struct pfdd_stream *st, const void *bytes, size_t n,
                      const int *fds, size_t n_fds, size_t *taken)
{
    struct pfdd_loop_scheduler *scheduler = st->ingest->scheduler;
    *taken = 0;
    pfdd_stream_buffers_flush_gaps(&st->buffers, false);
    pfdd_stream_buffers_pass(&st->buffers, fds, n_fds);
    /* Restored streams come before any producer connects. */
    if (st->options.is_kept)
        return feed(st, bytes, n, taken);
    st->rests = !pfdd_loop_scheduler_begin(scheduler, &st->task);
    if (st->rests)
        return true;
    bool ok = feed(st, bytes, n, taken);
    pfdd_loop_scheduler_end(scheduler, &st->task, st->rests);
    return ok;
}

void pfdd_stream_settle(struct pfdd_stream *st)
{
    pfdd_objects_settle(&st->objects);
}

bool pfdd_stream_is_waiting(const struct pfdd_stream *st)
{
    return st->buffers.waiting_for || st->retries || st->rests;
}

bool pfdd_stream_has_buffers(const struct pfdd_stream *st)
{
    return st->buffers.n_followers > 0;
}

void pfdd_stream_end(struct pfdd_stream *st)
{
    pfdd_loop_scheduler_leave(st->ingest->scheduler, &st->task);
    st->rests = false;
    if (!st->raw && !st->failed) {
        st->failed = true;
        pfd_wire_reader_finish(st->reader);
        take_frames(st);
        if (st->has_frame)
            bad_frame(st, "it is closed before its last frames are taken");
    }
    st->ending = true;
    pfdd_objects_finish(&st->objects);
    pfdd_stream_buffers_leave(&st->buffers);
    pfdd_stream_buffers_flush_gaps(&st->buffers, true);
    if (st->buffers.n_followers == 0)
        free_stream(st);
}
