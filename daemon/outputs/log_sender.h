/* SPDX-License-Identifier: MIT */
/*
 * Outputs that send notes (log_record.h) to a log service over an uplink: one
 * datagram each, or one behind the other on a stream. What the ring has let go
 * of while the service was away, or too slow, is missed, and a note says so.
 *
 * None of these protocols answers. What a required output has sent is done when
 * the kernel says that nothing of it is on the way any more: over TCP the peer's
 * machine has it, of a unix socket the peer has read it, of TLS the tunnel. What
 * was not done when a connection broke is sent again.
 */
#ifndef PFDD_LOG_SENDER_H
#define PFDD_LOG_SENDER_H

#include "net/outbound.h"
#include "outputs/log_feed.h"

enum {
    PFDD_WRAP = 640
};

/* What goes around a note. */
struct pfdd_wrap {
    char head[PFDD_WRAP]; /* [n_head] */
    size_t n_head;
    size_t n_skip;    /* bytes at the note's start that do not go out */
    const char *tail; /* [n_tail], static */
    size_t n_tail;
};

struct pfdd_protocol {
    const struct pfdd_encoding *encoding;
    /* Whose address the configuration leaves empty has this one. */
    struct pfdd_access access;
    bool (*is_datagram)(const struct pfdd_output_config *config);
    void (*wrap)(const struct pfdd_output_config *config, const char *note,
                 size_t n, struct pfdd_wrap *ret);
    bool takes_memory; /* what no datagram holds, as a sealed descriptor */
};

/* An object of such an output; private. */
struct pfdd_log_sender {
    struct pfdd_output base;
    const struct pfdd_protocol *protocol;
    struct pfdd_log_feed log_feed;
    struct pfdd_outbound outbound;
    bool uplink_closed;
    uv_timer_t timer; /* looks whether what was sent is done, and what gathers
                         is enough */
    bool timer_closed;
    struct pfdd_log_sender_link *link; /* NULL: not connected */
    unsigned n_links;                  /* also those that are being closed */
    bool is_datagram;
    /* Of a stream: a note that was sent in part, whole; the first rest_at bytes
     * of it went out on this link. */
    struct pfdd_byte_buffer rest;
    size_t rest_at;
    uint64_t rest_sequence;
    uint64_t rest_time;
    /* Of a required output: what was sent whole and is not done. */
    struct {
        size_t n;          /* notes */
        size_t n_bytes;    /* of them */
        uint64_t sequence; /* of the last */
        uint64_t time;     /* of the first */
    } out;
    struct pfdd_sent count;
};

/* For the class' open; protocol is static. */
bool pfdd_log_sender_open(struct pfdd_log_sender *s,
                          const struct pfdd_protocol *protocol, char *err,
                          size_t n_err);

/* For the class. */
void pfdd_log_sender_close(struct pfdd_output *output);
bool pfdd_log_sender_is_drained(const struct pfdd_output *output);
size_t pfdd_log_sender_memory(const struct pfdd_output *output);
struct pfdd_sent pfdd_log_sender_sent(const struct pfdd_output *output);

#endif
