/* SPDX-License-Identifier: MIT */
/*
 * The prefix of a text line: the entry's time and origin, as far as known and
 * requested, in brackets; and the colour of the message.
 */
#ifndef PFD_LINE_PREFIX_H
#define PFD_LINE_PREFIX_H

#include "core/output/sink.h"

/* "[reduce.cu:41 lane=3] "; nothing where the origin is unknown. */
void pfd_prefix_add(struct pfd_text *out, struct pfd_entry *entry,
                    const struct pfd_sink_options *options);

/* The escape sequence of a message's colour: by its level, its stream, and
 * whether all messages of its format are errors. NULL: no colour. */
const char *pfd_prefix_color(struct pfd_entry *entry);

/* "2026-11-20T20:09:49.500000000Z"; room for 40 bytes. */
char *pfd_put_time(char *to, uint64_t unix_ns);

#endif
