/* SPDX-License-Identifier: MIT */
/*
 * The required outputs: how far each one is in what the queue (spool.h) has on
 * disk, and the lines that it is to have next. Loop thread only.
 */
#ifndef PFDD_CONSUMER_H
#define PFDD_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/segments.h"
#include "spool/spool_reader.h"

struct pfdd_consumer;

/* All of a queue, and what they read. */
struct pfdd_consumers {
    struct pfdd_consumer *first; /* a list */
    struct pfdd_spool_readers spool_readers;
    struct pfdd_segments segments; /* that are safe on disk */
    size_t n_going;                /* the oldest: being removed */
    uint64_t durable; /* sequence number of the last item that is safe */
    uint64_t cut;     /* bytes that could not be read */
    bool waits;       /* pfdd_consumers_retry() comes */
    void (*acked)(struct pfdd_consumers *consumers); /* somebody has */
    void (*retry_later)(struct pfdd_consumers *consumers);
};

/* One required output. */
struct pfdd_consumer {
    struct pfdd_consumer *next;
    struct pfdd_consumers *of;
    const char *name; /* owned by the caller */
    uint64_t acked;   /* sequence number */
    uint64_t saved;   /* likewise: the checkpoint says so; 0: it says nothing */
    uint64_t saving;  /* likewise: the one that is being written will */
    uint64_t given;   /* likewise: what was made for it goes up to there, */
    uint64_t last;    /* and the last line of it has this one */
    uint64_t passed;  /* likewise: there is nothing readable up to there */
    void (*wake)(struct pfdd_consumer *consumer); /* there may be more */
    void *user;
    struct pfdd_render_choice
        *render_choice; /* NULL: all lines; owned once it has joined */
    bool is_raw;        /* it wants no lines, but chunks as they are on disk */
    bool absent; /* nobody is there to acknowledge: its lines stay on disk */
    struct pfdd_spool_reader spool_reader;
};

struct pfdd_output_config;

/* It gets what an output is to have, from when it joins on, as lines of JSON or
 * (encoding is not NULL) as notes. False: err [n] says why not. */
bool pfdd_consumer_choose(struct pfdd_consumer *consumer,
                          const struct pfdd_output_config *config,
                          const struct pfdd_encoding *encoding, char *err,
                          size_t n_err);

/* name, wake and user are set, and what it gets is chosen; acked: what it has acknowledged. */
void pfdd_consumer_init(struct pfdd_consumer *consumer,
                        struct pfdd_consumers *of, uint64_t acked);
/* It may not be busy. */
void pfdd_consumer_deinit(struct pfdd_consumer *consumer);

/* Lines [*n] behind those that were taken, whole ones at first, borrowed until
 * they are taken or it is rewound. False: there are none yet; wake() is called
 * when there are. */
bool pfdd_consumer_peek(struct pfdd_consumer *consumer, const char **bytes,
                        size_t *n);
void pfdd_consumer_take(struct pfdd_consumer *consumer, size_t n);
/* True: there is more than what was peeked at. */
bool pfdd_consumer_has_more(const struct pfdd_consumer *consumer);

/* The same of one that is raw: chunks [*n] whose code objects are in one stock,
 * borrowed until they are taken, all at once, or it is rewound. NULL: there are
 * none yet. */
struct pfdd_chunk *const *pfdd_consumer_peek_chunks(
    struct pfdd_consumer *consumer, size_t *n, struct pfdd_manifest *manifest);
void pfdd_consumer_take_chunks(struct pfdd_consumer *consumer);

/* Begins again behind what was acknowledged, for somebody who wants frames of
 * entries, and what has to stand before them, instead of lines. */
void pfdd_consumer_begin(struct pfdd_consumer *consumer, bool is_entries);
/* True: who wants entries gets none: what is next are lines that a daemon of the
 * version before has left. */
bool pfdd_consumer_has_lines(const struct pfdd_consumer *consumer);
/* True: of what was made last, nothing or all was taken. */
bool pfdd_consumer_is_between(const struct pfdd_consumer *consumer);

/* True: there is nothing left of what was made. */
bool pfdd_consumer_is_done(const struct pfdd_consumer *consumer);

/* A step of making lines is on its way; when it is over, wake() is called. */
bool pfdd_consumer_is_busy(const struct pfdd_consumer *consumer);

/* It has everything up to seq. */
void pfdd_consumer_ack(struct pfdd_consumer *consumer, uint64_t seq);

/* Begins again behind what was acknowledged. */
void pfdd_consumer_rewind(struct pfdd_consumer *consumer);

/* It has what goes up to an item already, seq of this time, of which line [n] is
 * the last one (of notes there is none); if that is of this queue, it goes on
 * behind it. Before anything is asked for: it waits for the disk. */
void pfdd_consumer_resume(struct pfdd_consumer *consumer, uint64_t seq,
                          uint64_t time, const char *line, size_t n);

/* Those that had to wait try again. */
void pfdd_consumers_retry(struct pfdd_consumers *consumers);
/* Up to where all have acknowledged, or everything that is safe. */
uint64_t pfdd_consumers_acked(const struct pfdd_consumers *consumers);
/* Of memory. */
size_t pfdd_consumers_memory(const struct pfdd_consumers *consumers);

#endif
