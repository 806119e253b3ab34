/* SPDX-License-Identifier: MIT */
/*
 * What lets a command fail although it has worked: --fail-on and its like, and
 * reports for build servers. Entries pass through as rows, on their way to
 * standard output.
 */
#ifndef CLI_CHECKS_H
#define CLI_CHECKS_H

#include "core/output/consumer.h"
#include "options/options.h"

struct pfd_problems;

/* All zero: nothing is checked. */
struct checks {
    const struct options *o; /* borrowed */
    struct pfd_filter
        *watch[PFD_WATCHES];     /* --fail-on, --fail-where, or NULL */
    struct pfd_problems *report; /* NULL: none is wanted */
    struct pfd_consumer consumer;
    bool (*next)(void *user, const void *bytes, size_t n); /* takes the rows;
                                        NULL: their lines are written */
    void *next_user;
    const char *source; /* the buffer's name, borrowed; may be NULL */
    uint64_t n_failed;  /* entries and losses for which the command fails */
    bool is_closed;     /* standard output takes no more */
    bool is_wrong;
};

/* False: an error was printed. */
bool checks_open(struct checks *ret, const struct options *options);

/* Do entries have to become rows that pass through checks_write()? Without, all
 * else works nevertheless. */
bool checks_want_rows(const struct checks *checks);

/* The rows go there in place of their lines to standard output. */
void checks_set_next(struct checks *checks,
                     bool (*next)(void *user, const void *bytes, size_t n),
                     void *user);

/* The name of the buffer that the rows to come are of; borrowed. */
void checks_set_source(struct checks *checks, const char *name);

/* A pfd_write_fn for rows; user: the checks. False: no more are wanted. */
bool checks_write(void *user, const void *bytes, size_t n);

/* For pfd_convert.consumer: gives checks_write() its rows. */
const struct pfd_consumer *checks_consumer(struct checks *checks);

/* What judges entries of these strings, for pfd_lines_watch(); facts may be
 * NULL. Free it before the strings. False: out of memory; an error was
 * printed. */
bool checks_watch(const struct checks *checks,
                  const struct pfd_strings *strings, struct pfd_watch *ret);
void checks_watch_free(struct pfd_watch *watch);

/* Takes a finding, which may be a loss; NULL is allowed for checks. */
void checks_finding(struct checks *checks, const struct pfd_finding *finding);
/* Takes a gap in a stream. */
void checks_gap(struct checks *checks, const char *source, uint64_t missed,
                const char *reason);

/* Ends: writes the report, says how many let it fail. strings: all that were
 * loaded, or NULL. status: the exit status so far; returns the one to end
 * with. */
int checks_close(struct checks *checks, const struct pfd_strings *strings,
                 int status);

#endif
