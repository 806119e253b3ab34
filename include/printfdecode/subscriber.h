/* SPDX-License-Identifier: MIT */
/*
 * A subscriber of a running printfdecoded: requests entries, and gets them in
 * batches with the strings to read them. Entries are typed values here; only
 * callers that want text render it. The stream is a capture
 * (src/stream/capture/README.md), numbered by the daemon.
 *
 * The owner of the connection (any kind: TLS, HTTP) hands over its bytes; on a
 * Unix socket of this machine pfd_subscriber_connect() and
 * pfd_subscriber_wait() do that.
 *
 * Thread rule: a subscriber belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_SUBSCRIBER_H
#define PRINTFDECODE_SUBSCRIBER_H

#include <printfdecode/capture.h>
#include <printfdecode/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A request. All zeros: everything from now on. All of it is borrowed for the
 * call. */
struct pfd_subscription {
    size_t struct_size; /* as common.h says */
    const char *from; /* "oldest", "now", a sequence number, a time (RFC 3339);
                         NULL: now */
    const char *const *matches; /* [n_matches] patterns, one of which has to
                                   match */
    size_t n_matches;
    const char *const *format_strings; /* [n_format_strings] likewise */
    size_t n_format_strings;
    const uint64_t *ids; /* [n_ids] */
    size_t n_ids;
    const char *where;  /* a condition, or NULL */
    const char *source; /* of this buffer only, or NULL */
    bool ignore_case;
    bool invert;
    bool entries_only; /* no findings between entries; gaps stay */
    bool no_findings;  /* neither findings nor gaps */
};

/*
 * Writes the request line, newline included, into ret [n_ret]; *n: its bytes.
 * PFD_OK; PFD_ERR_USAGE: it would be longer than n_ret, or than the 4096 bytes
 * that a daemon takes.
 */
PFD_API enum pfd_status pfd_subscription_line(
    const struct pfd_subscription *what, char *ret, size_t n_ret, size_t *n,
    struct pfd_error *err);

struct pfd_subscriber;

struct pfd_subscriber_options {
    size_t struct_size;   /* as common.h says */
    size_t n_objects_max; /* limit for the bytes of stored code objects; 0: 1
                             GiB. Objects beyond it are refused, with a
                             finding */
    pfd_finding_fn fn;    /* takes findings about the stream; NULL: not
                             wanted */
    void *user;
    const char *source; /* the stream's name in findings; copied; NULL: none */
};

/* options: copied; NULL: the defaults. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_subscriber_new(
    const struct pfd_subscriber_options *options, struct pfd_subscriber **ret,
    struct pfd_error *err);

/*
 * The same, connected to the Unix socket `path`, with the request `what` sent.
 * PFD_ERR_IO: no daemon answers there; PFD_ERR_USAGE as above.
 */
PFD_API enum pfd_status pfd_subscriber_connect(
    const char *path, const struct pfd_subscription *what,
    const struct pfd_subscriber_options *options, struct pfd_subscriber **ret,
    struct pfd_error *err);

/* Closes its connection, if it has one. NULL is allowed. */
PFD_API void pfd_subscriber_free(struct pfd_subscriber *subscriber);

/* Hands over more bytes [n], copied, split anywhere; *taken: the number that
 * was taken. If it is below n, take batches first, then hand over the rest.
 * PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_subscriber_feed(struct pfd_subscriber *subscriber,
                                            const void *bytes, size_t n,
                                            size_t *taken,
                                            struct pfd_error *err);
/* No more bytes will come. */
PFD_API void pfd_subscriber_finish(struct pfd_subscriber *subscriber);

enum pfd_batch_type {
    PFD_BATCH_ENTRIES, /* a chunk */
    PFD_BATCH_GAP,     /* items that were not sent */
};

/* The subscriber's, until the next pfd_subscriber_next(). */
struct pfd_batch {
    enum pfd_batch_type type;
    uint64_t sequence; /* of the chunk's first item; of the item behind the
                          gap */
    uint64_t time;     /* nanoseconds since 1970, by the daemon's clock */
    /* Of a gap. */
    uint64_t missed;           /* entries and findings; 0: none, and why is what
                                  the daemon has to say of the request */
    struct pfd_wire_bytes why; /* a word, such as "subscriber_lag" */
    /* Of a chunk. */
    const struct pfd_wire_frame *buffer; /* the buffer that it is from, as
                                            far as known; its name is the
                                            source's */
    const char *source;
    uint64_t generation;
    const struct pfd_strings *strings; /* to read its entries with */
    const struct pfd_options *options; /* to read its entries with */
    const void *bytes; /* [n]; see chunk.h, pfd_convert_chunks() */
    size_t n;
};

/*
 * The next batch.
 *
 * PFD_OK; PFD_MORE: hand over more bytes; PFD_END: the stream is over.
 * PFD_ERR_CORRUPT: bytes are damaged; the next call goes on behind them.
 * PFD_ERR_STOPPED: the daemon refuses or gives up; err's text is its reason.
 * PFD_ERR_UNSUPPORTED: it speaks another version, or is no daemon.
 * PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_subscriber_next(struct pfd_subscriber *subscriber,
                                            const struct pfd_batch **ret,
                                            struct pfd_error *err);

/*
 * The next item of the batch's chunk, and its sequence number; the first chunk
 * may begin with items before the requested number (`from`). Borrowed, and with
 * statuses, as of pfd_chunk_reader_next(). PFD_END: take the next batch.
 */
PFD_API enum pfd_status pfd_subscriber_item(struct pfd_subscriber *subscriber,
                                            struct pfd_chunk_item **ret,
                                            uint64_t *sequence,
                                            struct pfd_error *err);

/*
 * For a connected subscriber: waits for bytes, for timeout_ms at most (below 0:
 * without a limit), and takes them. PFD_OK: there may be a batch, or the stream
 * has ended; PFD_MORE: no bytes came; PFD_ERR_IO; PFD_ERR_USAGE: it is not
 * connected; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_subscriber_wait(struct pfd_subscriber *subscriber,
                                            int timeout_ms,
                                            struct pfd_error *err);

/* Its connection, for poll(); below 0: it has none. */
PFD_API int pfd_subscriber_fd(const struct pfd_subscriber *subscriber);

#ifdef __cplusplus
}
#endif

#endif
