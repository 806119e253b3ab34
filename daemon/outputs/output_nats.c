/* SPDX-License-Identifier: MIT */
/*
 * NATS JetStream: an edge. Chunks of entries go from the spool to the servers
 * as they are, not rendered. A worker (input_nats.c) fetches and renders them.
 * A server may still lose a chunk that it has stored, so a chunk leaves the
 * disk only when a worker has reported that all of its outputs have written it.
 * Until then it is sent again after every restart on the way. Each repetition
 * has an epoch of its own, so that the worker can detect missing chunks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/name.h"
#include "core/base/text.h"
#include "ingest/chunker.h"
#include "nats/nats_connection.h"
#include "nats/nats_edge.h"
#include "nats/nats_status.h"
#include "outputs/delivery.h"
#include "spool/spool.h"
#include "stream/capture/chunk.h"
#include "stream/capture/wire.h"

enum {
    PATIENCE = 10, /* seconds without an acknowledgement, until all chunks in
                      flight are sent again; doubles each time, up to */
    PATIENCE_MAX = 300,
    LOOK_MS = 1000,
    DRAW_MS = 10000,        /* between two incarnations */
    HEADERS = 1024,         /* bytes of a message's headers, at most, */
    BUFFER_MAX = 128 << 10, /* of a buffer's frame, */
    FRAME = 128, /* and of a frame of entries or of a gap without them */
};

struct nats_config {
    struct pfdd_output_config base;
    struct pfdd_nats_options nats_options;
    uint64_t window; /* bytes in flight, at most */
};

/* A chunk in flight. */
struct in_flight {
    struct in_flight *next;
    uint64_t last; /* sequence number */
    char edge[PFDD_INCARNATION_ID];
    uint64_t time; /* of its items */
    size_t n;
};

struct nats_output {
    struct pfdd_output base;
    struct pfdd_consumer consumer;
    struct pfdd_edge *edge;
    bool edge_closed;
    uv_timer_t timer;
    bool timer_closed;
    struct pfdd_incarnations incarnations;
    uint64_t drawn;            /* uv_now() of the last draw while it runs */
    struct in_flight *flights; /* oldest first */
    struct in_flight **end;
    size_t n_flights;
    size_t n_bytes; /* bytes in flight */
    uint64_t epoch;
    uint64_t moved; /* uv_now() of the last acknowledgement */
    uint64_t ack_timeout;
    size_t max_payload;
    uint64_t n_log_max;
    char trouble[PFDD_EDGE_TROUBLE]; /* "": none */
    bool is_connected;
    struct pfdd_outage unheard; /* no worker acknowledges */
    struct pfdd_sent count;
};

static const struct nats_config *config_of(const struct nats_output *o)
{
    return (const struct nats_config *)(const void *)o->base.config;
}

/* ---- messages ---- */

static bool add_bytes(void *user, const void *bytes, size_t n)
{
    struct pfd_text *g = user;
    pfd_text_add(g, bytes, n);
    return !g->failed;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* A server stores data for each subject: the names of devices keep them few. */
static void put_gpu(char ret[PFDD_TOKEN], const struct pfd_wire_bytes *device)
{
    size_t n = device->n < PFDD_TOKEN ? device->n : PFDD_TOKEN - 1;
    for (size_t i = 0; i < n; i++)
        ret[i] = device->at[i];
    for (size_t i = 0; i < n; i++) {
        if (!is_plain(ret[i]))
            ret[i] = '_';
    }
    ret[n] = '\0';
    if (n == 0)
        memcpy(ret, "none", sizeof "none");
}

/* A chunk, or a part of one that the servers take. bytes NULL: items that they
 * do not take. */
struct piece {
    const struct pfdd_chunk *of;
    const void *bytes; /* [n] */
    size_t n;
    uint64_t first; /* sequence number */
    uint32_t n_items;
};

/* Where the servers do not take the buffer's frame, its name goes without the
 * rest. */
static bool put_buffer(const struct nats_output *o, const struct pfdd_chunk *c,
                       struct pfd_text *out)
{
    struct pfd_wire_frame buffer = *c->buffer->frame;
    buffer.generation = c->contents.generation;
    if (!buffer.host.n)
        buffer.host = pfd_wire_text(pfdd_host_name());
    if (pfd_wire_write(&buffer, add_bytes, out, NULL) != PFD_OK)
        return false;
    if (!o->max_payload || out->n + FRAME + HEADERS <= o->max_payload)
        return true;
    out->n = 0;
    const struct pfd_wire_frame small = { .type = PFD_WIRE_BUFFER,
                                          .buffer = buffer.buffer,
                                          .generation = buffer.generation,
                                          .name = buffer.name,
                                          .host = buffer.host };
    return pfd_wire_write(&small, add_bytes, out, NULL) == PFD_OK;
}

static bool put_frames(struct nats_output *o, const struct piece *p,
                       struct pfd_text *out)
{
    struct pfd_wire_frame frame = {
        .type = p->bytes ? PFD_WIRE_ENTRIES : PFD_WIRE_GAP,
        .buffer = p->of->buffer->frame->buffer,
        .generation = p->of->contents.generation,
        .sequence = p->bytes ? p->first : p->first + p->n_items,
        .time = p->of->time,
        .bytes = { p->bytes, p->n },
    };
    if (!p->bytes) {
        frame.lost_entries = p->n_items;
        frame.reason = pfd_wire_text("too_large");
        o->count.dropped += p->n_items;
        pfdd_log_peer(PFDD_WARNING,
                      "nats: %" PRIu32
                      " entries of '%.200s' are larger than the "
                      "servers take (max_payload): they become a gap",
                      p->n_items, p->of->buffer->name);
    }
    return put_buffer(o, p->of, out) &&
           pfd_wire_write(&frame, add_bytes, out, NULL) == PFD_OK;
}

/* What the servers do not keep is sent again and again: no more is in flight than
 * half of it. */
static uint64_t window_of(const struct nats_output *o)
{
    uint64_t window = config_of(o)->window;
    return o->n_log_max && o->n_log_max / 2 < window ? o->n_log_max / 2
                                                     : window;
}

static struct pfdd_shipment *pack(struct nats_output *o, const struct piece *p,
                                  uint64_t previous,
                                  const struct pfdd_manifest *manifest)
{
    const struct pfdd_chunk *c = p->of;
    struct pfd_text bytes = { 0 };
    struct pfdd_shipment *s = calloc(1, sizeof *s);
    if (s)
        s->buffer = strdup(c->buffer->name);
    if (!s || !s->buffer || !put_frames(o, p, &bytes)) {
        pfd_text_free(&bytes);
        pfdd_shipment_free(s);
        return NULL;
    }
    const struct pfdd_incarnation *of =
        pfdd_incarnations_of(&o->incarnations, p->first);
    s->first = p->first;
    s->last = p->first + p->n_items - 1;
    /* There are no items of an incarnation before its first one. */
    s->previous = previous < of->first ? of->first - 1 : previous;
    s->acked =
        o->consumer.acked < of->first ? of->first - 1 : o->consumer.acked;
    memcpy(s->edge, of->id, sizeof s->edge);
    memcpy(s->run, pfdd_incarnations_current(&o->incarnations)->id,
           sizeof s->run);
    s->epoch = o->epoch;
    s->queued = o->base.delivery->ring->next_seq - 1;
    s->window = window_of(o);
    if (c->contents.n[PFDD_ENTRY])
        s->manifest = *manifest;
    s->pid = c->buffer->frame->pid;
    put_gpu(s->gpu, &c->buffer->frame->device);
    s->bytes = bytes.data;
    s->n = bytes.n;
    return s;
}

/* ---- chunks in flight ---- */

static void land_first(struct nats_output *o)
{
    struct in_flight *f = o->flights;
    o->flights = f->next;
    if (!o->flights)
        o->end = &o->flights;
    o->n_flights--;
    o->n_bytes -= f->n;
    free(f);
}

static void forget_flights(struct nats_output *o)
{
    while (o->flights)
        land_first(o);
}

/* False: out of memory. */
static bool send_piece(struct nats_output *o, const struct piece *p,
                       uint64_t previous, const struct pfdd_manifest *manifest)
{
    struct in_flight *f = calloc(1, sizeof *f);
    struct pfdd_shipment *s = f ? pack(o, p, previous, manifest) : NULL;
    if (!s) {
        free(f);
        return false;
    }
    if (!o->flights)
        o->moved = uv_now(o->base.delivery->loop);
    f->last = s->last;
    memcpy(f->edge, s->edge, sizeof f->edge);
    f->time = p->of->time;
    f->n = s->n;
    *o->end = f;
    o->end = &f->next;
    o->n_flights++;
    o->n_bytes += f->n;
    o->count.sent++;
    pfdd_edge_send(o->edge, s);
    return true;
}

static void resend_all(struct nats_output *o)
{
    o->count.retried += o->n_flights;
    o->epoch++;
    forget_flights(o);
    pfdd_edge_forget(o->edge);
    pfdd_consumer_rewind(&o->consumer);
    o->moved = uv_now(o->base.delivery->loop);
}

static uint64_t last_sent(const struct nats_output *o)
{
    if (!o->flights)
        return o->consumer.acked;
    return PFDD_MEMBER_OF(struct in_flight, o->end, next)->last;
}

/* A chunk that is being sent in parts. */
struct sending {
    struct nats_output *o;
    struct piece next;
    struct piece refused; /* n_items 0: none */
    const struct pfdd_manifest *manifest;
};

static bool send_refused(struct sending *s)
{
    bool ok = !s->refused.n_items ||
              send_piece(s->o, &s->refused, last_sent(s->o), s->manifest);
    s->refused.n_items = 0;
    return ok;
}

static bool send_part(void *user, const void *bytes, size_t n, uint32_t n_items)
{
    struct sending *s = user;
    struct piece p = s->next;
    p.bytes = bytes;
    p.n = n;
    p.n_items = n_items;
    s->next.first += n_items;
    if (bytes) {
        return send_refused(s) &&
               send_piece(s->o, &p, last_sent(s->o), s->manifest);
    }
    p.n_items += s->refused.n_items;
    if (s->refused.n_items)
        p.first = s->refused.first;
    s->refused = p;
    return true;
}

/* Bytes of a chunk that go into a message with this buffer's frame. */
static size_t room_for(const struct nats_output *o, const struct pfdd_chunk *c)
{
    struct pfd_text frame = { 0 };
    size_t max = PFDD_DECODED_CHUNK_MAX;
    if (!o->max_payload || o->max_payload >= max + BUFFER_MAX + FRAME + HEADERS)
        return max;
    bool ok = put_buffer(o, c, &frame);
    size_t others = frame.n + FRAME + HEADERS;
    size_t room = ok && o->max_payload > others ? o->max_payload - others : 0;
    pfd_text_free(&frame);
    return room < max ? room : max;
}

static bool send_chunk(struct nats_output *o, const struct pfdd_chunk *c,
                       const struct pfdd_manifest *manifest)
{
    const struct piece whole = { c, c->bytes, c->n, c->first_seq, c->n_items };
    struct sending s = { .o = o, .next = whole, .manifest = manifest };
    size_t room = room_for(o, c);
    if (c->n <= room)
        return send_piece(o, &whole, last_sent(o), manifest);
    return pfd_chunk_cut(c->bytes, c->n, 0, room, send_part, &s, NULL) ==
               PFD_OK &&
           send_refused(&s);
}

static void go_on(struct nats_output *o)
{
    struct pfdd_manifest manifest = { 0 };
    size_t n = 0;
    struct pfdd_chunk *const *chunks = NULL;
    while (!o->base.closing && o->n_bytes < window_of(o) &&
           pfdd_edge_has_room(o->edge) &&
           (chunks = pfdd_consumer_peek_chunks(&o->consumer, &n, &manifest))) {
        for (size_t i = 0; i < n; i++) {
            if (!send_chunk(o, chunks[i], &manifest)) {
                resend_all(o);
                return;
            }
        }
        pfdd_consumer_take_chunks(&o->consumer);
    }
}

/* ---- messages of the servers and workers ---- */

/* True: a worker has items of this incarnation that were never queued: the
 * state folder and this process were put back, or run twice. It takes another
 * identity, under which all that is not acknowledged is sent again. */
static bool is_put_back(struct nats_output *o)
{
    const struct pfdd_incarnation *now =
        pfdd_incarnations_current(&o->incarnations);
    uint64_t acked = pfdd_edge_acked(o->edge, now->id);
    uint64_t time = uv_now(o->base.delivery->loop);
    char err[PFDD_PATH + 100];
    if (acked < o->base.delivery->ring->next_seq)
        return false;
    if (o->drawn && time - o->drawn < DRAW_MS)
        return true;
    o->drawn = time;
    pfdd_log(
        PFDD_WARNING,
        "nats: a worker has %" PRIu64 " items of this edge, of which %" PRIu64
        " exist: this machine has gone back, or there is a copy of it that "
        "runs; it takes another identity, and sends again what is not "
        "acknowledged, which may then be written twice",
        acked, o->base.delivery->ring->next_seq - 1);
    if (pfdd_incarnations_draw(&o->incarnations, o->consumer.acked + 1,
                               o->consumer.acked, err, sizeof err)) {
        resend_all(o);
    } else {
        pfdd_log(PFDD_ERROR, "nats: %s; trying again", err);
    }
    return true;
}

static void take_acks(struct nats_output *o)
{
    uint64_t last = 0;
    if (is_put_back(o))
        return;
    while (o->flights &&
           o->flights->last <= pfdd_edge_acked(o->edge, o->flights->edge)) {
        last = o->flights->last;
        o->count.acked++;
        land_first(o);
    }
    if (!last)
        return;
    o->moved = uv_now(o->base.delivery->loop);
    o->ack_timeout = PATIENCE;
    pfdd_outage_end(&o->unheard, "nats", "a worker acknowledges again");
    pfdd_consumer_ack(&o->consumer, last);
}

static void hear(struct nats_output *o)
{
    struct pfdd_edge_news news;
    pfdd_edge_hear(o->edge, &news);
    o->is_connected = news.is_connected;
    o->consumer.absent = !news.is_connected;
    o->max_payload = news.max_payload;
    memcpy(o->trouble, news.trouble, sizeof o->trouble);
    if (news.n_log_max != o->n_log_max && news.n_log_max / 2 &&
        news.n_log_max / 2 < config_of(o)->window) {
        pfdd_log(PFDD_WARNING,
                 "nats: 'window' of %" PRIu64 " bytes is more than the servers "
                 "keep of all edges together, %" PRIu64
                 " (stream_max): half of "
                 "that is used",
                 config_of(o)->window, news.n_log_max);
    }
    o->n_log_max = news.n_log_max;
    take_acks(o);
    if (news.again)
        resend_all(o);
}

static void on_edge(void *user)
{
    struct nats_output *o = user;
    if (o->base.closing)
        return;
    hear(o);
    go_on(o);
}

/* Sends again after a timeout: a server may have lost chunks that it stored,
 * and a worker cannot detect that the last ones are missing. */
static void on_timer(uv_timer_t *timer)
{
    struct nats_output *o = timer->data;
    uint64_t now = uv_now(o->base.delivery->loop);
    if (o->flights && o->is_connected &&
        now - o->moved >= o->ack_timeout * 1000) {
        o->ack_timeout *= 2;
        if (o->ack_timeout > PATIENCE_MAX)
            o->ack_timeout = PATIENCE_MAX;
        pfdd_outage_note(&o->unheard, PFDD_WARNING, "nats",
                         "no worker acknowledges what was sent");
        resend_all(o);
    }
    go_on(o);
}

/* ---- lifetime ---- */

static void finish_close(struct nats_output *o)
{
    if (!o->base.closing || !o->edge_closed || !o->timer_closed ||
        pfdd_consumer_is_busy(&o->consumer))
        return;
    forget_flights(o);
    pfdd_spool_leave(o->base.delivery->spool, &o->consumer);
    pfdd_incarnations_deinit(&o->incarnations);
    pfdd_output_closed(&o->base);
}

static void on_chunks(struct pfdd_consumer *consumer)
{
    struct nats_output *o = consumer->user;
    if (o->base.closing) {
        finish_close(o);
    } else {
        go_on(o);
    }
}

static void on_edge_closed(void *user)
{
    struct nats_output *o = user;
    o->edge_closed = true;
    finish_close(o);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct nats_output *o = handle->data;
    o->timer_closed = true;
    finish_close(o);
}

static const char *name_of(const struct pfdd_output_config *base)
{
    const struct nats_config *config = (const void *)base;
    return base->name ? base->name : config->nats_options.servers.items[0];
}

static void join_spool(struct nats_output *o)
{
    o->consumer.name = name_of(o->base.config);
    o->consumer.wake = on_chunks;
    o->consumer.user = o;
    o->consumer.is_raw = true;
    o->consumer.absent = true;
    pfdd_spool_join(o->base.delivery->spool, &o->consumer);
}

/* Reads the incarnations of the queued chunks, and draws one for the next. */
static bool find_incarnations(struct nats_output *o, char *err, size_t n_err)
{
    const struct pfdd_delivery *delivery = o->base.delivery;
    if (!pfdd_incarnations_read(delivery->config->state_dir, &o->incarnations,
                                err, n_err))
        return false;
    uint64_t first =
        o->incarnations.n ? delivery->ring->next_seq : o->consumer.acked + 1;
    return pfdd_incarnations_draw(&o->incarnations, first, o->consumer.acked,
                                  err, n_err);
}

static bool start_edge(struct nats_output *o, char *err, size_t n_err)
{
    const struct pfdd_edge_options options = {
        .loop = o->base.delivery->loop,
        .nats_options = &config_of(o)->nats_options,
        .dir = o->base.delivery->config->state_dir,
        .state = o->incarnations.state,
        .wake = on_edge,
        .closed = on_edge_closed,
        .user = o,
    };
    o->edge = pfdd_edge_new(&options);
    if (!o->edge)
        snprintf(err, n_err, "nats: no memory, or no thread");
    return o->edge;
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct nats_output *o = (struct nats_output *)output;
    o->end = &o->flights;
    o->ack_timeout = PATIENCE;
    o->epoch = pfdd_time_now() / 1000; /* beyond all earlier epochs */
    join_spool(o);
    if (!find_incarnations(o, err, n_err) || !start_edge(o, err, n_err)) {
        pfdd_spool_leave(output->delivery->spool, &o->consumer);
        pfdd_incarnations_deinit(&o->incarnations);
        return false;
    }
    uv_timer_init(output->delivery->loop, &o->timer);
    o->timer.data = o;
    uv_timer_start(&o->timer, on_timer, LOOK_MS, LOOK_MS);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct nats_output *o = (struct nats_output *)output;
    uv_close((uv_handle_t *)&o->timer, on_timer_closed);
    pfdd_edge_close(o->edge);
}

/* Does not wait for servers that are down. */
static bool is_drained(const struct pfdd_output *output)
{
    const struct nats_output *o = (const struct nats_output *)output;
    return !o->is_connected ||
           (!o->flights && pfdd_consumer_is_done(&o->consumer));
}

static size_t memory(const struct pfdd_output *output)
{
    const struct nats_output *o = (const struct nats_output *)output;
    return sizeof *o + o->n_flights * sizeof *o->flights +
           pfdd_edge_memory(o->edge);
}

/* Age of the oldest unacknowledged item, ns; 0: there is none. */
static uint64_t age(const struct nats_output *o)
{
    const struct pfdd_ring *ring = o->base.delivery->ring;
    uint64_t time = o->flights ? o->flights->time : 0;
    uint64_t next = o->consumer.acked + 1;
    if (!time && next < ring->next_seq)
        time = pfdd_ring_time(ring, next);
    return pfdd_time_since(time);
}

static struct pfdd_sent sent(const struct pfdd_output *output)
{
    const struct nats_output *o = (const struct nats_output *)output;
    struct pfdd_sent ret = o->count;
    ret.age_ns = age(o);
    ret.is_connected = o->is_connected;
    return ret;
}

static bool trouble(const struct pfdd_output *output, char *ret, size_t n)
{
    const struct nats_output *o = (const struct nats_output *)output;
    snprintf(ret, n, "%s", *o->trouble ? o->trouble : "no server is connected");
    return *o->trouble || !o->is_connected;
}

/* ---- keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct nats_config *config = group;
    if (!config->base.required) {
        pfdd_diagnostics_add(
            places, "required",
            "an output 'nats' is always required: it gives up what "
            "a worker has acknowledged");
    }
}

#define AT(member) offsetof(struct nats_config, member)

static const struct pfdd_key keys[] = {
    { .name = "name", .kind = PFDD_KEY_TEXT, .at = AT(base.name) },
    { .name = "required",
      .kind = PFDD_KEY_BOOL,
      .at = AT(base.required),
      .initial = true },
    { .name = "window",
      .kind = PFDD_KEY_SIZE,
      .at = AT(window),
      .min = 1 << 20,
      .max = UINT64_C(1) << 34,
      .initial = 64 << 20 },
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &pfdd_nats_options_group, AT(nats_options) },
    { &group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct nats_config *config = (const void *)block;
    fputs("entries, not printed, to NATS at ", out);
    pfdd_nats_options_plan(&config->nats_options, out);
    fputs(", until a worker has written them", out);
    if (config->window > config->nats_options.stream_max) {
        fputs(" (warning: 'window' is more than 'stream_max', which is for all "
              "edges together)",
              out);
    }
}

static bool status(const struct pfdd_block *block, FILE *out, char *err,
                   size_t n_err)
{
    return pfdd_nats_status(pfdd_nats_options_of(block), PFDD_INBOX_EDGE, out,
                            err, n_err);
}

const struct pfdd_output_class pfdd_output_nats = {
    .base = { .name = "nats",
              .size = sizeof(struct nats_config),
              .parts = parts,
              .plan = plan,
              .set_up = pfdd_nats_set_up,
              .status = status,
              .only_one = "there is one output 'nats': a worker's "
                          "acknowledgements are of one edge" },
    .size = sizeof(struct nats_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
    .sent = sent,
    .trouble = trouble,
    .checkpoint_name = name_of,
};
