/* SPDX-License-Identifier: MIT */
/* A consumer of followed buffers that needs entries instead of lines. */
#ifndef CLI_FOLLOW_TAKER_H
#define CLI_FOLLOW_TAKER_H

#include "input/filter.h"
#include "input/input.h"

/* Functions return false to end it, after printing the
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

#endif
