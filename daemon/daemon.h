/* SPDX-License-Identifier: MIT */
/*
 * The daemon: what its inputs, sessions and outputs share, and their lives.
 *
 * An input or output is a class (type_class.h: one file each) and an object, which
 * is made here and begins as below. close() may take a while: the object calls
 * pfdd_input_closed() or pfdd_output_closed() when its handles are gone, and
 * then frees itself. Loop thread only.
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
#include "slow_consumers.h"

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

/* A configuration that lives as long as something was opened by it. */
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
    struct pfdd_slow_consumers slow_consumers;
    struct pfdd_log_topic told_peers;        /* what they did wrong */
    struct pfdd_memory_budget budget;        /* the memory of all, */
    struct pfdd_reader_quotas reader_quotas; /* that of readers, */
    struct pfdd_reader_quotas page_quotas;   /* and of pages of metrics */
    struct pfdd_loop_scheduler scheduler;    /* and the loop's time */
    const void *sent;   /* the subscriber that got much last, to compare with */
    size_t batch;       /* bytes of chunks that a job makes, about */
    unsigned n_failing; /* required outputs that cannot write */
    uint64_t started;   /* ns since 1970 */
    uint64_t lag_ms;    /* of the loop, the last time it was looked at */
    bool ready;
    bool stopping;
    /* Private. */
    uv_signal_t hangup;
    uv_signal_t terminate;
    uv_signal_t interrupt;
    uv_timer_t tick;
    unsigned n_handles;
    uint64_t deadline; /* of the end, uv_now() */
    uint64_t ticked;
    int phase;
    const char *config_path; /* NULL: built in */
    char *config_text;       /* built in */
};

/*
 * Starts everything. config is taken over, also on failure. False: err says
 * why; run the loop all the same, it ends.
 */
bool pfdd_start(struct pfdd *d, uv_loop_t *loop, struct pfdd_config *config,
                char *err, size_t n_err);

/* Reads the configuration again and swaps what has changed. */
void pfdd_reload(struct pfdd *d);

/* Stops inputs, lets outputs write what there is, ends. The loop then ends. */
void pfdd_stop(struct pfdd *d);

/* When the loop has ended. */
void pfdd_deinit(struct pfdd *d);

/* The name of a source's number, for readers: d is a struct pfdd. */
const char *pfdd_source_name(void *d, uint32_t source);

/* Bytes in memory, part by part. */
struct pfdd_memory {
    size_t ring;
    size_t pages;
    size_t inputs;
    size_t buffers; /* that producers send */
    size_t frames;
    size_t sessions;
    size_t helpers; /* of sessions' looks */
    size_t strings;
    size_t outputs;
};
size_t pfdd_memory(const struct pfdd *d, struct pfdd_memory *ret);

/* Room counts what all parts hold, max bytes at most. */
void pfdd_memory_init(struct pfdd *d, size_t max);

/* True: the ring is full of lines that have not been read (ring.h). Sources
 * wait. */
bool pfdd_is_backlogged(struct pfdd *d);

/* Ready: outputs that must write can. */
bool pfdd_is_ready(const struct pfdd *d);

/* Called when a session has ended. */
void pfdd_follower_ended(struct pfdd *d);

void pfdd_input_closed(struct pfdd_input *input);
void pfdd_output_closed(struct pfdd_output *output);

#endif
