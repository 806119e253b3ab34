/* SPDX-License-Identifier: MIT */
/*
 * A required subscriber: one at a time on a unix or TCP socket. It gets items
 * from the spool, as lines of JSON or, if it asks for them at once, as entries
 * that are not rendered. It sends {"ack":N} when it has stored all items up to
 * sequence number N. Unacknowledged items stay on disk and are sent again on
 * the next connection.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include <printfdecode/wire.h>

#include "base/log.h"
#include "net/accepted_client.h"
#include "outputs/delivery.h"
#include "spool/spool.h"
#include "stream/capture/wire.h"

enum {
    GRACE_MS = 100, /* to send a request */
};

struct subscriber {
    struct pfdd_accepted_client base;
    bool reading; /* lines or entries are being sent: */
    bool is_entries;
    bool has_had_any;
    char line[PFDD_REQUEST_MAX];
    size_t n_line;
};

struct required_output {
    struct pfdd_output base;
    struct pfdd_accepted_clients accepted_clients;
    struct subscriber *subscriber; /* NULL: not connected */
    struct pfdd_consumer consumer;
    uint64_t begin; /* what it had acknowledged at first */
    uint64_t sent;  /* the last item that was sent to any subscriber, or was to
                       be */
};

static struct required_output *output_of(const struct subscriber *s)
{
    return PFDD_MEMBER_OF(struct required_output, s->base.of, accepted_clients);
}

static void close_subscriber(struct subscriber *s)
{
    pfdd_accepted_client_close(&s->base);
}

static void on_leave(struct pfdd_accepted_client *v)
{
    struct required_output *o = output_of((struct subscriber *)v);
    o->subscriber = NULL;
    o->consumer.absent = true;
    /* The next subscriber gets the unacknowledged items. */
    pfdd_consumer_rewind(&o->consumer);
}

/* ---- errors ---- */

static bool send_bytes(void *user, const void *bytes, size_t n)
{
    const struct subscriber *s = user;
    return send(s->base.fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)n;
}

/* An error cannot be reported within a frame that is sent in part. */
static void refuse(struct subscriber *s, const char *why)
{
    struct pfd_wire_frame error = { .type = PFD_WIRE_ERROR,
                                    .reason = pfd_wire_text(why) };
    if (!s->is_entries || !s->has_had_any) {
        pfdd_socket_refuse(s->base.fd, why);
    } else if (pfdd_consumer_is_between(&output_of(s)->consumer)) {
        (void)pfd_wire_write(&error, send_bytes, s, NULL);
    }
    close_subscriber(s);
}

/* ---- sending ---- */

static void drain_input(struct required_output *o);

/* Sends available items until the socket blocks. The consumer reads more
 * meanwhile and calls wake. A subscriber that has gone may have sent an
 * acknowledgement before. */
static void pump(struct required_output *o)
{
    struct subscriber *s = o->subscriber;
    const char *bytes = NULL;
    size_t n = 0;
    if (!s || !s->reading)
        return;
    while (pfdd_consumer_peek(&o->consumer, &bytes, &n)) {
        ssize_t done = send(s->base.fd, bytes, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            pfdd_accepted_client_watch(&s->base, UV_READABLE | UV_WRITABLE);
            return;
        }
        if (done < 0) {
            drain_input(o);
            close_subscriber(s);
            return;
        }
        s->has_had_any = true;
        pfdd_consumer_take(&o->consumer, (size_t)done);
        if (o->consumer.given > o->sent)
            o->sent = o->consumer.given;
    }
    pfdd_accepted_client_watch(&s->base, UV_READABLE);
    if (s->is_entries && pfdd_consumer_has_lines(&o->consumer)) {
        refuse(s, "lines that were left by the version before come first, as "
                  "json only");
    }
}

static void begin(struct subscriber *s)
{
    struct required_output *o = output_of(s);
    s->reading = true;
    pfdd_accepted_client_expect(&s->base, 0);
    pfdd_consumer_begin(&o->consumer, s->is_entries);
    pump(o);
}

/* ---- requests and acknowledgements ---- */

static const char *take_ack(struct required_output *o, const json_t *value)
{
    json_int_t seq = json_integer_value(value);
    if (!json_is_integer(value) || seq < 0 || (uint64_t)seq > o->consumer.given)
        return "'ack' is the number of a line that was sent";
    pfdd_consumer_ack(&o->consumer, (uint64_t)seq);
    return NULL;
}

static const char *take_output(struct subscriber *s, const char *form)
{
    bool is_entries = form && !strcmp(form, "entries");
    if (!is_entries && (!form || strcmp(form, "json") != 0)) {
        return "a required output gives json or entries, from the first that "
               "was not acknowledged";
    }
    if (s->reading && s->is_entries != is_entries)
        return "what is wanted is said at once: something else has begun";
    s->is_entries = is_entries;
    return NULL;
}

/* NULL, or an error message. */
static const char *take_line(struct subscriber *s, const char *line, size_t n)
{
    const char *why = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(root))
        why = "a line is a JSON object such as {\"ack\":77}";
    json_object_foreach(root, key, value)
    {
        const char *wrong = NULL;
        if (!strcmp(key, "ack")) {
            wrong = take_ack(output_of(s), value);
        } else {
            bool is_form = !strcmp(key, "output");
            wrong = take_output(s, is_form ? json_string_value(value) : NULL);
        }
        why = why ? why : wrong;
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
        why = take_line(s, s->line, n - 1);
        s->n_line -= n;
        memmove(s->line, newline + 1, s->n_line);
        if (!why && !s->reading)
            begin(s);
        if (s->base.closing)
            return;
    }
    if (!why && s->n_line == sizeof s->line)
        why = "a line is longer than 4096 bytes";
    if (why)
        refuse(s, why);
}

static void on_input(struct subscriber *s)
{
    ssize_t n = recv(s->base.fd, s->line + s->n_line,
                     sizeof s->line - s->n_line, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_subscriber(s);
        return;
    }
    s->n_line += (size_t)n;
    take_lines(s);
}

static void on_event(struct pfdd_accepted_client *v, int events)
{
    struct subscriber *s = (struct subscriber *)v;
    if (events & UV_READABLE)
        on_input(s);
    if (!v->closing && (events & UV_WRITABLE))
        pump(output_of(s));
}

/* Its first line may still be in the socket. */
static void on_grace(struct pfdd_accepted_client *v)
{
    struct subscriber *s = (struct subscriber *)v;
    on_input(s);
    if (!v->closing && !s->reading && !s->n_line)
        begin(s);
}

/* ---- connecting ---- */

/* Reads what the current subscriber has sent: an acknowledgement and the end
 * may still be in the socket when the next one connects. Bounded, in case the
 * subscriber sends without end. */
static void drain_input(struct required_output *o)
{
    char byte = 0;
    for (int i = 0; i < 16 && o->subscriber; i++) {
        ssize_t n =
            recv(o->subscriber->base.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return;
        on_input(o->subscriber);
    }
}

/* A subscriber that closes with unread input breaks the connection; its last
 * acknowledgements can still be read. */
static void on_broken(struct pfdd_accepted_client *v)
{
    drain_input(output_of((struct subscriber *)v));
}

static bool admit(struct pfdd_accepted_clients *vs, int fd)
{
    struct required_output *o =
        PFDD_MEMBER_OF(struct required_output, vs, accepted_clients);
    drain_input(o);
    if (o->subscriber)
        pfdd_socket_refuse(fd, "a required output has one subscriber");
    return !o->subscriber;
}

static void on_come(struct pfdd_accepted_client *v)
{
    struct subscriber *s = (struct subscriber *)v;
    struct required_output *o = output_of(s);
    v->limited_peer.is_silent = false;
    o->subscriber = s;
    o->consumer.absent = false;
    pfdd_accepted_client_watch(v, UV_READABLE);
    pfdd_accepted_client_expect(v, GRACE_MS);
}

/* ---- lifetime ---- */

static void finish_close(struct required_output *o)
{
    if (!o->accepted_clients.closing || o->accepted_clients.first ||
        !o->accepted_clients.listener_closed ||
        pfdd_consumer_is_busy(&o->consumer))
        return;
    pfdd_spool_leave(o->base.delivery->spool, &o->consumer);
    pfdd_output_closed(&o->base);
}

static void on_closed(struct pfdd_accepted_clients *vs)
{
    finish_close(PFDD_MEMBER_OF(struct required_output, vs, accepted_clients));
}

static void on_durable(struct pfdd_consumer *consumer)
{
    struct required_output *o = consumer->user;
    pump(o);
    finish_close(o);
}

static const struct pfdd_accepted_clients_class subscribers = {
    .size = sizeof(struct subscriber),
    .admit = admit,
    .come = on_come,
    .event = on_event,
    .late = on_grace,
    .broken = on_broken,
    .leave = on_leave,
    .closed = on_closed,
};

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct required_output *o = (struct required_output *)output;
    const struct pfdd_output_config *config = output->config;
    o->accepted_clients.class = &subscribers;
    o->accepted_clients.loop = output->delivery->loop;
    o->accepted_clients.count = output->delivery->count;
    o->accepted_clients.n_max = 1;
    if (!pfdd_consumer_choose(&o->consumer, config, NULL, err, n_err))
        return false;
    if (!pfdd_accepted_clients_open(&o->accepted_clients, &config->access, err,
                                    n_err)) {
        pfdd_render_choice_free(o->consumer.render_choice);
        return false;
    }
    o->consumer.name =
        config->name ? config->name : config->access.address.text;
    o->consumer.wake = on_durable;
    o->consumer.user = o;
    o->consumer.absent = true;
    pfdd_spool_join(output->delivery->spool, &o->consumer);
    o->begin = o->consumer.acked;
    pfdd_log(PFDD_INFO, "a required subscriber: %s",
             config->access.address.text);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct required_output *o = (struct required_output *)output;
    pfdd_accepted_clients_close(&o->accepted_clients);
}

/* The spool waits for the acknowledgements. */
static bool is_drained(const struct pfdd_output *output)
{
    const struct required_output *o = (const struct required_output *)output;
    return pfdd_consumer_is_done(&o->consumer);
}

static size_t memory(const struct pfdd_output *output)
{
    const struct required_output *o = (const struct required_output *)output;
    return sizeof *o + pfdd_accepted_clients_memory(&o->accepted_clients) +
           (o->subscriber ? sizeof *o->subscriber : 0);
}

/* Of items, unwanted ones included. */
static struct pfdd_sent sent(const struct pfdd_output *output)
{
    const struct required_output *o = (const struct required_output *)output;
    const struct pfdd_consumer *c = &o->consumer;
    return (struct pfdd_sent){
        .sent = o->sent > o->begin ? o->sent - o->begin : 0,
        .acked = c->acked > o->begin ? c->acked - o->begin : 0,
        .age_ns = pfdd_time_since(
            pfdd_ring_time(output->delivery->ring, c->acked + 1)),
        .is_connected = o->subscriber,
    };
}

/* Its block is read as one of output_listen.c. */
const struct pfdd_output_class pfdd_output_required = {
    .size = sizeof(struct required_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
    .sent = sent,
    .checkpoint_name = pfdd_output_name,
};
