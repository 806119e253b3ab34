/* SPDX-License-Identifier: MIT */
#include "ingest/follower.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/tail.h>

#include "base/buffer_stats.h"
#include "base/log.h"
#include "ingest/fd_store.h"
#include "ingest/follower_resume.h"
#include "ingest/ingest.h"
#include "ingest/origin.h"
#include "ingest/poller.h"
#include "ingest/read_pass.h"
#include "ingest/string_store.h"
#include "spool/spool.h"
#include "spool/spool_records.h"
#include "stream/capture/chunk.h"
#include "stream/live/live_source.h"
#include "stream/live/tail_control.h"

enum {
    LOOK_ANYWAY_MS = 2000,
    NEW_STRINGS_MS = 100,
    LOOK_AT_HOLES_MS = 20, /* while entries are reserved but not written, and
                              the last change is newer than LATELY_MS */
    LATELY_MS = 10000,
};

#define NS_PER_MS UINT64_C(1000000)

static void close_file(const struct pfdd_follower_options *options)
{
    if (!options->memory)
        close(options->fd);
}

static void free_follower(struct pfdd_follower *s)
{
    struct pfdd_ingest *ingest = s->ingest;
    void (*ended)(void *) = s->options.ended;
    void *user = s->options.user;
    if (!s->options.is_trial) {
        pfdd_follower_stats_log_end(&s->pass.stats, &ingest->outcome,
                                    s->options.name);
    }
    if (s->options.buffer_stats)
        *s->options.buffer_stats = s->pass.stats.all;
    pfdd_follower_resume_end(s);
    pfdd_follower_memory_release(&s->memory);
    pfd_tail_free(s->pass.tail);
    pfdd_strings_unref(s->pass.old_strings);
    pfdd_strings_unref(s->strings);
    pfdd_producer_unref(s->options.producer);
    pfdd_buffer_bytes_deinit(&s->buffer_bytes);
    close_file(&s->options);
    struct pfdd_follower **at = &ingest->followers;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pfdd_source_table_release(ingest->source_table, s->source);
    if (ended)
        ended(user);
    pfdd_chunk_batch_drop(&s->ready);
    pfdd_chunker_deinit(&s->pass.chunker);
    pfdd_buffer_unref(s->buffer);
    free((void *)(uintptr_t)s->options.name);
    free((void *)(uintptr_t)s->options.format);
    free(s);
    ingest->on_ended(ingest);
}

static void give_chunks(struct pfdd_follower *s, struct pfdd_chunk_batch *b)
{
    struct pfdd_ingest *ingest = s->ingest;
    struct pfdd_stamp stamp = { .source = s->source,
                                .time = s->time ? s->time : pfdd_time_now(),
                                .buffer = s->buffer };
    size_t n = b->n;
    pfdd_follower_resume_note(s, b);
    pfdd_source_table_count(ingest->source_table, s->source, b->n_entries, 0);
    if (b->first)
        pfdd_ring_append(ingest->ring, &stamp, b->first);
    if (b->lost)
        pfdd_follower_gap(s, "no_memory", b->lost);
    ingest->batch =
        n > ingest->batch ? n : ingest->batch - (ingest->batch - n) / 8;
    pfdd_chunk_batch_init(b);
}

/* Appends the handed batch to the ring. If the ring is full, the read pass
 * waits before it hands over more. */
static void append_handed(struct pfdd_follower *s)
{
    if (s->abandoned) {
        pfdd_chunk_batch_drop(&s->pass.handed);
    } else if (pfdd_is_backlogged(s->ingest)) {
        return; /* the poller tries again */
    } else {
        give_chunks(s, &s->pass.handed);
    }
    s->waits_for_ring = false;
    pfdd_pool_taken(&s->job);
}

static void job_handed(struct pfdd_job *job)
{
    struct pfdd_follower *s = (struct pfdd_follower *)job;
    s->waits_for_ring = true;
    append_handed(s);
    if (s->waits_for_ring)
        pfdd_poller_kick(s->ingest->poller);
}

/* Producers cannot hide that a file of the configuration fails. */
static void tell_failure(const struct pfdd_follower *s)
{
    if (s->options.account) {
        pfdd_log_peer(PFDD_WARNING, "%s: %s", s->options.name,
                      s->pass.err.text);
    } else {
        pfdd_log(PFDD_WARNING, "%s: %s", s->options.name, s->pass.err.text);
    }
}

static void report_failure(struct pfdd_follower *s)
{
    bool failed = s->pass.status < 0;
    if (s->pass.was_still) /* nothing was read */
        return;
    if (failed && (!s->io_failed || s->pass.is_gone) && !s->options.is_trial) {
        tell_failure(s);
        pfdd_follower_gap(s, s->pass.is_gone ? "process_ended" : "read_error",
                          0);
    }
    s->io_failed = failed;
}

static bool start_job(struct pfdd_follower *s, bool burst);

/* Takes over the results of the job before another one starts. True: there was
 * progress. */
static bool take_over(struct pfdd_follower *s)
{
    pfdd_chunk_batch_move(&s->ready, &s->pass.chunker.chunk_batch);
    bool moved = s->ready.first || s->pass.status == PFD_OK;
    s->pending = s->pass.tail && pfd_tail_pending(s->pass.tail) > 0;
    s->has_holes = s->pass.tail && pfd_tail_holes(s->pass.tail) > 0;
    s->size = s->pass.n_buffer;
    s->memory.n_tail = s->pass.tail ? pfd_tail_memory(s->pass.tail) : 0;
    pfdd_follower_memory_give_whole_back(&s->memory);
    if (!s->pass.was_still)
        s->times.looked = uv_hrtime();
    if (moved || (s->pass.may_be_still && !s->pass.was_still))
        s->times.moved = s->times.looked;
    pfdd_follower_memory_charge(&s->memory);
    return moved;
}

static void count(struct pfdd_follower *s)
{
    struct pfdd_source_troubles troubles;
    pfdd_follower_stats_troubles(&s->pass.stats, s->pass.n_buffer, &troubles);
    pfdd_source_table_trouble(s->ingest->source_table, s->source, &troubles);
    pfdd_follower_stats_count(&s->pass.stats, &s->ingest->outcome);
}

/* Earlier chunks stay bound to the strings that were evicted; chunks from now
 * on are bound to the strings of their read pass. */
static void rebind(struct pfdd_follower *s)
{
    const struct pfdd_binding *b =
        pfdd_string_store_bind(s->ingest->string_store, s->options.producer);
    if (b != s->buffer->binding && b->strings == s->strings)
        pfdd_follower_use(s, s->options.producer);
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_follower *s = (struct pfdd_follower *)job;
    s->busy = false;
    pfdd_follower_memory_give_back(&s->memory);
    if (!s->pass.new_strings) {
        pfdd_strings_unref(s->pass.old_strings);
        s->pass.old_strings = NULL;
    }
    bool finished = s->pass.finish && (s->pass.finished || s->pass.status < 0);
    if (!s->options.is_trial)
        count(s);
    if (s->abandoned) {
        free_follower(s);
        return;
    }
    if (!s->options.is_trial) {
        pfdd_follower_stats_log_generation(&s->pass.stats, &s->ingest->outcome,
                                           s->options.name);
    }
    bool moved = take_over(s);
    /* A burst is read at full speed, while the loop takes the previous
     * chunks. */
    bool burst = moved && s->pending && !s->pass.finish &&
                 s->pass.status == PFD_OK &&
                 pfd_tail_pending(s->pass.tail) > PFDD_MUCH;
    bool started = burst && start_job(s, true);
    give_chunks(s, &s->ready);
    if (started) {
        rebind(s);
        return;
    }
    report_failure(s);
    if (s->pass.is_gone) {
        free_follower(s);
        return;
    }
    if (finished) {
        s->completing = false;
        if (s->closing && !s->wants_restart) {
            free_follower(s);
            return;
        }
    }
    /* A finished buffer continues at once, too. */
    if (!s->pass.finish || finished || !start_job(s, false))
        pfdd_poller_kick(s->ingest->poller);
}

/* A generation that was completed before a restart was announced comes
 * first. */
static bool is_to_finish(const struct pfdd_follower *s)
{
    return s->completing || (s->closing && !s->wants_restart);
}

/* Trims the tails of all other idle followers, which can do without that memory
 * for a while. */
static void trim_others(struct pfdd_follower *s)
{
    for (struct pfdd_follower *o = s->ingest->followers; o; o = o->next) {
        if (o == s || o->busy || !o->pass.tail)
            continue;
        pfd_tail_trim(o->pass.tail);
        o->memory.n_tail = pfd_tail_memory(o->pass.tail);
        pfdd_follower_memory_charge(&o->memory);
    }
}

/*
 * Reserves memory for a read pass. False: other passes in flight will release
 * some, or are as many as one producer may have. The share of read passes
 * suffices for one pass, once no follower holds more than was requested when
 * its buffer came.
 */
static bool find_memory(struct pfdd_follower *s)
{
    struct pfdd_ingest *ingest = s->ingest;
    size_t n_buffer = pfdd_buffer_bytes_size(&s->buffer_bytes);
    if (is_to_finish(s) &&
        !(s->pass.tail && pfd_tail_is_followed(s->pass.tail)))
        s->pass.n_whole = pfdd_follower_memory_whole(&s->memory, n_buffer);
    size_t n = pfdd_follower_memory_wants(&s->memory, n_buffer);
    if (!pfdd_memory_budget_has_for_read_pass(ingest->budget, n)) {
        ingest->count->waits++;
        if (ingest->budget->n_looks)
            return false;
        trim_others(s);
    }
    if (pfdd_follower_memory_grant(&s->memory, n))
        return true;
    ingest->count->waits++;
    return false;
}

static bool start_job(struct pfdd_follower *s, bool burst)
{
    struct pfdd_ingest *ingest = s->ingest;
    s->awaits_strings = pfdd_string_store_is_busy_for(ingest->string_store,
                                                      s->options.producer);
    if (s->busy || s->awaits_strings || pfdd_is_backlogged(ingest) ||
        !find_memory(s))
        return false;
    struct pfdd_strings *strings =
        pfdd_string_store_bind(ingest->string_store, s->options.producer)
            ->strings;
    if (strings != s->strings && !s->pass.old_strings) {
        s->pass.old_strings = s->strings;
        s->strings = pfdd_strings_ref(strings);
        s->pass.new_strings = true;
    }
    s->pass.finish = is_to_finish(s);
    s->pass.restart = s->wants_restart && !s->pass.finish;
    if (s->pass.restart) {
        s->wants_restart = false;
        s->completing = s->completes_next;
    }
    s->pass.burst = burst;
    s->pass.may_be_still &= !burst && !s->pass.finish;
    if (!burst)
        rebind(s);
    s->pass.linger = pfdd_pool_pending(ingest->thread_pools->decoders) == 0;
    s->busy = true;
    pfdd_pool_submit(ingest->thread_pools->decoders, &s->job);
    return true;
}

static struct pfdd_buffer *make_buffer(
    struct pfdd_ingest *ingest, const struct pfdd_follower_options *options)
{
    struct pfdd_buffer_options said = {
        .name = options->name,
        .frame = options->origin,
        .binding =
            pfdd_string_store_bind(ingest->string_store, options->producer),
        .scope = pfdd_producer_number(options->producer),
        .options = &options->options,
    };
    return pfdd_origin_buffer(&said);
}

/* Appends a follower: those waiting for a read pass come first. */
static void put_last(struct pfdd_follower **list, struct pfdd_follower *s)
{
    while (*list)
        list = &(*list)->next;
    *list = s;
}

struct pfdd_follower *pfdd_follower_new(
    struct pfdd_ingest *ingest, const struct pfdd_follower_options *options)
{
    struct pfdd_follower *s = calloc(1, sizeof *s);
    char *name = strdup(options->name);
    char *format = options->format ? strdup(options->format) : NULL;
    bool ok = s && name && (format || !options->format) &&
              pfdd_buffer_bytes_init(&s->buffer_bytes, options->fd,
                                     options->memory, options->n_memory);
    ok = ok && pfdd_chunker_init(&s->pass.chunker);
    if (ok) {
        pfd_source_set_walk_pool(s->buffer_bytes.source,
                                 ingest->thread_pools->walk_pool);
        if (pfdd_follower_memory_is_ample(ingest->budget))
            s->walk_pool = ingest->thread_pools->walk_pool;
        s->buffer = make_buffer(ingest, options);
    }
    if (!ok || !s->buffer) {
        if (s) {
            pfdd_buffer_bytes_deinit(&s->buffer_bytes);
            pfdd_chunker_deinit(&s->pass.chunker);
        }
        free(s);
        free(name);
        free(format);
        close_file(options);
        return NULL;
    }
    pfdd_chunk_batch_init(&s->ready);
    pfdd_chunk_batch_init(&s->pass.handed);
    s->options = *options;
    pfdd_producer_ref(options->producer);
    s->options.name = name;
    s->options.format = format;
    s->options.origin = NULL;
    s->ingest = ingest;
    s->job.run = pfdd_read_pass;
    s->job.done = job_done;
    s->job.half = job_handed;
    pfdd_follower_memory_init(&s->memory, ingest->budget, options->account,
                              sizeof *s + s->buffer->n_bytes);
    s->source =
        pfdd_source_table_find(ingest->source_table, name, s->buffer->host);
    pfdd_source_table_hold(ingest->source_table, s->source, options->resume);
    s->completing = options->complete;
    s->times.moved = uv_hrtime();
    put_last(&ingest->followers, s);
    pfdd_follower_memory_charge(&s->memory);
    pfdd_follower_resume(s);
    pfdd_poller_kick(ingest->poller);
    return s;
}

void pfdd_follower_use(struct pfdd_follower *s, struct pfdd_producer *producer)
{
    struct pfdd_buffer_options options = {
        .name = s->buffer->name,
        .frame = s->buffer->frame,
        .origin = s->buffer->origin,
        .binding = pfdd_string_store_bind(s->ingest->string_store, producer),
        .scope = pfdd_producer_number(producer),
        .options = &s->buffer->options,
    };
    struct pfdd_buffer *buffer = pfdd_buffer_new(&options);
    if (buffer) {
        pfdd_buffer_unref(s->buffer);
        s->buffer = buffer;
    }
    pfdd_producer_ref(producer);
    pfdd_producer_unref(s->options.producer);
    s->options.producer = producer;
}

void pfdd_follower_hand_over(struct pfdd_follower *s, void *user,
                             struct pfdd_resource_account *account)
{
    s->options.user = user;
    pfdd_follower_memory_move(&s->memory, account);
}

bool pfdd_follower_append_chunk(struct pfdd_follower *s,
                                const struct pfd_wire_frame *f,
                                const char **why)
{
    struct pfd_chunk_counts counts;
    struct pfdd_chunk_batch chunk_batch;
    *why = NULL;
    if (f->bytes.n > PFDD_DECODED_CHUNK_MAX) {
        *why = "too_large";
        return true;
    }
    /* Its strings come first. */
    if (pfdd_is_backlogged(s->ingest) ||
        pfdd_string_store_is_busy_for(s->ingest->string_store,
                                      s->options.producer))
        return false;
    pfdd_chunk_batch_init(&chunk_batch);
    if (pfd_chunk_count(f->bytes.at, f->bytes.n, &counts, NULL) != PFD_OK) {
        *why = "bad_frame";
    } else if (!pfdd_chunk_batch_add(&chunk_batch, f, &counts)) {
        *why = "no_memory";
    } else {
        uint64_t time = s->time;
        s->time = f->time;
        pfdd_follower_stats_add_chunk(&s->pass.stats, &s->ingest->outcome,
                                      &counts);
        pfdd_source_table_trouble(s->ingest->source_table, s->source,
                                  &(struct pfdd_source_troubles){
                                      .findings = counts.findings,
                                      .lost_bytes = counts.lost_bytes,
                                      .skipped_bytes = counts.skipped_bytes });
        give_chunks(s, &chunk_batch);
        s->time = time;
    }
    return true;
}

void pfdd_follower_gap(struct pfdd_follower *s, const char *reason,
                       uint64_t missed)
{
    struct pfdd_ingest *ingest = s->ingest;
    struct pfdd_stamp stamp = { .source = s->source,
                                .time = pfdd_time_now(),
                                .buffer = s->buffer };
    pfdd_source_table_count(ingest->source_table, s->source, 0, 1);
    ingest->count->gap_lines += missed;
    pfdd_ring_gap(ingest->ring, &stamp, reason, missed);
}

bool pfdd_follower_write(struct pfdd_follower *s, uint64_t offset,
                         const void *bytes, size_t n)
{
    if (!pfdd_write_at(s->options.fd, bytes, n, offset))
        return false;
    /* Holes take no memory. */
    struct stat st;
    if (fstat(s->options.fd, &st) == 0)
        s->memory.n_written = (size_t)st.st_blocks * 512;
    pfdd_follower_memory_charge(&s->memory);
    return true;
}

bool pfdd_follower_extend(struct pfdd_follower *s, uint64_t n)
{
    return ftruncate(s->options.fd, (off_t)n) == 0;
}

void pfdd_follower_time(struct pfdd_follower *s, uint64_t time)
{
    s->time = time;
}

void pfdd_follower_ring(struct pfdd_follower *s)
{
    s->times.moved = uv_hrtime();
    s->times.due = 0;
    pfdd_buffer_bytes_forget(&s->buffer_bytes);
    pfdd_poller_kick(s->ingest->poller);
}

void pfdd_follower_complete(struct pfdd_follower *s)
{
    if (s->wants_restart) {
        s->completes_next = true;
    } else {
        s->completing = true;
    }
    pfdd_follower_ring(s);
}

void pfdd_follower_restart(struct pfdd_follower *s)
{
    s->wants_restart = true;
    s->completes_next = false;
    pfdd_follower_ring(s);
}

void pfdd_follower_close(struct pfdd_follower *s)
{
    s->closing = true;
    pfdd_follower_ring(s);
}

/* True: bytes are pending, or the last read pass is long ago; the header does
 * not matter. */
static bool is_due(const struct pfdd_follower *s, uint64_t now)
{
    bool awaited = s->has_holes && now - s->times.moved < LATELY_MS * NS_PER_MS;
    return s->pending ||
           now - s->times.looked >=
               (awaited ? LOOK_AT_HOLES_MS : LOOK_ANYWAY_MS) * NS_PER_MS;
}

/* True: the header has not changed, and no read pass is due. */
static bool is_still(struct pfdd_follower *s, uint64_t now)
{
    bool same = !pfdd_buffer_bytes_may_have_changed(&s->buffer_bytes);
    s->ingest->count->polls++;
    return same && !is_due(s, now);
}

/* There are newer strings. While more and more come, a read pass now and then
 * suffices. */
static bool has_old_strings(const struct pfdd_follower *s, uint64_t now)
{
    struct pfdd_ingest *ingest = s->ingest;
    return now - s->times.looked >= NEW_STRINGS_MS * NS_PER_MS &&
           pfdd_string_store_bind(ingest->string_store, s->options.producer)
                   ->strings != s->strings;
}

static unsigned interval(const struct pfdd_follower *s, uint64_t now)
{
    uint64_t idle_ns = s->pending ? 0 : now - s->times.moved;
    return (unsigned)(pfd_source_pause(idle_ns) / NS_PER_MS);
}

/* Begins a read pass if it is time; returns ms until the next poll. */
static unsigned poll_one(struct pfdd_follower *s, uint64_t now)
{
    unsigned every = interval(s, now);
    if (s->waits_for_ring) {
        append_handed(s);
        return 1;
    }
    if (s->busy)
        return every;
    if (now < s->times.due)
        return (unsigned)((s->times.due - now) / 1000000) + 1;
    /* All followers with this interval are polled together. */
    uint64_t step = every * UINT64_C(1000000);
    s->times.due = every > 1 ? (now / step + 1) * step : 0;
    bool asked = s->completing || s->closing || s->wants_restart;
    /* The tail would do nothing, and the change would be forgotten. */
    if (!asked &&
        now - s->times.looked < PFDD_BETWEEN_LOOKS_US * UINT64_C(1000)) {
        s->times.due = 0;
        return 1;
    }
    if (!asked && is_still(s, now)) {
        if (has_old_strings(s, now))
            start_job(s, false);
        return every;
    }
    s->pass.may_be_still = !asked &&
                           pfdd_buffer_bytes_are_of_process(&s->buffer_bytes) &&
                           !is_due(s, now);
    if (!asked && !s->pending &&
        !pfdd_buffer_bytes_are_of_process(&s->buffer_bytes)) {
        s->times.moved =
            now - s->times.looked < LOOK_ANYWAY_MS * UINT64_C(1000000)
                ? now
                : s->times.moved;
    }
    if (!start_job(s, false)) /* it has to wait: there was no read pass */
        pfdd_buffer_bytes_forget(&s->buffer_bytes);
    return every > 5 ? 5 : every;
}

static bool has_emitted(const struct pfdd_buffer_stats *buffer_stats)
{
    return buffer_stats->entries || pfdd_buffer_stats_are_bad(buffer_stats);
}

void pfdd_follower_see(const struct pfdd_follower *s,
                       struct pfdd_follower_view *ret)
{
    *ret = (struct pfdd_follower_view){
        .source = s->source,
        .size = s->size,
        .is_written = has_emitted(&s->pass.stats.counted) ||
                      has_emitted(&s->pass.stats.decoded),
        .has_holes = s->has_holes,
        .is_unread = s->io_failed,
        .waits = s->awaits_strings,
        .is_trial = s->options.is_trial,
    };
}

struct pfdd_follower *pfdd_follower_next(const struct pfdd_follower *s)
{
    return s->next;
}

/* Rotates the list so that this follower is the first. */
static void begin_with(struct pfdd_ingest *ingest, struct pfdd_follower *first)
{
    struct pfdd_follower **before = &ingest->followers;
    struct pfdd_follower *last = first;
    if (ingest->followers == first)
        return;
    while (*before != first)
        before = &(*before)->next;
    while (last->next)
        last = last->next;
    last->next = ingest->followers;
    ingest->followers = first;
    *before = NULL;
}

unsigned pfdd_followers_poll(void *user)
{
    struct pfdd_ingest *ingest = user;
    struct pfdd_follower *next = NULL;
    unsigned soonest = PFDD_POLL_MS;
    uint64_t now = uv_hrtime();
    uint64_t n_waits = ingest->count->waits;
    struct pfdd_follower *waiting = NULL;
    for (struct pfdd_follower *s = ingest->followers; s; s = next) {
        next = s->next;
        unsigned ms = poll_one(s, now);
        if (!waiting && ingest->count->waits != n_waits)
            waiting = s;
        if (ms < soonest)
            soonest = ms;
    }
    /* The follower that had to wait is the first next time. */
    if (waiting)
        begin_with(ingest, waiting);
    return ingest->followers ? soonest : UINT_MAX;
}

void pfdd_followers_wake(struct pfdd_ingest *ingest)
{
    for (struct pfdd_follower *s = ingest->followers; s; s = s->next) {
        if (s->awaits_strings &&
            !pfdd_string_store_is_busy_for(ingest->string_store,
                                           s->options.producer)) {
            s->awaits_strings = false;
            pfdd_follower_ring(s);
        }
    }
}

void pfdd_followers_abandon(struct pfdd_ingest *ingest)
{
    struct pfdd_follower *next = NULL;
    for (struct pfdd_follower *s = ingest->followers; s; s = next) {
        next = s->next;
        s->abandoned = true;
        if (s->waits_for_ring) {
            append_handed(s);
        } else if (!s->busy) {
            free_follower(s);
        }
    }
}
