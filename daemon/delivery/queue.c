/* SPDX-License-Identifier: MIT */
#include "delivery/queue.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "core/log.h"
#include "delivery/checkpoint.h"
#include "delivery/reader.h"
#include "delivery/segments.h"
#include "sources/daemon.h"

enum {
    SEGMENT_MAX = 16 << 20, /* bytes of a segment, preallocated */
    SEGMENTS = 4,           /* at least, in the room that there is: the last
                               one stays, also when all of it is acknowledged */
    CHECKPOINT_MS = 1,      /* from an acknowledgement to its checkpoint */
    RETRY_MS = 1000,
    BATCH_MAX = 2 * PFDD_PAGE + PFDD_QUEUE_LINE_MAX, /* records of a page */
};

struct pfdd_queue {
    struct pfdd *d;
    char *dir;
    int lock;
    uint64_t n_bytes_max;
    uint64_t n_segment; /* bytes of one */
    struct pfdd_consumer *consumers;
    struct pfdd_checkpoint known; /* written by the loop only */
    uint64_t next_seq;
    uint64_t cut;
    uint64_t errors;
    uint64_t durable;
    struct pfdd_segments segments; /* that are safe on disk */
    size_t n_going;                /* the oldest: being removed */
    struct pfdd_reader reader;
    bool reading;
    bool busy;
    bool failing;   /* the last write failed, */
    bool is_full;   /* because there is no more room for it */
    bool pausing;   /* before it is tried again */
    bool has_begun; /* the last segment is one of this run */
    uv_timer_t timer;
    bool timer_open;
    bool checkpointing;
    bool wants_checkpoint;
    bool wants_wake; /* consumers try again */
    /* The job's while it is on its way: what to write, and what came of it. */
    struct pfdd_job job;
    struct pfdd_batch batch;
    struct pfdd_segment_writer writer;
    int error;
    /* The checkpoint's likewise. */
    struct pfdd_job checkpoint;
    char *text;
    uint64_t *going; /* [n_going]: when it is written they may go */
    bool checkpoint_failed;
};

#define PFDD_QUEUE_OF(at, member) PFDD_MEMBER_OF(struct pfdd_queue, at, member)

/* ---- positions ---- */

static void submit_checkpoint(struct pfdd_queue *q);

static void want_checkpoint(struct pfdd_queue *q);

bool pfdd_queue_position(struct pfdd_queue *q, const char *source, int fd,
                         struct pfdd_position *ret)
{
    char file[PFDD_FILE_ROOM];
    bool is_news = false;
    pfdd_file_describe(fd, file);
    bool is_known =
        pfdd_positions_begin(&q->known.positions, source, file, ret, &is_news);
    /* The disk has one thread: what is asked for first is written first. */
    if (is_news && !q->checkpointing) {
        submit_checkpoint(q);
    } else if (is_news) {
        want_checkpoint(q);
    }
    return is_known;
}

static void note_line(void *user, const char *line, size_t n)
{
    struct pfdd_queue *q = user;
    static const char entry[] = "{\"type\":\"entry\"";
    struct pfdd_position position;
    if (n < sizeof entry || memcmp(line, entry, sizeof entry - 1) != 0 ||
        !pfdd_position_find(line, n, &position))
        return;
    /* Arguments may be larger than jansson's integers. */
    json_t *root = json_loadb(line, n, JSON_DECODE_INT_AS_REAL, NULL);
    const char *source = json_string_value(json_object_get(root, "source"));
    if (source)
        pfdd_positions_set(&q->known.positions, source, &position);
    json_decref(root);
}

/* ---- the start ---- */

static void scan(struct pfdd_queue *q)
{
    char path[PFDD_PATH];
    size_t n = 0;
    uint64_t *firsts = pfdd_segments_find(q->dir, &n);
    struct pfdd_segment_scan scan = { .line = malloc(PFDD_QUEUE_LINE_MAX),
                                      .hear = note_line,
                                      .user = q };
    for (size_t i = 0; scan.line && i < n; i++) {
        uint64_t end = pfdd_segment_scan(q->dir, firsts[i], &scan);
        q->cut += scan.cut;
        if (scan.last >= q->next_seq)
            q->next_seq = scan.last + 1;
        pfdd_segment_path(q->dir, firsts[i], path);
        if (end <= PFDD_SEGMENT_HEADER) {
            if (end == 0) {
                pfdd_log(PFDD_WARNING, "%s: no segment of a queue: removed",
                         path);
            }
            unlink(path);
            continue;
        }
        if (truncate(path, (off_t)end) != 0)
            pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
        if (pfdd_segments_reserve(&q->segments))
            pfdd_segments_add(&q->segments, firsts[i], end);
    }
    free(firsts);
    free(scan.line);
    if (q->cut) {
        pfdd_log(PFDD_WARNING,
                 "queue: %" PRIu64 " bytes could not be read and "
                 "were cut off",
                 q->cut);
    }
}

static void read_checkpoint(struct pfdd_queue *q)
{
    pfdd_checkpoint_read(q->dir, &q->known);
    if (q->known.next_seq > q->next_seq)
        q->next_seq = q->known.next_seq;
}

static bool make_dirs(struct pfdd_queue *q, char *err, size_t n_err)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s/queue", q->dir);
    if ((mkdir(q->dir, 0750) == 0 || errno == EEXIST) &&
        (mkdir(path, 0750) == 0 || errno == EEXIST)) {
        snprintf(path, sizeof path, "%.400s/lock", q->dir);
        q->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
        if (q->lock >= 0 && flock(q->lock, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno == EWOULDBLOCK) {
            snprintf(err, n_err, "%.200s: in use by another printfdecoded",
                     q->dir);
            return false;
        }
    }
    snprintf(err, n_err, "%.200s: %s", path, strerror(errno));
    return false;
}

struct pfdd_queue *pfdd_queue_open(const char *dir, uint64_t n_bytes_max,
                                   uint64_t *next_seq, char *err, size_t n_err)
{
    struct pfdd_queue *q = calloc(1, sizeof *q);
    if (!q) {
        snprintf(err, n_err, "out of memory");
        return NULL;
    }
    q->dir = strdup(dir);
    q->lock = -1;
    q->writer = (struct pfdd_segment_writer){ .fd = -1,
                                              .records = malloc(BATCH_MAX),
                                              .size = BATCH_MAX };
    q->n_bytes_max = n_bytes_max;
    q->n_segment = n_bytes_max / SEGMENTS;
    if (q->n_segment > SEGMENT_MAX)
        q->n_segment = SEGMENT_MAX;
    q->next_seq = 1;
    snprintf(err, n_err, "out of memory");
    if (!q->dir || !q->writer.records || !make_dirs(q, err, n_err)) {
        pfdd_queue_free(q);
        return NULL;
    }
    read_checkpoint(q);
    scan(q);
    *next_seq = q->next_seq;
    q->durable = q->next_seq - 1;
    return q;
}

void pfdd_queue_free(struct pfdd_queue *q)
{
    if (!q)
        return;
    pfdd_checkpoint_deinit(&q->known);
    free(q->writer.records);
    if (q->writer.fd >= 0)
        close(q->writer.fd);
    if (q->lock >= 0)
        close(q->lock);
    pfdd_segments_deinit(&q->segments);
    free(q->text);
    free(q->going);
    free(q->dir);
    free(q);
}

/* ---- on the disk thread ---- */

static void run_write(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, job);
    q->error = pfdd_segment_write(&q->writer, q->dir, &q->batch);
}

static void run_checkpoint(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, checkpoint);
    q->checkpoint_failed = !pfdd_checkpoint_write(q->dir, q->text);
    /* Only now may the lines that it speaks of go. */
    for (size_t i = 0; i < q->n_going && !q->checkpoint_failed; i++) {
        char path[PFDD_PATH];
        pfdd_segment_path(q->dir, q->going[i], path);
        unlink(path);
    }
}

size_t pfdd_queue_read(const struct pfdd_queue *q,
                       struct pfdd_consumer *consumer, char *ret, size_t size)
{
    return pfdd_segment_read(&consumer->reader, q->dir, &consumer->todo, ret,
                             size);
}

/* ---- on the loop ---- */

static void start_write(struct pfdd_queue *q);

static void hear_failure(struct pfdd_queue *q);

static void on_lines(struct pfdd_reader *reader)
{
    start_write(reader->user);
}

static void on_timer(uv_timer_t *timer);

/* Where the batch goes; all of it into one segment. 0, or an errno value. */
static int place_batch(struct pfdd_queue *q)
{
    struct pfdd_segments *s = &q->segments;
    struct pfdd_batch *b = &q->batch;
    const struct pfdd_segment *last = s->n ? &s->items[s->n - 1] : NULL;
    if (last && q->has_begun &&
        last->end + pfdd_batch_bytes(b) <= q->n_segment) {
        b->segment = last->first;
        b->at = last->end;
        b->n_new = 0;
        return 0;
    }
    if (s->n && (s->n + 1) * q->n_segment > q->n_bytes_max)
        return EDQUOT;
    b->segment = b->first;
    b->at = PFDD_SEGMENT_HEADER;
    b->n_new = q->n_segment;
    return pfdd_segments_reserve(s) ? 0 : ENOMEM;
}

static void start_write(struct pfdd_queue *q)
{
    struct pfdd_batch *b = &q->batch;
    if (q->busy || q->pausing || !q->reading)
        return;
    if (!pfdd_reader_peek(&q->reader, &b->bytes, &b->n))
        return;
    b->first = pfdd_reader_seq(&q->reader);
    b->n_lines = (size_t)(q->reader.page->end - b->first);
    q->reader.is_lent = true;
    q->error = place_batch(q);
    if (q->error) {
        hear_failure(q);
        return;
    }
    q->busy = true;
    pfdd_pool_submit(q->d->disk, &q->job);
}

/* The last entry of each chunk that is on disk now says how far its source has
 * come, where somebody will ask. */
static void note_positions(struct pfdd_queue *q)
{
    const struct pfdd_ring *ring = &q->d->ring;
    uint64_t end = q->batch.first + q->batch.n_lines;
    size_t i = pfdd_ring_find(ring, q->batch.first);
    for (; i < ring->n_chunks; i++) {
        const struct pfdd_chunk *c = pfdd_ring_at(ring, i);
        if (c->first_seq + c->n_items > end)
            return;
        if (c->contents.n[PFDD_ENTRY] &&
            pfdd_sources_is_resumed(&q->d->sources, c->source)) {
            pfdd_positions_set(&q->known.positions, c->buffer->name,
                               &c->contents.last);
        }
    }
}

static void wake_consumers(struct pfdd_queue *q)
{
    for (struct pfdd_consumer *c = q->consumers; c; c = c->next)
        c->wake(c);
}

const struct pfdd_consumer *pfdd_queue_culprit(const struct pfdd_queue *q)
{
    const struct pfdd_consumer *ret = NULL;
    for (const struct pfdd_consumer *c = q->consumers; c && q->is_full;
         c = c->next) {
        if (!ret || c->acked < ret->acked)
            ret = c;
    }
    return ret;
}

static void hear_failure(struct pfdd_queue *q)
{
    q->errors++;
    q->is_full = q->error == EDQUOT;
    const struct pfdd_consumer *c = pfdd_queue_culprit(q);
    if (!q->failing) {
        pfdd_log(PFDD_ERROR, "queue in %s: %s%s%s; sources wait", q->dir,
                 c ? "full: the required output " : "",
                 c ? c->name : strerror(q->error),
                 c ? " does not take its lines" : "");
    }
    q->failing = true;
    q->pausing = true;
    q->has_begun &= !q->batch.n_new;
    q->reader.is_lent = false;
    uv_timer_start(&q->timer, on_timer, RETRY_MS, 0);
}

static void write_done(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, job);
    const struct pfdd_batch *b = &q->batch;
    q->busy = false;
    if (q->error) {
        hear_failure(q);
        return;
    }
    if (q->failing)
        pfdd_log(PFDD_WARNING, "queue in %s: writing again", q->dir);
    q->failing = q->is_full = false;
    if (b->n_new)
        pfdd_segments_add(&q->segments, b->segment, b->at);
    q->has_begun = true;
    q->segments.items[q->segments.n - 1].end += pfdd_batch_bytes(b);
    note_positions(q);
    q->durable = b->first + b->n_lines - 1;
    q->reader.is_lent = false;
    if (q->reading)
        pfdd_reader_take(&q->reader, b->n);
    wake_consumers(q);
    start_write(q);
}

/* ---- checkpoints ---- */

static void note_acked(struct pfdd_queue *q,
                       const struct pfdd_consumer *consumer)
{
    if (!q->known.acked)
        q->known.acked = json_object();
    json_object_set_new(q->known.acked, consumer->name,
                        json_integer((json_int_t)consumer->acked));
}

static char *checkpoint_text(struct pfdd_queue *q)
{
    q->known.next_seq = q->durable + 1;
    for (struct pfdd_consumer *c = q->consumers; c; c = c->next) {
        c->saving = c->acked;
        note_acked(q, c);
    }
    return pfdd_checkpoint_text(&q->known);
}

/* Segments all of whose lines everybody has; the last one stays. At the end
 * outputs leave one by one, and what they are owed has to stay. */
static void choose_going(struct pfdd_queue *q)
{
    uint64_t free_below = q->d->stopping ? 0 : q->durable + 1;
    size_t n = 0;
    for (const struct pfdd_consumer *c = q->consumers; c; c = c->next) {
        if (c->acked + 1 < free_below)
            free_below = c->acked + 1;
    }
    while (n + 1 < q->segments.n &&
           q->segments.items[n + 1].first <= free_below)
        n++;
    q->going = n ? malloc(n * sizeof *q->going) : NULL;
    q->n_going = q->going ? n : 0;
    for (size_t i = 0; i < q->n_going; i++)
        q->going[i] = q->segments.items[i].first;
}

static void submit_checkpoint(struct pfdd_queue *q)
{
    q->wants_checkpoint = false;
    q->text = checkpoint_text(q);
    if (!q->text) {
        free(q->going);
        q->going = NULL;
        q->n_going = 0;
        return;
    }
    q->checkpointing = true;
    pfdd_pool_submit(q->d->disk, &q->checkpoint);
}

static void start_checkpoint(struct pfdd_queue *q)
{
    choose_going(q);
    submit_checkpoint(q);
}

static void finish_checkpoint(struct pfdd_queue *q)
{
    if (!q->checkpoint_failed)
        pfdd_segments_drop(&q->segments, q->n_going);
    free(q->going);
    free(q->text);
    q->going = NULL;
    q->text = NULL;
    q->n_going = 0;
}

/* Who has not joined since. */
static void hear_saved(struct pfdd_queue *q)
{
    for (struct pfdd_consumer *c = q->consumers; c; c = c->next) {
        bool is_news = !q->checkpoint_failed && c->saving > c->saved;
        if (is_news)
            c->saved = c->saving;
        if (is_news && q->timer_open)
            c->wake(c);
    }
}

static void checkpoint_done(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, checkpoint);
    q->checkpointing = false;
    finish_checkpoint(q);
    hear_saved(q);
    q->errors += q->checkpoint_failed;
    q->wants_checkpoint |= q->checkpoint_failed;
    if (q->wants_checkpoint && q->timer_open)
        want_checkpoint(q);
}

static void want_checkpoint(struct pfdd_queue *q)
{
    q->wants_checkpoint = true;
    if (!q->checkpointing && !uv_is_active((uv_handle_t *)&q->timer)) {
        uv_timer_start(&q->timer, on_timer,
                       q->checkpoint_failed ? RETRY_MS : CHECKPOINT_MS, 0);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct pfdd_queue *q = timer->data;
    if (q->wants_checkpoint && !q->checkpointing)
        start_checkpoint(q);
    if (q->pausing) {
        q->pausing = false;
        start_write(q);
    }
    if (q->wants_wake) {
        q->wants_wake = false;
        wake_consumers(q);
    }
}

bool pfdd_queue_start(struct pfdd_queue *q, struct pfdd *d)
{
    struct pfdd_request request = { .form = PFDD_JSON };
    q->d = d;
    q->job.run = run_write;
    q->job.done = write_done;
    q->checkpoint.run = run_checkpoint;
    q->checkpoint.done = checkpoint_done;
    uv_timer_init(d->loop, &q->timer);
    q->timer.data = q;
    q->timer_open = true;
    if (!pfdd_reader_init(&q->reader, &d->pages, &request))
        return false;
    q->reader.must_have_all = true;
    q->reader.name = "the queue on disk";
    q->reader.wake = on_lines;
    q->reader.user = q;
    q->reading = true;
    return true;
}

bool pfdd_queue_is_drained(const struct pfdd_queue *q)
{
    if (q->busy || q->durable + 1 < q->d->ring.next_seq)
        return false;
    for (const struct pfdd_consumer *c = q->consumers; c; c = c->next) {
        if (!c->absent && c->acked < q->durable)
            return false;
    }
    return true;
}

void pfdd_queue_stop(struct pfdd_queue *q)
{
    if (q->reading)
        pfdd_reader_deinit(&q->reader);
    q->reading = false;
    /* No jobs any more: the last checkpoint is written here. */
    q->text = checkpoint_text(q);
    if (q->text)
        run_checkpoint(&q->checkpoint);
    finish_checkpoint(q);
    uv_close((uv_handle_t *)&q->timer, NULL);
    q->timer_open = false;
}

/* ---- consumers ---- */

void pfdd_queue_join(struct pfdd_queue *q, struct pfdd_consumer *consumer)
{
    const struct pfdd_segments *s = &q->segments;
    consumer->acked = (uint64_t)json_integer_value(
        json_object_get(q->known.acked, consumer->name));
    consumer->saved = consumer->acked;
    if (consumer->acked > q->durable)
        consumer->acked = q->durable;
    /* A new one begins with the oldest line that there is. */
    uint64_t oldest =
        s->n > q->n_going ? s->items[q->n_going].first : q->durable + 1;
    if (consumer->acked + 1 < oldest)
        consumer->acked = oldest - 1;
    consumer->given = consumer->passed = consumer->acked;
    pfdd_segment_reader_init(&consumer->reader, consumer->acked);
    consumer->next = q->consumers;
    q->consumers = consumer;
}

static bool is_line(const struct pfdd_queue *q, uint64_t seq, const char *line,
                    size_t n)
{
    struct pfdd_segment segment;
    struct pfdd_segment_reader r;
    size_t got = 0;
    char *there = malloc(PFDD_QUEUE_LINE_MAX + 1);
    pfdd_segment_reader_init(&r, seq - 1);
    while (there && !got && !r.error &&
           pfdd_segments_next(&q->segments, q->n_going, &r, &segment))
        got = pfdd_segment_read(&r, q->dir, &segment, there, 1);
    bool ok = got && r.seq == seq && got == n && !memcmp(there, line, n);
    pfdd_segment_reader_deinit(&r);
    free(there);
    return ok;
}

void pfdd_queue_resume(struct pfdd_queue *q, struct pfdd_consumer *consumer,
                       uint64_t seq, const char *line, size_t n)
{
    if (seq <= consumer->acked || seq > q->durable || !is_line(q, seq, line, n))
        return;
    consumer->acked = consumer->given = consumer->passed = seq;
    pfdd_segment_reader_deinit(&consumer->reader);
    pfdd_segment_reader_init(&consumer->reader, seq);
    want_checkpoint(q);
}

bool pfdd_queue_aim(const struct pfdd_queue *q, struct pfdd_consumer *consumer)
{
    bool waits = consumer->reader.error && q->wants_wake;
    return !waits && pfdd_segments_next(&q->segments, q->n_going,
                                        &consumer->reader, &consumer->todo);
}

bool pfdd_queue_took(struct pfdd_queue *q, struct pfdd_consumer *consumer)
{
    struct pfdd_segment_reader *r = &consumer->reader;
    struct pfdd_segment more;
    if (r->lost) {
        q->cut += r->lost;
        pfdd_log(PFDD_ERROR,
                 "queue in %s: %" PRIu64 " bytes cannot be read any more: %s "
                 "does not get their lines",
                 q->dir, r->lost, consumer->name);
        r->lost = 0;
    }
    consumer->given = r->seq;
    bool has_more = pfdd_segments_next(&q->segments, q->n_going, r, &more);
    consumer->passed = has_more ? r->seq : q->durable;
    if (!r->error)
        return true;
    q->wants_wake = true;
    if (!uv_is_active((uv_handle_t *)&q->timer))
        uv_timer_start(&q->timer, on_timer, RETRY_MS, 0);
    return false;
}

void pfdd_queue_leave(struct pfdd_queue *q, struct pfdd_consumer *consumer)
{
    struct pfdd_consumer **at = &q->consumers;
    while (*at != consumer)
        at = &(*at)->next;
    *at = consumer->next;
    pfdd_segment_reader_deinit(&consumer->reader);
    note_acked(q, consumer);
}

void pfdd_queue_ack(struct pfdd_queue *q, struct pfdd_consumer *consumer,
                    uint64_t seq)
{
    /* What could not be read behind it is not waited for. */
    if (seq == consumer->given)
        seq = consumer->passed;
    if (seq > consumer->acked)
        consumer->acked = seq;
    want_checkpoint(q);
}

size_t pfdd_queue_memory(const struct pfdd_queue *q)
{
    return sizeof *q + q->writer.size +
           q->segments.size * sizeof *q->segments.items;
}

void pfdd_queue_state(const struct pfdd_queue *q, struct pfdd_queue_state *ret)
{
    *ret = (struct pfdd_queue_state){
        .durable = q->durable,
        .segments = q->segments.n,
        .bytes = q->segments.n * q->n_segment,
        .cut = q->cut,
        .errors = q->errors,
        .failing = q->failing,
    };
}
