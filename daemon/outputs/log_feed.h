/* SPDX-License-Identifier: MIT */
/*
 * What an output of notes (log_record.h) reads: what comes from the start on, as far
 * as the ring has it; or, where it is required, what the queue on disk has for
 * it, until it has acknowledged that. Loop thread only.
 */
#ifndef PFDD_LOG_FEED_H
#define PFDD_LOG_FEED_H

#include "daemon.h"
#include "ring/cursor.h"
#include "ring/log_record.h"
#include "spool/consumer.h"

struct pfdd_log_feed {
    struct pfdd *d;
    bool is_required;
    struct pfdd_cursor cursor;
    struct pfdd_consumer consumer; /* instead, if it is required */
    uint64_t batch_size;
    uint64_t batch_ms;
    uint64_t gathers; /* uv_now(), since when something waits to become more; 0:
                         nothing does */
    void (*wake)(void *user); /* there may be more, or it may be closed */
    void *user;
};

/* wake and user are set. False: err [n_err] says why not. */
bool pfdd_log_feed_open(struct pfdd_log_feed *log_feed,
                        const struct pfdd_output *output,
                        const struct pfdd_encoding *encoding, char *err,
                        size_t n_err);
/* False: not yet, wake() comes. */
bool pfdd_log_feed_can_close(const struct pfdd_log_feed *log_feed);
void pfdd_log_feed_close(struct pfdd_log_feed *log_feed);

/* Notes [*n bytes], whole ones, borrowed until they are taken. */
bool pfdd_log_feed_peek(struct pfdd_log_feed *log_feed, const char **bytes,
                        size_t *n);
void pfdd_log_feed_take(struct pfdd_log_feed *log_feed, size_t n);
/* The same once there is a batch of them, as the configuration has it. False: not
 * yet; while it gathers, ask again within batch_ms. */
bool pfdd_log_feed_gather(struct pfdd_log_feed *log_feed, const char **bytes,
                          size_t *n);
/* What was peeked at stays until it is given back: another thread reads it. */
void pfdd_log_feed_lend(struct pfdd_log_feed *log_feed, bool is_lent);
/* Before the first ones are asked for: the peer has all up to one of this
 * number and time, of this queue or another one. */
void pfdd_log_feed_resume(struct pfdd_log_feed *log_feed, uint64_t sequence,
                          uint64_t time);

/* Has the first ones read, once all is open: how old they are is known then. */
void pfdd_log_feed_look(struct pfdd_log_feed *log_feed);

/* Somebody is there to acknowledge, or has gone. */
void pfdd_log_feed_attend(struct pfdd_log_feed *log_feed, bool is_there);
/* All up to a number are where they are to be. For those that are not required
 * nothing becomes of this, or of the next. */
void pfdd_log_feed_ack(struct pfdd_log_feed *log_feed, uint64_t sequence);
/* Gives again all that was taken and is not acknowledged. */
void pfdd_log_feed_rewind(struct pfdd_log_feed *log_feed);

/* True: all that there is was taken. */
bool pfdd_log_feed_are_done(const struct pfdd_log_feed *log_feed);
/* Items that it did not get. */
uint64_t pfdd_log_feed_dropped(const struct pfdd_log_feed *log_feed);
size_t pfdd_log_feed_memory(const struct pfdd_log_feed *log_feed);

/* For how long the oldest item waits that was not acknowledged, or not taken;
 * ns. taken: the time of the oldest that was taken and is still on its way; 0:
 * there is none. */
uint64_t pfdd_log_feed_age(const struct pfdd_log_feed *log_feed,
                           uint64_t taken);

#endif
