/* SPDX-License-Identifier: MIT */
#include "daemon.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "config/sandbox.h"
#include "config/systemd.h"
#include "ingest/fd_restore.h"
#include "ingest/fd_store.h"
#include "ingest/follower.h"
#include "ingest/poller.h"
#include "ingest/string_store.h"
#include "ring/cursor.h"
#include "spool/spool.h"

enum {
    PAGES = 16, /* part of memory_max: rendered blocks */
    PAGES_MIN = 1 << 20,
    PAGES_MAX = 64 << 20,
    AHEAD_MAX = 12, /* rendered blocks: sent later than rendered, and jobs may
                       be late */
    TICK_MS = 100,
    LAG_MAX_MS = 5000,    /* a loop that lags more is not alive */
    STUCK_MAX_MS = 10000, /* a job that takes longer is stuck */
    PAUSE_MS = 20,        /* between checks, while stopping */
};

enum phase {
    RUNNING,
    ENDING_INPUTS,
    DRAINING,
    ENDING_OUTPUTS,
    ENDED,
};

/* ---- hooks of the parts ---- */

#define PFDD_OF(at, member) PFDD_MEMBER_OF(struct pfdd, at, member)

static void go_on(struct pfdd *d);

static void input_ended(struct pfdd_ingest *ingest)
{
    go_on(PFDD_OF(ingest, ingest));
}

static void output_ended(struct pfdd_delivery *delivery)
{
    go_on(PFDD_OF(delivery, delivery));
}

static void store_object(struct pfdd_ingest *ingest,
                         const struct pfdd_object *object)
{
    pfdd_fd_store_object(ingest->fd_store, object);
}

static void connect_parts(struct pfdd *d)
{
    d->ingest = (struct pfdd_ingest){
        .loop = d->loop,
        .config = d->config,
        .ring = &d->ring,
        .source_table = &d->source_table,
        .thread_pools = &d->thread_pools,
        .scheduler = &d->scheduler,
        .budget = &d->budget,
        .count = &d->count,
        .stopping = &d->stopping,
        .on_changed = pfdd_followers_wake,
        .on_object = store_object,
        .on_ended = input_ended,
    };
    d->delivery = (struct pfdd_delivery){
        .loop = d->loop,
        .config = d->config,
        .ring = &d->ring,
        .render_cache = &d->render_cache,
        .source_table = &d->source_table,
        .thread_pools = &d->thread_pools,
        .budget = &d->budget,
        .count = &d->count,
        .stopping = &d->stopping,
        .ingest = &d->ingest,
        .started = pfdd_time_now(),
        .on_ended = output_ended,
    };
}

/* ---- stopping ---- */

static bool are_drained(struct pfdd *d)
{
    if (d->spool && !pfdd_spool_is_drained(d->spool))
        return false;
    for (const struct pfdd_output *o = d->delivery.outputs; o; o = o->next) {
        if (!o->class->is_drained(o))
            return false;
    }
    return true;
}

static void close_all_outputs(struct pfdd *d)
{
    struct pfdd_output *next = NULL;
    for (struct pfdd_output *o = d->delivery.outputs; o; o = next) {
        next = o->next;
        pfdd_output_close(o);
    }
}

static void abandon_all_inputs(struct pfdd *d)
{
    struct pfdd_input *next = NULL;
    for (struct pfdd_input *i = d->ingest.inputs; i; i = next) {
        next = i->next;
        pfdd_input_abandon(i);
    }
}

static void finish(struct pfdd *d)
{
    if (d->spool)
        pfdd_spool_stop(d->spool);
    pfdd_poller_free(d->ingest.poller);
    d->ingest.poller = NULL;
    pfdd_thread_pools_close(&d->thread_pools);
    uv_close((uv_handle_t *)&d->hangup, NULL);
    uv_close((uv_handle_t *)&d->terminate, NULL);
    uv_close((uv_handle_t *)&d->interrupt, NULL);
    uv_close((uv_handle_t *)&d->tick, NULL);
    pfdd_loop_scheduler_close(&d->scheduler);
}

/* Enters the next phase when there is nothing left to wait for. */
static void go_on(struct pfdd *d)
{
    bool late = uv_now(d->loop) >= d->deadline;
    if (d->phase == ENDING_INPUTS && late)
        abandon_all_inputs(d);
    if (d->phase == ENDING_INPUTS && !d->ingest.inputs &&
        !d->ingest.followers &&
        !pfdd_string_store_is_busy(d->ingest.string_store))
        d->phase = DRAINING;
    if (d->phase == DRAINING && (late || are_drained(d))) {
        if (late)
            pfdd_log(PFDD_WARNING, "outputs have not written all in time");
        d->phase = ENDING_OUTPUTS;
        close_all_outputs(d);
    }
    if (d->phase == ENDING_OUTPUTS && !d->delivery.outputs &&
        !pfdd_thread_pools_are_busy(&d->thread_pools)) {
        d->phase = ENDED;
        finish(d);
    }
}

void pfdd_stop(struct pfdd *d)
{
    if (d->stopping)
        return;
    d->stopping = true;
    d->phase = ENDING_INPUTS;
    d->deadline = uv_now(d->loop) + d->config->drain_ms;
    pfdd_systemd_notify("STOPPING=1");
    pfdd_log(PFDD_INFO, "stopping");
    struct pfdd_input *next = NULL;
    for (struct pfdd_input *i = d->ingest.inputs; i; i = next) {
        next = i->next;
        pfdd_input_close(i);
    }
    if (d->ingest.fd_store)
        pfdd_fd_store_close(d->ingest.fd_store);
    uv_timer_set_repeat(&d->tick, PAUSE_MS);
    uv_timer_again(&d->tick);
    go_on(d);
}

void pfdd_deinit(struct pfdd *d)
{
    pfdd_fd_store_free(d->ingest.fd_store);
    pfdd_spool_free(d->spool);
    pfdd_render_cache_deinit(&d->render_cache);
    pfdd_ring_deinit(&d->ring);
    pfdd_string_store_free(d->ingest.string_store);
    pfdd_source_table_deinit(&d->source_table);
    pfdd_config_unref(d->config);
}

/* ---- signals and the tick ---- */

static void on_terminate(uv_signal_t *signal, int number)
{
    struct pfdd *d = signal->data;
    if (d->stopping) /* A second signal ends draining. */
        d->deadline = 0;
    pfdd_stop(d);
}

static void on_hangup(uv_signal_t *signal, int number)
{
    pfdd_reload(signal->data);
}

/* True: the loop does not lag, and jobs make progress. */
static bool is_alive(struct pfdd *d)
{
    return d->delivery.lag_ms < LAG_MAX_MS &&
           pfdd_thread_pools_stuck(&d->thread_pools, uv_hrtime()) <
               STUCK_MAX_MS;
}

/* The watchdog is notified only while there is progress. */
static void on_tick(uv_timer_t *timer)
{
    struct pfdd *d = timer->data;
    uint64_t now = uv_hrtime() / 1000000;
    uint64_t wanted = uv_timer_get_repeat(timer);
    d->delivery.lag_ms =
        now - d->ticked > wanted ? now - d->ticked - wanted : 0;
    d->ticked = now;
    if (pfdd_systemd_watchdog_ms() && is_alive(d))
        pfdd_systemd_notify("WATCHDOG=1");
    if (d->phase == ENDING_INPUTS && uv_now(d->loop) >= d->deadline)
        pfdd_followers_abandon(&d->ingest);
    pfdd_slow_consumer_look(&d->slow_consumers, uv_now(d->loop), &d->ring,
                            d->spool, d->count.waits);
    pfdd_cursors_kick(&d->ring);
    if (d->spool)
        pfdd_spool_store_objects(d->spool);
    go_on(d);
}

/* False: out of descriptors. The first signal handle takes all that are
 * needed. */
static bool start_handles(struct pfdd *d)
{
    if (uv_signal_init(d->loop, &d->hangup) != 0)
        return false;
    uv_signal_init(d->loop, &d->terminate);
    uv_signal_init(d->loop, &d->interrupt);
    uv_timer_init(d->loop, &d->tick);
    d->hangup.data = d->terminate.data = d->interrupt.data = d;
    d->tick.data = d;
    pfdd_loop_scheduler_open(&d->scheduler, d->loop);
    uv_signal_start(&d->hangup, on_hangup, SIGHUP);
    uv_signal_start(&d->terminate, on_terminate, SIGTERM);
    uv_signal_start(&d->interrupt, on_terminate, SIGINT);
    uint64_t watchdog = pfdd_systemd_watchdog_ms();
    uint64_t every = watchdog && watchdog < TICK_MS ? watchdog : TICK_MS;
    d->ticked = uv_hrtime() / 1000000;
    uv_timer_start(&d->tick, on_tick, every, every);
    return true;
}

/* Rendering is most of the work, and the loop is nearly idle meanwhile. */
static unsigned count_printers(const struct pfdd_config *config)
{
    return config->workers ? (unsigned)config->workers
                           : uv_available_parallelism();
}

static unsigned count_workers(const struct pfdd_config *config)
{
    unsigned n = count_printers(config);
    return config->workers || n == 1 ? n : n - 1;
}

static size_t pages_max(const struct pfdd_config *config)
{
    uint64_t n = config->memory_max / PAGES;
    return n < PAGES_MIN ? PAGES_MIN : n < PAGES_MAX ? (size_t)n : PAGES_MAX;
}

static bool start_parts(struct pfdd *d, char *err, size_t n_err)
{
    const struct pfdd_config *config = d->config;
    uint64_t first_seq = 1;
    if (pfdd_config_has_required(config)) {
        d->spool = pfdd_spool_open(config->state_dir, config->queue_max,
                                   &first_seq, err, n_err);
        if (!d->spool)
            return false;
    }
    d->ingest.spool = d->delivery.spool = d->spool;
    pfdd_ring_init(&d->ring, config->ring, first_seq);
    d->ring.held = pfdd_source_table_note;
    d->ring.held_user = &d->source_table;
    unsigned n_printers = count_printers(config);
    bool ok = pfdd_thread_pools_open(&d->thread_pools, d->loop,
                                     count_workers(config), n_printers);
    pfdd_render_cache_init(&d->render_cache, &d->ring, d->thread_pools.printers,
                           d->thread_pools.choosers,
                           n_printers < AHEAD_MAX ? n_printers : AHEAD_MAX,
                           pages_max(config));
    d->ingest.string_store =
        pfdd_string_store_new(&d->ingest, config->memory_max / 4);
    if (d->ingest.string_store) {
        d->render_cache.objects =
            pfdd_string_store_objects(d->ingest.string_store);
    }
    d->ingest.poller =
        pfdd_poller_new(d->loop, pfdd_followers_poll, &d->ingest);
    d->ingest.fd_store = pfdd_fd_store_new(&d->ingest);
    const struct pfdd_spool_parts parts = {
        .loop = d->loop,
        .render_cache = &d->render_cache,
        .source_table = &d->source_table,
        .thread_pools = &d->thread_pools,
        .budget = &d->budget,
        .n_strings_max = config->memory_max / 4,
        .stopping = &d->stopping,
    };
    if (ok && d->ingest.string_store && d->ingest.poller &&
        d->ingest.fd_store && (!d->spool || pfdd_spool_start(d->spool, &parts)))
        return true;
    snprintf(err, n_err, "out of memory, threads or file descriptors");
    return false;
}

/* Ends the parts that were started, when no input or output is open. */
static void end_parts(struct pfdd *d)
{
    pfdd_poller_free(d->ingest.poller);
    pfdd_thread_pools_close(&d->thread_pools);
    if (d->ingest.fd_store)
        pfdd_fd_store_close(d->ingest.fd_store);
    d->ingest.poller = NULL;
}

/* Those that the configuration names. */
static void load_strings(struct pfdd *d)
{
    const struct pfdd_config *config = d->config;
    struct pfdd_string_store *store = d->ingest.string_store;
    for (size_t i = 0; i < config->code_objects.n; i++)
        pfdd_string_store_add_file(store, config->code_objects.items[i]);
}

static bool open_all(struct pfdd *d, char *err, size_t n_err)
{
    struct pfdd_config *config = d->config;
    load_strings(d);
    for (size_t i = 0; i < config->n_outputs; i++) {
        if (!pfdd_output_open(&d->delivery, config,
                              pfdd_config_output(config, i), err, n_err))
            return false;
    }
    for (size_t i = 0; i < config->n_inputs; i++) {
        if (!pfdd_input_open(&d->ingest, config, pfdd_config_input(config, i),
                             err, n_err))
            return false;
    }
    return true;
}

bool pfdd_start(struct pfdd *d, uv_loop_t *loop, struct pfdd_config *config,
                char *err, size_t n_err)
{
    d->loop = loop;
    pfdd_descriptor_limit_raise();
    d->config = config;
    connect_parts(d);
    pfdd_ring_init(&d->ring, 1 << 20, 1);
    if (!pfdd_source_table_init(&d->source_table)) {
        snprintf(err, n_err, "out of memory");
        return false;
    }
    pfdd_memory_init(&d->delivery, config->memory_max);
    pfdd_log_level((enum pfdd_level)config->log_level);
    bool ok = start_parts(d, err, n_err);
    if (ok && !start_handles(d)) {
        snprintf(err, n_err, "out of file descriptors");
        if (d->spool)
            pfdd_spool_stop(d->spool);
        ok = false;
    }
    if (!ok) {
        end_parts(d);
        return false;
    }
    if (!open_all(d, err, n_err)) {
        pfdd_stop(d);
        return false;
    }
    pfdd_fd_store_restore(d->ingest.fd_store);
    d->delivery.ready = true;
    return true;
}

/* ---- reload ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static const struct pfdd_input *find_input(
    const struct pfdd *d, const struct pfdd_input_config *config)
{
    for (const struct pfdd_input *i = d->ingest.inputs; i; i = i->next) {
        if (!i->closing &&
            pfdd_block_is_same(&i->config->block, &config->block))
            return i;
    }
    return NULL;
}

static const struct pfdd_output *find_output(
    const struct pfdd *d, const struct pfdd_output_config *config)
{
    for (const struct pfdd_output *o = d->delivery.outputs; o; o = o->next) {
        if (!o->closing &&
            pfdd_block_is_same(&o->config->block, &config->block))
            return o;
    }
    return NULL;
}

/* An input whose description has changed is another one. */
static bool has_input(const struct pfdd_config *config,
                      const struct pfdd_input *input)
{
    for (size_t i = 0; i < config->n_inputs; i++) {
        if (pfdd_block_is_same(config->inputs[i], &input->config->block))
            return pfdd_description_is_same(&input->description);
    }
    return false;
}

static bool has_output(const struct pfdd_config *config,
                       const struct pfdd_output *output)
{
    for (size_t i = 0; i < config->n_outputs; i++) {
        if (pfdd_block_is_same(config->outputs[i], &output->config->block))
            return true;
    }
    return false;
}

static void close_removed(struct pfdd *d, const struct pfdd_config *config)
{
    struct pfdd_input *next = NULL;
    struct pfdd_output *next_output = NULL;
    for (struct pfdd_input *i = d->ingest.inputs; i; i = next) {
        next = i->next;
        if (!has_input(config, i))
            pfdd_input_close(i);
    }
    for (struct pfdd_output *o = d->delivery.outputs; o; o = next_output) {
        next_output = o->next;
        if (!has_output(config, o))
            pfdd_output_close(o);
    }
}

static void open_added(struct pfdd *d)
{
    char err[256];
    struct pfdd_config *config = d->config;
    load_strings(d);
    for (size_t i = 0; i < config->n_outputs; i++) {
        if (!find_output(d, pfdd_config_output(config, i)) &&
            !pfdd_output_open(&d->delivery, config,
                              pfdd_config_output(config, i), err, sizeof err))
            pfdd_log(PFDD_ERROR, "output: %s", err);
    }
    for (size_t i = 0; i < config->n_inputs; i++) {
        if (!find_input(d, pfdd_config_input(config, i)) &&
            !pfdd_input_open(&d->ingest, config, pfdd_config_input(config, i),
                             err, sizeof err))
            pfdd_log(PFDD_ERROR, "input: %s", err);
    }
}

static void tell_log(void *user, const char *text)
{
    pfdd_log(PFDD_ERROR, "%s", text);
}

/* Says which settings differ that cannot change while the daemon runs; false:
 * none does. */
static bool needs_restart(const struct pfdd *d, const struct pfdd_config *new,
                          char *ret, size_t n_ret)
{
    const struct pfdd_config *old = d->config;
    const struct {
        const char *name;
        bool differs;
    } settings[] = {
        { "ring", old->ring != new->ring },
        { "memory_max", old->memory_max != new->memory_max },
        { "queue_max", old->queue_max != new->queue_max },
        { "workers", old->workers != new->workers },
        { "sandbox", old->sandbox != new->sandbox },
        { "state_dir", !same_text(old->state_dir, new->state_dir) },
        { "whether anything is required",
          pfdd_config_has_required(old) != pfdd_config_has_required(new) },
    };
    size_t n = 0;
    size_t n_put = 0;
    size_t at = 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        n += settings[i].differs;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (!settings[i].differs || at >= n_ret)
            continue;
        const char *before = !n_put ? "" : n_put + 1 < n ? ", " : " and ";
        at += (size_t)snprintf(ret + at, n_ret - at, "%s%s", before,
                               settings[i].name);
        n_put++;
    }
    if (at < n_ret) {
        snprintf(ret + at, n_ret - at, " only %s with a restart",
                 n == 1 ? "changes" : "change");
    }
    return n;
}

/* False: an input's description cannot be used; see err. */
static bool has_descriptions(const struct pfdd_config *config, char *err,
                             size_t n_err)
{
    bool ok = true;
    for (size_t i = 0; i < config->n_inputs && ok; i++) {
        struct pfdd_description description;
        ok = pfdd_description_read(
            &description, pfdd_config_input(config, i)->describe,
            (size_t)(config->memory_max / 4), err, n_err);
        pfdd_description_deinit(&description);
    }
    return ok;
}

/* Reads the configuration that is to replace the current one; NULL: see err. */
static struct pfdd_config *read_again(struct pfdd *d, char *err, size_t n_err)
{
    struct pfdd_config *config =
        pfdd_config_read(d->config_path, tell_log, NULL);
    snprintf(err, n_err, "cannot be used");
    if (config && !needs_restart(d, config, err, n_err) &&
        pfdd_sandbox_covers(config, err, n_err) &&
        has_descriptions(config, err, n_err))
        return config;
    pfdd_config_unref(config);
    return NULL;
}

void pfdd_reload(struct pfdd *d)
{
    char err[400];
    if (d->stopping || !d->config_path)
        return;
    struct pfdd_config *config = read_again(d, err, sizeof err);
    if (!config) {
        pfdd_log(PFDD_ERROR, "%s: %s; the old configuration stays",
                 d->config_path, err);
        d->count.bad_reloads++;
        return;
    }
    pfdd_systemd_notify("RELOADING=1");
    d->count.reloads++;
    close_removed(d, config);
    pfdd_config_unref(d->config);
    d->config = config;
    d->ingest.config = d->delivery.config = config;
    pfdd_log_level((enum pfdd_level)config->log_level);
    open_added(d);
    pfdd_output_end_places(&d->delivery);
    pfdd_systemd_notify("READY=1");
    pfdd_log(PFDD_INFO, "%s: reloaded", d->config_path);
}
