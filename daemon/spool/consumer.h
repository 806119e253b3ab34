/* SPDX-License-Identifier: MIT */
/*
 * Required outputs as consumers of the spool (spool.h): how far each has
 * acknowledged, and the lines that it gets next. Loop thread only.
 */
#ifndef PFDD_CONSUMER_H
#define PFDD_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/spool_reader.h"
#include "spool/spool_records.h"

struct pfdd_consumer;

/* All consumers of a spool, and the segments that they read. */
struct pfdd_consumers {
    struct pfdd_consumer *first; /* a list */
    struct pfdd_spool_readers spool_readers;
    struct pfdd_segments segments; /* safe on disk */
    size_t n_going;                /* the oldest, being removed */
    uint64_t durable; /* sequence number of the last item on disk */
    uint64_t cut;     /* bytes that could not be read */
    bool waits;       /* pfdd_consumers_retry() will be called */
    void (*acked)(struct pfdd_consumers *consumers); /* one has done so */
    void (*retry_later)(struct pfdd_consumers *consumers);
};

/* One required output. */
struct pfdd_consumer {
    struct pfdd_consumer *next;
    struct pfdd_consumers *of;
    const char *name; /* owned by the caller */
    uint64_t acked;   /* sequence number */
    uint64_t saved;   /* likewise, as of the checkpoint; 0: not in it */
    uint64_t saving;  /* likewise, as of the checkpoint that is being written */
    uint64_t given;   /* likewise: the last item that was rendered for it */
    uint64_t last;    /* likewise: the last of these items that has a line */
    uint64_t passed;  /* likewise: no line between `last` and here */
    void (*wake)(struct pfdd_consumer *consumer); /* there may be more lines */
    void *user;
    struct pfdd_render_choice
        *render_choice; /* NULL: all lines; the consumer's */
    bool is_raw;        /* it gets chunks as they are on disk, no lines */
    bool absent; /* no client can acknowledge now: its lines stay on disk */
    struct pfdd_spool_reader spool_reader;
};

struct pfdd_output_config;

/* Sets the entries that it gets, from pfdd_consumer_init() on, and their form:
 * lines of JSON, or log records if encoding is not NULL. False: err [n_err]
 * says why. */
bool pfdd_consumer_choose(struct pfdd_consumer *consumer,
                          const struct pfdd_output_config *config,
                          const struct pfdd_encoding *encoding, char *err,
                          size_t n_err);

/* Adds a consumer. name, wake and user are set, and, if it will read, its form
 * (pfdd_consumer_choose() or is_raw). acked: the last item that it has
 * acknowledged. */
void pfdd_consumer_init(struct pfdd_consumer *consumer,
                        struct pfdd_consumers *of, uint64_t acked);
/* The consumer must not be busy. */
void pfdd_consumer_deinit(struct pfdd_consumer *consumer);

/* The next lines [*n] that were not taken. The first one is whole unless part
 * of it was taken. They are borrowed until they are taken or the consumer is
 * rewound. False: there are none yet; wake() is called when there are. */
bool pfdd_consumer_peek(struct pfdd_consumer *consumer, const char **bytes,
                        size_t *n);
void pfdd_consumer_take(struct pfdd_consumer *consumer, size_t n);
/* True: there are more lines than the peeked ones. */
bool pfdd_consumer_has_more(const struct pfdd_consumer *consumer);

/* Likewise, for a raw consumer: the next chunks [*n], all with code objects of
 * one manifest. They are borrowed until they are taken, all at once, or the
 * consumer is rewound. NULL: there are none yet. */
struct pfdd_chunk *const *pfdd_consumer_peek_chunks(
    struct pfdd_consumer *consumer, size_t *n, struct pfdd_manifest *manifest);
void pfdd_consumer_take_chunks(struct pfdd_consumer *consumer);

/* Rewinds to the last acknowledged item. is_entries: from then on the text is
 * frames of entries with their preamble, instead of lines. */
void pfdd_consumer_begin(struct pfdd_consumer *consumer, bool is_entries);
/* True: no entries can be given, because the next records are lines of an older
 * version. */
bool pfdd_consumer_has_lines(const struct pfdd_consumer *consumer);
/* True: of the text that was rendered last, none or all was taken. */
bool pfdd_consumer_is_between(const struct pfdd_consumer *consumer);

/* True: nothing is left of the text that was rendered. */
bool pfdd_consumer_is_done(const struct pfdd_consumer *consumer);

/* True: a step of reading or rendering is in flight; wake() is called when it
 * ends. */
bool pfdd_consumer_is_busy(const struct pfdd_consumer *consumer);

/* Acknowledges all items up to seq. */
void pfdd_consumer_ack(struct pfdd_consumer *consumer, uint64_t seq);

/* Rewinds to the last acknowledged item. */
void pfdd_consumer_rewind(struct pfdd_consumer *consumer);

/* Reports that the output already has all items up to seq, whose record has
 * this time and whose last line is line [n] (not used for log records). If the
 * spool has that record, the consumer resumes behind it. Call before the first
 * peek; waits for the disk. */
void pfdd_consumer_resume(struct pfdd_consumer *consumer, uint64_t seq,
                          uint64_t time, const char *line, size_t n);

/* Consumers that waited for memory or had a read error try again. */
void pfdd_consumers_retry(struct pfdd_consumers *consumers);
/* The consumer that is furthest behind, but for another one (NULL: of all).
 * NULL: none. */
const struct pfdd_consumer *pfdd_consumers_slowest(
    const struct pfdd_consumers *consumers, const struct pfdd_consumer *other);
/* The last item that these consumers have acknowledged; without consumers, the
 * last that is safe on disk. */
uint64_t pfdd_consumers_acked(const struct pfdd_consumers *consumers,
                              const struct pfdd_consumer *other);
/* True: those whose peer is there have acknowledged all that is on disk. */
bool pfdd_consumers_are_drained(const struct pfdd_consumers *consumers);
/* Bytes of memory. */
size_t pfdd_consumers_memory(const struct pfdd_consumers *consumers);

#endif
