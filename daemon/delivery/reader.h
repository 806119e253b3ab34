/* SPDX-License-Identifier: MIT */
/*
 * One reader of the ring: where it stands, which lines it wants, in which
 * form. It gives bytes to write and is told how many were written; when it has
 * fallen behind the ring, a gap record says how many lines it missed. Knows no
 * sockets and no files. Loop thread only.
 */
#ifndef PFDD_READER_H
#define PFDD_READER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "delivery/ring.h"

enum pfdd_form {
    PFDD_JSON,
    PFDD_TEXT,
    PFDD_RAW,
    PFDD_SSE, /* events of HTTP */
};

/* "json", "text", "raw"; false: none of these. */
bool pfdd_form_find(const char *name, enum pfdd_form *ret);

/* Owned by whoever made it. */
struct pfdd_filter {
    char *pattern;     /* entries whose message matches, or NULL: all */
    regex_t match;     /* the pattern, when there is one */
    size_t n_matched;  /* bytes that it has seen */
    bool entries_only; /* and gaps */
    bool no_findings;  /* nor gaps, nor what is found in entries */
    char *source;      /* only lines of this source, or NULL */
};

/* Where to begin. */
struct pfdd_from {
    bool is_seq;
    bool is_time;
    uint64_t value; /* a sequence number, or ns since 1970; else: now */
};

struct pfdd_request {
    enum pfdd_form form;
    struct pfdd_filter filter;
    struct pfdd_from from;
};

enum {
    PFDD_REQUEST_MAX = 4096
};

/*
 * Reads a request: {"output":"json","from":77,"match":"…","source":"…",
 * "entries_only":true,"findings":false}; each key may be left out and keeps
 * what ret has. "from" may be a sequence number, an RFC 3339 time or "oldest".
 * False: why is in err [n].
 */
bool pfdd_request_read(struct pfdd_request *ret, const char *line, size_t n,
                       char *err, size_t n_err);

/* "oldest", "now" or an RFC 3339 time such as 2026-11-20T20:09:49.5Z; false:
 * none of these. */
bool pfdd_from_read(struct pfdd_from *ret, const char *text);

void pfdd_filter_deinit(struct pfdd_filter *filter);

/* Takes the pattern away. */
void pfdd_filter_unmatch(struct pfdd_filter *filter);

/* Sets the pattern; false with err filled. Patterns that could cost too much
 * are refused. */
bool pfdd_filter_match(struct pfdd_filter *filter, const char *pattern,
                       char *err, size_t n_err);

/* Sets the source; likewise. */
bool pfdd_filter_source(struct pfdd_filter *filter, const char *source,
                        char *err, size_t n_err);

/* Names of sources, by number; for filters. */
typedef const char *(*pfdd_source_name_fn)(void *user, uint32_t source);

struct pfdd_reader {
    struct pfdd_reader *next; /* the ring's */
    struct pfdd_ring *ring;
    struct pfdd_chunk *chunk; /* a reference, or NULL: nothing was there yet */
    uint64_t n_chunk;         /* number of the chunk to read */
    uint64_t first_seq;       /* of the line to begin with, until then */
    size_t line;              /* in chunk, first that was not taken */
    size_t at;                /* bytes of chunk that were taken (plain) */
    enum pfdd_form form;
    struct pfdd_filter filter;
    pfdd_source_name_fn source_name;
    void *source_user;
    const char *name;    /* for the log, borrowed; NULL: it is not spoken of */
    bool must_have_all;  /* the ring waits for it */
    uint64_t taken_ns;   /* uv_hrtime(), when it took something last */
    uint64_t awaited_ns; /* likewise: when it was waited for last */
    uint64_t period_ns;  /* when the present period began */
    uint64_t waited_ns;  /* for so long in these */
    /* Made here, not yet taken. */
    char *out;
    size_t out_at;
    size_t out_n;
    size_t out_size;
    uint64_t out_seq; /* of the line behind what is in out */
    uint64_t missed;  /* lines, in all */
    uint64_t gaps;
    uint64_t lines;
    void (*wake)(struct pfdd_reader *reader); /* new lines; may be NULL */
    void *user;
};

/* Begins at `request->from`; the filter is moved from the request. */
void pfdd_reader_init(struct pfdd_reader *r, struct pfdd_ring *ring,
                      struct pfdd_request *request);
void pfdd_reader_deinit(struct pfdd_reader *r);

/*
 * Bytes to write, borrowed until pfdd_reader_take() or deinit. False: there is
 * nothing to write now.
 */
bool pfdd_reader_peek(struct pfdd_reader *r, const char **bytes, size_t *n);
void pfdd_reader_take(struct pfdd_reader *r, size_t n);

/* The sequence number of the first line that was not taken altogether. */
uint64_t pfdd_reader_seq(const struct pfdd_reader *r);

/* The number of the oldest chunk that it still needs. */
uint64_t pfdd_reader_chunk(const struct pfdd_reader *r);

/* True when lines are gone that it has not read, whether it knows or not. */
bool pfdd_reader_has_missed(const struct pfdd_reader *r);

/* True when it has taken something lately, and has not been waited for too
 * long; called again and again while it is waited for. */
bool pfdd_reader_is_awaited(struct pfdd_reader *r, uint64_t now_ns);

/* Bytes. */
size_t pfdd_reader_memory(const struct pfdd_reader *r);

#endif
