/* SPDX-License-Identifier: MIT */
/*
 * The request of a reader of the ring: the form, the start, and which entries.
 * A subscriber sends it as one line of JSON, an HTTP client as parameters, the
 * configuration as keys of an output; all use the same words.
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
    PFDD_ENTRIES, /* a capture: chunks with their preamble */
    PFDD_SSE,     /* server-sent events of HTTP */
    PFDD_N_FORMS
};

/* Entries that are collapsed into one line. */
enum pfdd_collapse {
    PFDD_COLLAPSE_NO,
    PFDD_COLLAPSE_STRING, /* entries of one format string */
    PFDD_COLLAPSE_EQUAL,  /* entries whose messages are equal, too */
};

struct pfdd_encoding;  /* ring/log_record.h */
struct pfdd_field_map; /* config/field_map.h */

/* Owned by its maker. All zeros: everything. */
struct pfdd_selection {
    struct pfd_filter *entries; /* filter; NULL: all entries */
    char *source;               /* name of the only source; NULL: all sources */
    char *host;                 /* of the only machine; NULL: all */
    bool entries_only;          /* entries and gaps only */
    bool no_findings;           /* neither gaps nor findings of entries */
    bool fields;                /* JSON: arguments under their names, too */
    enum pfdd_collapse collapse;
    uint64_t window;                      /* of collapse, entries
                                             (collapse.h) */
    const struct pfdd_encoding *encoding; /* log records in this encoding, with
                                             text as the form; NULL: lines */
    struct pfdd_field_map *map; /* renames fields in JSON; NULL: none */
    uint32_t sample; /* entries a second, at most; the rest is counted, and a
                        record reports it. 0: no limit */
    bool sample_new; /* limits only entries that come after the start */
};

void pfdd_wants_deinit(struct pfdd_selection *wants);

/* Where to start. */
struct pfdd_from {
    bool is_seq;
    bool is_time;
    uint64_t value; /* a sequence number, or ns since 1970; neither: now */
};

enum {
    PFDD_REQUEST_MAX = 4096, /* bytes of a subscriber's request */
    PFDD_WORDS_MAX = 16,     /* values of one key */
};

/* Values of a key that may be set several times; owned. */
struct pfdd_words {
    char *items[PFDD_WORDS_MAX]; /* [n] */
    size_t n;
};

/* All zeros: JSON, from now on, all entries. */
struct pfdd_request {
    enum pfdd_form form;
    struct pfdd_from from;
    struct pfdd_selection wants; /* complete after pfdd_request_finish() */
    /* The values from which `wants.entries` is compiled. */
    struct pfdd_words match;
    struct pfdd_words format_strings;
    uint64_t ids[PFDD_WORDS_MAX]; /* [n_ids] */
    size_t n_ids;
    char *where;
    bool ignore_case;
    bool invert;
    size_t n_patterns_max; /* limit of compiled patterns; 0: unlimited */
    unsigned keys_seen;    /* a bit for each key that may not be set again */
};

/*
 * Sets a key: output, from ("oldest", "now", a sequence number or an RFC 3339
 * time such as 2026-11-20T20:09:49.5Z), match, format_string, id (these three
 * may be set several times), ignore_case, invert, where, source, entries_only,
 * findings, fields, collapse, window, sample, sample_history. False: see err [n_err].
 */
bool pfdd_request_set(struct pfdd_request *request, const char *key,
                      const char *value, char *err, size_t n_err);

/* Sets the keys of a JSON object in line [n]: texts, numbers, booleans, and
 * lists of texts for keys that may be set several times. */
bool pfdd_request_read(struct pfdd_request *request, const char *line, size_t n,
                       char *err, size_t n_err);

/* Checks and compiles the request when all keys are set. False: a pattern or
 * condition is invalid, or keys contradict each other. */
bool pfdd_request_finish(struct pfdd_request *request, char *err, size_t n_err);

/* Removes the filter of entries. */
void pfdd_request_widen(struct pfdd_request *request);

/* Does not free members that were moved out. */
void pfdd_request_deinit(struct pfdd_request *request);

#endif
