/* SPDX-License-Identifier: MIT */
#include "sources/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/lines.h>
#include <printfdecode/tail.h>

#include "core/head.h"
#include "core/log.h"
#include "core/sums.h"
#include "delivery/queue.h"
#include "delivery/segments.h"
#include "sources/daemon.h"
#include "sources/library.h"
#include "sources/maker.h"
#include "sources/poller.h"
#include "sources/session_memory.h"
#include "sources/shelf.h"

enum {
    WINDOW = 512 * 1024, /* bytes of a buffer that one look takes, */
    GIVE = 64 * 1024,    /* and makes entries of */
    QUIET = 4,
    LOOKS = 16, /* of a finished buffer in one job */
    CHUNKS_ENOUGH = 256 * 1024,
    BETWEEN_LOOKS_US = 800, /* less than a poll: timers come early, too */
    LOOK_ANYWAY_MS = 2000,
    LOOK_AT_HOLES_MS = 20, /* while something has moved lately: */
    LATELY_MS = 10000,
};

#define NS_PER_MS UINT64_C(1000000)

struct pfdd_session {
    struct pfdd_job job;
    struct pfdd *d;
    struct pfdd_session *next;
    struct pfdd_session_options options;
    struct pfdd_strings *strings;
    struct pfdd_buffer *buffer; /* what its chunks say of it */
    uint32_t source;
    struct pfdd_head head;
    uint64_t looked; /* ns, uv_hrtime() */
    uint64_t moved;  /* likewise: when something moved last */
    uint64_t due;    /* likewise */
    uint64_t time;   /* for lines; 0: now */
    bool busy;
    bool has_piece;      /* the job waits until its chunks are taken */
    bool completing;     /* no more bytes in this generation */
    bool completes_next; /* nor in the one that wants_restart begins */
    bool closing;
    bool abandoned;
    bool wants_restart;
    bool pending;   /* of the last look */
    bool has_holes; /* likewise */
    bool io_failed;
    struct pfdd_made ready; /* while the next job is on its way */
    struct pfdd_session_memory memory;
    bool skipping;
    struct pfdd_position skip; /* entries up to here are in the queue */
    /* The job's. */
    struct pfd_tail *tail;
    struct pfdd_strings *old_strings; /* until the tail has let go of them */
    bool new_strings;
    bool linger;
    bool burst; /* it follows one that has left much */
    bool finish;
    bool finished;
    bool restart;
    int n_quiet;    /* looks in a row that moved nothing */
    uint64_t ahead; /* ns, of the tail's clock */
    enum pfd_status status;
    struct pfd_error err;
    uint64_t n_buffer;
    struct pfdd_maker maker;
    struct pfdd_sums sums;  /* of all that has come out */
    struct pfdd_sums ended; /* the same, up to the present generation */
    uint64_t generation;    /* of the item before */
    /* The loop's. */
    struct pfdd_sums counted; /* in the daemon's sums */
    struct pfdd_sums told;    /* in the log */
};

/* ---- on a worker ---- */

static long read_buffer(void *user, uint64_t offset, void *bytes, size_t n)
{
    struct pfdd_session *s = user;
    size_t total = 0;
    while (total < n) {
        ssize_t got = pread(s->options.fd, (char *)bytes + total, n - total,
                            (off_t)(offset + total));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return total ? (long)total : -errno;
        if (got == 0)
            break;
        total += (size_t)got;
    }
    return (long)total;
}

static bool is_known(const struct pfdd_session *s,
                     const struct pfd_tail_item *item)
{
    return s->skipping && item->is_entry &&
           (item->generation < s->skip.generation ||
            (item->generation == s->skip.generation &&
             item->entry->index <= s->skip.index));
}

/* Those that no item says: they do not go back, even where the tail's do. */
static void sum_bytes(struct pfdd_session *s)
{
    struct pfd_summary summary;
    struct pfdd_sums *sums = &s->sums;
    pfd_tail_summary(s->tail, &summary);
    if (summary.lost_bytes > sums->lost_bytes)
        sums->lost_bytes = summary.lost_bytes;
    if (summary.skipped_bytes > sums->skipped_bytes)
        sums->skipped_bytes = summary.skipped_bytes;
}

static void note_generation(struct pfdd_session *s, uint64_t generation)
{
    if (generation == s->generation)
        return;
    sum_bytes(s);
    s->ended = s->sums;
    s->generation = generation;
}

static void take_item(void *user, const struct pfd_tail_item *item)
{
    struct pfdd_session *s = user;
    note_generation(s, item->generation);
    if (is_known(s, item))
        return;
    pfdd_sums_item(&s->sums, item);
    if (s->options.is_trial)
        return;
    pfdd_maker_put(&s->maker, item, s->options.generation + item->generation);
    if (s->maker.made.n > s->memory.n_piece)
        pfdd_pool_pause(&s->job);
}

static bool make_tail(struct pfdd_session *s)
{
    struct pfd_tail_options options = {
        .strings = s->strings->set,
        .format = s->options.format,
        .options = s->options.options,
        .source = s->options.name,
        .settle_ns = s->options.settle_ms * 1000000,
        .apart_ns = BETWEEN_LOOKS_US * UINT64_C(1000),
        .window = WINDOW,
        .give = GIVE,
        .farther = s->memory.n_farther,
        .memory = s->memory.n_image,
        .arrives = s->options.arrives,
        .read = read_buffer,
        .read_user = s,
        .item = take_item,
        .item_user = s,
    };
    s->status = pfd_tail_new(&options, &s->tail, &s->err);
    return s->status == PFD_OK;
}

static uint64_t clock_of(const struct pfdd_session *s)
{
    return uv_hrtime() + s->ahead;
}

/*
 * A buffer that is complete: window by window, as if time flew, so that memory
 * stays bounded; then what is left. True: that is all.
 */
static bool look_to_the_end(struct pfdd_session *s)
{
    for (int i = 0; i < LOOKS && s->maker.made.n < CHUNKS_ENOUGH; i++) {
        s->ahead += 2 * (s->options.settle_ms + 1) * UINT64_C(1000000);
        s->status = pfd_tail_look(s->tail, s->n_buffer, clock_of(s), &s->err);
        s->n_quiet = s->status == PFD_OK ? 0 : s->n_quiet + 1;
        if (s->n_quiet < QUIET)
            continue;
        s->n_quiet = 0;
        s->status = pfd_tail_finish(s->tail, s->n_buffer, &s->err);
        return true;
    }
    return false;
}

static void look(struct pfdd_session *s)
{
    struct stat st;
    s->finished = false;
    if (fstat(s->options.fd, &st) != 0) {
        s->status = PFD_ERR_IO;
        snprintf(s->err.text, sizeof s->err.text, "%s", strerror(errno));
        s->finished = s->finish;
        return;
    }
    s->n_buffer = (uint64_t)st.st_size;
    if (s->finish) {
        s->finished = look_to_the_end(s);
        return;
    }
    s->status = pfd_tail_look(s->tail, s->n_buffer, clock_of(s), &s->err);
    /* The second look need not wait for the loop's timer, which is no finer
     * than a millisecond, while nobody else needs this thread. */
    bool too_soon = s->status == PFD_MORE && s->burst;
    bool only_seen = s->status == PFD_OK && !pfdd_maker_has_entries(&s->maker);
    if (s->linger && (too_soon || only_seen) && pfd_tail_pending(s->tail)) {
        usleep(BETWEEN_LOOKS_US + 20);
        s->status = pfd_tail_look(s->tail, s->n_buffer, clock_of(s), &s->err);
    }
}

static void run_job(struct pfdd_job *job)
{
    struct pfdd_session *s = (struct pfdd_session *)job;
    s->status = PFD_OK;
    if (!s->tail && !make_tail(s))
        return;
    if (s->restart)
        pfd_tail_restart(s->tail);
    if (s->new_strings) {
        s->status = pfd_tail_set_strings(s->tail, s->strings->set, &s->err);
        if (s->status < 0)
            return;
        s->new_strings = false;
    }
    look(s);
    sum_bytes(s);
    pfdd_maker_cut(&s->maker);
}

/* ---- on the loop ---- */

static void count_sums(struct pfdd_session *s)
{
    if (s->options.is_trial)
        return;
    pfdd_sums_add(&s->d->sums, &s->sums, &s->counted);
    s->counted = s->sums;
}

static void tell_sums(struct pfdd_session *s, const char *what,
                      const struct pfdd_sums *sums)
{
    char text[PFDD_SUMS_TEXT];
    pfdd_sums_text(sums, text);
    bool bad = pfdd_sums_are_bad(sums);
    pfdd_log_about(bad ? &s->d->told_bad : &s->d->told_well,
                   bad ? PFDD_WARNING : PFDD_INFO, "%s: %s: %s",
                   s->options.name, what, text);
}

/* Buffers may begin anew many times a second: of these, what went wrong. */
static void tell_generation(struct pfdd_session *s)
{
    struct pfdd_sums sums = { 0 };
    pfdd_sums_add(&sums, &s->ended, &s->told);
    s->told = s->ended;
    if (pfdd_sums_are_bad(&sums) && !s->options.is_trial)
        tell_sums(s, "begins anew; before that", &sums);
}

static void free_session(struct pfdd_session *s)
{
    struct pfdd *d = s->d;
    void (*ended)(void *) = s->options.ended;
    void *user = s->options.user;
    if (!s->options.is_trial)
        tell_sums(s, "ended", &s->sums);
    if (s->options.sums)
        *s->options.sums = s->sums;
    pfdd_session_memory_release(&s->memory);
    pfd_tail_free(s->tail);
    pfdd_strings_unref(s->old_strings);
    pfdd_strings_unref(s->strings);
    pfdd_scope_unref(s->options.scope);
    pfdd_head_deinit(&s->head);
    close(s->options.fd);
    pfdd_session_unlink(&d->sessions, s);
    pfdd_sources_release(&d->sources, s->source);
    if (ended)
        ended(user);
    pfdd_made_drop(&s->ready);
    pfdd_maker_deinit(&s->maker);
    pfdd_buffer_unref(s->buffer);
    free((void *)(uintptr_t)s->options.name);
    free((void *)(uintptr_t)s->options.format);
    free(s);
    pfdd_session_ended(d);
}

/* The last entry of a batch. */
static void note_kept(struct pfdd_session *s, const struct pfdd_made *b)
{
    const struct pfdd_contents *last = NULL;
    for (const struct pfdd_chunk *c = b->first; c; c = c->next)
        last = c->contents.n[PFDD_ENTRY] ? &c->contents : last;
    if (s->options.kept && last) {
        pfdd_kept_note(s->options.kept, s->options.fd, last->last.generation,
                       last->last.index, last->last.offset, last->last_bytes);
    }
}

static void give_chunks(struct pfdd_session *s, struct pfdd_made *b)
{
    struct pfdd *d = s->d;
    struct pfdd_stamp stamp = { .source = s->source,
                                .time = s->time ? s->time : pfdd_time_now(),
                                .buffer = s->buffer };
    size_t n = b->n;
    note_kept(s, b);
    pfdd_sources_count(&d->sources, s->source, b->n_entries, 0);
    if (b->first)
        pfdd_ring_append(&d->ring, &stamp, b->first);
    if (b->lost)
        pfdd_session_gap(s, "no_memory", b->lost);
    d->batch = n > d->batch ? n : d->batch - (d->batch - n) / 8;
    pfdd_made_init(b);
}

/* The look waits until the ring has what it has made so far. */
static void take_piece(struct pfdd_session *s)
{
    if (s->abandoned) {
        pfdd_made_drop(&s->maker.made);
    } else if (pfdd_must_wait(s->d)) {
        return; /* the poller comes again */
    } else {
        give_chunks(s, &s->maker.made);
    }
    s->has_piece = false;
    pfdd_pool_resume(&s->job);
}

static void job_paused(struct pfdd_job *job)
{
    struct pfdd_session *s = (struct pfdd_session *)job;
    s->has_piece = true;
    take_piece(s);
    if (s->has_piece)
        pfdd_poller_kick(s->d->poller);
}

static void hear_failure(struct pfdd_session *s)
{
    bool failed = s->status < 0;
    if (failed && !s->io_failed && !s->options.is_trial) {
        pfdd_log(PFDD_WARNING, "%s: %s", s->options.name, s->err.text);
        pfdd_session_gap(s, "read_error", 0);
    }
    s->io_failed = failed;
}

static bool start_job(struct pfdd_session *s, bool burst);

/* What the job has left, before another one starts. True: something moved. */
static bool take_over(struct pfdd_session *s)
{
    pfdd_made_move(&s->ready, &s->maker.made);
    bool moved = s->ready.first || s->status == PFD_OK;
    s->pending = s->tail && pfd_tail_pending(s->tail) > 0;
    s->has_holes = s->tail && pfd_tail_holes(s->tail) > 0;
    s->memory.n_tail = s->tail ? pfd_tail_memory(s->tail) : 0;
    s->looked = uv_hrtime();
    if (moved)
        s->moved = s->looked;
    pfdd_session_memory_charge(&s->memory);
    return moved;
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_session *s = (struct pfdd_session *)job;
    s->busy = false;
    pfdd_session_memory_give_back(&s->memory);
    if (!s->new_strings) {
        pfdd_strings_unref(s->old_strings);
        s->old_strings = NULL;
    }
    bool finished = s->finish && (s->finished || s->status < 0);
    count_sums(s);
    if (s->abandoned) {
        free_session(s);
        return;
    }
    if (memcmp(&s->ended, &s->told, sizeof s->told) != 0)
        tell_generation(s);
    bool moved = take_over(s);
    /* A burst is read at full speed, while the loop takes what came before. */
    bool burst = moved && s->pending && !s->finish && s->status == PFD_OK &&
                 pfd_tail_pending(s->tail) > GIVE;
    bool started = burst && start_job(s, true);
    give_chunks(s, &s->ready);
    if (started)
        return;
    hear_failure(s);
    if (finished) {
        s->completing = false;
        if (s->closing && !s->wants_restart) {
            free_session(s);
            return;
        }
    }
    /* A finished buffer goes on at once, too. */
    if (!s->finish || finished || !start_job(s, false))
        pfdd_poller_kick(s->d->poller);
}

/* What all others hold that they can do without for a while. */
static void trim_others(struct pfdd_session *s)
{
    for (struct pfdd_session *o = s->d->sessions; o; o = o->next) {
        if (o == s || o->busy || !o->tail)
            continue;
        pfd_tail_trim(o->tail);
        o->memory.n_tail = pfd_tail_memory(o->tail);
        pfdd_session_memory_charge(&o->memory);
    }
}

/*
 * Memory for a look, before it takes any. False: others that are on their way
 * give some back. The share of looks has enough for one, once nobody holds any
 * beside what was asked for when the buffers came.
 */
static bool find_memory(struct pfdd_session *s)
{
    struct stat st;
    struct pfdd *d = s->d;
    size_t n_buffer =
        fstat(s->options.fd, &st) == 0 ? (size_t)st.st_size : SIZE_MAX;
    size_t n = pfdd_session_memory_wants(&s->memory, n_buffer);
    if (!pfdd_has_look_room(d, n)) {
        d->count.waits++;
        if (d->n_looks)
            return false;
        trim_others(s);
    }
    pfdd_session_memory_grant(&s->memory, n);
    return true;
}

static bool start_job(struct pfdd_session *s, bool burst)
{
    struct pfdd *d = s->d;
    if (s->busy || pfdd_must_wait(d) ||
        pfdd_library_is_busy_for(d->library, s->options.scope) ||
        !find_memory(s))
        return false;
    struct pfdd_strings *strings =
        pfdd_library_bind(d->library, s->options.scope)->strings;
    if (strings != s->strings && !s->old_strings) {
        s->old_strings = s->strings;
        s->strings = pfdd_strings_ref(strings);
        s->new_strings = true;
    }
    /* What ended before a restart was announced comes first. */
    s->finish = s->completing || (s->closing && !s->wants_restart);
    s->restart = s->wants_restart && !s->finish;
    if (s->restart) {
        s->wants_restart = false;
        s->completing = s->completes_next;
    }
    s->burst = burst;
    s->linger = pfdd_pool_pending(d->decoders) == 0;
    s->busy = true;
    pfdd_pool_submit(d->decoders, &s->job);
    return true;
}

/* What its chunks say of it. */
static struct pfdd_buffer *make_buffer(
    struct pfdd *d, const struct pfdd_session_options *options)
{
    struct pfd_lines *lines = NULL;
    struct pfdd_buffer *ret = NULL;
    if (pfd_lines_new("json", false, true, &lines, NULL) == PFD_OK &&
        (!options->origin ||
         pfd_lines_set_origin(lines, options->origin) == PFD_OK)) {
        ret = pfdd_buffer_new(options->name, pfd_lines_origin_members(lines),
                              pfdd_library_bind(d->library, options->scope),
                              &options->options);
    }
    pfd_lines_free(lines);
    return ret;
}

struct pfdd_session *pfdd_session_new(
    struct pfdd *d, const struct pfdd_session_options *options)
{
    struct pfdd_session *s = calloc(1, sizeof *s);
    char *name = strdup(options->name);
    char *format = options->format ? strdup(options->format) : NULL;
    bool ok =
        s && name && (format || !options->format) && pfdd_maker_init(&s->maker);
    if (ok)
        s->buffer = make_buffer(d, options);
    if (!ok || !s->buffer) {
        if (s)
            pfdd_maker_deinit(&s->maker);
        free(s);
        free(name);
        free(format);
        close(options->fd);
        return NULL;
    }
    pfdd_made_init(&s->ready);
    s->options = *options;
    pfdd_scope_ref(options->scope);
    s->options.name = name;
    s->options.format = format;
    s->options.origin = NULL;
    s->d = d;
    s->job.run = run_job;
    s->job.done = job_done;
    s->job.half = job_paused;
    pfdd_session_memory_init(&s->memory, d, sizeof *s);
    s->source = pfdd_sources_find(&d->sources, name);
    pfdd_sources_hold(&d->sources, s->source, options->resume);
    s->completing = options->complete;
    s->moved = uv_hrtime();
    pfdd_head_init(&s->head, options->fd);
    s->next = d->sessions;
    d->sessions = s;
    pfdd_session_memory_charge(&s->memory);
    if (options->resume && d->queue) {
        s->skipping =
            pfdd_queue_position(d->queue, name, options->fd, &s->skip);
    }
    if (options->kept && pfdd_kept_holds(options->kept, options->fd)) {
        s->skipping = true;
        s->skip = (struct pfdd_position){ 0, options->kept->index,
                                          options->kept->offset };
        s->options.generation = options->kept->generation;
    }
    pfdd_poller_kick(d->poller);
    return s;
}

void pfdd_session_use(struct pfdd_session *s, struct pfdd_scope *scope)
{
    struct pfdd_buffer *buffer = pfdd_buffer_new(
        s->buffer->name, s->buffer->origin,
        pfdd_library_bind(s->d->library, scope), &s->buffer->options);
    if (buffer) {
        pfdd_buffer_unref(s->buffer);
        s->buffer = buffer;
    }
    pfdd_scope_ref(scope);
    pfdd_scope_unref(s->options.scope);
    s->options.scope = scope;
}

void pfdd_session_hand_over(struct pfdd_session *s, void *user)
{
    s->options.user = user;
}

void pfdd_session_gap(struct pfdd_session *s, const char *reason,
                      uint64_t missed)
{
    struct pfdd *d = s->d;
    struct pfdd_stamp stamp = { .source = s->source,
                                .time = pfdd_time_now(),
                                .buffer = s->buffer };
    pfdd_sources_count(&d->sources, s->source, 0, 1);
    d->count.gap_lines += missed;
    pfdd_ring_gap(&d->ring, &stamp, reason, missed);
}

bool pfdd_session_write(struct pfdd_session *s, uint64_t offset,
                        const void *bytes, size_t n)
{
    if (!pfdd_write_at(s->options.fd, bytes, n, offset))
        return false;
    /* What lies between takes none. */
    struct stat st;
    if (fstat(s->options.fd, &st) == 0)
        s->memory.n_written = (size_t)st.st_blocks * 512;
    pfdd_session_memory_charge(&s->memory);
    return true;
}

void pfdd_session_time(struct pfdd_session *s, uint64_t time)
{
    s->time = time;
}

void pfdd_session_ring(struct pfdd_session *s)
{
    s->moved = uv_hrtime();
    s->due = 0;
    pfdd_head_forget(&s->head);
    pfdd_poller_kick(s->d->poller);
}

void pfdd_session_complete(struct pfdd_session *s)
{
    if (s->wants_restart) {
        s->completes_next = true;
    } else {
        s->completing = true;
    }
    pfdd_session_ring(s);
}

void pfdd_session_restart(struct pfdd_session *s)
{
    s->wants_restart = true;
    s->completes_next = false;
    pfdd_session_ring(s);
}

void pfdd_session_close(struct pfdd_session *s)
{
    s->closing = true;
    pfdd_session_ring(s);
}

/* Nothing in the head has changed, nothing is awaited: no look is needed. */
static bool is_still(struct pfdd_session *s, uint64_t now)
{
    bool same = !pfdd_head_has_changed(&s->head);
    s->d->count.polls++;
    bool awaited = s->has_holes && now - s->moved < LATELY_MS * NS_PER_MS;
    return same && !s->pending &&
           now - s->looked <
               (awaited ? LOOK_AT_HOLES_MS : LOOK_ANYWAY_MS) * NS_PER_MS;
}

static unsigned interval(const struct pfdd_session *s, uint64_t now)
{
    uint64_t idle_ms = (now - s->moved) / 1000000;
    if (idle_ms < 100 || s->pending)
        return 1;
    if (idle_ms < 1000)
        return 5;
    return idle_ms < 10000 ? 20 : 50;
}

unsigned pfdd_session_poll(struct pfdd_session *s, uint64_t now)
{
    unsigned every = interval(s, now);
    if (s->has_piece) {
        take_piece(s);
        return 1;
    }
    if (s->busy)
        return every;
    if (now < s->due)
        return (unsigned)((s->due - now) / 1000000) + 1;
    /* All that are polled at this pace have their turn together. */
    uint64_t step = every * UINT64_C(1000000);
    s->due = every > 1 ? (now / step + 1) * step : 0;
    bool asked = s->completing || s->closing || s->wants_restart;
    /* The tail would do nothing, and what has changed would be forgotten. */
    if (!asked && now - s->looked < BETWEEN_LOOKS_US * UINT64_C(1000)) {
        s->due = 0;
        return 1;
    }
    if (!asked && is_still(s, now))
        return every;
    if (!asked && !s->pending) {
        s->moved = now - s->looked < LOOK_ANYWAY_MS * UINT64_C(1000000)
                       ? now
                       : s->moved;
    }
    if (!start_job(s, false)) /* it has to wait: this was no look */
        pfdd_head_forget(&s->head);
    return every > 5 ? 5 : every;
}

struct pfdd_session *pfdd_session_next(const struct pfdd_session *s)
{
    return s->next;
}

void pfdd_session_unlink(struct pfdd_session **list, struct pfdd_session *s)
{
    while (*list != s)
        list = &(*list)->next;
    *list = s->next;
}

void pfdd_sessions_begin_with(struct pfdd *d, struct pfdd_session *first)
{
    struct pfdd_session **before = &d->sessions;
    struct pfdd_session *last = first;
    if (d->sessions == first)
        return;
    while (*before != first)
        before = &(*before)->next;
    while (last->next)
        last = last->next;
    last->next = d->sessions;
    d->sessions = first;
    *before = NULL;
}

void pfdd_sessions_wake(struct pfdd *d)
{
    for (struct pfdd_session *s = d->sessions; s; s = s->next)
        pfdd_session_ring(s);
}

void pfdd_sessions_abandon(struct pfdd *d)
{
    struct pfdd_session *next = NULL;
    for (struct pfdd_session *s = d->sessions; s; s = next) {
        next = s->next;
        s->abandoned = true;
        if (s->has_piece) {
            take_piece(s);
        } else if (!s->busy) {
            free_session(s);
        }
    }
}
