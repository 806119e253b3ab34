/* SPDX-License-Identifier: MIT */
/*
 * --counter FILE: the counter of a described ring that is in a buffer of its own.
 * It becomes a description of one key, which goes where descriptions go.
 */
#ifndef CLI_COUNTER_H
#define CLI_COUNTER_H

#include "core/base/error.h"
#include "core/base/text.h"
#include "options/options.h"

struct pfd_source;

/* Appends the description for the first bytes of a file. PFD_OK, or err says why
 * not. */
enum pfd_status counter_describe(const char *path, struct pfd_text *ret,
                                 struct pfd_error *err);

/* The same file while it changes. All zeros, and fd -1: none is open. */
struct live_counter {
    int fd;
    struct pfd_source *source; /* NULL: the options name none */
};

/* Opens the one that the options name. False: an error was printed. */
bool counter_open(const struct options *o, struct live_counter *ret);
void counter_close(struct live_counter *counter);

#endif
