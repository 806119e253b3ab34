/* SPDX-License-Identifier: MIT */
/*
 * OTLP over HTTP: log records go in requests of JSON, compressed by workers, a
 * few at a time. If the server is down or overloaded, a request is retried
 * after a delay, which the server may set. Records that the server refuses are
 * dropped and counted. A required output drops records only if the server calls
 * the records themselves invalid; after any other error, such as a wrong token,
 * it retries.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/gzip.h"
#include "base/log.h"
#include "base/outage.h"
#include "net/http_client.h"
#include "outputs/log_feed.h"
#include "outputs/otlp_answer.h"
#include "outputs/otlp_encoding.h"

enum {
    TICK_MS = 25,
    WINDOW = 4, /* concurrent requests */
    SOONEST_MS = 50,
    LATEST_MS = 5000,
    HEADERS_MAX = 16,
    HEADERS_BYTES = 16 * 1024,
};

struct otlp_config {
    struct pfdd_output_config base;
    char *url;
    char *headers_file; /* NULL: none */
    char *service;      /* NULL: "printfdecode" */
    bool compress;
    uint64_t timeout_ms;
};

enum state {
    FREE,
    PACKING, /* on a worker */
    READY,
    SENDING,
};

/* Log records that are sent together. */
struct batch {
    struct pfdd_job job;
    struct pfdd_http_post http_post;
    struct otlp_output *of;
    enum state state;
    struct pfd_text text;
    char *packed; /* [n_packed]; NULL: it is sent uncompressed */
    size_t n_packed;
    uint64_t n_notes;
    uint64_t first; /* sequence number */
    uint64_t last;  /* likewise */
    uint64_t time;  /* of the first record */
};

struct otlp_output {
    struct pfdd_output base;
    struct pfdd_log_feed log_feed;
    struct pfdd_http_client *http_client;
    bool client_closed;
    uv_timer_t timer;
    bool timer_closed;
    struct batch batches[WINDOW];
    uint64_t pause_until;
    uint64_t wait_ms; /* the next delay, before randomization */
    bool is_down;     /* the last request failed and is to be retried */
    struct pfdd_outage outage;
    struct pfdd_log_topic told_refused; /* records, by a server */
    struct pfdd_log_topic told_warning; /* the server's */
    struct pfdd_log_topic told_dropped; /* whole batches */
    uint64_t last_acked;
    char *header_text;
    const char *headers[HEADERS_MAX]; /* [n_headers] */
    size_t n_headers;
    struct pfdd_sent count;
};

static const struct otlp_config *config_of(const struct otlp_output *o)
{
    return (const struct otlp_config *)(const void *)o->base.config;
}

static const char *service_of(const struct otlp_config *config)
{
    return config->service ? config->service : "printfdecode";
}

static void go_on(struct otlp_output *o);

/* ---- batches ---- */

static void clear(struct batch *b)
{
    pfd_text_free(&b->text);
    free(b->packed);
    b->packed = NULL;
    b->n_packed = 0;
    b->n_notes = 0;
    b->state = FREE;
}

static struct batch *oldest(struct otlp_output *o)
{
    struct batch *ret = NULL;
    for (struct batch *b = o->batches; b < o->batches + WINDOW; b++) {
        if (b->state != FREE && (!ret || b->first < ret->first))
            ret = b;
    }
    return ret;
}

/* Frees a batch whose records were delivered or dropped, and acknowledges all
 * records before the oldest batch that is left. */
static void finish(struct otlp_output *o, struct batch *b)
{
    o->last_acked = b->last > o->last_acked ? b->last : o->last_acked;
    clear(b);
    const struct batch *left = oldest(o);
    bool is_behind = left && left->first <= o->last_acked;
    pfdd_log_feed_ack(&o->log_feed,
                      is_behind ? left->first - 1 : o->last_acked);
}

/* On a worker. An incompressible body is sent as it is. */
static void pack(struct pfdd_job *job)
{
    struct batch *b = PFDD_MEMBER_OF(struct batch, job, job);
    b->packed = pfdd_gzip(b->text.data, b->text.n, &b->n_packed);
}

static void finish_close(struct otlp_output *o);

static void on_packed(struct pfdd_job *job)
{
    struct batch *b = PFDD_MEMBER_OF(struct batch, job, job);
    struct otlp_output *o = b->of;
    b->state = READY;
    if (o->base.closing) {
        finish_close(o);
        return;
    }
    if (b->packed)
        pfd_text_free(&b->text);
    go_on(o);
}

/* False: out of memory; the records were not taken. */
static bool fill(struct otlp_output *o, struct batch *b, const char *bytes,
                 size_t n)
{
    struct pfdd_otlp body = { { 0 }, NULL };
    struct pfdd_log_record_made note;
    size_t at = 0;
    for (; at < n && body.text.n < o->log_feed.batch_size; at += note.n_whole) {
        pfdd_log_record_at(bytes + at, n - at, &note);
        pfdd_otlp_add(&body, service_of(config_of(o)), &note);
        b->last = note.sequence;
        if (b->n_notes++)
            continue;
        b->first = note.sequence;
        b->time = note.time;
    }
    if (!pfdd_otlp_end(&body)) {
        pfdd_otlp_free(&body);
        b->n_notes = 0;
        return false;
    }
    b->text = body.text;
    body.text = (struct pfd_text){ 0 };
    pfdd_otlp_free(&body);
    pfdd_log_feed_consume(&o->log_feed, at);
    b->state = READY;
    if (config_of(o)->compress) {
        b->state = PACKING;
        b->job.run = pack;
        b->job.done = on_packed;
        pfdd_pool_submit(o->base.delivery->thread_pools->printers, &b->job);
    }
    return true;
}

static struct batch *find_free(struct otlp_output *o)
{
    for (struct batch *b = o->batches; b < o->batches + WINDOW; b++) {
        if (b->state == FREE)
            return b;
    }
    return NULL;
}

static void gather(struct otlp_output *o)
{
    const char *bytes = NULL;
    size_t n = 0;
    struct batch *b = NULL;
    while ((b = find_free(o)) &&
           pfdd_log_feed_peek_batch(&o->log_feed, &bytes, &n)) {
        if (!fill(o, b, bytes, n))
            return;
    }
}

/* ---- outcomes ---- */

/* A random delay from half of ms to all of it, so that many clients do not
 * retry at once. */
static uint64_t some_of(uint64_t ms)
{
    uint16_t dice = 0;
    if (getrandom(&dice, sizeof dice, GRND_NONBLOCK) != sizeof dice)
        return ms;
    return ms / 2 + ms / 2 * dice / UINT16_MAX;
}

static void back_off(struct otlp_output *o, struct batch *b, const char *why)
{
    uint64_t wait = o->wait_ms < SOONEST_MS ? SOONEST_MS : o->wait_ms;
    uint64_t asked = b->http_post.retry_ms;
    o->wait_ms = 2 * wait < LATEST_MS ? 2 * wait : LATEST_MS;
    o->pause_until =
        uv_now(o->base.delivery->loop) + (asked ? asked : some_of(wait));
    o->count.retried++;
    o->is_down = true;
    b->state = READY;
    pfdd_outage_note(&o->outage, PFDD_WARNING, config_of(o)->url, why);
}

/* A server may warn of something without refusing a record. */
static void tell_partial(struct otlp_output *o, const struct batch *b,
                         const struct pfdd_otlp_answer *answer)
{
    if (answer->n_rejected) {
        pfdd_log_about(&o->told_refused, PFDD_WARNING,
                       "%s: %" PRIu64 " of %" PRIu64 " records refused: %s",
                       config_of(o)->url, answer->n_rejected, b->n_notes,
                       answer->why);
    } else if (*answer->why) {
        pfdd_log_about(&o->told_warning, PFDD_WARNING,
                       "%s: the server warns: %s", config_of(o)->url,
                       answer->why);
    }
}

static void take_success(struct otlp_output *o, struct batch *b)
{
    const struct pfdd_http_post *post = &b->http_post;
    struct pfdd_otlp_answer answer;
    pfdd_otlp_answer_parse(*post->type ? post->type : NULL, post->answer,
                           post->n_answer, b->n_notes, &answer);
    if (!answer.is_success) {
        char why[200];
        snprintf(why, sizeof why,
                 "status %ld, but %s, which is no answer of OTLP", post->status,
                 *post->type ? post->type : "bytes of no type");
        back_off(o, b, why);
        return;
    }
    tell_partial(o, b, &answer);
    uint64_t rejected = answer.n_rejected;
    o->count.sent += b->n_notes - rejected;
    o->count.acked += b->n_notes - rejected;
    o->count.dropped += rejected;
    o->wait_ms = 0;
    o->is_down = false;
    pfdd_outage_end(&o->outage, config_of(o)->url, "answers again");
    finish(o, b);
}

static void refuse(struct otlp_output *o, struct batch *b)
{
    pfdd_log_about(&o->told_dropped, PFDD_ERROR,
                   "%s: status %ld: %" PRIu64 " records dropped",
                   config_of(o)->url, b->http_post.status, b->n_notes);
    o->count.dropped += b->n_notes;
    finish(o, b);
}

/* A retry may succeed. */
static bool is_passing(long status)
{
    return status == 0 || status == 429 || status == 502 || status == 503 ||
           status == 504;
}

/* The server rejects the records themselves. */
static bool is_about_records(long status)
{
    return status == 400 || status == 413 || status == 422;
}

static void on_done(struct pfdd_http_post *http_post)
{
    struct batch *b = PFDD_MEMBER_OF(struct batch, http_post, http_post);
    struct otlp_output *o = b->of;
    char why[200];
    snprintf(why, sizeof why, "status %ld", http_post->status);
    if (http_post->status >= 200 && http_post->status < 300) {
        take_success(o, b);
    } else if (is_passing(http_post->status)) {
        back_off(o, b, http_post->status ? why : http_post->why);
    } else if (o->log_feed.is_required &&
               !is_about_records(http_post->status)) {
        back_off(o, b, why);
    } else {
        refuse(o, b);
    }
    pfdd_log_feed_set_connected(&o->log_feed, !o->is_down);
    go_on(o);
}

static void send_ready(struct otlp_output *o)
{
    for (struct batch *b = o->batches; b < o->batches + WINDOW; b++) {
        if (b->state != READY ||
            uv_now(o->base.delivery->loop) < o->pause_until)
            continue;
        b->http_post.body = b->packed ? b->packed : b->text.data;
        b->http_post.n = b->packed ? b->n_packed : b->text.n;
        b->http_post.is_gzip = b->packed;
        b->http_post.done = on_done;
        b->state = SENDING;
        b->http_post.retry_ms = 0;
        if (!pfdd_http_client_send(o->http_client, &b->http_post))
            back_off(o, b, "out of memory");
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct otlp_output *o = timer->data;
    go_on(o);
    if (!oldest(o) && !o->log_feed.batch_begun)
        uv_timer_stop(timer);
}

static void go_on(struct otlp_output *o)
{
    if (o->base.closing)
        return;
    gather(o);
    send_ready(o);
    if ((oldest(o) || o->log_feed.batch_begun) &&
        !uv_is_active((uv_handle_t *)&o->timer))
        uv_timer_start(&o->timer, on_timer, TICK_MS, TICK_MS);
}

static void on_notes(void *user)
{
    struct otlp_output *o = user;
    if (o->base.closing) {
        finish_close(o);
    } else {
        go_on(o);
    }
}

/* ---- lifetime ---- */

static bool is_packing(const struct otlp_output *o)
{
    bool ret = false;
    for (size_t i = 0; i < WINDOW; i++)
        ret |= o->batches[i].state == PACKING;
    return ret;
}

static void finish_close(struct otlp_output *o)
{
    if (!o->base.closing || !o->client_closed || !o->timer_closed ||
        is_packing(o) || !pfdd_log_feed_can_close(&o->log_feed))
        return;
    pfdd_log_feed_close(&o->log_feed);
    for (size_t i = 0; i < WINDOW; i++)
        clear(&o->batches[i]);
    free(o->header_text);
    pfdd_output_closed(&o->base);
}

static void on_poster_closed(void *user)
{
    struct otlp_output *o = user;
    o->client_closed = true;
    finish_close(o);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct otlp_output *o = handle->data;
    o->timer_closed = true;
    finish_close(o);
}

/* Reads the headers, one a line. */
static bool read_headers(struct otlp_output *o, char *err, size_t n_err)
{
    const char *path = config_of(o)->headers_file;
    o->headers[0] = "Content-Type: application/json";
    o->n_headers = 1;
    if (!path)
        return true;
    FILE *in = fopen(path, "re");
    o->header_text = calloc(1, HEADERS_BYTES);
    size_t n = in && o->header_text
                   ? fread(o->header_text, 1, HEADERS_BYTES - 1, in)
                   : 0;
    bool ok = in && o->header_text && !ferror(in) && n < HEADERS_BYTES - 1;
    if (in)
        fclose(in);
    char *rest = o->header_text;
    for (char *line = NULL; ok && (line = strsep(&rest, "\r\n"));) {
        if (!*line)
            continue;
        ok = strchr(line, ':') && o->n_headers < HEADERS_MAX;
        if (ok)
            o->headers[o->n_headers++] = line;
    }
    if (!ok) {
        snprintf(err, n_err, "%s: no headers ('Name: value') can be read there",
                 path);
    }
    return ok;
}

static bool open_parts(struct otlp_output *o, char *err, size_t n_err)
{
    const struct pfdd_http_client_options options = {
        .loop = o->base.delivery->loop,
        .url = config_of(o)->url,
        .tls = &o->base.config->access.tls,
        .headers = o->headers,
        .n_headers = o->n_headers,
        .timeout_ms = config_of(o)->timeout_ms,
        .closed = on_poster_closed,
        .user = o,
    };
    o->log_feed.wake = on_notes;
    o->log_feed.user = o;
    if (!pfdd_log_feed_open(&o->log_feed, &o->base, &pfdd_otlp_encoding, err,
                            n_err))
        return false;
    o->http_client = pfdd_http_client_new(&options, err, n_err);
    if (o->http_client)
        return true;
    pfdd_log_feed_close(&o->log_feed);
    return false;
}

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct otlp_output *o = (struct otlp_output *)output;
    snprintf(err, n_err, "out of memory");
    if (!read_headers(o, err, n_err) || !open_parts(o, err, n_err)) {
        free(o->header_text);
        return false;
    }
    for (size_t i = 0; i < WINDOW; i++)
        o->batches[i].of = o;
    uv_timer_init(o->base.delivery->loop, &o->timer);
    o->timer.data = o;
    pfdd_log_feed_set_connected(&o->log_feed, true);
    pfdd_log_feed_prefetch(&o->log_feed);
    /* After a reload lines may wait for it already. */
    uv_timer_start(&o->timer, on_timer, TICK_MS, TICK_MS);
    return true;
}

static void close_output(struct pfdd_output *output)
{
    struct otlp_output *o = (struct otlp_output *)output;
    uv_close((uv_handle_t *)&o->timer, on_timer_closed);
    pfdd_http_client_close(o->http_client);
}

/* Does not wait for a server that is down. */
static bool is_drained(const struct pfdd_output *output)
{
    struct otlp_output *o = (struct otlp_output *)(uintptr_t)output;
    return o->is_down || (!oldest(o) && pfdd_log_feed_is_done(&o->log_feed));
}

static size_t memory(const struct pfdd_output *output)
{
    const struct otlp_output *o = (const struct otlp_output *)output;
    size_t n = sizeof *o + pfdd_log_feed_memory(&o->log_feed) +
               pfdd_http_client_memory(o->http_client);
    for (const struct batch *b = o->batches; b < o->batches + WINDOW; b++) {
        n += b->state == PACKING ? 2 * o->log_feed.batch_size
                                 : b->text.room + b->n_packed;
    }
    return n;
}

static struct pfdd_sent sent(const struct pfdd_output *output)
{
    struct otlp_output *o = (struct otlp_output *)(uintptr_t)output;
    const struct batch *b = oldest(o);
    struct pfdd_sent ret = o->count;
    ret.dropped += pfdd_log_feed_dropped(&o->log_feed);
    ret.age_ns = pfdd_log_feed_age(&o->log_feed, b ? b->time : 0);
    ret.is_connected = !o->is_down;
    return ret;
}

static uint64_t place(const struct pfdd_output *output)
{
    struct otlp_output *o = (struct otlp_output *)(uintptr_t)output;
    const struct batch *b = oldest(o);
    return pfdd_log_feed_place(&o->log_feed, b ? b->first : 0);
}

/* ---- keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct otlp_config *config = group;
    const struct pfdd_tls_config *tls = &config->base.access.tls;
    bool is_https = false;
    const char *why =
        config->url ? pfdd_http_post_check(config->url, &is_https) : NULL;
    if (why) {
        pfdd_diagnostics_add(places, "url", "'url': %s", why);
    } else if (config->url && !is_https &&
               (tls->authority || tls->certificate || tls->key)) {
        pfdd_diagnostics_add(places, "url", "'url': TLS is for https");
    }
    if (!tls->certificate != !tls->key) {
        const char *missing = tls->key ? "tls_certificate" : "tls_key";
        pfdd_diagnostics_add(places, missing, "'%s' is missing", missing);
    }
    if (config->service && !*config->service)
        pfdd_diagnostics_add(places, "service", "'service' is empty");
}

#define AT(member) offsetof(struct otlp_config, member)

static const struct pfdd_key keys[] = {
    { .name = "url", .kind = PFDD_KEY_TEXT, .at = AT(url), .needed = true },
    { .name = "headers_file",
      .kind = PFDD_KEY_TEXT,
      .at = AT(headers_file),
      .use = PFDD_USE_READ },
    { .name = "tls_ca",
      .kind = PFDD_KEY_TEXT,
      .at = AT(base.access.tls.authority),
      .use = PFDD_USE_READ },
    { .name = "tls_certificate",
      .kind = PFDD_KEY_TEXT,
      .at = AT(base.access.tls.certificate),
      .use = PFDD_USE_READ },
    { .name = "tls_key",
      .kind = PFDD_KEY_TEXT,
      .at = AT(base.access.tls.key),
      .use = PFDD_USE_READ },
    { .name = "service", .kind = PFDD_KEY_TEXT, .at = AT(service) },
    { .name = "compress",
      .kind = PFDD_KEY_BOOL,
      .at = AT(compress),
      .initial = true },
    PFDD_BATCH_KEYS(256 * 1024, 100),
    { .name = "timeout",
      .kind = PFDD_KEY_TIME,
      .at = AT(timeout_ms),
      .min = 100,
      .max = 3600000,
      .initial = 10000 },
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_required_group, 0 },
    { 0 },
};

static const char *name_of(const struct pfdd_output_config *base)
{
    const struct otlp_config *config = (const void *)base;
    return base->name ? base->name : config->url;
}

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct otlp_config *config = (const void *)block;
    fprintf(out, "OTLP to %s, of service %s%s", config->url, service_of(config),
            config->compress ? ", compressed" : "");
    if (config->headers_file)
        fprintf(out, ", with the headers in %s", config->headers_file);
    if (config->base.access.tls.certificate)
        fputs(", with a certificate of ours", out);
    pfdd_output_explain(&config->base, out);
}

const struct pfdd_output_class pfdd_output_otlp = {
    .base = { .name = "otlp",
              .size = sizeof(struct otlp_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct otlp_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
    .sent = sent,
    .place = place,
    .checkpoint_name = name_of,
};
