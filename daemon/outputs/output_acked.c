/* SPDX-License-Identifier: MIT */
/*
 * A required subscriber: one at a time on a unix or TCP socket, gets all lines
 * as JSON from the queue on disk, and says {"ack":N} when it has those up to
 * sequence number N in safety. What it has not acknowledged comes again when
 * it, or another one, connects; nothing of it leaves the disk before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "core/log.h"
#include "delivery/queue.h"
#include "net/socket.h"
#include "sources/daemon.h"

enum {
    BATCH = 256 * 1024, /* bytes read from the queue at once */
};

struct subscriber {
    uv_poll_t poll;
    int fd;
    struct acked_output *of;
    bool closing;
    int events; /* polled for */
    char line[PFDD_REQUEST_MAX];
    size_t n_line;
};

struct acked_output {
    struct pfdd_output base;
    struct pfdd_listener listener;
    bool listener_closed;
    struct subscriber *subscriber; /* NULL: nobody is there */
    unsigned n_closing;            /* subscribers that are gone */
    struct pfdd_consumer consumer;
    bool joined;
    /* The job's: lines from the queue. */
    struct pfdd_job job;
    bool busy;
    bool stale;  /* what is being read was for one that is gone */
    char *bytes; /* [n], up to `at` is sent */
    size_t n;
    size_t at;
};

/* Begins again behind what was acknowledged. */
static void rewind_queue(struct acked_output *o)
{
    struct pfdd_queue *q = o->base.d->queue;
    if (o->joined)
        pfdd_queue_leave(q, &o->consumer);
    pfdd_queue_join(q, &o->consumer);
    o->joined = true;
    o->n = o->at = 0;
    o->stale = false;
}

static void finish_close(struct acked_output *o)
{
    if (!o->base.closing || !o->listener_closed || o->n_closing || o->busy)
        return;
    pfdd_queue_leave(o->base.d->queue, &o->consumer);
    free(o->bytes);
    pfdd_output_closed(&o->base);
}

static void subscriber_closed(uv_handle_t *handle)
{
    struct subscriber *s = handle->data;
    struct acked_output *o = s->of;
    o->n_closing--;
    free(s);
    finish_close(o);
}

static void close_subscriber(struct subscriber *s)
{
    struct acked_output *o = s->of;
    if (s->closing)
        return;
    s->closing = true;
    uv_poll_stop(&s->poll);
    close(s->fd);
    uv_close((uv_handle_t *)&s->poll, subscriber_closed);
    o->subscriber = NULL;
    o->n_closing++;
    o->consumer.absent = true;
    if (o->busy) {
        o->stale = true;
    } else {
        rewind_queue(o);
    }
}

/* ---- lines out ---- */

static void on_event(uv_poll_t *poll, int status, int events);

static void watch(struct subscriber *s, int events)
{
    if (s->events == events)
        return;
    s->events = events;
    uv_poll_start(&s->poll, events, on_event);
}

static void run_job(struct pfdd_job *job)
{
    struct acked_output *o = PFDD_MEMBER_OF(struct acked_output, job, job);
    o->n = pfdd_queue_read(o->base.d->queue, &o->consumer, o->bytes, BATCH);
}

/* Sends what there is, then has more read. */
static void pump(struct acked_output *o)
{
    struct subscriber *s = o->subscriber;
    if (!s || s->closing || o->busy)
        return;
    while (o->at < o->n) {
        ssize_t done =
            send(s->fd, o->bytes + o->at, o->n - o->at, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            watch(s, UV_READABLE | UV_WRITABLE);
            return;
        }
        if (done < 0) {
            close_subscriber(s);
            return;
        }
        o->at += (size_t)done;
    }
    watch(s, UV_READABLE);
    if (!pfdd_queue_aim(o->base.d->queue, &o->consumer))
        return;
    o->n = o->at = 0;
    o->busy = true;
    pfdd_pool_submit(o->base.d->disk, &o->job);
}

static void job_done(struct pfdd_job *job)
{
    struct acked_output *o = PFDD_MEMBER_OF(struct acked_output, job, job);
    bool again = pfdd_queue_took(o->base.d->queue, &o->consumer) || o->stale;
    o->busy = false;
    if (o->stale)
        rewind_queue(o);
    if (again)
        pump(o);
    finish_close(o);
}

static void on_durable(struct pfdd_consumer *consumer)
{
    pump(consumer->user);
}

/* ---- acknowledgements in ---- */

static const char *take_ack(struct acked_output *o, const json_t *value)
{
    json_int_t seq = json_integer_value(value);
    if (!json_is_integer(value) || seq < 0 || (uint64_t)seq > o->consumer.given)
        return "'ack' is the number of a line that was sent";
    pfdd_queue_ack(o->base.d->queue, &o->consumer, (uint64_t)seq);
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char *take_line(struct acked_output *o, const char *line, size_t n)
{
    const char *why = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(root))
        why = "a line is a JSON object such as {\"ack\":77}";
    json_object_foreach(root, key, value)
    {
        const char *text = json_string_value(value);
        if (!strcmp(key, "ack")) {
            why = why ? why : take_ack(o, value);
        } else if (strcmp(key, "output") != 0 || !text ||
                   strcmp(text, "json") != 0) {
            why = "a required output gives all lines as json, from the first "
                  "that was not acknowledged";
        }
    }
    json_decref(root);
    return why;
}

static void take_lines(struct subscriber *s)
{
    char *newline = NULL;
    const char *why = NULL;
    while (!why && (newline = memchr(s->line, '\n', s->n_line))) {
        size_t n = (size_t)(newline - s->line) + 1;
        why = take_line(s->of, s->line, n - 1);
        s->n_line -= n;
        memmove(s->line, newline + 1, s->n_line);
    }
    if (!why && s->n_line == sizeof s->line)
        why = "a line is longer than 4096 bytes";
    if (why) {
        pfdd_socket_refuse(s->fd, why);
        close_subscriber(s);
    }
}

static void on_input(struct subscriber *s)
{
    ssize_t n = recv(s->fd, s->line + s->n_line, sizeof s->line - s->n_line,
                     MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_subscriber(s);
        return;
    }
    s->n_line += (size_t)n;
    take_lines(s);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct subscriber *s = poll->data;
    if (status < 0) {
        close_subscriber(s);
        return;
    }
    if (events & UV_READABLE)
        on_input(s);
    if (!s->closing && (events & UV_WRITABLE))
        pump(s->of);
}

/* ---- life ---- */

/* Its last words and its end may stand in the socket when the next one comes.
 * Whoever sends without end is left there. */
static void hear_out(struct acked_output *o)
{
    char byte = 0;
    for (int i = 0; i < 16 && o->subscriber; i++) {
        ssize_t n = recv(o->subscriber->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return;
        on_input(o->subscriber);
    }
}

static void on_accept(struct pfdd_listener *l, int fd)
{
    struct acked_output *o = l->user;
    struct subscriber *s = NULL;
    hear_out(o);
    if (o->subscriber) {
        o->base.d->count.refused++;
        pfdd_socket_refuse(fd, "a required output has one subscriber");
    } else if (!o->base.closing) {
        s = calloc(1, sizeof *s);
    }
    if (!s || uv_poll_init(o->base.d->loop, &s->poll, fd) != 0) {
        free(s);
        close(fd);
        return;
    }
    s->fd = fd;
    s->of = o;
    s->poll.data = s;
    o->subscriber = s;
    o->consumer.absent = false;
    watch(s, UV_READABLE);
    pump(o);
}

static void on_listener_closed(void *user)
{
    struct acked_output *o = user;
    o->listener_closed = true;
    finish_close(o);
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct acked_output *o = (struct acked_output *)output;
    const struct pfdd_output_config *config = output->config;
    o->bytes = malloc(BATCH + PFDD_QUEUE_LINE_MAX);
    if (!o->bytes) {
        snprintf(err, n_err, "out of memory");
        return false;
    }
    o->listener.user = o;
    o->listener.accept = on_accept;
    o->listener.closed = on_listener_closed;
    o->listener.refused = &output->d->count.refused;
    o->listener.out_of_fds = &output->d->count.out_of_fds;
    if (!pfdd_listener_open(&o->listener, output->d->loop, &config->address,
                            &config->access, err, n_err)) {
        free(o->bytes);
        return false;
    }
    o->job.run = run_job;
    o->job.done = job_done;
    o->consumer.name = config->name ? config->name : config->address_text;
    o->consumer.wake = on_durable;
    o->consumer.user = o;
    o->consumer.absent = true;
    rewind_queue(o);
    pfdd_log(PFDD_INFO, "a required subscriber: %s", config->address_text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct acked_output *o = (struct acked_output *)output;
    pfdd_listener_close(&o->listener);
    if (o->subscriber)
        close_subscriber(o->subscriber);
}

/* Whether it has acknowledged is the queue's question. */
static bool is_drained(const struct pfdd_output *output)
{
    const struct acked_output *o = (const struct acked_output *)output;
    return !o->busy && o->at == o->n;
}

static size_t memory(const struct pfdd_output *output)
{
    const struct acked_output *o = (const struct acked_output *)output;
    return sizeof *o + BATCH + PFDD_QUEUE_LINE_MAX +
           pfdd_listener_memory(&o->listener) +
           (o->subscriber ? sizeof *o->subscriber : 0);
}

const struct pfdd_output_class pfdd_output_acked = {
    "listen",    sizeof(struct acked_output),
    open_output, close_output,
    is_drained,  memory,
};
