/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions. Both pattern and text may be hostile: PCRE2 runs with
 * limits on the cost of one match, so that it always ends soon. Reaching a
 * limit is a result of its own. Bytes that are not UTF-8 match nothing and are
 * no error. The only file that knows PCRE2 is pattern.c.
 */
#ifndef PFD_PATTERN_H
#define PFD_PATTERN_H

#include "core/base/error.h"

enum {
    PFD_PATTERN_MAX = 1 << 14, /* bytes of a pattern */
};

enum pfd_pattern_flag {
    PFD_PATTERN_IGNORE_CASE = 1,
    PFD_PATTERN_JIT = 2, /* where the process may write code */
};

enum pfd_match {
    PFD_MATCH_NO,
    PFD_MATCH_YES,
    PFD_MATCH_GAVE_UP, /* a limit was reached: perhaps */
};

/* Memory of patterns or a matcher, which ask for it before they take it. One
 * thread at a time. */
struct pfd_pattern_memory {
    size_t n;     /* bytes */
    size_t n_max; /* 0: no limit */
};

struct pfd_pattern; /* compiled; any number of threads may share it */
struct pfd_matcher; /* a thread's state for matching */

/* PFD_OK; PFD_ERR_USAGE: text is no pattern, or exceeds the memory limit; err
 * has the place (offset: bytes) and the reason; PFD_ERR_NOMEM;
 * PFD_ERR_UNSUPPORTED: PCRE2 is not installed. flags: enum pfd_pattern_flag.
 * memory: borrowed until the pattern is freed. */
enum pfd_status pfd_pattern_new(const char *text, unsigned flags,
                                struct pfd_pattern_memory *memory,
                                struct pfd_pattern **ret,
                                struct pfd_error *err);

/* NULL is allowed. */
void pfd_pattern_free(struct pfd_pattern *pattern);

/* After a pattern has been made. memory: borrowed until the matcher is freed; a
 * match that has no more of it gives up. NULL when out of memory. */
struct pfd_matcher *pfd_matcher_new(struct pfd_pattern_memory *memory);

/* NULL is allowed. */
void pfd_matcher_free(struct pfd_matcher *matcher);

/* Frees what matches have left for the next one. */
void pfd_matcher_trim(struct pfd_matcher *matcher);

/* Does text [n] contain a match? `$` also matches before a newline that ends
 * the text. */
enum pfd_match pfd_pattern_match(const struct pfd_pattern *pattern,
                                 struct pfd_matcher *matcher, const char *text,
                                 size_t n);

/* Where it is first from *from on, [*from, *to), which is not empty. */
enum pfd_match pfd_pattern_find(const struct pfd_pattern *pattern,
                                struct pfd_matcher *matcher, const char *text,
                                size_t n, size_t *from, size_t *to);

#endif
