/* SPDX-License-Identifier: MIT */
/*
 * The daemon: the state that inputs, followers and outputs share, and their
 * lifetimes.
 *
 * An input or output has a class (type_class.h: a file each) and an object. The
 * daemon allocates the object, which begins with one of the structs below.
 * close() may take a while: the object calls pfdd_input_closed() or
 * pfdd_output_closed() when its handles are gone, and these free it. Loop
 * thread only.
 */
#ifndef PFDD_DAEMON_H
#define PFDD_DAEMON_H

#include <stdio.h>

#include <uv.h>

#include "base/counters.h"
#include "base/log.h"
#include "base/loop_scheduler.h"
#include "base/memory_budget.h"
#include "base/reader_quota.h"
#include "base/thread_pools.h"
#include "config/config.h"
#include "ingest/follower_stats.h"
#include "ring/render_cache.h"
#include "ring/ring.h"
#include "ring/source_table.h"
#include "slow_consumer_log.h"

struct pfdd;
struct pfdd_follower;
struct pfdd_string_store;
struct pfdd_spool;
struct pfdd_fd_store;
struct pfdd_poller;

struct pfdd_input {
    const struct pfdd_input_class *class;
    struct pfdd *d;
    struct pfdd_input *next;
    struct pfdd_shared_config *held;
    const struct pfdd_input_config *config; /* in held */
    bool closing;
};

struct pfdd_output {
    const struct pfdd_output_class *class;
    struct pfdd *d;
    struct pfdd_output *next;
    struct pfdd_shared_config *held;
    const struct pfdd_output_config *config; /* in held */
    bool closing;
};

/* A configuration that lives as long as an object that was opened with it. */
struct pfdd_shared_config {
    unsigned refs;
    struct pfdd_config *config;
};

struct pfdd {
    uv_loop_t *loop;
    struct pfdd_shared_config *config;
    struct pfdd_ring ring;
    struct pfdd_render_cache render_cache;
    struct pfdd_thread_pools thread_pools;
    struct pfdd_string_store *string_store; /* format strings */
    struct pfdd_poller *poller;
    struct pfdd_fd_store *fd_store;
    struct pfdd_spool *spool; /* NULL: no required outputs */
    struct pfdd_input *inputs;
    struct pfdd_output *outputs;
    struct pfdd_follower *followers;
    struct pfdd_source_table source_table;
    struct pfdd_counters count;
    struct pfdd_outcome outcome;
    struct pfdd_slow_consumer_log slow_consumers;
    struct pfdd_memory_budget budget;        /* of all parts */
    struct pfdd_reader_quotas reader_quotas; /* of readers */
    struct pfdd_reader_quotas page_quotas;   /* of pages of metrics */
    struct pfdd_loop_scheduler scheduler;    /* of the loop's time */
    const void *sent; /* the subscriber that got much last; only compared */
    size_t batch;     /* bytes of chunks of a decode job: a decaying maximum */
    unsigned n_failing; /* required outputs that cannot write */
    uint64_t started;   /* ns since 1970 */
    uint64_t lag_ms;    /* of the loop, at the last tick */
    bool ready;
    bool stopping;
    /* Private. */
    uv_signal_t hangup;
    uv_signal_t terminate;
    uv_signal_t interrupt;
    uv_timer_t tick;
    unsigned n_handles;
    uint64_t deadline; /* while stopping; uv_now() */
    uint64_t ticked;
    int phase;
    const char *config_path; /* NULL: the built-in configuration */
    char *config_text;       /* likewise */
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

/* The name of a source by number, for readers: d is a struct pfdd. */
const char *pfdd_source_name(void *d, uint32_t source);

/* Bytes of memory, by part. */
struct pfdd_memory {
    size_t ring;
    size_t pages;
    size_t inputs;
    size_t buffers; /* sent by producers */
    size_t frames;
    size_t sessions;
    size_t helpers; /* of followers' read passes */
    size_t strings;
    size_t outputs;
};
size_t pfdd_memory(const struct pfdd *d, struct pfdd_memory *ret);

/* Sets up the memory budget, with a cap of max bytes. */
void pfdd_memory_init(struct pfdd *d, size_t max);

/* True: the ring is full of unread lines (ring.h), and sources wait. */
bool pfdd_is_backlogged(struct pfdd *d);

/* True: started and not stopping, the ring is not full, and all outputs that
 * must write can. */
bool pfdd_is_ready(const struct pfdd *d);

/* Called when a follower has ended. */
void pfdd_follower_ended(struct pfdd *d);

void pfdd_input_closed(struct pfdd_input *input);
void pfdd_output_closed(struct pfdd_output *output);

#endif
