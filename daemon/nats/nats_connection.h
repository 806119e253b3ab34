/* SPDX-License-Identifier: MIT */
/*
 * A connection to servers of NATS (config/nats_options.h), and what of JetStream edges
 * and workers meet at:
 *
 *   GPULOG   gpulog.v1.PARTITION.HOST.GPU   chunks of entries
 *   GPUCODE  gpucode.v1.SHA256.N            pieces of lists and code objects,
 *            gpucode.v1.SHA256.PLACE.N      where others are in the way
 *   GPUACK   gpuack.v1.PARTITION.EDGE       how far an edge's are written
 *   GPULEASE gpulease.v1.PARTITION          which worker has a partition, and
 *            gpulease.v1.worker.WORKER      which there are, for some seconds
 *
 * What a message of GPULOG has is in daemon/SCALING.md. All calls may wait for
 * the network: they are for threads beside the loop, one at a time.
 */
#ifndef PFDD_NATS_CONNECTION_H
#define PFDD_NATS_CONNECTION_H

#include <nats/nats.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <uv.h>

#include "base/log.h"
#include "base/sha256.h"
#include "config/nats_options.h"

#define PFDD_LOG_STREAM   "GPULOG"
#define PFDD_CODE_STREAM  "GPUCODE"
#define PFDD_ACK_STREAM   "GPUACK"
#define PFDD_LEASE_STREAM "GPULEASE"

enum {
    PFDD_EDGE_ID = 33,            /* 32 hexadecimal digits and a NUL */
    PFDD_CODE_PIECE = 512 * 1024, /* bytes of a message of GPUCODE */
    PFDD_PLACE = 33, /* of an edge's own pieces: hexadecimal digits and a NUL */
    PFDD_SUBJECT = 400,
    PFDD_NATS_PARTITIONS = 64, /* by the subject's digits, for ever */
    PFDD_NATS_WHY = 300,
    PFDD_NATS_WAIT_MS = 5000, /* for an answer */
    PFDD_LEASE_MS = 10000,    /* that a lease lasts */
};

/* Sequence numbers that are larger are nobody's. */
#define PFDD_NATS_MAX (UINT64_C(1) << 60)

/* What each kind may subscribe to of these (share/printfdecode.nats.conf). */
#define PFDD_INBOX_EDGE   "_INBOX.edge"
#define PFDD_INBOX_WORKER "_INBOX.worker"
#define PFDD_INBOX_SETUP  "_INBOX.setup"

/* Headers of a message of GPULOG. */
#define PFDD_HEADER_EDGE     "Gpulog-Edge"
#define PFDD_HEADER_FIRST    "Gpulog-First"
#define PFDD_HEADER_LAST     "Gpulog-Last"
#define PFDD_HEADER_PREVIOUS "Gpulog-Previous"
#define PFDD_HEADER_ACKED    "Gpulog-Acked"
#define PFDD_HEADER_EPOCH    "Gpulog-Epoch"
#define PFDD_HEADER_CODE     "Gpulog-Code"
#define PFDD_HEADER_PLACE    "Gpulog-Code-At"
#define PFDD_HEADER_PID      "Gpulog-Pid"
#define PFDD_HEADER_BUFFER   "Gpulog-Buffer"

/* farm and inbox are borrowed; the rest all zeros: not connected. */
struct pfdd_nats {
    const struct pfdd_nats_options *nats_options;
    const char *inbox; /* where answers come: a subject of those of our kind */
    natsConnection *nc;
    jsCtx *js;
    uint64_t pause_ms;          /* before it is tried again */
    bool is_told;               /* in the log, that it cannot be reached */
    struct pfdd_log_topic told; /* what others have published that is wrong */
    atomic_ullong n_refused;    /* messages; for any thread */
    char why[PFDD_NATS_WHY];    /* of what failed last */
};

/* Connects, and has the streams made that are missing. False: why, said once in
 * the log; pause_ms has grown. acked (of what is published without waiting) is
 * called by a thread of its own. */
bool pfdd_nats_connect(struct pfdd_nats *line, jsPubAckHandler acked,
                       void *user);
bool pfdd_nats_is_up(const struct pfdd_nats *line);
/* why is said in the log. */
void pfdd_nats_drop(struct pfdd_nats *line, const char *why);

/* Remembers why something failed. False. */
bool pfdd_nats_failed(struct pfdd_nats *line, const char *what,
                      natsStatus status);

/* All streams are there, with what the configuration says where they are made
 * now. False: why. */
bool pfdd_nats_make_streams(struct pfdd_nats *line);

/* For a program that does it once: connects; has the streams made, or changed
 * to what the configuration says, and tells of each; ends. False: why. */
bool pfdd_nats_open(struct pfdd_nats *line);
bool pfdd_nats_set_up(struct pfdd_nats *line, FILE *out);
void pfdd_nats_close(struct pfdd_nats *line);

/* How long to wait before the next try: longer each time, with some chance. */
uint64_t pfdd_nats_pause(struct pfdd_nats *line);

/* Of an edge's identity. */
unsigned pfdd_edge_hash(const char *edge);

/* The partition of an edge. */
unsigned pfdd_partition_of(const char *edge);

/* That of a subject of GPULOG; -1: it has none. */
int pfdd_log_partition(const char *subject);

/* Piece i of what has this digest; place: that of an edge's own, or "". */
void pfdd_code_subject(const char *digest, const char *place, size_t i,
                       char ret[PFDD_SUBJECT]);
void pfdd_ack_subject(const char *edge, char ret[PFDD_SUBJECT]);

/* What an acknowledgement says. */
struct pfdd_nats_ack {
    uint64_t acked; /* all up to there is written */
    uint64_t epoch;
    bool again; /* something behind it is missing: send that again */
};
/* Returns bytes. */
int pfdd_ack_put(char *ret, size_t n_ret, const struct pfdd_nats_ack *ack);
bool pfdd_ack_get(const char *text, int n, struct pfdd_nats_ack *ret);

#endif
