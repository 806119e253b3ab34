/* SPDX-License-Identifier: MIT */
/*
 * What outputs share, and what their pages tell of the daemon. daemon.c makes
 * it, and owns what it borrows. Loop thread only.
 *
 * An output has a class (type_class.h: a file each) and an object, which begins
 * with struct pfdd_output. close() may take a while: the object calls
 * pfdd_output_closed() when its handles are gone, which frees it.
 */
#ifndef PFDD_DELIVERY_H
#define PFDD_DELIVERY_H

#include <uv.h>

#include "base/counters.h"
#include "base/memory_budget.h"
#include "base/resource_account.h"
#include "base/thread_pools.h"
#include "config/config.h"
#include "ring/render_cache.h"
#include "ring/ring.h"
#include "ring/source_table.h"

struct pfdd_delivery;
struct pfdd_ingest;
struct pfdd_spool;

/* Where an output stopped that a reload has closed. */
struct pfdd_place_left {
    struct pfdd_place_left *next;
    const struct pfdd_output_class *class;
    char *name;
    uint64_t sequence;
    bool is_taken;
};

struct pfdd_output {
    const struct pfdd_output_class *class;
    struct pfdd_delivery *delivery;
    struct pfdd_output *next;
    struct pfdd_config *held;
    const struct pfdd_output_config *config; /* in held */
    bool closing;
};

struct pfdd_delivery {
    /* Borrowed. */
    uv_loop_t *loop;
    const struct pfdd_config *config; /* the present one */
    struct pfdd_ring *ring;
    struct pfdd_render_cache *render_cache;
    struct pfdd_source_table *source_table;
    struct pfdd_thread_pools *thread_pools;
    struct pfdd_memory_budget *budget; /* of all parts */
    struct pfdd_counters *count;
    const bool *stopping;
    const struct pfdd_ingest *ingest;
    struct pfdd_spool *spool; /* NULL: no required outputs */
    /* Its own. */
    struct pfdd_output *outputs;
    struct pfdd_user_accounts readers; /* of the ring */
    struct pfdd_user_accounts pages;   /* of metrics */
    const void *sent; /* the subscriber that got much last; only compared */
    uint64_t started; /* ns since 1970 */
    uint64_t lag_ms;  /* of the loop, at the last tick */
    bool ready;       /* everything has been started */
    struct pfdd_place_left *places; /* a list; of closed outputs */
    /* An output has ended. */
    void (*on_ended)(struct pfdd_delivery *delivery);
};

enum {
    PFDD_TROUBLE = 600, /* bytes of why it is not ready, at most */
};

/* True: started and not stopping, the ring is not full, and all outputs that
 * must write can. */
bool pfdd_is_ready(const struct pfdd_delivery *delivery);
/* Likewise; else why [n] says why not. Where it is ready, why is empty. */
bool pfdd_is_ready_or(const struct pfdd_delivery *delivery, char *why,
                      size_t n);

/* While a configuration is replaced: where a closed output of the same class and
 * name has stopped. 0: none has. */
uint64_t pfdd_output_take_place(const struct pfdd_output *output);
/* Ends that; logs what outputs have left unsent that are there no more. */
void pfdd_output_end_places(struct pfdd_delivery *delivery);

/* As of an input (ingest.h). */
bool pfdd_output_open(struct pfdd_delivery *delivery, struct pfdd_config *all,
                      const struct pfdd_output_config *config, char *err,
                      size_t n_err);
void pfdd_output_close(struct pfdd_output *output);
void pfdd_output_closed(struct pfdd_output *output);

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
size_t pfdd_memory(const struct pfdd_delivery *delivery,
                   struct pfdd_memory *ret);

/* Bytes that compiled patterns of one reader may take. */
size_t pfdd_patterns_max(const struct pfdd_delivery *delivery);

/* Sets up the memory budget, with a cap of max bytes. */
void pfdd_memory_init(struct pfdd_delivery *delivery, size_t max);

#endif
