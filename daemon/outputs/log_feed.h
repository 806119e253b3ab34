/* SPDX-License-Identifier: MIT */
/*
 * Log records (log_record.h) for an output. They come from the ring, from the
 * time of opening on, or, for a required output, from the spool, until the
 * output has acknowledged them. Loop thread only.
 */
#ifndef PFDD_LOG_FEED_H
#define PFDD_LOG_FEED_H

#include "outputs/delivery.h"
#include "ring/cursor.h"
#include "ring/log_record.h"
#include "spool/consumer.h"

struct pfdd_log_feed {
    struct pfdd_delivery *delivery;
    bool is_required;
    struct pfdd_cursor cursor;
    struct pfdd_consumer consumer; /* instead of it, if required */
    uint64_t batch_size;
    uint64_t batch_ms;
    /* Records of several buffers, taken from the cursor or consumer, of which the
     * first batch_at bytes are consumed. */
    struct pfd_text batch;
    size_t batch_at;
    uint64_t
        batch_begun; /* uv_now() when the current batch got its first record;
                         0: there is none */
    void (*wake)(void *user); /* more records, or it may be closed */
    void *user;
};

/* wake and user are set before. False: see err [n_err]. */
bool pfdd_log_feed_open(struct pfdd_log_feed *log_feed,
                        const struct pfdd_output *output,
                        const struct pfdd_encoding *encoding, char *err,
                        size_t n_err);
/* False: not yet; wake() is called later. */
bool pfdd_log_feed_can_close(const struct pfdd_log_feed *log_feed);
void pfdd_log_feed_close(struct pfdd_log_feed *log_feed);

/* Whole log records [*n bytes], borrowed until they are consumed, once a batch
 * of the configured size or age is complete. False: not yet; while a batch is
 * incomplete, call again within batch_ms. */
bool pfdd_log_feed_peek_batch(struct pfdd_log_feed *log_feed,
                              const char **bytes, size_t *n);
void pfdd_log_feed_consume(struct pfdd_log_feed *log_feed, size_t n);
/* Lent records stay valid until they are given back: another thread reads
 * them. */
void pfdd_log_feed_lend(struct pfdd_log_feed *log_feed, bool is_lent);
/* Before the first peek: the peer has all records up to this sequence number
 * and time, which may be those of an earlier spool. */
void pfdd_log_feed_resume(struct pfdd_log_feed *log_feed, uint64_t sequence,
                          uint64_t time);

/* Starts reading, after opening, so that the age of the oldest record is
 * known. */
void pfdd_log_feed_prefetch(struct pfdd_log_feed *log_feed);

/* The peer is connected and can acknowledge, or it is gone. */
void pfdd_log_feed_set_connected(struct pfdd_log_feed *log_feed, bool is_there);
/* The peer has all records up to this sequence number. This and the next
 * function have no effect if the output is not required. */
void pfdd_log_feed_ack(struct pfdd_log_feed *log_feed, uint64_t sequence);
/* Repeats all records that were taken but not acknowledged. */
void pfdd_log_feed_rewind(struct pfdd_log_feed *log_feed);

/* The first sequence number that was not sent. taken: that of the oldest record
 * that was taken and is in flight; 0: there is none. Returns 0: it is required. */
uint64_t pfdd_log_feed_place(const struct pfdd_log_feed *log_feed,
                             uint64_t taken);

/* True: all records have been taken. */
bool pfdd_log_feed_is_done(const struct pfdd_log_feed *log_feed);
/* Items that the output missed. */
uint64_t pfdd_log_feed_dropped(const struct pfdd_log_feed *log_feed);
size_t pfdd_log_feed_memory(const struct pfdd_log_feed *log_feed);

/* Age of the oldest item that was not acknowledged, or not taken; ns. taken:
 * the time of the oldest that was taken and is in flight; 0: there is none. */
uint64_t pfdd_log_feed_age(const struct pfdd_log_feed *log_feed,
                           uint64_t taken);

#endif
