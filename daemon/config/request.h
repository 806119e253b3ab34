/* SPDX-License-Identifier: MIT */
/*
 * What a reader of the ring asks for: in which form, from where on, and which
 * entries. Subscribers say it as one line of JSON, HTTP clients as parameters,
 * the configuration as keys of an output; the words are the same.
 */
#ifndef PFDD_REQUEST_H
#define PFDD_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/filter.h>

enum pfdd_form {
    PFDD_JSON,
    PFDD_TEXT,
    PFDD_RAW,
    PFDD_ENTRIES, /* a capture: chunks, and what they are read with */
    PFDD_SSE,     /* events of HTTP */
    PFDD_N_FORMS
};

/* "json", "text", "raw", "entries"; false: none of these. */
bool pfdd_form_find(const char *name, enum pfdd_form *ret);

/* Which entries become one line. */
enum pfdd_collapse {
    PFDD_COLLAPSE_NO,
    PFDD_COLLAPSE_STRING, /* those of a format string */
    PFDD_COLLAPSE_EQUAL,  /* whose messages are equal, too */
};

struct pfdd_encoding;  /* ring/log_record.h */
struct pfdd_field_map; /* config/field_map.h */

/* Owned by whoever made it. All zeros: everything. */
struct pfdd_wants {
    struct pfd_filter *entries; /* NULL: all of them */
    char *source;               /* only of this one, or NULL */
    bool entries_only;          /* and gaps */
    bool no_findings;           /* nor gaps, nor what is found in entries */
    bool fields;                /* JSON: arguments by their names, too */
    enum pfdd_collapse collapse;
    uint64_t window;                      /* of collapse.h */
    const struct pfdd_encoding *encoding; /* notes in it instead of lines, with
                                             text as the form; NULL: lines */
    struct pfdd_field_map *map; /* lines of JSON have these names; NULL: ours */
    uint32_t sample; /* entries a second, at most; what is left out is counted
                        then, and told. 0: all of them */
};

void pfdd_wants_deinit(struct pfdd_wants *wants);

/* Where to begin. */
struct pfdd_from {
    bool is_seq;
    bool is_time;
    uint64_t value; /* a sequence number, or ns since 1970; else: now */
};

enum {
    PFDD_REQUEST_MAX = 4096, /* bytes of a subscriber's line */
    PFDD_WORDS_MAX = 16,     /* of one key */
};

/* Words that a key may have several of; owned. */
struct pfdd_words {
    char *items[PFDD_WORDS_MAX]; /* [n] */
    size_t n;
};

/* All zeros: JSON, from now on, everything. */
struct pfdd_request {
    enum pfdd_form form;
    struct pfdd_from from;
    struct pfdd_wants wants; /* complete after pfdd_request_finish() */
    /* What `wants.entries` is made of. */
    struct pfdd_words match;
    struct pfdd_words format_strings;
    uint64_t ids[PFDD_WORDS_MAX]; /* [n_ids] */
    size_t n_ids;
    char *where;
    bool ignore_case;
    bool invert;
    size_t n_patterns_max; /* bytes that compiled ones may take; 0: no bound */
    unsigned keys_seen;    /* bits: that may not be set again */
};

/*
 * Sets a key: output, from ("oldest", "now", a sequence number or an RFC 3339
 * time such as 2026-11-20T20:09:49.5Z), match, format_string, id (these three
 * may be set again), ignore_case, invert, where, source, entries_only,
 * findings, collapse, window, sample. False: why is in err [n_err].
 */
bool pfdd_request_set(struct pfdd_request *request, const char *key,
                      const char *value, char *err, size_t n_err);

/* Sets the keys of a line of JSON [n]: texts, numbers, booleans as they are
 * meant, and lists of texts for what may be set again. */
bool pfdd_request_read(struct pfdd_request *request, const char *line, size_t n,
                       char *err, size_t n_err);

/* When all is set. False: a pattern or a condition cannot be read. */
bool pfdd_request_finish(struct pfdd_request *request, char *err, size_t n_err);

/* Takes away which entries are wanted. */
void pfdd_request_widen(struct pfdd_request *request);

/* What has been moved away is not freed. */
void pfdd_request_deinit(struct pfdd_request *request);

#endif
