/* SPDX-License-Identifier: MIT */
#include "outputs/file_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/name.h"
#include "base/outage.h"
#include "base/own_file.h"
#include "base/path_template.h"
#include "config/systemd.h"
#include "outputs/append_file.h"
#include "outputs/rotation.h"
#include "ring/cursor.h"
#include "spool/file_resume.h"
#include "spool/spool.h"

enum {
    RETRY_MS = 1000,
    TICK_MS = 200,   /* poll for new sources and aged files */
    FILES_MAX = 256, /* open writers at a time, with {buffer} */
};

/* Writes one file. */
struct writer {
    struct pfdd_job job;
    struct pfdd_file_writer *of;
    struct writer *next;
    struct pfdd_cursor cursor;
    bool reading;
    struct pfdd_consumer consumer;
    bool consuming;
    bool busy; /* the job is in flight */
    struct pfdd_outage outage;
    bool failing;
    uint64_t retry_at; /* uv_now() */
    uint64_t used;     /* uv_now(): when it last had lines to write */
    uint32_t source;   /* with {buffer}: index in `files` */
    char *path;
    /* Owned by the job. */
    struct pfdd_append_file file;
    const char *bytes; /* [n], of the cursor or the consumer */
    size_t n;
    uint64_t n_lines; /* of the consumer's bytes */
    int error;
    char old[PFDD_ROTATION]; /* path of the file that was just rotated, or "" */
    bool is_due;      /* to be rotated once the checkpoint has its acks */
    bool is_repaired; /* the end that an earlier process left is repaired */
    struct pfdd_file_resume file_resume;
};

/* With {buffer}: a source, by its index, and how far its file has come. */
struct source_file {
    uint64_t born;
    uint64_t seq;     /* first line that may not be in the file */
    uint64_t n_lines; /* lines of the source at that time */
    struct writer *writer;
};

static const struct pfdd_file_writer_config *config_of(
    const struct pfdd_file_writer *o)
{
    return (const struct pfdd_file_writer_config *)o->base.config;
}

/* ---- on the disk thread ---- */

static bool is_due(const struct writer *w)
{
    const struct pfdd_file_writer_config *config = config_of(w->of);
    const struct pfdd_append_file *f = &w->file;
    uint64_t age = ((uint64_t)time(NULL) - f->opened) * 1000;
    return f->is_whole && f->fd >= 0 && f->path &&
           ((config->rotate_size && f->size >= config->rotate_size) ||
            (config->rotate_age_ms && f->size && age >= config->rotate_age_ms));
}

/* Renames the file to its name with a timestamp. */
static void rotate(struct writer *w)
{
    if (!pfdd_rotation_rename(w->path, w->old))
        w->old[0] = '\0';
    pfdd_append_file_close(&w->file);
    w->file.opened = 0;
}

static uint64_t count_lines(const char *bytes, size_t n)
{
    const char *end = bytes + n;
    uint64_t ret = 0;
    while (bytes < end &&
           (bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        bytes++;
        ret++;
    }
    return ret;
}

static bool write_lines(struct writer *w)
{
    struct pfdd_append_file *f = &w->file;
    if (!pfdd_append_file_open(f))
        return false;
    /* A process that was killed has left half a line. */
    if (!f->is_whole && w->consuming && !pfdd_append_file_write(f, "\n", 1))
        return false;
    uint64_t before = f->size;
    f->n_written = 0;
    if (w->consuming)
        w->n_lines = count_lines(w->bytes, w->n);
    bool ok = pfdd_append_file_write(f, w->bytes, w->n) &&
              (!w->consuming || !f->path || fdatasync(f->fd) == 0);
    if (!ok && w->consuming) {
        int error = errno;
        pfdd_append_file_truncate(f, before);
        errno = error;
    }
    return ok;
}

/* Writes the next lines, and rotates the file or marks it as due. */
static void go_on(struct writer *w)
{
    if (w->n && !write_lines(w)) {
        w->error = errno ? errno : EIO;
        return;
    }
    w->is_due = is_due(w);
    if (w->is_due && !w->consuming) {
        w->is_due = false;
        rotate(w);
    }
}

static void repair_end(struct writer *w)
{
    struct pfdd_json_style json_style;
    const struct pfdd_render_choice *render_choice =
        w->consuming ? w->consumer.render_choice : w->cursor.render_choice;
    bool has_records = w->of->base.config->form == PFDD_JSON;
    w->is_repaired = true;
    pfdd_json_style_init(&json_style,
                         render_choice ? render_choice->wants.map : NULL);
    pfdd_file_resume_mend(w->path, has_records ? &json_style : NULL,
                          w->consumer.saved, &w->file_resume);
}

static void run_job(struct pfdd_job *job)
{
    struct writer *w = (struct writer *)job;
    w->error = 0;
    w->file.n_written = 0;
    w->old[0] = '\0';
    pfdd_append_file_close_if_moved(&w->file);
    bool is_first = !w->is_repaired;
    if (is_first)
        repair_end(w);
    if (w->is_due) {
        w->is_due = false;
        if (is_due(w))
            rotate(w);
    } else if (!is_first || w->reading) {
        go_on(w);
    }
    /* The number of sources is unbounded: keep no file open. */
    if (w->of->per_source && w->file.fd >= 0)
        pfdd_append_file_close(&w->file);
}

struct care {
    struct pfdd_rotation_job care;
    struct pfdd_file_writer *of;
};

/* ---- on the loop ---- */

static void finish_close(struct pfdd_file_writer *o);

static void care_done(struct pfdd_job *job)
{
    struct care *c = (struct care *)job;
    struct pfdd_file_writer *o = c->of;
    if (c->care.error) {
        pfdd_log(PFDD_WARNING, "%s: not compressed: %s", c->care.old,
                 pfdd_own_file_error(c->care.error));
        o->base.delivery->count->file_errors++;
    }
    free(c);
    o->n_compressing--;
    finish_close(o);
}

/* old: the file that was just rotated, or "" at the start. */
static void start_care(struct pfdd_file_writer *o, const char *old,
                       const char *path)
{
    const struct pfdd_file_writer_config *config = config_of(o);
    struct care *c =
        config->compress || config->keep ? malloc(sizeof *c) : NULL;
    if (!c)
        return;
    pfdd_rotation_job(&c->care, old, path, config->compress, config->keep);
    c->care.job.done = care_done;
    c->of = o;
    o->n_compressing++;
    pfdd_pool_submit(o->pool, &c->care.job);
}

static void start_job(struct writer *w);

static void job_done(struct pfdd_job *job)
{
    struct writer *w = (struct writer *)job;
    struct pfdd_file_writer *o = w->of;
    struct pfdd_delivery *delivery = o->base.delivery;
    w->busy = false;
    w->cursor.is_lent = false;
    if (w->reading) {
        if (w->file.n_written)
            pfdd_cursor_consume(&w->cursor, w->file.n_written);
    } else if (w->file_resume.seq) {
        pfdd_consumer_resume(&w->consumer, w->file_resume.seq,
                             w->file_resume.time, w->file_resume.line,
                             w->file_resume.n_line);
    } else if (w->n && !w->error) {
        o->count.sent += w->n_lines;
        pfdd_consumer_ack(&w->consumer, w->consumer.given);
        pfdd_consumer_take(&w->consumer, w->n);
    }
    /* After an error the writer writes the same lines again. */
    w->n = 0;
    if (w->error && w->error != EAGAIN) {
        delivery->count->file_errors++;
        pfdd_outage_note(&w->outage, PFDD_ERROR, w->path,
                         pfdd_own_file_error(w->error));
        w->retry_at = uv_now(delivery->loop) + RETRY_MS;
    } else if (w->failing) {
        pfdd_outage_end(&w->outage, w->path, "writing again");
    }
    pfdd_file_resume_deinit(&w->file_resume);
    w->failing = w->error && w->error != EAGAIN;
    if (w->old[0])
        start_care(o, w->old, w->path);
    if (o->base.closing) {
        finish_close(o);
    } else {
        start_job(w);
    }
}

static bool is_waiting(const struct writer *w)
{
    return w->is_due && w->consumer.saved < w->consumer.acked;
}

static bool has_work(struct writer *w)
{
    if (w->reading)
        return pfdd_cursor_peek(&w->cursor, &w->bytes, &w->n);
    if (!w->is_repaired)
        return true;
    /* Rotate a due file only when none of its lines can be repeated. */
    if (w->is_due)
        return !is_waiting(w);
    return pfdd_consumer_peek(&w->consumer, &w->bytes, &w->n);
}

static void start_job(struct writer *w)
{
    struct pfdd_delivery *delivery = w->of->base.delivery;
    if (w->busy || (w->failing && uv_now(delivery->loop) < w->retry_at))
        return;
    if (!has_work(w))
        return;
    w->busy = true;
    w->used = uv_now(delivery->loop);
    w->cursor.is_lent = true;
    delivery->count->file_retries += w->failing;
    w->of->count.retried += w->failing;
    pfdd_pool_submit(
        w->of->is_stdout ? w->of->pool : delivery->thread_pools->disk, &w->job);
}

static void on_lines(struct pfdd_cursor *cursor)
{
    start_job(cursor->user);
}

static void on_durable(struct pfdd_consumer *consumer)
{
    struct writer *w = consumer->user;
    if (w->of->base.closing) {
        finish_close(w->of);
    } else {
        start_job(w);
    }
}

static bool is_taken(const void *user, const char *path)
{
    const struct pfdd_file_writer *o = user;
    for (const struct writer *w = o->writers; w; w = w->next) {
        if (!strcmp(w->path, path))
            return true;
    }
    return false;
}

static bool join_queue(struct writer *w)
{
    struct pfdd_delivery *delivery = w->of->base.delivery;
    char err[160];
    if (!pfdd_consumer_choose(&w->consumer, w->of->base.config, NULL, err,
                              sizeof err))
        return false;
    w->consumer.name = w->path;
    w->consumer.wake = on_durable;
    w->consumer.user = w;
    pfdd_spool_join(delivery->spool, &w->consumer);
    w->consuming = true;
    return true;
}

/* it: NULL, or the only source. */
static bool read_ring(struct writer *w, const struct pfdd_source *it,
                      uint64_t first_seq)
{
    const struct pfdd_output_config *config = w->of->base.config;
    struct pfdd_delivery *delivery = w->of->base.delivery;
    char err[160];
    struct pfdd_request request;
    bool ok = pfdd_output_request(config, &request, err, sizeof err);
    request.from.is_seq = true;
    request.from.value = first_seq;
    ok = ok &&
         (!it ||
          (pfdd_request_set(&request, "source", it->name, err, sizeof err) &&
           pfdd_request_set(&request, "host",
                            *it->host ? it->host : pfdd_host_name(), err,
                            sizeof err))) &&
         pfdd_request_finish(&request, err, sizeof err) &&
         pfdd_cursor_init(&w->cursor, delivery->render_cache, &request);
    pfdd_request_deinit(&request);
    if (!ok)
        return false;
    w->cursor.wake = on_lines;
    w->cursor.user = w;
    w->cursor.name = w->path;
    w->reading = true;
    return true;
}

/* NULL: out of memory. */
static struct writer *add_writer(struct pfdd_file_writer *o, uint32_t source,
                                 uint64_t first_seq)
{
    const struct pfdd_output_config *config = o->base.config;
    const struct pfdd_source *it =
        o->per_source ? &o->base.delivery->source_table->items[source] : NULL;
    struct writer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->job.run = run_job;
    w->job.done = job_done;
    w->of = o;
    w->source = source;
    w->outage.shared = &o->failures;
    w->path = o->is_stdout
                  ? strdup("stdout")
                  : pfdd_path_template_choose(config_of(o)->path,
                                              it ? it->name : NULL,
                                              it ? it->host : "", is_taken, o);
    w->file = (struct pfdd_append_file){ .path = o->is_stdout ? NULL : w->path,
                                         .stop = &o->stop,
                                         .fd = -1 };
    bool ok = w->path &&
              (config->required ? join_queue(w) : read_ring(w, it, first_seq));
    if (!ok) {
        free(w->path);
        free(w);
        return NULL;
    }
    /* Raw output need not end with a newline: there is nothing to repair. */
    w->is_repaired = o->is_stdout || config->form == PFDD_RAW;
    w->next = o->writers;
    o->writers = w;
    o->n_writers++;
    start_job(w);
    return w;
}

/* ---- a file for each source ---- */

static void free_writer(struct pfdd_file_writer *o, struct writer *w)
{
    if (w->reading) {
        o->count.sent += w->cursor.written;
        o->count.dropped += pfdd_cursor_dropped(&w->cursor);
        o->base.delivery->count->missed += w->cursor.missed;
        pfdd_cursor_deinit(&w->cursor);
    }
    if (w->consuming)
        pfdd_spool_leave(o->base.delivery->spool, &w->consumer);
    if (w->file.fd >= 0 && w->file.path)
        pfdd_append_file_close(&w->file);
    pfdd_file_resume_deinit(&w->file_resume);
    free(w->path);
    free(w);
}

static bool grow_files(struct pfdd_file_writer *o, uint32_t n)
{
    if (n <= o->n_files)
        return true;
    struct source_file *files = realloc(o->files, n * sizeof *files);
    if (!files)
        return false;
    memset(files + o->n_files, 0, (n - o->n_files) * sizeof *files);
    o->files = files;
    o->n_files = n;
    return true;
}

static bool is_idle(struct writer *w)
{
    return !w->busy && !w->failing && !has_work(w) &&
           pfdd_cursor_is_done(&w->cursor);
}

/* Frees an idle writer. A new one continues the file when the source has more
 * lines. */
static void retire(struct pfdd_file_writer *o, struct source_file *f,
                   uint64_t n_lines)
{
    struct writer *w = f->writer;
    struct writer **at = &o->writers;
    if (!is_idle(w))
        return;
    f->seq = pfdd_cursor_seq(&w->cursor);
    f->n_lines = n_lines;
    f->writer = NULL;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    o->n_writers--;
    free_writer(o, w);
}

/* Position at which the file of a source continues. Lines that the ring evicted
 * count as missed only if the source had any among them. */
static uint64_t first_seq(const struct pfdd_file_writer *o,
                          const struct source_file *f,
                          const struct pfdd_source *it)
{
    const struct pfdd_ring *ring = o->base.delivery->ring;
    uint64_t oldest = pfdd_ring_oldest(ring);
    bool has_all = it->n_lines - it->n_held <= f->n_lines;
    return has_all && oldest > f->seq ? oldest : f->seq;
}

/* Retires the writer that has been idle longest, if there are too many. False:
 * none is idle. */
static bool evict_idle_writer(struct pfdd_file_writer *o)
{
    struct writer *oldest = NULL;
    if (o->n_writers < FILES_MAX)
        return true;
    for (struct writer *w = o->writers; w; w = w->next) {
        if (is_idle(w) && (!oldest || w->used < oldest->used))
            oldest = w;
    }
    if (!oldest)
        return false;
    uint32_t i = oldest->source;
    retire(o, &o->files[i], o->base.delivery->source_table->items[i].n_lines);
    return true;
}

static void look_at_source(struct pfdd_file_writer *o, uint32_t i)
{
    const struct pfdd_source *it = &o->base.delivery->source_table->items[i];
    struct source_file *f = &o->files[i];
    bool is_same = it->name && it->born == f->born;
    if (f->writer && (!is_same || it->refs == 0))
        retire(o, f, it->n_lines);
    if (f->writer || !it->name)
        return;
    if (!is_same)
        *f = (struct source_file){ .born = it->born, .seq = o->first_seq };
    if (f->n_lines == it->n_lines || it->n_held == 0)
        return;
    if (evict_idle_writer(o)) {
        f->writer = add_writer(o, i, first_seq(o, f, it));
        f->n_lines = it->n_lines;
    } else if (o->n_waiting++ == 0) {
        o->turn = i;
    }
}

static void report_waiting(struct pfdd_file_writer *o, unsigned n_before)
{
    struct pfdd_delivery *delivery = o->base.delivery;
    char status[96] = "STATUS=";
    delivery->count->waiting_files += o->n_waiting;
    delivery->count->waiting_files -= n_before;
    if ((n_before > 0) == (o->n_waiting > 0))
        return;
    if (o->n_waiting) {
        pfdd_log(PFDD_WARNING,
                 "%s: more than %d sources at a time: others wait for their "
                 "turn, %s first",
                 config_of(o)->path, FILES_MAX,
                 delivery->source_table->items[o->turn].name);
        snprintf(status, sizeof status,
                 "STATUS=more than %d files of {buffer}: others wait",
                 FILES_MAX);
    }
    pfdd_systemd_notify(status);
}

static void check_sources(struct pfdd_file_writer *o)
{
    uint32_t n = o->base.delivery->source_table->n;
    unsigned n_before = o->n_waiting;
    if (!o->per_source || !n || !grow_files(o, n))
        return;
    uint32_t first = o->turn < n ? o->turn : 0;
    o->n_waiting = 0;
    for (uint32_t i = 0; i < n; i++)
        look_at_source(o, (first + i) % n);
    report_waiting(o, n_before);
}

static void on_tick(uv_timer_t *timer)
{
    struct pfdd_file_writer *o = timer->data;
    for (struct writer *w = o->writers; w; w = w->next)
        start_job(w);
    check_sources(o);
}

/* Tidies the rotated files, with {buffer} those of all sources. */
static void tidy(struct pfdd_file_writer *o)
{
    char *path =
        o->is_stdout
            ? NULL
            : pfdd_path_template_fill(config_of(o)->path, PFDD_ROTATION_ANY,
                                      o->per_source ? PFDD_ROTATION_ANY : NULL);
    if (path)
        start_care(o, "", path);
    free(path);
}

bool pfdd_file_writer_open(struct pfdd_output *output, char *err, size_t n_err)
{
    struct pfdd_file_writer *o = (struct pfdd_file_writer *)output;
    struct pfdd_delivery *delivery = output->delivery;
    const char *path = config_of(o)->path;
    o->is_stdout = !path;
    o->first_seq = delivery->ring->next_seq;
    o->per_source = path && strstr(path, "{buffer}");
    bool has_pool = !path || config_of(o)->compress || config_of(o)->keep;
    if (has_pool)
        o->pool = pfdd_pool_new(delivery->loop, 1);
    bool ok = (!has_pool || o->pool) &&
              (o->per_source || add_writer(o, 0, o->first_seq));
    if (!ok) {
        pfdd_pool_close(o->pool);
        snprintf(err, n_err, "out of memory or threads");
        return false;
    }
    tidy(o);
    uv_timer_init(delivery->loop, &o->tick);
    o->tick.data = o;
    uv_timer_start(&o->tick, on_tick, TICK_MS, TICK_MS);
    return true;
}

static bool is_busy(const struct pfdd_file_writer *o)
{
    for (const struct writer *w = o->writers; w; w = w->next) {
        if (w->busy || (w->consuming && pfdd_consumer_is_busy(&w->consumer)))
            return true;
    }
    return o->n_compressing > 0;
}

static void finish_close(struct pfdd_file_writer *o)
{
    if (!o->base.closing || !o->timer_closed || is_busy(o))
        return;
    free(o->files);
    o->base.delivery->count->waiting_files -= o->n_waiting;
    while (o->writers) {
        struct writer *w = o->writers;
        o->writers = w->next;
        free_writer(o, w);
    }
    pfdd_pool_close(o->pool);
    pfdd_output_closed(&o->base);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct pfdd_file_writer *o = handle->data;
    o->timer_closed = true;
    finish_close(o);
}

void pfdd_file_writer_close(struct pfdd_output *output)
{
    struct pfdd_file_writer *o = (struct pfdd_file_writer *)output;
    atomic_store(&o->stop, true);
    uv_close((uv_handle_t *)&o->tick, on_timer_closed);
}

bool pfdd_file_writer_is_drained(const struct pfdd_output *output)
{
    struct pfdd_file_writer *o = (struct pfdd_file_writer *)(uintptr_t)output;
    check_sources(o);
    for (struct writer *w = o->writers; w; w = w->next) {
        if (w->busy)
            return false;
        start_job(w);
        if (w->busy || w->failing || is_waiting(w) ||
            (w->reading && !pfdd_cursor_is_done(&w->cursor)))
            return false;
    }
    return true;
}

size_t pfdd_file_writer_memory(const struct pfdd_output *output)
{
    const struct pfdd_file_writer *o = (const struct pfdd_file_writer *)output;
    size_t n = sizeof *o + o->n_files * sizeof *o->files;
    for (const struct writer *w = o->writers; w; w = w->next) {
        n += sizeof *w + (w->reading ? pfdd_cursor_memory(&w->cursor) : 0);
    }
    return n;
}

bool pfdd_file_writer_trouble(const struct pfdd_output *output, char *ret,
                              size_t n)
{
    const struct pfdd_file_writer *o = (const struct pfdd_file_writer *)output;
    const struct writer *w = o->writers;
    while (w && !(w->consuming && w->failing))
        w = w->next;
    if (!w)
        return false;
    const char *why = pfdd_outage_why(&w->outage);
    snprintf(ret, n, "%.300s: %s", w->path, why ? why : "cannot be written");
    return true;
}

/* Adds what a writer has in the ring, or in the spool. *oldest: the time of the
 * first line that is not written. */
static void add_writer_sent(const struct writer *w, struct pfdd_sent *ret,
                            uint64_t *oldest)
{
    const struct pfdd_ring *ring = w->of->base.delivery->ring;
    uint64_t next = w->consumer.acked + 1;
    ret->is_connected &= !w->failing;
    if (w->reading) {
        ret->sent += w->cursor.written;
        ret->dropped += pfdd_cursor_dropped(&w->cursor);
        next = pfdd_cursor_is_done(&w->cursor) ? ring->next_seq
                                               : pfdd_cursor_seq(&w->cursor);
    }
    uint64_t time = pfdd_ring_time(ring, next);
    if (time && (!*oldest || time < *oldest))
        *oldest = time;
}

struct pfdd_sent pfdd_file_writer_sent(const struct pfdd_output *output)
{
    const struct pfdd_file_writer *o = (const struct pfdd_file_writer *)output;
    struct pfdd_sent ret = o->count;
    uint64_t oldest = 0;
    ret.is_connected = true;
    for (const struct writer *w = o->writers; w; w = w->next)
        add_writer_sent(w, &ret, &oldest);
    if (output->config->required)
        ret.acked = ret.sent;
    ret.age_ns = pfdd_time_since(oldest);
    return ret;
}
