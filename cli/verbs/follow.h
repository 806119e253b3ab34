/* SPDX-License-Identifier: MIT */
/* Buffers that grow, for whoever makes something else of entries than lines. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "input/filter.h"
#include "input/input.h"

/* All return false to end it; what is wrong they have said. */
struct follow_taker {
    void *user;
    /* Before anything comes of files and memory; of a daemon's entries nothing
     * is known before they come. False: nothing is to come. */
    bool (*begin)(void *user, const struct inputs *inputs,
                  const struct filtering *filtering);
    /* An entry that is wanted; time: nanoseconds since 1970; strings: its own,
     * of a daemon's entries until the next one comes. */
    bool (*entry)(void *user, struct pfd_entry *entry, uint64_t time,
                  const struct pfd_strings *strings);
    /* Again and again, whether anything came or not; is_last: nothing will. */
    bool (*turn)(void *user, bool is_last);
};

/* Ends as `follow` does: by a signal, --until-idle, --limit, or its buffers.
 * The exit status. */
int follow_take(const struct options *options,
                const struct follow_taker *taker);

/* Is a daemon meant, and no file? Then likewise; taker NULL: lines. */
bool follow_client_wants(const struct options *options);
int follow_client_take(const struct options *options,
                       const struct follow_taker *taker);

#endif
