/* SPDX-License-Identifier: MIT */
/*
 * Base of outputs that send log records (log_record.h) to a log service: one
 * datagram each, or one after the other on a stream. The connection is made
 * again when it is lost. If the service was down or too slow, it misses records
 * that the ring evicted, and a record reports them.
 *
 * None of these protocols has acknowledgements. A required output takes records
 * as delivered when the kernel reports that no sent bytes are in flight: over
 * TCP the peer's machine has received them, on a unix socket the peer has read
 * them, with TLS the tunnel has. Records that were not delivered when a
 * connection broke are sent again.
 */
#ifndef PFDD_LOG_SENDER_H
#define PFDD_LOG_SENDER_H

#include "net/outbound.h"
#include "outputs/log_feed.h"

enum {
    PFDD_WRAP = 640
};

/* The framing of a record. */
struct pfdd_wrap {
    char head[PFDD_WRAP]; /* [n_head] */
    size_t n_head;
    size_t n_skip;    /* bytes at the record's start that are not sent */
    const char *tail; /* [n_tail], static */
    size_t n_tail;
};

struct pfdd_protocol {
    const struct pfdd_encoding *encoding;
    /* The address if the configuration has none. */
    struct pfdd_access access;
    bool (*is_datagram)(const struct pfdd_output_config *config);
    void (*wrap)(const struct pfdd_output_config *config, const char *note,
                 size_t n, struct pfdd_wrap *ret);
    bool takes_memory; /* large records go as a sealed descriptor */
};

/* The object of such an output; private. */
struct pfdd_log_sender {
    struct pfdd_output base;
    const struct pfdd_protocol *protocol;
    struct pfdd_log_feed log_feed;
    struct pfdd_outbound outbound;
    bool outbound_closed;
    uv_timer_t timer; /* polls for delivery, and for complete batches */
    bool timer_closed;
    bool is_datagram;
    /* Stream only: a whole record of which a part was sent; the first rest_at
     * bytes of it were sent on this connection. */
    struct pfd_text rest;
    size_t rest_at;
    uint64_t rest_sequence;
    uint64_t rest_time;
    /* Required output only: records sent whole, but not delivered yet. */
    struct {
        size_t n;          /* of records */
        size_t n_bytes;    /* of their bytes */
        uint64_t sequence; /* of the last record */
        uint64_t time;     /* of the first record */
    } out;
    struct pfdd_sent count;
};

/* Implements the class's open; protocol is static. */
bool pfdd_log_sender_open(struct pfdd_log_sender *s,
                          const struct pfdd_protocol *protocol, char *err,
                          size_t n_err);

/* Implement the other hooks of the class. */
void pfdd_log_sender_close(struct pfdd_output *output);
bool pfdd_log_sender_is_drained(const struct pfdd_output *output);
size_t pfdd_log_sender_memory(const struct pfdd_output *output);
uint64_t pfdd_log_sender_place(const struct pfdd_output *output);
struct pfdd_sent pfdd_log_sender_sent(const struct pfdd_output *output);

#endif
