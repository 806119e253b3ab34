/* SPDX-License-Identifier: MIT */
/* Follows growing buffers for consumers that need entries instead of lines. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "input/filter.h"
#include "input/input.h"

/* A consumer of entries. Functions return false to end it, after printing the
 * error if there is one. */
struct follow_taker {
    void *user;
    /* Called before the first entry of files and memory; never for a daemon,
     * whose strings are unknown before. False: ends it. */
    bool (*begin)(void *user, const struct inputs *inputs,
                  const struct filtering *filtering);
    /* Takes a wanted entry; time: nanoseconds since 1970; strings: the entry's
     * set, which for a daemon's entries is valid until the next one. */
    bool (*entry)(void *user, struct pfd_entry *entry, uint64_t time,
                  const struct pfd_strings *strings);
    /* Called after each pass, also without entries; is_last: no more will
     * come. */
    bool (*turn)(void *user, bool is_last);
};

/* Runs until a signal, --until-idle, --limit, or the end of its buffers, like
 * `follow`. Returns the exit status. */
int follow_take(const struct options *options,
                const struct follow_taker *taker);

/* Do the operands name a daemon, not a file? Then follow_client_take() is to be
 * called; taker NULL: prints lines. */
bool follow_client_wants(const struct options *options);
int follow_client_take(const struct options *options,
                       const struct follow_taker *taker);

#endif
