/* SPDX-License-Identifier: MIT */
#include "queue.h"

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

#include "checkpoint.h"
#include "daemon.h"
#include "log.h"
#include "reader.h"
#include "segments.h"

enum {
    SEGMENT_MAX = 16 << 20, /* bytes of a segment, preallocated */
    SEGMENTS = 4,           /* at least, in the room that there is: the last
                               one stays, also when all of it is acknowledged */
    CHECKPOINT_MS = 1,      /* from an acknowledgement to its checkpoint */
    RETRY_MS = 1000,
};

struct segment {
    uint64_t first; /* sequence number; names the file */
    uint64_t end;   /* bytes that are used */
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
    /* The writer's. */
    struct pfdd_job job;
    struct pfdd_reader reader;
    bool reading;
    bool busy;
    bool failing; /* the last write failed, */
    bool is_full; /* because there is no more room for it */
    bool pausing; /* before it is tried again */
    int error;
    size_t n_batch;           /* lines */
    struct pfdd_chunk *chunk; /* the batch's, a reference */
    size_t first_line;
    char *records; /* [records_size], the disk thread's */
    size_t records_size;
    /* Under the lock: the disk thread writes, the loop reads. */
    uv_mutex_t guard;
    struct segment *segments; /* [n_segments], by sequence number */
    size_t n_segments;
    size_t segments_size;
    int fd; /* of the last one, or -1 */
    /* The checkpoint's. */
    struct pfdd_job checkpoint;
    uv_timer_t timer;
    bool timer_open;
    bool checkpointing;
    bool wants_checkpoint;
    bool checkpoint_failed; /* the disk thread's, until it is done */
    char *text;
    uint64_t free_below; /* segments all of whose lines are below may go */
};

#define PFDD_QUEUE_OF(at, member) PFDD_MEMBER_OF(struct pfdd_queue, at, member)

/* ---- segments ---- */

static bool add_segment(struct pfdd_queue *q, uint64_t first, uint64_t end)
{
    uv_mutex_lock(&q->guard);
    if (q->n_segments == q->segments_size) {
        size_t size = q->segments_size ? 2 * q->segments_size : 16;
        void *segments = realloc(q->segments, size * sizeof *q->segments);
        if (!segments) {
            uv_mutex_unlock(&q->guard);
            return false;
        }
        q->segments = segments;
        q->segments_size = size;
    }
    q->segments[q->n_segments++] = (struct segment){ first, end };
    uv_mutex_unlock(&q->guard);
    return true;
}

/* ---- positions ---- */

bool pfdd_queue_position(const struct pfdd_queue *q, const char *source,
                         struct pfdd_position *ret)
{
    return pfdd_positions_get(&q->known.positions, source, ret);
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
        add_segment(q, firsts[i], end);
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
    uv_mutex_init(&q->guard);
    q->dir = strdup(dir);
    q->fd = -1;
    q->lock = -1;
    q->n_bytes_max = n_bytes_max;
    q->n_segment = n_bytes_max / SEGMENTS;
    if (q->n_segment > SEGMENT_MAX)
        q->n_segment = SEGMENT_MAX;
    q->next_seq = 1;
    if (!q->dir || !make_dirs(q, err, n_err)) {
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
    free(q->records);
    if (q->fd >= 0)
        close(q->fd);
    if (q->lock >= 0)
        close(q->lock);
    uv_mutex_destroy(&q->guard);
    free(q->segments);
    free(q->text);
    free(q->dir);
    free(q);
}

/* ---- writing, on the disk thread ---- */

static bool begin_segment(struct pfdd_queue *q, uint64_t seq)
{
    if (q->fd >= 0)
        close(q->fd);
    q->fd = pfdd_segment_begin(q->dir, seq, q->n_segment);
    return q->fd >= 0 && add_segment(q, seq, PFDD_SEGMENT_HEADER);
}

static uint64_t queue_bytes(struct pfdd_queue *q)
{
    uv_mutex_lock(&q->guard);
    uint64_t n = q->n_segments * q->n_segment;
    uv_mutex_unlock(&q->guard);
    return n;
}

/* A batch is in one segment; nothing of it counts before all of it is safe. */
static bool write_batch(struct pfdd_queue *q)
{
    size_t n = pfdd_records_bytes(q->chunk, q->first_line, q->n_batch);
    uint64_t first = q->chunk->first_seq + q->first_line;
    if (n > q->records_size) {
        char *records = realloc(q->records, n);
        if (!records) {
            errno = ENOMEM;
            return false;
        }
        q->records = records;
        q->records_size = n;
    }
    uint64_t end = q->n_segments ? q->segments[q->n_segments - 1].end : 0;
    if (q->fd < 0 || end + n > q->n_segment) {
        if (queue_bytes(q) + q->n_segment > q->n_bytes_max && q->n_segments) {
            errno = EDQUOT;
            return false;
        }
        if (!begin_segment(q, first))
            return false;
        end = PFDD_SEGMENT_HEADER;
    }
    pfdd_records_put(q->chunk, q->first_line, q->n_batch, q->records);
    if (!pfdd_write_at(q->fd, q->records, n, end) || fdatasync(q->fd) != 0)
        return false;
    uv_mutex_lock(&q->guard);
    q->segments[q->n_segments - 1].end = end + n;
    uv_mutex_unlock(&q->guard);
    return true;
}

static void run_write(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, job);
    q->error = write_batch(q) ? 0 : errno ? errno : EIO;
}

size_t pfdd_queue_read(struct pfdd_queue *q, struct pfdd_consumer *consumer,
                       uint64_t limit, char *ret, size_t size)
{
    size_t total = 0;
    while (total < size) {
        struct segment here = { 0 };
        bool found = false;
        /* The segment that has the line behind the last one read, or, if that
         * is lost, the first one behind it. */
        uv_mutex_lock(&q->guard);
        for (size_t i = 0; i < q->n_segments && !found; i++) {
            here = q->segments[i];
            found = here.first == consumer->segment
                        ? consumer->at < here.end
                        : here.first > consumer->segment;
            if (i + 1 < q->n_segments && here.first != consumer->segment &&
                q->segments[i + 1].first <= consumer->seq + 1)
                found = false; /* all of it was acknowledged */
        }
        uv_mutex_unlock(&q->guard);
        if (!found)
            return total;
        if (here.first != consumer->segment || consumer->fd < 0) {
            if (consumer->fd >= 0)
                close(consumer->fd);
            consumer->fd = pfdd_segment_open(q->dir, here.first, O_RDONLY);
            if (here.first != consumer->segment)
                consumer->at = PFDD_SEGMENT_HEADER;
            consumer->segment = here.first;
            if (consumer->fd < 0)
                return total;
        }
        uint64_t seq = 0;
        size_t n =
            pfdd_record_read(consumer->fd, consumer->at, &seq, ret + total);
        if (n == 0) {
            /* Not readable any more: what follows in it is lost. */
            consumer->at = here.end;
            continue;
        }
        if (seq > limit)
            return total;
        consumer->at += PFDD_RECORD_HEADER + n;
        if (seq > consumer->seq) {
            consumer->seq = seq;
            total += n;
        }
    }
    return total;
}

/* ---- on the loop ---- */

static void start_write(struct pfdd_queue *q);

static void write_done(struct pfdd_job *job);

static void want_checkpoint(struct pfdd_queue *q);

static void on_lines(struct pfdd_reader *reader)
{
    start_write(reader->user);
}

static void on_timer(uv_timer_t *timer);

static void start_write(struct pfdd_queue *q)
{
    const char *bytes = NULL;
    size_t n = 0;
    if (q->busy || q->pausing || !q->reading)
        return;
    if (!pfdd_reader_peek(&q->reader, &bytes, &n))
        return;
    struct pfdd_chunk *c = q->reader.chunk;
    q->chunk = pfdd_chunk_ref(c);
    q->first_line = q->reader.line;
    q->n_batch = c->n_lines - q->reader.line;
    q->busy = true;
    pfdd_pool_submit(q->d->disk, &q->job);
}

/* The last entry of each source in the batch says how far it has come. */
static void note_positions(struct pfdd_queue *q)
{
    uint64_t seen[PFDD_SOURCES_MAX / 64 + 1] = { 0 };
    const struct pfdd_chunk *c = q->chunk;
    for (size_t i = q->first_line + q->n_batch; i > q->first_line; i--) {
        const struct pfdd_line *l = &c->lines[i - 1];
        struct pfdd_position position;
        uint64_t bit = UINT64_C(1) << (l->source % 64);
        const char *name = pfdd_source_name(q->d, l->source);
        if (l->kind != PFDD_ENTRY || !name || (seen[l->source / 64] & bit) ||
            !pfdd_position_find(c->data + l->at, l->n, &position))
            continue;
        seen[l->source / 64] |= bit;
        pfdd_positions_set(&q->known.positions, name, &position);
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
    pfdd_chunk_unref(q->chunk);
    q->chunk = NULL;
    uv_timer_start(&q->timer, on_timer, RETRY_MS, 0);
}

static void write_done(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, job);
    q->busy = false;
    if (q->error) {
        hear_failure(q);
        return;
    }
    if (q->failing)
        pfdd_log(PFDD_WARNING, "queue in %s: writing again", q->dir);
    q->failing = q->is_full = false;
    note_positions(q);
    q->durable = q->chunk->first_seq + q->first_line + q->n_batch - 1;
    size_t n = 0;
    for (size_t i = 0; i < q->n_batch; i++)
        n += q->chunk->lines[q->first_line + i].n;
    pfdd_chunk_unref(q->chunk);
    q->chunk = NULL;
    if (q->reading)
        pfdd_reader_take(&q->reader, n);
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
    for (const struct pfdd_consumer *c = q->consumers; c; c = c->next)
        note_acked(q, c);
    return pfdd_checkpoint_text(&q->known);
}

static void run_checkpoint(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, checkpoint);
    q->checkpoint_failed = !pfdd_checkpoint_write(q->dir, q->text);
    if (q->checkpoint_failed)
        return;
    /* Only now may the lines that it speaks of go. */
    uv_mutex_lock(&q->guard);
    while (q->n_segments > 1 && q->segments[1].first <= q->free_below) {
        char old[PFDD_PATH];
        pfdd_segment_path(q->dir, q->segments[0].first, old);
        unlink(old);
        q->n_segments--;
        memmove(q->segments, q->segments + 1,
                q->n_segments * sizeof *q->segments);
    }
    uv_mutex_unlock(&q->guard);
}

static void start_checkpoint(struct pfdd_queue *q)
{
    q->wants_checkpoint = false;
    free(q->text);
    q->text = checkpoint_text(q);
    if (!q->text)
        return;
    q->free_below = q->durable + 1;
    for (const struct pfdd_consumer *c = q->consumers; c; c = c->next) {
        if (c->acked + 1 < q->free_below)
            q->free_below = c->acked + 1;
    }
    q->checkpointing = true;
    pfdd_pool_submit(q->d->disk, &q->checkpoint);
}

static void checkpoint_done(struct pfdd_job *job)
{
    struct pfdd_queue *q = PFDD_QUEUE_OF(job, checkpoint);
    q->checkpointing = false;
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
    pfdd_reader_init(&q->reader, &d->ring, &request);
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
    free(q->text);
    q->text = checkpoint_text(q);
    if (q->text)
        run_checkpoint(&q->checkpoint);
    uv_close((uv_handle_t *)&q->timer, NULL);
    q->timer_open = false;
}

void pfdd_queue_join(struct pfdd_queue *q, struct pfdd_consumer *consumer)
{
    consumer->fd = -1;
    consumer->acked = (uint64_t)json_integer_value(
        json_object_get(q->known.acked, consumer->name));
    if (consumer->acked > q->durable)
        consumer->acked = q->durable;
    /* A new one begins with the oldest line that there is. */
    uv_mutex_lock(&q->guard);
    uint64_t oldest = q->n_segments ? q->segments[0].first : q->durable + 1;
    uv_mutex_unlock(&q->guard);
    if (consumer->acked + 1 < oldest)
        consumer->acked = oldest - 1;
    consumer->seq = consumer->acked;
    consumer->segment = 0;
    consumer->at = PFDD_SEGMENT_HEADER;
    consumer->next = q->consumers;
    q->consumers = consumer;
}

void pfdd_queue_leave(struct pfdd_queue *q, struct pfdd_consumer *consumer)
{
    struct pfdd_consumer **at = &q->consumers;
    while (*at != consumer)
        at = &(*at)->next;
    *at = consumer->next;
    if (consumer->fd >= 0)
        close(consumer->fd);
    note_acked(q, consumer);
}

uint64_t pfdd_queue_durable(const struct pfdd_queue *q)
{
    return q->durable;
}

void pfdd_queue_ack(struct pfdd_queue *q, struct pfdd_consumer *consumer,
                    uint64_t seq)
{
    if (seq > consumer->acked)
        consumer->acked = seq;
    want_checkpoint(q);
}

void pfdd_queue_state(const struct pfdd_queue *q, struct pfdd_queue_state *ret)
{
    *ret = (struct pfdd_queue_state){
        .segments = q->n_segments,
        .bytes = q->n_segments * q->n_segment,
        .cut = q->cut,
        .errors = q->errors,
        .failing = q->failing,
    };
}
