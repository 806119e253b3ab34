/* SPDX-License-Identifier: MIT */
/*
 * The inside of the string store (string_store.h), for the files that implement
 * it: its sets, the builds that make them, and its space, which is how much a
 * producer may take and which code objects are evicted for others. Loop thread
 * only, but for the run of a build.
 */
#ifndef PFDD_STRING_SPACE_H
#define PFDD_STRING_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include <printfdecode/strings.h>

#include "base/job_pool.h"
#include "base/log.h"
#include "ingest/code_object.h"
#include "ingest/producer.h"
#include "ring/binding.h"

/* ---- string_sets.c ---- */

/*
 * The string set that each chunk is read with (binding.h): the shared one, or
 * that of a producer with code objects of its own. When a build
 * has made new sets, bindings move on to them. Loop thread
 * only.
 */

struct pfdd_string_sets {
    struct pfdd_binding *current; /* the shared one */
    struct pfdd_bindings behind;  /* left with older sets after an eviction */
};

/* False: out of memory. */
bool pfdd_string_sets_init(struct pfdd_string_sets *string_sets);

void pfdd_string_sets_deinit(struct pfdd_string_sets *string_sets);

/* The binding of a producer's buffers; NULL: of buffers without a producer. */
struct pfdd_binding *pfdd_string_sets_bind(struct pfdd_string_sets *string_sets,
                                           struct pfdd_producer *producer);

/* Takes over the next shared set; NULL: there is none. lacks: it lacks some of
 * the present one. Those of `producers` (by next) without a set of their own
 * move on to it. */
void pfdd_string_sets_take(struct pfdd_string_sets *string_sets,
                           struct pfd_strings *set, bool lacks,
                           struct pfdd_producer *producers);

/* Takes the set that a build has made for a producer. */
void pfdd_string_sets_take_own(struct pfdd_string_sets *string_sets,
                               struct pfdd_producer *s);

/* Its code objects in `all` stay with its set. */
void pfdd_string_sets_hold_own(struct pfdd_producer *producer,
                               const struct pfdd_catalogue *all);

/* Releases a reference to a catalogue (chunk.h). */
void pfdd_string_sets_close(void *user, const void *catalogue);

/* Bytes of the shared set, and of older sets that chunks use; their code
 * objects are counted by the string store (string_store.h). */
size_t pfdd_string_sets_memory(const struct pfdd_string_sets *string_sets);

/* ---- string_build.c ---- */

/*
 * Builds string sets on a worker: the shared set from the present shared one, a
 * producer's (producer.h) from its own. A build takes a limited processor time
 * and returns with work left, so that no producer waits long for the code
 * objects of another. It takes no more memory than it was given.
 *
 * Strings of evicted code objects stay in the shared set until that is renewed:
 * built anew, part by part, in builds that do other work as well.
 */

struct pfdd_memory_budget;

struct pfdd_string_build {
    /* Given to the build. */
    struct pfd_strings *current;     /* the shared set */
    struct pfdd_catalogue *old;      /* code objects read before, a reference */
    struct pfdd_code *fresh;         /* to be read, a list */
    struct pfdd_code_index index;    /* of code objects read before */
    struct pfdd_producer *producers; /* producers whose sets may change, by
                                        next_built */
    struct pfd_strings *renewed; /* the renewed set, which replaces current once
                                    it is complete; NULL: none */
    bool begins;                 /* this is the first build of the renewed
                                    set */
    size_t renewal_room;         /* bytes that the renewed set may still take */
    size_t room;                 /* bytes that the build may take, */
    size_t last;                 /* and more for producers that have little */
    size_t uri_room;             /* bytes of code objects that URIs name */
    /* Results. `fresh` has only objects that were taken. */
    struct pfdd_code *undone;
    struct pfd_strings *set; /* the next shared set; NULL: nothing is new */
    bool is_renewed;         /* it is renewed: evicted objects are gone */
    bool lacks_room;         /* too little memory for the renewed set */
};

/* On the loop, when `fresh` is known: sets the memory that the build may take.
 * The string store has n_taken of n_max bytes. Returns the sum. */
size_t pfdd_string_build_give_room(struct pfdd_string_build *b,
                                   const struct pfdd_memory_budget *budget,
                                   size_t n_taken, size_t n_max,
                                   const struct pfdd_producer *producers);

void pfdd_string_build_run(struct pfdd_string_build *b);

/* Bytes that a set built from this one takes at once. */
size_t pfdd_string_build_cost(const struct pfd_strings *of);

/* ---- string_space.c ---- */

/*
 * Evicted code objects stay in the shared set until that is renewed
 * (string_build.c). This decides when a renewal is due, and how much memory it
 * may take. Loop thread only.
 */

/* All zeros: nothing was evicted. */
struct pfdd_string_renewal {
    struct pfd_strings *set; /* the renewed set so far; NULL: none */
    size_t n_garbage;        /* bytes of evicted objects in the present set;
                                during a renewal only of those evicted since it
                                began */
    size_t n_going;          /* bytes of evicted objects that go with the
                                present set */
    size_t n_bytes;          /* bytes reserved for the renewed set, */
    size_t n_least;          /* and at least for the next one: the last had too
                                few */
};

/* True: `set` is a new one. */
bool pfdd_string_renewal_begin(struct pfdd_string_renewal *r, size_t n_set,
                               size_t n_left);

/* Bytes that the renewed set may still take. */
size_t pfdd_string_renewal_rest(const struct pfdd_string_renewal *r);

/* The renewed set is used from now on (is_done), or was given up for lack of
 * memory. */
void pfdd_string_renewal_end(struct pfdd_string_renewal *r, bool is_done);

struct pfdd_ingest;

struct pfdd_string_store {
    struct pfdd_job job;
    struct pfdd_ingest *ingest;
    struct pfdd_string_sets string_sets;
    struct pfdd_catalogue *catalogue; /* of the present sets */
    size_t n_bytes;                   /* bytes of its objects, */
    size_t n_bytes_max;
    size_t floor;   /* bytes that a producer always has */
    size_t n_alive; /* bytes of all objects that have references */
    struct pfdd_producers producers;
    uint64_t n_scopes; /* producers so far */
    /* Log topics, by the objects that they are about. */
    struct pfdd_log_topic told_own; /* of the configuration */
    struct pfdd_log_topic told_found;
    struct pfdd_log_topic told_given;
    struct pfdd_log_topic told_no_room[2]; /* by is_given */
    struct pfdd_fair_queue fair_queue;
    struct pfdd_code_queue
        files; /* of the configuration, and of watched folders */
    struct pfdd_code_queue orphans; /* of producers that have gone, */
    size_t n_orphans;               /* and their bytes */
    size_t n_coming;    /* bytes of objects that are queued or being read */
    size_t n_awaited;   /* objects among them that no producer sent */
    size_t n_kept_free; /* bytes reserved for the build in flight */
    struct pfdd_string_renewal string_renewal;
    bool may_have_gone; /* some producers of present code objects */
    bool busy;
    uint64_t version;
    uint64_t n_changes; /* of the catalogue, by new objects */
    struct pfdd_string_build string_build;
    uint64_t n_numbers; /* of code objects, so far */
};

/* Bytes of everything that the store has. */
size_t pfdd_string_space_memory(const struct pfdd_string_store *lib);

/* Bytes that a producer with n_own bytes may still take, of the store's space
 * and of the memory that is left. */
size_t pfdd_string_space_share(const struct pfdd_string_store *lib,
                               size_t n_own);

/* Its space is free for others, though it stays until the next catalogue. */
void pfdd_string_space_drop(struct pfdd_string_store *lib, struct pfdd_code *o);
/* A catalogue without dropped objects replaces the present one. False: out of
 * memory. */
bool pfdd_string_space_sweep(struct pfdd_string_store *lib);

/* Makes space for n bytes: evicts objects that no connected producer has sent,
 * oldest first. False: there is not enough. */
bool pfdd_string_space_make_room(struct pfdd_string_store *lib,
                                 const struct pfdd_producer *sender, size_t n);
/* Keeps some memory free for newcomers, and as much as the shared set has,
 * because the next set may take so much at once: trims old bindings, then drops
 * objects of producers that have gone, oldest first. */
void pfdd_string_space_leave_spare(struct pfdd_string_store *lib);

/* Bytes of the shared set. */
size_t pfdd_string_space_current(const struct pfdd_string_store *lib);
/* True: the shared set should be built anew. */
bool pfdd_string_space_wants_renewal(const struct pfdd_string_store *lib);

#endif
