/* SPDX-License-Identifier: MIT */
/*
 * Standard output and files. A file's path may have {host}, {pid} and {buffer}
 * in it; with {buffer} there is a file for each source. Files are rotated by
 * rename only, and the old ones compressed if asked. What cannot be written is
 * tried again; lines that the ring has dropped by then are a gap record.
 *
 * A required output reads from the disk queue instead of the ring, syncs what
 * it has written, and acknowledges it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/template.h"
#include "delivery/queue.h"
#include "delivery/resume.h"
#include "outputs/pump.h"
#include "outputs/rotated.h"
#include "sources/daemon.h"

enum {
    RETRY_MS = 1000,
    TICK_MS = 200, /* new sources, age of files */
    QUEUE_READ = 256 * 1024,
    FILES_MAX = 256, /* that are written at a time, with {buffer} */
};

/* One file that is written. */
struct writer {
    struct pfdd_job job;
    struct file_output *of;
    struct writer *next;
    struct pfdd_reader reader;
    bool reading;
    struct pfdd_consumer consumer;
    bool consuming;
    bool busy; /* the job is on its way */
    bool failing;
    uint64_t retry_at; /* uv_now() */
    uint32_t source;   /* with {buffer}: its number in `files` */
    char *path;
    /* The job's. */
    int fd;
    uint64_t size;
    uint64_t opened;   /* seconds */
    const char *bytes; /* [n], the reader's or `own` */
    size_t n;
    size_t n_written;
    char *own;       /* [QUEUE_READ], required outputs */
    bool whole_line; /* the file ends with a newline */
    int error;
    char old[PFDD_ROTATED]; /* rotated just now, or "" */
    bool is_due;    /* it is rotated when what is in it is known to be */
    bool is_mended; /* of what whoever wrote it last left */
    struct pfdd_resume resume;
};

/* Of a source, by its number: which one it was, and how far its file is. */
struct source_file {
    uint64_t born;
    uint64_t seq;     /* of the first line that may not be in it */
    uint64_t n_lines; /* that the source had then */
    struct writer *writer;
};

struct file_output {
    struct pfdd_output base;
    struct writer *writers;
    struct pfdd_pool *pool; /* standard output's own thread */
    uv_timer_t tick;
    uint64_t first_seq;
    atomic_bool stop;
    bool is_stdout;
    bool per_source;
    bool told_crowd;
    struct source_file *files; /* [n_files], with {buffer} */
    uint32_t n_files;
    unsigned n_writers;
    bool timer_closed;
    unsigned n_compressing;
};

/* ---- on the disk thread ---- */

static bool open_file(struct writer *w)
{
    struct stat st;
    char last = '\n';
    if (w->of->is_stdout) {
        w->fd = STDOUT_FILENO;
        w->whole_line = true;
        return true;
    }
    w->fd =
        open(w->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
    if (w->fd < 0)
        return false;
    w->size = fstat(w->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (!w->opened)
        w->opened = (uint64_t)time(NULL);
    w->whole_line = !w->size ||
                    pread(w->fd, &last, 1, (off_t)w->size - 1) != 1 ||
                    last == '\n';
    return true;
}

/* A pipe takes PIPE_BUF bytes at once when it is writable, so that the thread
 * never hangs in write(). */
static ssize_t write_some(struct writer *w, const char *bytes, size_t n)
{
    if (!w->of->is_stdout)
        return write(w->fd, bytes, n);
    struct pollfd p = { .fd = w->fd, .events = POLLOUT };
    while (poll(&p, 1, 100) == 0) {
        if (atomic_load(&w->of->stop)) {
            errno = EAGAIN;
            return -1;
        }
    }
    return write(w->fd, bytes, n < 4096 ? n : 4096);
}

static bool write_all(struct writer *w, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write_some(w, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        w->n_written += (size_t)done;
        w->size += (uint64_t)done;
        w->whole_line = bytes[done - 1] == '\n';
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static bool is_due(const struct writer *w)
{
    const struct pfdd_output_config *config = w->of->base.config;
    uint64_t age = ((uint64_t)time(NULL) - w->opened) * 1000;
    return w->whole_line && w->fd >= 0 && !w->of->is_stdout &&
           ((config->rotate_size && w->size >= config->rotate_size) ||
            (config->rotate_age_ms && w->size && age >= config->rotate_age_ms));
}

static void close_file(struct writer *w)
{
    close(w->fd);
    w->fd = -1;
}

/* The old file gets the time behind its name. */
static void rotate(struct writer *w)
{
    if (!pfdd_rotated_rename(w->path, w->old))
        w->old[0] = '\0';
    close_file(w);
    w->opened = 0;
}

/* A file that somebody else has moved away or removed is made again. */
static void look_after_file(struct writer *w)
{
    struct stat ours;
    struct stat there;
    if (w->fd < 0 || w->of->is_stdout)
        return;
    if (stat(w->path, &there) == 0 && fstat(w->fd, &ours) == 0 &&
        there.st_ino == ours.st_ino && there.st_dev == ours.st_dev)
        return;
    close_file(w);
}

/* What could not be written whole comes again. */
static void take_back(struct writer *w, uint64_t before)
{
    struct stat st;
    if (w->of->is_stdout || fstat(w->fd, &st) != 0 ||
        (uint64_t)st.st_size != w->size || w->size == before ||
        ftruncate(w->fd, (off_t)before) != 0)
        return;
    w->size = before;
    w->whole_line = true;
}

static bool write_lines(struct writer *w)
{
    if (w->fd < 0 && !open_file(w))
        return false;
    /* Of somebody else, who was killed. */
    if (!w->whole_line && w->consuming && !write_all(w, "\n", 1))
        return false;
    uint64_t before = w->size;
    w->n_written = 0;
    bool ok = write_all(w, w->bytes, w->n) &&
              (!w->consuming || w->of->is_stdout || fdatasync(w->fd) == 0);
    if (!ok && w->consuming) {
        int error = errno;
        take_back(w, before);
        errno = error;
    }
    return ok;
}

/* The next lines, and what becomes due by them. */
static void go_on(struct writer *w)
{
    if (w->consuming) {
        w->bytes = w->own;
        /* What could not be written the last time comes first. */
        if (w->n == 0) {
            w->n = pfdd_queue_read(w->of->base.d->queue, &w->consumer, w->own,
                                   QUEUE_READ);
        }
    }
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

static void mend(struct writer *w)
{
    w->is_mended = true;
    pfdd_resume_mend(w->path, w->of->base.config->form == PFDD_JSON,
                     w->consumer.saved, &w->resume);
}

static void run_job(struct pfdd_job *job)
{
    struct writer *w = (struct writer *)job;
    w->error = 0;
    w->n_written = 0;
    w->old[0] = '\0';
    look_after_file(w);
    bool is_first = !w->is_mended;
    if (is_first)
        mend(w);
    if (w->is_due) {
        w->is_due = false;
        if (is_due(w))
            rotate(w);
    } else if (!is_first || w->reading) {
        go_on(w);
    }
    /* There may be as many as others like: none is kept open. */
    if (w->of->per_source && w->fd >= 0)
        close_file(w);
}

struct care {
    struct pfdd_rotated_care care;
    struct file_output *of;
};

/* ---- on the loop ---- */

static void finish_close(struct file_output *o);

static void care_done(struct pfdd_job *job)
{
    struct care *c = (struct care *)job;
    struct file_output *o = c->of;
    if (c->care.error) {
        pfdd_log(PFDD_WARNING, "%s: not compressed: %s", c->care.old,
                 strerror(c->care.error));
        o->base.d->count.file_errors++;
    }
    free(c);
    o->n_compressing--;
    finish_close(o);
}

/* old: rotated just now, or "": at the start. */
static void look_after_old(struct file_output *o, const char *old,
                           const char *path)
{
    const struct pfdd_output_config *config = o->base.config;
    struct care *c =
        config->compress || config->keep ? malloc(sizeof *c) : NULL;
    if (!c)
        return;
    pfdd_rotated_care(&c->care, old, path, config);
    c->care.job.done = care_done;
    c->of = o;
    o->n_compressing++;
    pfdd_pool_submit(o->base.d->decoders, &c->care.job);
}

static void set_failing(struct writer *w, bool failing)
{
    struct pfdd *d = w->of->base.d;
    if (w->consuming && failing != w->failing)
        d->n_failing += failing ? 1 : -1U;
    w->failing = failing;
}

static void start_job(struct writer *w);

static void job_done(struct pfdd_job *job)
{
    struct writer *w = (struct writer *)job;
    struct file_output *o = w->of;
    struct pfdd *d = o->base.d;
    w->busy = false;
    w->reader.is_lent = false;
    if (w->reading) {
        if (w->n_written)
            pfdd_reader_take(&w->reader, w->n_written);
        w->n = 0;
    } else if (w->resume.seq) {
        pfdd_queue_resume(d->queue, &w->consumer, w->resume.seq, w->resume.line,
                          w->resume.n_line);
    } else if (pfdd_queue_took(d->queue, &w->consumer) && !w->error) {
        pfdd_queue_ack(d->queue, &w->consumer, w->consumer.given);
        w->n = 0;
    }
    /* After an error all of w->own comes again. */
    if (w->error && w->error != EAGAIN) {
        d->count.file_errors++;
        if (!w->failing) {
            pfdd_log(PFDD_ERROR, "%s: %s; trying again", w->path,
                     strerror(w->error));
        }
        w->retry_at = uv_now(d->loop) + RETRY_MS;
    } else if (w->failing) {
        pfdd_log(PFDD_INFO, "%s: writing again", w->path);
    }
    pfdd_resume_deinit(&w->resume);
    set_failing(w, w->error && w->error != EAGAIN);
    if (w->old[0])
        look_after_old(o, w->old, w->path);
    if (o->base.closing) {
        finish_close(o);
    } else {
        start_job(w);
    }
}

static bool is_waiting(const struct writer *w)
{
    return w->is_due && w->consumer.saved < w->consumer.given;
}

static bool has_work(struct writer *w)
{
    if (w->reading)
        return pfdd_reader_peek(&w->reader, &w->bytes, &w->n);
    if (!w->is_mended)
        return true;
    /* A file that is done has nothing that might come again. */
    if (w->is_due)
        return !is_waiting(w);
    return w->n || pfdd_queue_aim(w->of->base.d->queue, &w->consumer);
}

static void start_job(struct writer *w)
{
    struct pfdd *d = w->of->base.d;
    if (w->busy || (w->failing && uv_now(d->loop) < w->retry_at))
        return;
    if (!has_work(w))
        return;
    w->busy = true;
    w->reader.is_lent = true;
    d->count.file_retries += w->failing;
    pfdd_pool_submit(w->of->is_stdout ? w->of->pool : d->disk, &w->job);
}

static void on_lines(struct pfdd_reader *reader)
{
    start_job(reader->user);
}

static void on_durable(struct pfdd_consumer *consumer)
{
    start_job(consumer->user);
}

static bool is_taken(const void *user, const char *path)
{
    const struct file_output *o = user;
    for (const struct writer *w = o->writers; w; w = w->next) {
        if (!strcmp(w->path, path))
            return true;
    }
    return false;
}

static bool join_queue(struct writer *w)
{
    struct pfdd *d = w->of->base.d;
    w->own = malloc(QUEUE_READ + PFDD_QUEUE_LINE_MAX);
    if (!w->own)
        return false;
    w->consumer.name = w->path;
    w->consumer.wake = on_durable;
    w->consumer.user = w;
    pfdd_queue_join(d->queue, &w->consumer);
    w->consuming = true;
    return true;
}

static bool read_ring(struct writer *w, const char *source, uint64_t first_seq)
{
    const struct pfdd_output_config *config = w->of->base.config;
    struct pfdd *d = w->of->base.d;
    char err[160];
    struct pfdd_request request;
    bool ok = pfdd_config_request(config, &request, err, sizeof err);
    request.from.is_seq = true;
    request.from.value = first_seq;
    ok = ok &&
         (!source ||
          pfdd_request_set(&request, "source", source, err, sizeof err)) &&
         pfdd_request_finish(&request, err, sizeof err) &&
         pfdd_reader_init(&w->reader, &d->pages, &request);
    pfdd_request_deinit(&request);
    if (!ok)
        return false;
    w->reader.wake = on_lines;
    w->reader.user = w;
    w->reader.name = w->path;
    w->reading = true;
    return true;
}

/* NULL: out of memory. */
static struct writer *add_writer(struct file_output *o, uint32_t source,
                                 uint64_t first_seq)
{
    const struct pfdd_output_config *config = o->base.config;
    const char *name =
        o->per_source ? pfdd_source_name(o->base.d, source) : NULL;
    struct writer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->job.run = run_job;
    w->job.done = job_done;
    w->of = o;
    w->fd = -1;
    w->source = source;
    w->path = o->is_stdout
                  ? strdup("stdout")
                  : pfdd_template_choose(config->path, name, is_taken, o);
    bool ok = w->path && (config->required ? join_queue(w)
                                           : read_ring(w, name, first_seq));
    if (!ok) {
        free(w->path);
        free(w->own);
        free(w);
        return NULL;
    }
    /* What is printed raw need not end anywhere. */
    w->is_mended = o->is_stdout || config->form == PFDD_RAW;
    w->next = o->writers;
    o->writers = w;
    o->n_writers++;
    start_job(w);
    return w;
}

/* ---- a file for each source ---- */

static void free_writer(struct file_output *o, struct writer *w)
{
    if (w->reading) {
        o->base.d->count.missed += w->reader.missed;
        pfdd_reader_deinit(&w->reader);
    }
    set_failing(w, false);
    if (w->consuming)
        pfdd_queue_leave(o->base.d->queue, &w->consumer);
    if (w->fd >= 0 && !o->is_stdout)
        close(w->fd);
    pfdd_resume_deinit(&w->resume);
    free(w->own);
    free(w->path);
    free(w);
}

static bool grow_files(struct file_output *o, uint32_t n)
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

/* Its source has gone and all lines are written: it makes room for others. */
static void retire(struct file_output *o, struct source_file *f,
                   uint64_t n_lines)
{
    struct writer *w = f->writer;
    struct writer **at = &o->writers;
    if (w->busy || w->failing || has_work(w) ||
        !pfdd_reader_is_done(&w->reader))
        return;
    f->seq = pfdd_reader_seq(&w->reader);
    f->n_lines = n_lines;
    f->writer = NULL;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    o->n_writers--;
    free_writer(o, w);
}

/* Where its file goes on. What the ring has let go of since is missed only if
 * some of it was the source's. */
static uint64_t first_seq(const struct file_output *o,
                          const struct source_file *f,
                          const struct pfdd_source *it)
{
    const struct pfdd_ring *ring = &o->base.d->ring;
    uint64_t oldest = pfdd_ring_oldest(ring);
    bool has_all = it->n_lines - it->n_held <= f->n_lines;
    return has_all && oldest > f->seq ? oldest : f->seq;
}

static void look_at_source(struct file_output *o, uint32_t i)
{
    const struct pfdd_source *it = &o->base.d->sources.items[i];
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
    if (o->n_writers < FILES_MAX) {
        f->writer = add_writer(o, i, first_seq(o, f, it));
        f->n_lines = it->n_lines;
    } else if (!o->told_crowd) {
        o->told_crowd = true;
        pfdd_log(PFDD_WARNING,
                 "%s: more than %d sources at a time: the others wait, from %s "
                 "on",
                 o->base.config->path, FILES_MAX, it->name);
    }
}

static void look_at_sources(struct file_output *o)
{
    uint32_t n = o->base.d->sources.n;
    for (uint32_t i = 0; o->per_source && grow_files(o, n) && i < n; i++)
        look_at_source(o, i);
}

static void on_tick(uv_timer_t *timer)
{
    struct file_output *o = timer->data;
    for (struct writer *w = o->writers; w; w = w->next)
        start_job(w);
    look_at_sources(o);
}

/* Of all sources, if each has a file. */
static void tidy(struct file_output *o)
{
    char *path = o->is_stdout ? NULL
                              : pfdd_template_fill(o->base.config->path,
                                                   PFDD_ROTATED_ANY);
    if (path)
        look_after_old(o, "", path);
    free(path);
}

static bool open_output(struct pfdd_output *output, bool is_stdout, char *err,
                        size_t n_err)
{
    struct file_output *o = (struct file_output *)output;
    struct pfdd *d = output->d;
    o->is_stdout = is_stdout;
    o->first_seq = d->ring.next_seq;
    o->per_source = !is_stdout && strstr(output->config->path, "{buffer}");
    if (is_stdout)
        o->pool = pfdd_pool_new(d->loop, 1);
    bool ok = (!is_stdout || o->pool) &&
              (o->per_source || add_writer(o, 0, o->first_seq));
    if (!ok) {
        pfdd_pool_close(o->pool);
        snprintf(err, n_err, "out of memory or threads");
        return false;
    }
    tidy(o);
    uv_timer_init(d->loop, &o->tick);
    o->tick.data = o;
    uv_timer_start(&o->tick, on_tick, TICK_MS, TICK_MS);
    return true;
}

static bool open_file_output(struct pfdd_output *output, char *err,
                             size_t n_err)
{
    return open_output(output, false, err, n_err);
}

static bool open_stdout(struct pfdd_output *output, char *err, size_t n_err)
{
    return open_output(output, true, err, n_err);
}

static bool is_busy(const struct file_output *o)
{
    for (const struct writer *w = o->writers; w; w = w->next) {
        if (w->busy)
            return true;
    }
    return o->n_compressing > 0;
}

static void finish_close(struct file_output *o)
{
    if (!o->base.closing || !o->timer_closed || is_busy(o))
        return;
    free(o->files);
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
    struct file_output *o = handle->data;
    o->timer_closed = true;
    finish_close(o);
}

static void close_output(struct pfdd_output *output)
{
    struct file_output *o = (struct file_output *)output;
    atomic_store(&o->stop, true);
    uv_close((uv_handle_t *)&o->tick, on_timer_closed);
}

static bool is_drained(const struct pfdd_output *output)
{
    struct file_output *o = (struct file_output *)(uintptr_t)output;
    look_at_sources(o);
    for (struct writer *w = o->writers; w; w = w->next) {
        if (w->busy)
            return false;
        start_job(w);
        if (w->busy || w->failing || is_waiting(w) ||
            (w->reading && !pfdd_reader_is_done(&w->reader)))
            return false;
    }
    return true;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct file_output *o = (const struct file_output *)output;
    size_t n = sizeof *o + o->n_files * sizeof *o->files;
    for (const struct writer *w = o->writers; w; w = w->next) {
        n += sizeof *w + (w->reading ? pfdd_reader_memory(&w->reader)
                                     : QUEUE_READ + PFDD_QUEUE_LINE_MAX);
    }
    return n;
}

const struct pfdd_output_class pfdd_output_file = {
    "file",           sizeof(struct file_output),
    open_file_output, close_output,
    is_drained,       memory,
};

const struct pfdd_output_class pfdd_output_stdout = {
    "stdout", sizeof(struct file_output), open_stdout, close_output, is_drained,
    memory,
};
