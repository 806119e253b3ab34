/* SPDX-License-Identifier: MIT */
#include "spool/spool.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory_budget.h"
#include "base/outage.h"
#include "base/thread_pools.h"
#include "ring/cursor.h"
#include "ring/render_cache.h"
#include "ring/source_table.h"
#include "spool/checkpoint.h"
#include "spool/disk_quota.h"
#include "spool/group_commit.h"
#include "spool/spool_recovery.h"

enum {
    CHECKPOINT_MS = 1, /* from an acknowledgement to its checkpoint */
    RETRY_MS = 1000,
    STUCK_MS = 1500,   /* without an acknowledgement, until this is logged */
    ROOM = 512 * 1024, /* bytes of memory for writing, at least */
};

/* The write job's while it is in flight: its input and its result. */
struct spool_write {
    struct pfdd_job job;
    struct pfdd_group_commit group_commit;
    struct pfdd_blob_store_list list;
    struct pfdd_segment_place place;
    struct pfdd_segment_writer writer;
    struct pfdd_blob_store_size held;
    int error;
};

/* Likewise of the job that writes the checkpoint. */
struct spool_save {
    struct pfdd_job job;
    bool is_running;
    bool is_wanted; /* once more */
    char *text;
    uint64_t *going; /* [n_going]: removed once the checkpoint is written */
    bool has_failed;
    struct pfdd_blob_store_size held;
};

/* Likewise of the job that adds new code objects. */
struct spool_growth {
    struct pfdd_job job;
    bool is_running;
    bool is_failing;
    struct pfdd_outage outage;
    struct pfdd_blob_store_list list;
    struct pfdd_blob_store_size held;
    int error;
};

struct pfdd_spool {
    struct pfdd_spool_parts parts;
    char *dir;
    int lock;
    struct pfdd_disk_quota disk_quota;
    struct pfdd_consumers consumers;
    struct pfdd_checkpoint known; /* changed by the loop only */
    uint64_t next_seq;
    uint64_t errors;
    struct pfdd_blob_store_size held;
    struct pfdd_cursor cursor; /* at the beginning of the next batch */
    bool reading;
    bool busy;
    bool failing; /* the last write failed, */
    bool is_full; /* because the disk quota is used up */
    struct pfdd_outage outage;
    uint64_t since; /* the loop's ms of the last progress */
    uint64_t acked; /* the slowest consumer's, at that time */
    bool pausing;   /* until the next try */
    bool has_begun; /* the last segment was begun in this run */
    size_t n_room;  /* bytes of the writer when its job began */
    uv_timer_t timer;
    bool timer_open;
    struct pfdd_blob_store *blob_store; /* the disk thread's */
    struct spool_write write;
    struct spool_save save;
    struct spool_growth growth;
};

#define PFDD_SPOOL_OF(at, member) PFDD_MEMBER_OF(struct pfdd_spool, at, member)

/* ---- source offsets ---- */

static void submit_checkpoint(struct pfdd_spool *q);
static void want_checkpoint(struct pfdd_spool *q);

bool pfdd_spool_position(struct pfdd_spool *q, const char *source,
                         const char *file, struct pfdd_source_offset *ret,
                         bool *is_alone)
{
    bool is_news = false;
    bool is_known = pfdd_source_offsets_claim(&q->known.source_offsets, source,
                                              file, ret, &is_news, is_alone);
    /* The disk has one thread: jobs run in order of submission. */
    if (is_news && !q->save.is_running) {
        submit_checkpoint(q);
    } else if (is_news) {
        want_checkpoint(q);
    }
    return is_known;
}

void pfdd_spool_end_position(struct pfdd_spool *q, const char *source,
                             bool is_kept)
{
    pfdd_source_offsets_release(&q->known.source_offsets, source, is_kept);
}

/* ---- open and free ---- */

static bool recover(struct pfdd_spool *q)
{
    struct pfdd_spool_recovery spool_recovery = {
        .dir = q->dir, .source_offsets = &q->known.source_offsets
    };
    q->blob_store = spool_recovery.blob_store = pfdd_blob_store_open(q->dir);
    if (!q->blob_store)
        return false;
    pfdd_spool_recovery(&spool_recovery);
    pfdd_blob_store_tidy(q->blob_store);
    q->held = pfdd_blob_store_size(q->blob_store);
    q->consumers.segments = spool_recovery.segments;
    q->consumers.cut = spool_recovery.cut;
    if (spool_recovery.last >= q->next_seq)
        q->next_seq = spool_recovery.last + 1;
    return true;
}

static void read_checkpoint(struct pfdd_spool *q)
{
    pfdd_checkpoint_read(q->dir, &q->known);
    if (q->known.next_seq > q->next_seq &&
        q->known.next_seq <= PFDD_SEQUENCE_MAX)
        q->next_seq = q->known.next_seq;
}

struct pfdd_spool *pfdd_spool_open(const char *dir, uint64_t n_bytes_max,
                                   uint64_t *next_seq, char *err, size_t n_err)
{
    struct pfdd_spool *q = calloc(1, sizeof *q);
    snprintf(err, n_err, "out of memory");
    if (!q)
        return NULL;
    q->dir = strdup(dir);
    q->lock = -1;
    q->write.writer.fd = -1;
    pfdd_disk_quota_init(&q->disk_quota, &q->consumers, n_bytes_max);
    q->next_seq = 1;
    q->lock = q->dir ? pfdd_state_dir_lock(q->dir, err, n_err) : -1;
    bool ok = q->lock >= 0;
    if (ok) {
        read_checkpoint(q);
        ok = recover(q);
    }
    if (!ok) {
        pfdd_spool_free(q);
        return NULL;
    }
    *next_seq = q->next_seq;
    q->consumers.durable = q->next_seq - 1;
    return q;
}

void pfdd_spool_free(struct pfdd_spool *q)
{
    if (!q)
        return;
    pfdd_checkpoint_deinit(&q->known);
    pfdd_group_commit_deinit(&q->write.group_commit);
    pfdd_render_cache_deinit(&q->consumers.spool_readers.render_cache);
    pfdd_strings_unref(q->consumers.spool_readers.none);
    pfdd_segment_writer_deinit(&q->write.writer);
    pfdd_blob_store_free(q->blob_store);
    if (q->lock >= 0)
        close(q->lock);
    pfdd_segments_deinit(&q->consumers.segments);
    free(q->save.text);
    free(q->save.going);
    free(q->dir);
    free(q);
}

/* ---- on the disk thread ---- */

static void run_write(struct pfdd_job *job)
{
    struct pfdd_spool *q = PFDD_SPOOL_OF(job, write.job);
    q->write.error = pfdd_group_commit_write(
        &q->write.group_commit, &q->write.writer, q->dir, &q->write.place,
        q->blob_store, &q->write.list);
    q->write.held = pfdd_blob_store_size(q->blob_store);
}

static void run_growth(struct pfdd_job *job)
{
    struct pfdd_spool *q = PFDD_SPOOL_OF(job, growth.job);
    q->growth.error = pfdd_blob_store_extend(q->blob_store, &q->growth.list);
    q->growth.held = pfdd_blob_store_size(q->blob_store);
}

static void run_checkpoint(struct pfdd_job *job)
{
    struct pfdd_spool *q = PFDD_SPOOL_OF(job, save.job);
    q->save.has_failed = !pfdd_checkpoint_write(q->dir, q->save.text);
    /* Segments may only be removed once the checkpoint is written. */
    for (size_t i = 0; i < q->consumers.n_going && !q->save.has_failed; i++) {
        char path[PFDD_PATH];
        pfdd_segment_path(q->dir, q->save.going[i], path);
        unlink(path);
        pfdd_blob_store_release(q->blob_store, q->save.going[i]);
    }
    q->save.held = pfdd_blob_store_size(q->blob_store);
}

/* ---- on the loop ---- */

static void start_write(struct pfdd_spool *q);
static void hear_failure(struct pfdd_spool *q);
static void on_timer(uv_timer_t *timer);

static void on_lines(struct pfdd_cursor *cursor)
{
    start_write(cursor->user);
}

static bool fits_last(const struct pfdd_spool *q)
{
    const struct pfdd_segments *s = &q->consumers.segments;
    return s->n && q->has_begun &&
           s->items[s->n - 1].end + q->write.group_commit.n_bytes <=
               q->disk_quota.n_segment;
}

/* Finds a place for the whole batch in one segment. 0, or an errno value. */
static int place_batch(struct pfdd_spool *q)
{
    struct pfdd_segments *s = &q->consumers.segments;
    if (fits_last(q)) {
        q->write.place =
            (struct pfdd_segment_place){ .segment = s->items[s->n - 1].first,
                                         .at = s->items[s->n - 1].end };
        return 0;
    }
    if (!pfdd_disk_quota_may_begin(&q->disk_quota, q->held.bytes))
        return EDQUOT;
    q->write.place =
        (struct pfdd_segment_place){ .segment = q->cursor.seq,
                                     .at = PFDD_SEGMENT_HEADER,
                                     .n_new = q->disk_quota.n_segment };
    return pfdd_segments_reserve(s) ? 0 : ENOMEM;
}

/* Gathers a batch. A new segment describes its buffers anew. */
static int find_batch(struct pfdd_spool *q)
{
    bool ok = pfdd_group_commit_gather(
        &q->write.group_commit, q->parts.render_cache->ring, q->cursor.seq);
    q->write.error = ok ? place_batch(q) : ENOMEM;
    if (q->write.error || !q->write.place.n_new)
        return q->write.error;
    pfdd_group_commit_drop(&q->write.group_commit);
    pfdd_group_commit_forget(&q->write.group_commit);
    return pfdd_group_commit_gather(&q->write.group_commit,
                                    q->parts.render_cache->ring, q->cursor.seq)
               ? 0
               : ENOMEM;
}

/* n_new: bytes of a new segment; 0: only existing segments count. */
static struct pfdd_blob_store_list open_list(const struct pfdd_spool *q,
                                             uint64_t n_new)
{
    struct pfdd_blob_store_list ret = {
        .of = &q->parts.render_cache->objects,
        .n_bytes_max = pfdd_disk_quota_for_blobs(&q->disk_quota, n_new)
    };
    if (ret.of->open)
        ret.list = ret.of->open(ret.of->user, &ret.n, &ret.changes);
    return ret;
}

static void close_list(struct pfdd_blob_store_list *list)
{
    if (list->of && list->of->open)
        list->of->close(list->of->user, list->list);
    list->list = NULL;
}

static void start_write(struct pfdd_spool *q)
{
    if (q->busy || q->pausing || !q->reading ||
        q->cursor.seq >= q->parts.render_cache->ring->next_seq)
        return;
    q->write.error = find_batch(q);
    if (q->write.error) {
        hear_failure(q);
        return;
    }
    q->busy = true;
    q->write.list = open_list(q, q->write.place.n_new);
    q->n_room = q->write.writer.size;
    pfdd_pool_submit(q->parts.thread_pools->disk, &q->write.job);
}

/* Notes the source offsets of the batch that was written, for sources that
 * resume. */
static void note_positions(struct pfdd_spool *q)
{
    for (size_t i = 0; i < q->write.group_commit.n; i++) {
        const struct pfdd_chunk *c = q->write.group_commit.items[i].chunk;
        if (c->contents.n[PFDD_ENTRY] &&
            pfdd_source_table_is_resumed(q->parts.source_table, c->source)) {
            char key[PFDD_BUFFER_KEY];
            pfdd_buffer_key(c->buffer, key);
            pfdd_source_offsets_set(&q->known.source_offsets, key,
                                    &c->contents.last);
        }
    }
}

static void wake_consumers(struct pfdd_spool *q)
{
    for (struct pfdd_consumer *c = q->consumers.first; c; c = c->next)
        c->wake(c);
}

const struct pfdd_consumer *pfdd_spool_slowest_consumer(
    const struct pfdd_spool *q)
{
    return q->is_full ? pfdd_consumers_slowest(&q->consumers, NULL) : NULL;
}

/* c: the required output that it waits for, or NULL. */
static void tell_failure(struct pfdd_spool *q, const struct pfdd_consumer *c)
{
    char why[PFDD_OUTAGE_WHY];
    snprintf(why, sizeof why, "%s%.100s%s; sources wait",
             c ? "full: the required output " : "",
             c ? c->name : strerror(q->write.error),
             c ? " does not take its lines" : "");
    pfdd_outage_note(&q->outage, PFDD_ERROR, "queue", why);
}

static void hear_failure(struct pfdd_spool *q)
{
    q->errors++;
    q->is_full = q->write.error == EDQUOT;
    const struct pfdd_consumer *c = pfdd_spool_slowest_consumer(q);
    uint64_t now = uv_now(q->timer.loop);
    if (!q->failing || (c && c->acked != q->acked))
        q->since = now;
    q->acked = c ? c->acked : 0;
    /* A full spool is normal flow control, unless consumers stop
     * acknowledging. */
    if (!q->is_full || now - q->since >= STUCK_MS)
        tell_failure(q, c);
    q->failing = true;
    q->pausing = true;
    q->has_begun &= !q->write.place.n_new && !q->is_full;
    pfdd_group_commit_drop(&q->write.group_commit);
    uv_timer_start(&q->timer, on_timer, RETRY_MS, 0);
}

static void write_done(struct pfdd_job *job)
{
    struct pfdd_spool *q = PFDD_SPOOL_OF(job, write.job);
    const struct pfdd_segment_place *p = &q->write.place;
    q->busy = false;
    q->held = q->write.held;
    close_list(&q->write.list);
    if (!q->write.error && p->n_new &&
        !pfdd_segments_add(&q->consumers.segments, p->segment, p->at))
        q->write.error = ENOMEM; /* which cannot be: room was made before */
    if (q->write.error) {
        hear_failure(q);
        return;
    }
    pfdd_outage_end(&q->outage, "queue", "writing again");
    q->failing = q->is_full = false;
    q->has_begun = true;
    q->consumers.segments.items[q->consumers.segments.n - 1].end +=
        q->write.writer.n;
    note_positions(q);
    q->consumers.durable = q->write.group_commit.end - 1;
    if (q->reading)
        pfdd_cursor_pass(&q->cursor, q->write.group_commit.end);
    pfdd_group_commit_done(&q->write.group_commit);
    wake_consumers(q);
    start_write(q);
}

/* ---- code objects ---- */

static void growth_done(struct pfdd_job *job)
{
    static const char no_room[] =
        "some have no room within queue_max: entries that need them have "
        "unknown ids after a restart";
    struct pfdd_spool *q = PFDD_SPOOL_OF(job, growth.job);
    q->growth.is_running = false;
    q->held = q->growth.held;
    close_list(&q->growth.list);
    if (q->growth.error) {
        pfdd_outage_note(&q->growth.outage, PFDD_ERROR, "queue: code objects",
                         q->growth.error == EDQUOT ? no_room
                                                   : strerror(q->growth.error));
    } else {
        pfdd_outage_end(&q->growth.outage, "queue: code objects",
                        "all are on disk");
    }
    q->growth.is_failing = q->growth.error != 0;
    q->errors += q->growth.is_failing;
    if (q->growth.is_failing)
        q->growth.list.n = SIZE_MAX; /* differs from any list */
}

void pfdd_spool_store_objects(struct pfdd_spool *q)
{
    if (q->growth.is_running || !q->reading || q->consumers.segments.n == 0)
        return;
    struct pfdd_blob_store_list now = open_list(q, 0);
    if (now.n == q->growth.list.n && now.changes == q->growth.list.changes) {
        close_list(&now);
        return;
    }
    q->growth.list = now;
    q->growth.is_running = true;
    pfdd_pool_submit(q->parts.thread_pools->disk, &q->growth.job);
}

/* ---- checkpoints ---- */

static char *checkpoint_text(struct pfdd_spool *q)
{
    q->known.next_seq = q->consumers.durable + 1;
    for (struct pfdd_consumer *c = q->consumers.first; c; c = c->next) {
        c->saving = c->acked;
        pfdd_checkpoint_set_acked(&q->known, c->name, c->acked);
    }
    return pfdd_checkpoint_text(&q->known);
}

/* Segments whose items all consumers have acknowledged, except the last
 * segment. While the daemon stops, outputs leave one by one: their segments
 * have to stay. */
static void choose_going(struct pfdd_spool *q)
{
    uint64_t free_below =
        *q->parts.stopping ? 0 : pfdd_consumers_acked(&q->consumers, NULL) + 1;
    size_t n = 0;
    while (n + 1 < q->consumers.segments.n &&
           q->consumers.segments.items[n + 1].first <= free_below)
        n++;
    q->save.going = n ? malloc(n * sizeof *q->save.going) : NULL;
    q->consumers.n_going = q->save.going ? n : 0;
    for (size_t i = 0; i < q->consumers.n_going; i++)
        q->save.going[i] = q->consumers.segments.items[i].first;
}

static void drop_checkpoint(struct pfdd_spool *q)
{
    free(q->save.going);
    free(q->save.text);
    q->save.going = NULL;
    q->save.text = NULL;
    q->consumers.n_going = 0;
}

static void submit_checkpoint(struct pfdd_spool *q)
{
    q->save.is_wanted = false;
    q->save.text = checkpoint_text(q);
    if (!q->save.text) {
        drop_checkpoint(q);
        return;
    }
    q->save.is_running = true;
    pfdd_pool_submit(q->parts.thread_pools->disk, &q->save.job);
}

static void finish_checkpoint(struct pfdd_spool *q)
{
    q->held = q->save.held;
    if (!q->save.has_failed)
        pfdd_segments_drop(&q->consumers.segments, q->consumers.n_going);
    drop_checkpoint(q);
}

/* Consumers that joined meanwhile are not in this checkpoint. */
static void hear_saved(struct pfdd_spool *q)
{
    for (struct pfdd_consumer *c = q->consumers.first; c; c = c->next) {
        bool is_news = !q->save.has_failed && c->saving > c->saved;
        if (is_news)
            c->saved = c->saving;
        if (is_news && q->timer_open)
            c->wake(c);
    }
}

/* Segments were removed, or the pause is over. */
static void try_again(struct pfdd_spool *q)
{
    q->pausing = false;
    start_write(q);
}

static void checkpoint_done(struct pfdd_job *job)
{
    struct pfdd_spool *q = PFDD_SPOOL_OF(job, save.job);
    bool is_room = q->consumers.n_going && q->is_full;
    q->save.is_running = false;
    finish_checkpoint(q);
    if (is_room && q->timer_open) {
        try_again(q);
    } else if (q->pausing && q->timer_open) {
        uv_timer_start(&q->timer, on_timer, RETRY_MS, 0);
    }
    hear_saved(q);
    q->errors += q->save.has_failed;
    q->save.is_wanted |= q->save.has_failed;
    if (q->save.is_wanted && q->timer_open)
        want_checkpoint(q);
}

static void want_checkpoint(struct pfdd_spool *q)
{
    q->save.is_wanted = true;
    /* A checkpoint frees disk space: do not wait for the next try. */
    bool is_awaited = q->pausing && q->is_full;
    if (!q->save.is_running &&
        (is_awaited || !uv_is_active((uv_handle_t *)&q->timer))) {
        uv_timer_start(&q->timer, on_timer,
                       q->save.has_failed ? RETRY_MS : CHECKPOINT_MS, 0);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct pfdd_spool *q = timer->data;
    if (q->save.is_wanted && !q->save.is_running) {
        choose_going(q);
        submit_checkpoint(q);
    }
    if (q->pausing && !(q->is_full && q->save.is_running))
        try_again(q);
    if (q->consumers.waits)
        pfdd_consumers_retry(&q->consumers);
}

static struct pfdd_strings *live_strings(void *user, uint64_t stock)
{
    const struct pfdd_spool *q = user;
    return pfdd_group_commit_strings(&q->write.group_commit, stock);
}

static bool has_room(void *user, size_t n)
{
    const struct pfdd_spool *q = user;
    return pfdd_memory_budget_has(q->parts.budget, n);
}

static void on_ack(struct pfdd_consumers *consumers)
{
    want_checkpoint(PFDD_SPOOL_OF(consumers, consumers));
}

static void on_retry(struct pfdd_consumers *consumers)
{
    struct pfdd_spool *q = PFDD_SPOOL_OF(consumers, consumers);
    if (!uv_is_active((uv_handle_t *)&q->timer))
        uv_timer_start(&q->timer, on_timer, RETRY_MS, 0);
}

static void set_supplies(struct pfdd_spool *q)
{
    const struct pfdd_thread_pools *pools = q->parts.thread_pools;
    q->consumers.spool_readers = (struct pfdd_spool_readers){
        .dir = q->dir,
        .blob_store = q->blob_store,
        .disk = pools->disk,
        .loaders = pools->choosers, /* decoders wait for the ring */
        .printers = pools->printers,
        .none = pfdd_strings_new(pfd_strings_new()),
        .n_strings_max = q->parts.n_strings_max,
        .live = live_strings,
        .has_room = has_room,
        .user = q,
    };
    pfdd_render_cache_init(&q->consumers.spool_readers.render_cache, NULL, NULL,
                           NULL, 0, 0);
    q->consumers.acked = on_ack;
    q->consumers.retry_later = on_retry;
}

bool pfdd_spool_start(struct pfdd_spool *q,
                      const struct pfdd_spool_parts *parts)
{
    struct pfdd_request request = { .form = PFDD_JSON };
    q->parts = *parts;
    set_supplies(q);
    q->growth.job = (struct pfdd_job){ .run = run_growth, .done = growth_done };
    q->write.job = (struct pfdd_job){ .run = run_write, .done = write_done };
    q->save.job =
        (struct pfdd_job){ .run = run_checkpoint, .done = checkpoint_done };
    uv_timer_init(parts->loop, &q->timer);
    q->timer.data = q;
    q->timer_open = true;
    if (!q->consumers.spool_readers.none ||
        !pfdd_cursor_init(&q->cursor, parts->render_cache, &request))
        return false;
    q->cursor.reader.must_have_all = true;
    q->cursor.name = "the queue on disk";
    q->cursor.wake = on_lines;
    q->cursor.user = q;
    q->reading = true;
    return true;
}

bool pfdd_spool_is_drained(const struct pfdd_spool *q)
{
    if (q->busy ||
        q->consumers.durable + 1 < q->parts.render_cache->ring->next_seq)
        return false;
    return pfdd_consumers_are_drained(&q->consumers);
}

void pfdd_spool_stop(struct pfdd_spool *q)
{
    if (q->reading)
        pfdd_cursor_deinit(&q->cursor);
    q->reading = false;
    /* Jobs do not run any more: write the last checkpoint here. */
    q->save.text = checkpoint_text(q);
    if (q->save.text)
        run_checkpoint(&q->save.job);
    finish_checkpoint(q);
    uv_close((uv_handle_t *)&q->timer, NULL);
    q->timer_open = false;
}

/* ---- consumers ---- */

void pfdd_spool_join(struct pfdd_spool *q, struct pfdd_consumer *consumer)
{
    pfdd_consumer_init(consumer, &q->consumers,
                       pfdd_checkpoint_acked(&q->known, consumer->name));
}

void pfdd_spool_leave(struct pfdd_spool *q, struct pfdd_consumer *consumer)
{
    pfdd_consumer_deinit(consumer);
    pfdd_checkpoint_set_acked(&q->known, consumer->name, consumer->acked);
}

/* ---- state ---- */

size_t pfdd_spool_memory(const struct pfdd_spool *q)
{
    size_t n = q->n_room > ROOM ? q->n_room : ROOM;
    return sizeof *q + n + q->held.memory +
           pfdd_consumers_memory(&q->consumers);
}

void pfdd_spool_state(const struct pfdd_spool *q, struct pfdd_spool_state *ret)
{
    *ret = (struct pfdd_spool_state){
        .durable = q->consumers.durable,
        .segments = q->consumers.segments.n,
        .bytes = q->consumers.segments.n * q->disk_quota.n_segment,
        .objects = q->held.bytes,
        .objects_left = q->held.n_left,
        .cut = q->consumers.cut,
        .errors = q->errors,
        .n_long = q->consumers.spool_readers.render_cache.n_long,
        .failing = q->failing,
        .why = q->failing ? pfdd_outage_why(&q->outage) : NULL,
    };
}
