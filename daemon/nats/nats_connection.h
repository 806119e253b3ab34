/* SPDX-License-Identifier: MIT */
/*
 * A connection to NATS servers (config/nats_options.h), and the JetStream
 * streams by which edges and workers communicate:
 *
 *   GPULOG   gpulog.v1.PARTITION.HOST.GPU   chunks of entries
 *   GPUCODE  gpucode.v1.SHA256.N            pieces of lists and code objects,
 *            gpucode.v1.SHA256.PLACE.N      if other data is in the way
 *   GPUACK   gpuack.v1.PARTITION.EDGE       how far an edge's are written
 *   GPULEASE gpulease.v1.PARTITION          which worker has a partition, and
 *            gpulease.v1.worker.WORKER      which workers there are; expire
 *
 * daemon/SCALING.md describes messages of GPULOG. All calls may wait for the
 * network: they are for threads beside the loop, one at a time.
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
#include "base/outage.h"
#include "base/sha256.h"
#include "config/nats_options.h"

#define PFDD_LOG_STREAM   "GPULOG"
#define PFDD_CODE_STREAM  "GPUCODE"
#define PFDD_ACK_STREAM   "GPUACK"
#define PFDD_LEASE_STREAM "GPULEASE"

enum {
    PFDD_EDGE_ID = 33,            /* 32 hexadecimal digits and a NUL */
    PFDD_CODE_PIECE = 512 * 1024, /* bytes in a message of GPUCODE */
    PFDD_PLACE = 33, /* an edge's own place: hexadecimal digits and a NUL */
    PFDD_SUBJECT = 400,
    PFDD_NATS_PARTITIONS = 64, /* fixed: it is part of subjects */
    PFDD_NATS_WHY = 300,
    PFDD_NATS_WAIT_MS = 5000, /* for an answer */
    PFDD_LEASE_MS = 10000,    /* life of a lease */
};

/* No sequence number is larger. */
#define PFDD_NATS_MAX (UINT64_C(1) << 60)

/* Inboxes that each role may subscribe to (share/printfdecode.nats.conf). */
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
#define PFDD_HEADER_STATE    "Gpulog-State"
#define PFDD_HEADER_RUN      "Gpulog-Run"
#define PFDD_HEADER_QUEUED   "Gpulog-Queued"
#define PFDD_HEADER_WINDOW   "Gpulog-Window"

/* nats_options and inbox are borrowed; all else zero: not connected. */
struct pfdd_nats {
    const struct pfdd_nats_options *nats_options;
    const char *inbox; /* prefix of subjects for answers, one of the above */
    natsConnection *nc;
    jsCtx *js;
    uint64_t pause_ms; /* before the next try */
    struct pfdd_outage outage;
    struct pfdd_log_topic told; /* log topic of invalid messages */
    atomic_ullong n_refused;    /* invalid messages; read by any thread */
    char why[PFDD_NATS_WHY];    /* the last error */
    uint64_t n_log_max;         /* bytes that GPULOG keeps; 0: without limit */
};

/* Connects once; closing one that is not open is allowed. False: the error is
 * in `why`. */
bool pfdd_nats_open(struct pfdd_nats *line, jsPubAckHandler acked, void *user);
void pfdd_nats_close(struct pfdd_nats *line);

/* Connects, and makes missing streams. False: the error is in `why`, and logged
 * once. acked: called by a thread of the library for each message that was
 * published without waiting. */
bool pfdd_nats_connect(struct pfdd_nats *line, jsPubAckHandler acked,
                       void *user);
bool pfdd_nats_is_up(const struct pfdd_nats *line);
/* Closes a connection that was lost, and logs why. */
void pfdd_nats_drop(struct pfdd_nats *line, const char *why);

/* Bytes that a message may have: its answer to STREAM.MSG.GET, in base64, does
 * not exceed the servers' limit either. 0: not known. */
size_t pfdd_nats_room(const struct pfdd_nats *line);

/* Sets `why`. Returns false. */
bool pfdd_nats_failed(struct pfdd_nats *line, const char *what,
                      natsStatus status);

/* The properties of a stream, its configuration among them: an answer without
 * that is an error. options, code: NULL is allowed. *ret is the caller's, to be
 * destroyed; NULL when it fails. */
natsStatus pfdd_nats_stream_info(const struct pfdd_nats *line, const char *name,
                                 jsOptions *options, jsStreamInfo **ret,
                                 jsErrCode *code);

/* Notes how much GPULOG keeps, of its properties. */
void pfdd_nats_note_log(struct pfdd_nats *line, const jsStreamInfo *info);

/* Makes missing streams as configured; existing streams stay as they are.
 * False: `why`. */
bool pfdd_nats_make_streams(struct pfdd_nats *line);

/* The hook of an input or output (type_class.h): makes missing streams, and
 * changes others to the configuration; repeating it changes nothing. Waits for
 * the network. */
bool pfdd_nats_set_up(const struct pfdd_block *block, FILE *out, char *err,
                      size_t n_err);

/* The pause before the next try, in ms: longer each time, partly random. */
uint64_t pfdd_nats_pause(struct pfdd_nats *line);

/* Hash of an edge's id. */
unsigned pfdd_edge_hash(const char *edge);

/* The partition of an edge. */
unsigned pfdd_partition_of(const char *edge);

/* The partition in a subject of GPULOG; -1: none. */
int pfdd_log_partition(const char *subject);

/* The subject of piece i under a digest. place: the edge's own, or "". */
void pfdd_code_subject(const char *digest, const char *place, size_t i,
                       char ret[PFDD_SUBJECT]);
void pfdd_ack_subject(const char *edge, char ret[PFDD_SUBJECT]);

/* The contents of an acknowledgement. */
struct pfdd_nats_ack {
    uint64_t acked; /* written up to there */
    uint64_t epoch;
    bool again; /* the next items are missing: send them again */
};
/* Returns the number of bytes. */
int pfdd_ack_put(char *ret, size_t n_ret, const struct pfdd_nats_ack *ack);
bool pfdd_ack_get(const char *text, int n, struct pfdd_nats_ack *ret);

#endif
