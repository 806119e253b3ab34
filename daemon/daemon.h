/* SPDX-License-Identifier: MIT */
/*
 * The daemon: puts its parts together, and ends them in order. Its struct is
 * for daemon.c and main.c; parts know what they are handed (ingest.h,
 * delivery.h). Loop thread only.
 */
#ifndef PFDD_DAEMON_H
#define PFDD_DAEMON_H

#include <uv.h>

#include "base/counters.h"
#include "base/loop_scheduler.h"
#include "base/memory_budget.h"
#include "base/thread_pools.h"
#include "config/config.h"
#include "ingest/ingest.h"
#include "outputs/delivery.h"
#include "outputs/slow_consumer.h"
#include "ring/render_cache.h"
#include "ring/ring.h"
#include "ring/source_table.h"

struct pfdd {
    uv_loop_t *loop;
    struct pfdd_config *config; /* a reference */
    struct pfdd_ring ring;
    struct pfdd_render_cache render_cache;
    struct pfdd_thread_pools thread_pools;
    struct pfdd_source_table source_table;
    struct pfdd_counters count;
    struct pfdd_memory_budget budget;     /* of all parts */
    struct pfdd_loop_scheduler scheduler; /* of the loop's time */
    struct pfdd_slow_consumer slow_consumers;
    struct pfdd_spool *spool; /* NULL: no required outputs */
    struct pfdd_ingest ingest;
    struct pfdd_delivery delivery;
    bool stopping;
    uv_signal_t hangup;
    uv_signal_t terminate;
    uv_signal_t interrupt;
    uv_timer_t tick;
    uint64_t deadline; /* while stopping; uv_now() */
    uint64_t ticked;
    int phase;
    const char *config_path; /* NULL: the built-in configuration */
};

/*
 * Starts everything and takes ownership of config, also on failure. False: see
 * err; the loop has to be run anyway, and ends.
 */
bool pfdd_start(struct pfdd *d, uv_loop_t *loop, struct pfdd_config *config,
                char *err, size_t n_err);

/* Reads the configuration again; opens and closes inputs and outputs that
 * changed. */
void pfdd_reload(struct pfdd *d);

/* Stops the inputs, lets the outputs drain, and then ends the loop. */
void pfdd_stop(struct pfdd *d);

/* Call after the loop has ended. */
void pfdd_deinit(struct pfdd *d);

#endif
