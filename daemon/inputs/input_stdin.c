/* SPDX-License-Identifier: MIT */
/*
 * Input `stdin`: a capture, or one dump. Standard input may be anything that
 * can be read, so a thread of its own reads it.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "ingest/ingest.h"
#include "ingest/producer_connection.h"
#include "ingest/stream.h"

struct stdin_input {
    struct pfdd_input base;
    struct pfdd_job job;
    struct pfdd_pool *pool;
    struct pfdd_stream *stream;
    atomic_bool stop;
    bool busy;
    char bytes[PFDD_READ];
    ssize_t n; /* below 0: an errno value; 0: the end */
    size_t at;
};

static struct stdin_input *of_job(struct pfdd_job *job)
{
    char *at = (char *)job - offsetof(struct stdin_input, job);
    return (struct stdin_input *)(void *)at;
}

static void run_job(struct pfdd_job *job)
{
    struct stdin_input *in = of_job(job);
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    in->n = -EAGAIN;
    while (!atomic_load(&in->stop) && in->n == -EAGAIN) {
        if (poll(&p, 1, 100) == 0)
            continue;
        in->n = read(STDIN_FILENO, in->bytes, sizeof in->bytes);
        if (in->n < 0)
            in->n = errno == EINTR ? -EAGAIN : -errno;
    }
}

static void finish_close(struct stdin_input *in)
{
    if (!in->base.closing || in->busy || in->stream)
        return;
    pfdd_pool_close(in->pool);
    pfdd_input_closed(&in->base);
}

static void read_more(struct stdin_input *in)
{
    in->busy = true;
    pfdd_pool_submit(in->pool, &in->job);
}

static void end(struct stdin_input *in)
{
    if (in->stream)
        pfdd_stream_end(in->stream);
}

static void close_all(struct stdin_input *in)
{
    if (in->stream) {
        end(in); /* on_ended() goes on */
    } else {
        finish_close(in);
    }
}

static void hand_over(struct stdin_input *in)
{
    size_t taken = 0;
    if (!pfdd_stream_feed(in->stream, in->bytes + in->at,
                          (size_t)in->n - in->at, NULL, 0, &taken)) {
        end(in);
        return;
    }
    in->at += taken;
    if (in->at == (size_t)in->n && !pfdd_stream_is_waiting(in->stream))
        read_more(in);
}

static void job_done(struct pfdd_job *job)
{
    struct stdin_input *in = of_job(job);
    in->busy = false;
    in->at = 0;
    if (in->base.closing) {
        close_all(in);
        return;
    }
    if (in->n < 0)
        pfdd_log(PFDD_WARNING, "standard input: %s", strerror((int)-in->n));
    if (in->n <= 0) {
        end(in);
    } else {
        hand_over(in);
    }
}

static void on_resume(void *user)
{
    struct stdin_input *in = user;
    if (!in->base.closing && !in->busy)
        hand_over(in);
}

static void on_ended(void *user)
{
    struct stdin_input *in = user;
    in->stream = NULL;
    if (!in->base.closing)
        pfdd_log(PFDD_INFO, "standard input has ended");
    finish_close(in);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct stdin_input *in = (struct stdin_input *)input;
    struct pfdd_stream_options options = {
        .name = "stdin",
        .settle_ms = input->config->settle_ms,
        .options = input->config->options,
        .format = pfdd_input_format(input->config),
        .description = &input->description,
        .may_be_raw = true,
        .resume = on_resume,
        .ended = on_ended,
        .user = in,
    };
    in->pool = pfdd_pool_new(input->ingest->loop, 1);
    if (in->pool)
        in->stream = pfdd_stream_new(input->ingest, &options);
    if (!in->stream) {
        pfdd_pool_close(in->pool);
        snprintf(err, n_err, "out of memory or threads");
        return false;
    }
    in->job.run = run_job;
    in->job.done = job_done;
    read_more(in);
    return true;
}

static void close_input(struct pfdd_input *input)
{
    struct stdin_input *in = (struct stdin_input *)input;
    atomic_store(&in->stop, true);
    if (!in->busy)
        close_all(in);
}

/* ---- its keys ---- */

static const struct pfdd_part parts[] = {
    { &pfdd_options_group, 0 },
    { &pfdd_format_group, 0 },
    { &pfdd_settle_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    fputs("a capture or a dump on standard input", out);
}

const struct pfdd_input_class pfdd_input_stdin = {
    .base = { .name = "stdin",
              .size = sizeof(struct pfdd_input_config),
              .parts = parts,
              .plan = plan,
              .only_one = "there is one standard input only" },
    .size = sizeof(struct stdin_input),
    .open = open_input,
    .close = close_input,
};
