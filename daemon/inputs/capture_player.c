/* SPDX-License-Identifier: MIT */
#include "inputs/capture_player.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "ingest/ingest.h"
#include "ingest/producer_connection.h"
#include "ingest/stream.h"

enum {
    SETTLE_MS = 100,
};

struct pfdd_capture_player {
    struct pfdd_job job;
    struct pfdd_ingest *ingest;
    struct pfdd_stream *stream;
    char *name;
    int fd;
    bool stopping;
    bool busy;
    void (*ended)(void *user);
    void *user;
    /* Owned by the job. */
    ssize_t n; /* below 0: an errno value; 0: the end */
    size_t at;
    char bytes[PFDD_READ];
};

static void run_job(struct pfdd_job *job)
{
    struct pfdd_capture_player *f = (struct pfdd_capture_player *)job;
    do {
        f->n = read(f->fd, f->bytes, sizeof f->bytes);
    } while (f->n < 0 && errno == EINTR);
    if (f->n < 0)
        f->n = -errno;
}

static void on_ended(void *user)
{
    struct pfdd_capture_player *f = user;
    void (*ended)(void *) = f->ended;
    void *its_user = f->user;
    close(f->fd);
    free(f->name);
    free(f);
    ended(its_user);
}

static void read_more(struct pfdd_capture_player *f)
{
    f->busy = true;
    pfdd_pool_submit(f->ingest->thread_pools->decoders, &f->job);
}

static void hand_over(struct pfdd_capture_player *f)
{
    size_t taken = 0;
    if (!pfdd_stream_feed(f->stream, f->bytes + f->at, (size_t)f->n - f->at,
                          NULL, 0, &taken)) {
        pfdd_stream_end(f->stream);
        return;
    }
    f->at += taken;
    if (f->at == (size_t)f->n && !pfdd_stream_is_waiting(f->stream))
        read_more(f);
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_capture_player *f = (struct pfdd_capture_player *)job;
    f->busy = false;
    f->at = 0;
    if (f->n < 0)
        pfdd_log(PFDD_WARNING, "%s: %s", f->name, strerror((int)-f->n));
    if (f->n <= 0 || f->stopping) {
        pfdd_stream_end(f->stream); /* on_ended() goes on */
    } else {
        hand_over(f);
    }
}

static void on_resume(void *user)
{
    struct pfdd_capture_player *f = user;
    if (!f->busy)
        hand_over(f);
}

void pfdd_capture_player_stop(struct pfdd_capture_player *f)
{
    if (f->stopping)
        return;
    f->stopping = true;
    if (!f->busy)
        pfdd_stream_end(f->stream);
}

struct pfdd_capture_player *pfdd_capture_player_new(
    const struct pfdd_input *input, int fd, const char *name,
    void (*ended)(void *user), void *user)
{
    struct pfdd_capture_player *f = calloc(1, sizeof *f);
    struct pfdd_stream_options options = {
        .name = name,
        .settle_ms = SETTLE_MS,
        .options = input->config->options,
        .description = &input->description,
        .resume = on_resume,
        .ended = on_ended,
        .user = f,
    };
    if (f) {
        f->name = strdup(name);
        f->stream = f->name ? pfdd_stream_new(input->ingest, &options) : NULL;
    }
    if (!f || !f->stream) {
        free(f ? f->name : NULL);
        free(f);
        close(fd);
        return NULL;
    }
    f->job.run = run_job;
    f->job.done = job_done;
    f->ingest = input->ingest;
    f->fd = fd;
    f->ended = ended;
    f->user = user;
    read_more(f);
    return f;
}
