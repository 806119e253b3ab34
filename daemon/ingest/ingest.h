/* SPDX-License-Identifier: MIT */
/*
 * What inputs, followers and streams share. daemon.c makes it, fills in the
 * hooks, and owns what it borrows. Loop thread only.
 *
 * An input has a class (type_class.h: a file each) and an object, which begins
 * with struct pfdd_input. close() may take a while: the object calls
 * pfdd_input_closed() when its handles are gone, which frees it.
 */
#ifndef PFDD_INGEST_H
#define PFDD_INGEST_H

#include <uv.h>

#include "base/counters.h"
#include "base/loop_scheduler.h"
#include "base/memory_budget.h"
#include "base/thread_pools.h"
#include "config/config.h"
#include "config/description.h"
#include "ingest/follower_stats.h"
#include "ring/ring.h"
#include "ring/source_table.h"

struct pfdd_ingest;
struct pfdd_fd_store;
struct pfdd_follower;
struct pfdd_object;
struct pfdd_poller;
struct pfdd_spool;
struct pfdd_string_store;

struct pfdd_input {
    const struct pfdd_input_class *class;
    struct pfdd_ingest *ingest;
    struct pfdd_input *next;
    struct pfdd_config *held;
    const struct pfdd_input_config *config; /* in held */
    struct pfdd_description description;
    bool closing;
};

struct pfdd_ingest {
    /* Borrowed. */
    uv_loop_t *loop;
    const struct pfdd_config *config; /* the present one */
    struct pfdd_ring *ring;
    struct pfdd_source_table *source_table;
    struct pfdd_thread_pools *thread_pools;
    struct pfdd_loop_scheduler *scheduler; /* of the loop's time */
    struct pfdd_memory_budget *budget;     /* of all parts */
    struct pfdd_counters *count;
    const bool *stopping;
    struct pfdd_string_store *string_store; /* format strings */
    struct pfdd_poller *poller;
    struct pfdd_fd_store *fd_store;
    struct pfdd_spool *spool; /* NULL: no required outputs */
    /* Its own. */
    struct pfdd_input *inputs;
    struct pfdd_follower *followers;
    struct pfdd_outcome outcome;
    size_t batch; /* bytes of chunks of a decode job: a decaying maximum */
    /* New strings have come; a code object has that a producer sent or named;
     * an input or a follower has ended. */
    void (*on_changed)(struct pfdd_ingest *ingest);
    void (*on_object)(struct pfdd_ingest *ingest,
                      const struct pfdd_object *object);
    void (*on_ended)(struct pfdd_ingest *ingest);
};

/* True: the ring is full of unread lines (ring.h), and sources wait. */
bool pfdd_is_backlogged(struct pfdd_ingest *ingest);

/* Opens an input of this configuration, to which it takes a reference. False:
 * see err. */
bool pfdd_input_open(struct pfdd_ingest *ingest, struct pfdd_config *all,
                     const struct pfdd_input_config *config, char *err,
                     size_t n_err);
/* Begins to close it, once: what it has received is still taken. */
void pfdd_input_close(struct pfdd_input *input);
/* The time for that is over. */
void pfdd_input_abandon(struct pfdd_input *input);
void pfdd_input_closed(struct pfdd_input *input);

#endif
