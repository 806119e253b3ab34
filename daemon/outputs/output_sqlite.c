/* SPDX-License-Identifier: MIT */
/*
 * A SQLite database with a row for each item. A thread of its own writes all
 * available rows in one transaction. A required output resumes after the
 * position that the same transaction has set, so each item is stored exactly
 * once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outage.h"
#include "config/units.h"
#include "outputs/database.h"
#include "outputs/database_rows.h"
#include "outputs/log_feed.h"

enum {
    TICK_MS = 500, /* poll for aged rows and retries */
    RETRY_MS = 1000,
};

struct sqlite_config {
    struct pfdd_output_config base;
    char *path;
    uint64_t max_size;
    uint64_t max_age_ms; /* 0: rows are not removed by age */
};

struct sqlite_output {
    struct pfdd_output base;
    struct pfdd_log_feed log_feed;
    struct pfdd_pool *pool; /* its own thread */
    uv_timer_t tick;
    bool tick_closed;
    bool is_open; /* it was open after the last job */
    struct pfdd_outage outage;
    bool failing;
    uint64_t retry_at; /* uv_now() */
    uint64_t tidied;   /* uv_now(): when aged rows were last removed */
    struct pfdd_sent count;
    /* Owned by the job while it is in flight. */
    struct pfdd_job job;
    bool is_busy;
    struct pfdd_database db;
    const char *bytes; /* [n], lent */
    size_t n;
    uint64_t n_rows;
    bool ok;
};

static const struct sqlite_config *config_of(const struct sqlite_output *o)
{
    return (const struct sqlite_config *)(const void *)o->base.config;
}

/* ---- on its thread ---- */

static void run(struct pfdd_job *job)
{
    struct sqlite_output *o = PFDD_MEMBER_OF(struct sqlite_output, job, job);
    o->n_rows = 0;
    o->ok = pfdd_database_open(&o->db) &&
            (!o->is_open ||
             pfdd_database_write(&o->db, o->bytes, o->n, &o->n_rows));
}

/* ---- on the loop ---- */

static void set_failing(struct sqlite_output *o, bool failing)
{
    if (failing) {
        pfdd_outage_note(&o->outage, PFDD_ERROR, o->db.path, o->db.why);
    } else {
        pfdd_outage_end(&o->outage, o->db.path, "writing again");
    }
    o->failing = failing;
}

static void start_job(struct sqlite_output *o);
static void finish_close(struct sqlite_output *o);

/* The database is open for the first time since a failure: it may contain a
 * transaction whose success was not reported. */
static void begin(struct sqlite_output *o)
{
    o->is_open = true;
    pfdd_log_feed_resume(&o->log_feed, o->db.sequence, o->db.time);
    pfdd_log_feed_set_connected(&o->log_feed, true);
}

static void on_written(struct pfdd_job *job)
{
    struct sqlite_output *o = PFDD_MEMBER_OF(struct sqlite_output, job, job);
    o->is_busy = false;
    pfdd_log_feed_lend(&o->log_feed, false);
    set_failing(o, !o->ok);
    if (!o->ok) {
        o->base.delivery->count->file_errors++;
        o->count.retried += o->n > 0;
        o->retry_at = uv_now(o->base.delivery->loop) + RETRY_MS;
    } else if (!o->is_open) {
        begin(o);
    } else if (o->n) {
        o->count.sent += o->n_rows;
        o->count.acked += o->n_rows;
        pfdd_log_feed_ack(&o->log_feed, o->db.sequence);
        pfdd_log_feed_consume(&o->log_feed, o->n);
    }
    o->n = 0;
    if (o->base.closing) {
        finish_close(o);
    } else {
        start_job(o);
    }
}

/* There is work without log records, too: rows reach their age. */
static bool has_work(struct sqlite_output *o)
{
    uint64_t now = uv_now(o->base.delivery->loop);
    if (!o->is_open || pfdd_log_feed_peek_batch(&o->log_feed, &o->bytes, &o->n))
        return true;
    o->n = 0;
    return o->db.max_age_ns && now - o->tidied >= TICK_MS;
}

static void on_tick(uv_timer_t *timer);

/* Polls more often while a batch is incomplete. */
static void set_tick(struct sqlite_output *o)
{
    uint64_t ms = o->log_feed.batch_begun && o->log_feed.batch_ms < TICK_MS
                      ? o->log_feed.batch_ms
                      : TICK_MS;
    if (ms && uv_timer_get_repeat(&o->tick) != ms)
        uv_timer_start(&o->tick, on_tick, ms, ms);
}

static void start_job(struct sqlite_output *o)
{
    struct pfdd_delivery *delivery = o->base.delivery;
    if (o->is_busy || (o->failing && uv_now(delivery->loop) < o->retry_at))
        return;
    o->n = 0;
    if (!has_work(o)) {
        set_tick(o);
        return;
    }
    delivery->count->file_retries += o->failing;
    o->tidied = uv_now(delivery->loop);
    o->is_busy = true;
    pfdd_log_feed_lend(&o->log_feed, true);
    pfdd_pool_submit(o->pool, &o->job);
}

static void on_notes(void *user)
{
    struct sqlite_output *o = user;
    if (o->base.closing) {
        finish_close(o);
    } else {
        start_job(o);
    }
}

static void on_tick(uv_timer_t *timer)
{
    start_job(timer->data);
}

/* ---- lifetime ---- */

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    struct sqlite_output *o = (struct sqlite_output *)output;
    const struct sqlite_config *config = config_of(o);
    struct pfdd_delivery *delivery = output->delivery;
    o->db = (struct pfdd_database){ .path = config->path,
                                    .n_max = config->max_size,
                                    .max_age_ns = config->max_age_ms * 1000000,
                                    .is_durable = output->config->required };
    o->job.run = run;
    o->job.done = on_written;
    o->log_feed.wake = on_notes;
    o->log_feed.user = o;
    o->pool = pfdd_pool_new(delivery->loop, 1);
    if (!o->pool) {
        snprintf(err, n_err, "out of memory or threads");
        return false;
    }
    if (!pfdd_log_feed_open(&o->log_feed, output, &pfdd_row_encoding, err,
                            n_err)) {
        pfdd_pool_close(o->pool);
        return false;
    }
    uv_timer_init(delivery->loop, &o->tick);
    o->tick.data = o;
    uv_timer_start(&o->tick, on_tick, TICK_MS, TICK_MS);
    start_job(o);
    return true;
}

static void finish_close(struct sqlite_output *o)
{
    if (!o->base.closing || !o->tick_closed || o->is_busy ||
        !pfdd_log_feed_can_close(&o->log_feed))
        return;
    pfdd_log_feed_close(&o->log_feed);
    pfdd_database_close(&o->db);
    pfdd_pool_close(o->pool);
    pfdd_output_closed(&o->base);
}

static void on_tick_closed(uv_handle_t *handle)
{
    struct sqlite_output *o = handle->data;
    o->tick_closed = true;
    finish_close(o);
}

static void close_output(struct pfdd_output *output)
{
    struct sqlite_output *o = (struct sqlite_output *)output;
    uv_close((uv_handle_t *)&o->tick, on_tick_closed);
}

static bool is_drained(const struct pfdd_output *output)
{
    struct sqlite_output *o = (struct sqlite_output *)(uintptr_t)output;
    if (!o->is_busy)
        start_job(o);
    return !o->is_busy && pfdd_log_feed_is_done(&o->log_feed);
}

static size_t memory(const struct pfdd_output *output)
{
    const struct sqlite_output *o = (const struct sqlite_output *)output;
    return sizeof *o + PFDD_DATABASE_MEMORY +
           pfdd_log_feed_memory(&o->log_feed);
}

static uint64_t place(const struct pfdd_output *output)
{
    const struct sqlite_output *o = (const struct sqlite_output *)output;
    return pfdd_log_feed_place(&o->log_feed, 0);
}

static struct pfdd_sent sent(const struct pfdd_output *output)
{
    const struct sqlite_output *o = (const struct sqlite_output *)output;
    struct pfdd_sent ret = o->count;
    ret.dropped = pfdd_log_feed_dropped(&o->log_feed);
    ret.age_ns = pfdd_log_feed_age(&o->log_feed, 0);
    ret.is_connected = o->is_open && !o->failing;
    return ret;
}

static bool trouble(const struct pfdd_output *output, char *ret, size_t n)
{
    const struct sqlite_output *o = (const struct sqlite_output *)output;
    if (!o->log_feed.is_required || !o->failing)
        return false;
    snprintf(ret, n, "%.300s: %s", o->db.path, pfdd_outage_why(&o->outage));
    return true;
}

/* ---- keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct sqlite_config *config = group;
    if (config->path && strchr(config->path, '{')) {
        pfdd_diagnostics_add(places, "path",
                             "a database is one file: no {words}");
    }
}

#define AT(member) offsetof(struct sqlite_config, member)

static const struct pfdd_key keys[] = {
    { .name = "path",
      .kind = PFDD_KEY_TEXT,
      .at = AT(path),
      .use = PFDD_USE_DATABASE,
      .needed = true },
    { .name = "max_size",
      .kind = PFDD_KEY_SIZE,
      .at = AT(max_size),
      .min = 4 << 20,
      .max = UINT64_C(1) << 40,
      .initial = 1 << 30 },
    { .name = "max_age",
      .kind = PFDD_KEY_TIME,
      .at = AT(max_age_ms),
      .min = 1000,
      .max = UINT64_C(1) << 40 },
    PFDD_BATCH_KEYS(256 * 1024, 100),
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_required_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct sqlite_config *config = (const void *)block;
    fprintf(out, "rows in the database %s, of at most ", config->path);
    pfdd_units_put_size(out, config->max_size);
    if (config->max_age_ms) {
        fputs(", none older than ", out);
        pfdd_units_put_time(out, config->max_age_ms);
    }
    pfdd_output_explain(&config->base, out);
}

static const char *checkpoint_name(const struct pfdd_output_config *config)
{
    const struct sqlite_config *ours = (const void *)config;
    return config->name ? config->name : ours->path;
}

const struct pfdd_output_class pfdd_output_sqlite = {
    .base = { .name = "sqlite",
              .size = sizeof(struct sqlite_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct sqlite_output),
    .open = open_output,
    .close = close_output,
    .is_drained = is_drained,
    .memory = memory,
    .sent = sent,
    .trouble = trouble,
    .place = place,
    .checkpoint_name = checkpoint_name,
};
