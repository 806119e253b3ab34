/* SPDX-License-Identifier: MIT */
/*
 * Fluent's Forward protocol, version 1 (Fluentd, Fluent Bit and others). Log
 * records are sent in chunks (mode PackedForward), which the peer acknowledges.
 * A few unacknowledged chunks are kept, and sent again on the next connection
 * under the same names. Times have nanoseconds. With a shared key both sides
 * prove that they know it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/gzip.h"
#include "net/outbound.h"
#include "outputs/forward.h"
#include "outputs/log_feed.h"

enum {
    TICK_MS = 25,
    WINDOW = 8,         /* unacknowledged chunks, at most */
    ANSWER_MAX = 16384, /* bytes of unparsed input */
    NAME_ROOM = 64,     /* bytes of a chunk's name */
};

struct forward_config {
    struct pfdd_output_config base;
    char *tag; /* NULL: "printfdecode" */
    struct pfdd_forward_auth_config secrets;
    bool compress;
    uint64_t ack_ms;
};

/* Log records that are sent and acknowledged together. */
struct chunk {
    struct pfdd_job job; /* compresses it */
    struct forward_output *of;
    struct chunk *next;
    bool is_packing;         /* the job is in flight */
    struct pfd_text entries; /* until it is packed */
    struct pfd_text bytes;   /* the whole message */
    size_t at;               /* bytes of it that were sent */
    size_t n_counted;        /* bytes of memory, as counted */
    uint64_t n_notes;
    uint64_t first;   /* sequence number */
    uint64_t last;    /* likewise */
    uint64_t time;    /* of the first record */
    uint64_t sent_ms; /* uv_now(), when bytes of it were last sent */
    char name[NAME_ROOM];
};

/* State of a connection. */
enum state {
    DOWN,
    GREETED, /* waits for HELO */
    PINGED,  /* waits for PONG */
    READY,
};

struct forward_output {
    struct pfdd_output base;
    struct pfdd_log_feed log_feed;
    struct pfdd_outbound outbound;
    bool outbound_closed;
    uv_timer_t timer; /* for batches, and for missing acknowledgements */
    bool timer_closed;
    enum state state;
    struct chunk *chunks; /* oldest first, all unacknowledged */
    size_t n_chunks;
    size_t n_packing;
    size_t n_bytes;
    char input[ANSWER_MAX]; /* [n_heard], not parsed yet */
    size_t n_heard;
    struct pfdd_forward_auth forward_auth;
    char run[17]; /* random, in the names of this daemon's chunks */
    uint64_t n_named;
    uint64_t last_acked; /* the largest last number of an acknowledged chunk */
    struct pfdd_sent count;
};

static const struct forward_config *config_of(const struct forward_output *o)
{
    return (const struct forward_config *)(const void *)o->base.config;
}

static const char *tag_of(const struct forward_config *config)
{
    return config->tag ? config->tag : "printfdecode";
}

/* ---- chunks ---- */

static void free_chunk(struct forward_output *o, struct chunk **at)
{
    struct chunk *c = *at;
    *at = c->next;
    o->n_chunks--;
    o->n_bytes -= c->n_counted;
    pfd_text_free(&c->bytes);
    free(c);
}

static bool make_message(struct chunk *c, const char *entries, size_t n,
                         bool is_gzip)
{
    const struct pfdd_forward_chunk said = {
        .tag = tag_of(config_of(c->of)),
        .name = c->name,
        .entries = entries,
        .n = n,
        .n_notes = c->n_notes,
        .is_gzip = is_gzip,
    };
    pfdd_forward_message(&c->bytes, &said);
    return !c->bytes.failed;
}

/* On a worker. The message's memory is reserved; incompressible entries are
 * sent as they are. */
static void pack(struct pfdd_job *job)
{
    struct chunk *c = PFDD_MEMBER_OF(struct chunk, job, job);
    size_t n = 0;
    char *packed = pfdd_gzip(c->entries.data, c->entries.n, &n);
    if (packed && n < c->entries.n) {
        make_message(c, packed, n, true);
    } else {
        make_message(c, c->entries.data, c->entries.n, false);
    }
    free(packed);
}

static void finish_close(struct forward_output *o);
static void go_on(struct forward_output *o);

static void on_packed(struct pfdd_job *job)
{
    struct chunk *c = PFDD_MEMBER_OF(struct chunk, job, job);
    struct forward_output *o = c->of;
    c->is_packing = false;
    o->n_packing--;
    pfd_text_free(&c->entries);
    o->n_bytes -= c->n_counted - c->bytes.room;
    c->n_counted = c->bytes.room;
    if (o->base.closing) {
        finish_close(o);
    } else {
        go_on(o);
    }
}

/* Moves records of bytes [n] into the chunk, up to the size of a batch; returns
 * how many bytes they have. */
static size_t gather(struct chunk *c, const char *bytes, size_t n)
{
    size_t at = 0;
    size_t enough = c->of->log_feed.batch_size;
    for (; at < n && c->entries.n < enough; c->n_notes++) {
        struct pfdd_log_record_made note;
        pfdd_log_record_at(bytes + at, n - at, &note);
        pfd_text_add(&c->entries, note.bytes, note.n);
        at += note.n_whole;
        c->last = note.sequence;
        if (c->n_notes)
            continue;
        c->first = note.sequence;
        c->time = note.time;
    }
    return at;
}

static void add_last(struct forward_output *o, struct chunk *c)
{
    struct chunk **at = &o->chunks;
    while (*at)
        at = &(*at)->next;
    *at = c;
    o->n_chunks++;
    c->n_counted = c->bytes.room;
    if (config_of(o)->compress) {
        c->n_counted += 2 * c->entries.room;
        c->is_packing = true;
        o->n_packing++;
        pfdd_pool_submit(o->base.delivery->thread_pools->printers, &c->job);
    } else {
        pfd_text_free(&c->entries);
    }
    o->n_bytes += c->n_counted;
}

/* Reserves the message, with enough for the fields beside the entries. */
static bool make_room(struct chunk *c)
{
    enum {
        AROUND = 512
    };
    return !c->entries.failed &&
           pfd_text_reserve(&c->bytes, c->entries.n + AROUND);
}

/* False: out of memory; the records were not taken. */
static bool add_chunk(struct forward_output *o, const char *bytes, size_t n)
{
    struct chunk *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    c->of = o;
    c->job.run = pack;
    c->job.done = on_packed;
    size_t taken = gather(c, bytes, n);
    snprintf(c->name, sizeof c->name, "%s-%" PRIu64, o->run, ++o->n_named);
    if (!make_room(c) ||
        (!config_of(o)->compress &&
         !make_message(c, c->entries.data, c->entries.n, false))) {
        pfd_text_free(&c->entries);
        pfd_text_free(&c->bytes);
        free(c);
        return false;
    }
    add_last(o, c);
    pfdd_log_feed_consume(&o->log_feed, taken);
    return true;
}

static void on_timer(uv_timer_t *timer);

/* Makes chunks while batches are complete. */
static void fill(struct forward_output *o)
{
    const char *bytes = NULL;
    size_t n = 0;
    while (o->n_chunks < WINDOW &&
           pfdd_log_feed_peek_batch(&o->log_feed, &bytes, &n)) {
        if (!add_chunk(o, bytes, n))
            break;
    }
    if ((o->chunks || o->log_feed.batch_begun) &&
        !uv_is_active((uv_handle_t *)&o->timer))
        uv_timer_start(&o->timer, on_timer, TICK_MS, TICK_MS);
}

/* ---- the link ---- */

static void drop_link(struct forward_output *o)
{
    o->state = DOWN;
    for (struct chunk *c = o->chunks; c; c = c->next) {
        o->count.retried += c->at > 0;
        c->at = 0;
    }
    o->n_heard = 0;
    pfdd_log_feed_set_connected(&o->log_feed, false);
    pfdd_outbound_drop(&o->outbound);
}

static void lose_link(struct forward_output *o, const char *why)
{
    drop_link(o);
    pfdd_outbound_lost(&o->outbound, why);
}

/* False: the peer does not accept more now, or the connection is lost. */
static bool send_chunk(struct forward_output *o, struct chunk *c)
{
    while (c->at < c->bytes.n) {
        ssize_t n = send(o->outbound.link->fd, c->bytes.data + c->at,
                         c->bytes.n - c->at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            pfdd_outbound_watch(&o->outbound, UV_READABLE | UV_WRITABLE);
            return false;
        }
        if (n < 0) {
            lose_link(o, strerror(errno));
            return false;
        }
        c->at += (size_t)n;
        c->sent_ms = uv_now(o->base.delivery->loop);
    }
    return true;
}

static void go_on(struct forward_output *o)
{
    if (o->state != READY)
        return;
    fill(o);
    for (struct chunk *c = o->chunks; c; c = c->next) {
        if (c->is_packing)
            break;
        if (!send_chunk(o, c))
            return;
    }
    pfdd_outbound_watch(&o->outbound, UV_READABLE);
}

/* Sends a whole message at once: the socket's buffer is empty, and larger. */
static void answer(struct forward_output *o, const struct pfd_text *g)
{
    if (g->failed || send(o->outbound.link->fd, g->data, g->n, MSG_NOSIGNAL) !=
                         (ssize_t)g->n)
        lose_link(o, "it takes no greeting");
}

/* ---- input ---- */

static bool is_word(struct pfdd_piece piece, const char *word)
{
    return piece.n == strlen(word) && !memcmp(piece.at, word, piece.n);
}

/* Answers with PING. */
static const char *take_helo(struct forward_output *o,
                             const struct pfdd_forward_said *said)
{
    struct pfd_text g = { 0 };
    const char *why = pfdd_forward_auth_answer(&o->forward_auth, said, &g);
    if (!why) {
        o->state = PINGED;
        answer(o, &g);
    }
    pfd_text_free(&g);
    return why;
}

static const char *take_pong(struct forward_output *o,
                             const struct pfdd_forward_said *said)
{
    const char *why = pfdd_forward_auth_check(&o->forward_auth, said);
    if (!why)
        o->state = READY;
    return why;
}

/* Acknowledges records up to a chunk's last number, or up to the first record
 * of an older chunk that is not acknowledged. */
static void acknowledge(struct forward_output *o, uint64_t last)
{
    o->last_acked = last > o->last_acked ? last : o->last_acked;
    last = o->last_acked;
    if (o->chunks && o->chunks->first <= last)
        last = o->chunks->first - 1;
    pfdd_log_feed_ack(&o->log_feed, last);
}

static bool is_out(const struct chunk *c)
{
    return !c->is_packing && c->at == c->bytes.n;
}

static const char *take_ack(struct forward_output *o,
                            const struct pfdd_forward_said *said)
{
    for (struct chunk **at = &o->chunks; *at; at = &(*at)->next) {
        if (is_out(*at) && is_word(said->chunk, (*at)->name)) {
            uint64_t last = (*at)->last;
            o->count.sent += (*at)->n_notes;
            o->count.acked += (*at)->n_notes;
            free_chunk(o, at);
            acknowledge(o, last);
            return NULL;
        }
    }
    return "it acknowledges what it was not sent";
}

/* NULL: it was accepted; else the reason. */
static const char *take_answer(struct forward_output *o,
                               const struct pfdd_forward_said *said)
{
    if (said->kind == PFDD_FORWARD_ACK && o->state == READY)
        return take_ack(o, said);
    if (said->kind == PFDD_FORWARD_HELO && o->state == GREETED)
        return take_helo(o, said);
    if (said->kind == PFDD_FORWARD_PONG && o->state == PINGED)
        return take_pong(o, said);
    if (said->kind == PFDD_FORWARD_HELO && !o->forward_auth.key.n)
        return "it wants a shared key";
    return "it says what nobody understands";
}

/* NULL: all of the input was parsed; else the reason. */
static const char *take_answers(struct forward_output *o)
{
    const char *why = NULL;
    size_t at = 0;
    while (!why && o->outbound.link && at < o->n_heard) {
        struct pfdd_forward_said said;
        long n = pfdd_forward_read(o->input + at, o->n_heard - at, &said);
        if (n < 0)
            return "it says what nobody understands";
        if (n == 0)
            break;
        why = take_answer(o, &said);
        at += (size_t)n;
    }
    if (!o->outbound.link)
        return NULL;
    o->n_heard -= at;
    memmove(o->input, o->input + at, o->n_heard);
    return why                             ? why
           : o->n_heard == sizeof o->input ? "it says too much"
                                           : NULL;
}

static void hear(struct forward_output *o)
{
    ssize_t n = recv(o->outbound.link->fd, o->input + o->n_heard,
                     sizeof o->input - o->n_heard, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        lose_link(o, n ? strerror(errno) : "the peer has gone");
        return;
    }
    o->n_heard += (size_t)n;
    const char *why = take_answers(o);
    if (why)
        lose_link(o, why);
}

static void on_event(void *user, int status, int events)
{
    struct forward_output *o = user;
    if (status < 0) {
        lose_link(o,
                  strerror(pfdd_outbound_error(o->outbound.link->fd, status)));
        return;
    }
    if (events & UV_READABLE)
        hear(o);
    if (o->outbound.link)
        go_on(o);
}

static void on_up(void *user, int fd)
{
    struct forward_output *o = user;
    if (!pfdd_outbound_keep(&o->outbound, fd)) {
        pfdd_outbound_lost(&o->outbound, "out of memory");
        return;
    }
    o->state = o->forward_auth.key.n ? GREETED : READY;
    pfdd_log_feed_set_connected(&o->log_feed, true);
    uv_timer_start(&o->timer, on_timer, TICK_MS, TICK_MS);
    pfdd_outbound_watch(&o->outbound, UV_READABLE);
    go_on(o);
}

/* The oldest chunk was not acknowledged in time. */
static bool is_overdue(const struct forward_output *o)
{
    const struct chunk *c = o->chunks;
    return c && is_out(c) &&
           uv_now(o->base.delivery->loop) - c->sent_ms > config_of(o)->ack_ms;
}

static void on_timer(uv_timer_t *timer)
{
    struct forward_output *o = timer->data;
    if (!o->outbound.link || (!o->chunks && !o->log_feed.batch_begun)) {
        uv_timer_stop(&o->timer);
    } else if (is_overdue(o)) {
        lose_link(o, "it does not acknowledge what it was sent");
    } else if (!(o->outbound.link->events & UV_WRITABLE)) {
        go_on(o);
    }
}

static void on_notes(void *user)
{
    struct forward_output *o = user;
    if (o->base.closing) {
        finish_close(o);
    } else if (o->outbound.link && !(o->outbound.link->events & UV_WRITABLE)) {
        go_on(o);
    }
}

/* ---- lifetime ---- */

static void finish_close(struct forward_output *o)
{
    if (!o->base.closing || !o->outbound_closed || !o->timer_closed ||
        o->n_packing || !pfdd_log_feed_can_close(&o->log_feed))
        return;
    pfdd_log_feed_close(&o->log_feed);
    while (o->chunks)
        free_chunk(o, &o->chunks);
    pfdd_output_closed(&o->base);
}

static void on_uplink_closed(void *user)
{
    struct forward_output *o = user;
    o->outbound_closed = true;
    finish_close(o);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct forward_output *o = handle->data;
    o->timer_closed = true;
    finish_close(o);
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct forward_output *o = (struct forward_output *)output;
    struct pfdd_delivery *delivery = output->delivery;
    snprintf(err, n_err, "out of memory");
    o->outbound = (struct pfdd_outbound){ .loop = delivery->loop,
                                          .access = &output->config->access,
                                          .up = on_up,
                                          .event = on_event,
                                          .closed = on_uplink_closed,
                                          .user = o };
    o->log_feed.wake = on_notes;
    o->log_feed.user = o;
    if (!pfdd_make_random(o->run, 8) ||
        !pfdd_forward_auth_read(&o->forward_auth, &config_of(o)->secrets, err,
                                n_err) ||
        !pfdd_log_feed_open(&o->log_feed, output, &pfdd_forward_encoding, err,
                            n_err))
        return false;
    if (!pfdd_outbound_open(&o->outbound, err, n_err)) {
        pfdd_log_feed_close(&o->log_feed);
        return false;
    }
    uv_timer_init(delivery->loop, &o->timer);
    o->timer.data = o;
    pfdd_log_feed_prefetch(&o->log_feed);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct forward_output *o = (struct forward_output *)output;
    if (o->outbound.link)
        drop_link(o);
    uv_close((uv_handle_t *)&o->timer, on_timer_closed);
    pfdd_outbound_close(&o->outbound);
}

/* Does not wait for a peer that is down. */
static bool is_drained(const struct pfdd_output *output)
{
    const struct forward_output *o = (const struct forward_output *)output;
    return o->outbound.is_down ||
           (!o->chunks && pfdd_log_feed_is_done(&o->log_feed));
}

static size_t memory(const struct pfdd_output *output)
{
    const struct forward_output *o = (const struct forward_output *)output;
    return sizeof *o + pfdd_log_feed_memory(&o->log_feed) + o->n_bytes +
           o->n_chunks * sizeof *o->chunks + pfdd_outbound_memory(&o->outbound);
}

static uint64_t place(const struct pfdd_output *output)
{
    const struct forward_output *o = (const struct forward_output *)output;
    return pfdd_log_feed_place(&o->log_feed, o->chunks ? o->chunks->first : 0);
}

static struct pfdd_sent sent(const struct pfdd_output *output)
{
    const struct forward_output *o = (const struct forward_output *)output;
    struct pfdd_sent ret = o->count;
    ret.dropped = pfdd_log_feed_dropped(&o->log_feed);
    ret.age_ns =
        pfdd_log_feed_age(&o->log_feed, o->chunks ? o->chunks->time : 0);
    ret.is_connected = o->state == READY;
    return ret;
}

/* ---- keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct forward_config *config = group;
    pfdd_check_word(places, "tag", tag_of(config));
    if (config->secrets.key_file && !pfdd_feature_is_there(PFDD_FEATURE_TLS)) {
        pfdd_diagnostics_add(
            places, "shared_key_file",
            "this printfdecoded is built without what proves a key: "
            "%s",
            pfdd_feature_remedy(PFDD_FEATURE_TLS));
    }
    if (!config->secrets.user != !config->secrets.password_file) {
        const char *missing = config->secrets.user ? "password_file" : "user";
        pfdd_diagnostics_add(places, missing, "'%s' is missing", missing);
    } else if (config->secrets.user && !config->secrets.key_file) {
        pfdd_diagnostics_add(places, "user",
                             "who asks for a password has a shared key, too: "
                             "'shared_key_file' is missing");
    }
}

#define AT(member) offsetof(struct forward_config, member)

static const struct pfdd_key keys[] = {
    { .name = "tag", .kind = PFDD_KEY_TEXT, .at = AT(tag) },
    { .name = "shared_key_file",
      .kind = PFDD_KEY_TEXT,
      .at = AT(secrets.key_file),
      .use = PFDD_USE_READ },
    { .name = "user", .kind = PFDD_KEY_TEXT, .at = AT(secrets.user) },
    { .name = "password_file",
      .kind = PFDD_KEY_TEXT,
      .at = AT(secrets.password_file),
      .use = PFDD_USE_READ },
    { .name = "compress", .kind = PFDD_KEY_BOOL, .at = AT(compress) },
    PFDD_BATCH_KEYS(64 * 1024, 50),
    { .name = "ack_timeout",
      .kind = PFDD_KEY_TIME,
      .at = AT(ack_ms),
      .min = 100,
      .max = 3600000,
      .initial = 30000 },
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &pfdd_connect_group, offsetof(struct pfdd_output_config, access) },
    { &pfdd_tls_group, offsetof(struct pfdd_output_config, access) },
    { &group, 0 },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_required_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_output_config *base =
        (const struct pfdd_output_config *)block;
    const struct forward_config *config =
        (const struct forward_config *)(const void *)base;
    fprintf(out, "Fluent Forward to %s, with tag %s", base->access.address.text,
            tag_of(config));
    if (config->secrets.key_file)
        fprintf(out, ", with the shared key in %s", config->secrets.key_file);
    if (config->secrets.user)
        fprintf(out, ", as user %s", config->secrets.user);
    if (config->compress)
        fputs(", compressed", out);
    if (base->access.tls.certificate)
        fputs(", with TLS", out);
    pfdd_output_explain(base, out);
}

const struct pfdd_output_class pfdd_output_forward = {
    .base = { .name = "forward",
              .size = sizeof(struct forward_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct forward_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
    .sent = sent,
    .place = place,
    .checkpoint_name = pfdd_output_name,
};
