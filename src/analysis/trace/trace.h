/* SPDX-License-Identifier: MIT */
/*
 * Entries that have times as a trace that Perfetto opens: an instant for each
 * entry, on a track for each buffer, and a counter for each of its numbers.
 *
 *   pfd_trace_new(), then pfd_convert_*() with pfd_trace_consumer(), each after pfd_trace_set_source(); pfd_trace_end()
 *
 * Thread rule: one thread at a time.
 */
#ifndef PFD_TRACE_H
#define PFD_TRACE_H

#include <printfdecode/convert.h>

struct pfd_trace;

/* Borrowed until the trace is freed. */
struct pfd_trace_spec {
    const struct pfd_strings *strings; /* of the conversion */
    pfd_write_fn write;
    void *write_user;
};

/* Counts of written and of skipped data. */
struct pfd_trace_counts {
    uint64_t instants;
    uint64_t counters;   /* values of counters */
    uint64_t untimed;    /* entries without a time: not in the trace */
    uint64_t unbounded;  /* NaN and infinite: in the instant, in no counter */
    uint64_t uncounted;  /* values of counters beyond 65,536: likewise */
    uint64_t over_large; /* entries of 256 MiB and more: not in the trace */
};

/* PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_trace_new(const struct pfd_trace_spec *spec,
                              struct pfd_trace **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_trace_free(struct pfd_trace *trace);

/* The strings of the rows that follow, borrowed until the next call of this
 * function, or until the last row. */
void pfd_trace_set_strings(struct pfd_trace *trace,
                           const struct pfd_strings *strings);

/* The buffer of the rows that follow: its track has this name, which is not
 * borrowed. */
void pfd_trace_set_source(struct pfd_trace *trace, const char *name);

/* A pfd_write_fn; user: the trace. False: write() returned false, or out of
 * memory. */
bool pfd_trace_write(void *user, const void *bytes, size_t n);

/* For pfd_convert.consumer, which gives it what pfd_trace_write() takes; owned by
 * the trace. */
const struct pfd_consumer *pfd_trace_consumer(const struct pfd_trace *trace);

/* The result; counts is filled in any case. PFD_OK; PFD_ERR_STOPPED: write()
 * returned false; PFD_ERR_NOMEM. */
enum pfd_status pfd_trace_end(const struct pfd_trace *trace,
                              struct pfd_trace_counts *counts);

#endif
