/* SPDX-License-Identifier: MIT */
/*
 * What required outputs are owed: every line goes to preallocated segments on
 * disk and is synced before an output sees it, and stays there until all
 * required outputs have acknowledged it. A checkpoint says what they have
 * acknowledged and how far into each source the lines on disk reach, so that a
 * restart goes on where it stopped. What cannot be read is cut off or passed
 * over, and said; a queue never keeps the daemon from starting.
 *
 * All of it belongs to the loop's thread. Jobs get what they need when they
 * start and hand back what came of it when they are done, so that nothing is
 * looked at by two threads.
 */
#ifndef PFDD_QUEUE_H
#define PFDD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "delivery/positions.h"
#include "delivery/segments.h"

struct pfdd;
struct pfdd_queue;

/* One required output. */
struct pfdd_consumer {
    struct pfdd_consumer *next; /* the queue's */
    char *name;                 /* owned by the caller */
    uint64_t acked;             /* sequence number */
    uint64_t saved;  /* likewise: the checkpoint says so; 0: it says nothing */
    uint64_t saving; /* likewise: the one that is being written will */
    uint64_t given;  /* likewise: the last one that was read for it */
    uint64_t passed; /* likewise: there is nothing readable up to there */
    void (*wake)(struct pfdd_consumer *consumer); /* more is on disk */
    void *user;
    bool absent; /* nobody is there to acknowledge: its lines stay on disk */
    /* A job's, from pfdd_queue_aim() to pfdd_queue_took(). */
    struct pfdd_segment todo;
    struct pfdd_segment_reader reader;
};

/*
 * Opens the queue of a directory, which is made if need be; *next_seq: the
 * number for the next line. Call before there are jobs. NULL: err says why.
 */
struct pfdd_queue *pfdd_queue_open(const char *dir, uint64_t n_bytes_max,
                                   uint64_t *next_seq, char *err, size_t n_err);

/* Begins to take lines from d's ring. */
bool pfdd_queue_start(struct pfdd_queue *q, struct pfdd *d);

/* True: every line of the ring is on disk. */
bool pfdd_queue_is_drained(const struct pfdd_queue *q);

/* Detaches from the ring; no job may be pending afterwards. Writes the last
 * checkpoint. */
void pfdd_queue_stop(struct pfdd_queue *q);
/* NULL is allowed. */
void pfdd_queue_free(struct pfdd_queue *q);

/* A source of an open file begins, which goes on after a restart. True: ret is
 * where the lines of this file end that are on disk; false: there are none. */
bool pfdd_queue_position(struct pfdd_queue *q, const char *source, int fd,
                         struct pfdd_position *ret);

/* name, wake and user are set. */
void pfdd_queue_join(struct pfdd_queue *q, struct pfdd_consumer *consumer);
void pfdd_queue_leave(struct pfdd_queue *q, struct pfdd_consumer *consumer);

/* The consumer has the lines up to seq already, of which the last is this one
 * [n]; if it is, it goes on behind it. When it has joined: it waits for the
 * disk. */
void pfdd_queue_resume(struct pfdd_queue *q, struct pfdd_consumer *consumer,
                       uint64_t seq, const char *line, size_t n);

/* True: there is more on disk for the consumer, and a job may read it:
 * pfdd_queue_read() once, and pfdd_queue_took() when it is done. */
bool pfdd_queue_aim(const struct pfdd_queue *q, struct pfdd_consumer *consumer);

/*
 * In a job: whole lines behind the last that was read, into ret [size +
 * PFDD_QUEUE_LINE_MAX]; returns bytes. 0: there are none in the part of the
 * queue that was aimed at.
 */
size_t pfdd_queue_read(const struct pfdd_queue *q,
                       struct pfdd_consumer *consumer, char *ret, size_t size);

/* consumer->given is up to date; false: nothing could be read now, and the
 * consumer is woken to try again. */
bool pfdd_queue_took(struct pfdd_queue *q, struct pfdd_consumer *consumer);

/* The output that keeps the queue full: of several, who is furthest behind.
 * NULL: it is not full. */
const struct pfdd_consumer *pfdd_queue_culprit(const struct pfdd_queue *q);

/* The output has everything up to seq. */
void pfdd_queue_ack(struct pfdd_queue *q, struct pfdd_consumer *consumer,
                    uint64_t seq);

/* Bytes of memory. */
size_t pfdd_queue_memory(const struct pfdd_queue *q);

/* How it is. */
struct pfdd_queue_state {
    uint64_t durable; /* sequence number of the last line that is safe */
    uint64_t bytes;
    uint64_t segments;
    uint64_t cut;    /* bytes that could not be read */
    uint64_t errors; /* of writing */
    bool failing;
};
void pfdd_queue_state(const struct pfdd_queue *q, struct pfdd_queue_state *ret);

#endif
