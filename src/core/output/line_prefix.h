/* SPDX-License-Identifier: MIT */
/*
 * What a line of text has before its message: when and where it comes from, as
 * far as that is wanted and known, in brackets; and how it is coloured.
 */
#ifndef PFD_LINE_PREFIX_H
#define PFD_LINE_PREFIX_H

#include "core/output/sink.h"

/* "[reduce.cu:41 lane=3] "; nothing where nothing is known. */
void pfd_prefix_add(struct pfd_text *out, struct pfd_entry *entry,
                    const struct pfd_sink_options *options);

/* The sequence that begins a message's colour: by its level, by the stream that
 * it was written to, and by whether its format is one of complaints. NULL: it
 * has none. */
const char *pfd_prefix_color(struct pfd_entry *entry);

/* "2026-11-20T20:09:49.500000000Z"; room for 40 bytes. */
char *pfd_put_time(char *to, uint64_t unix_ns);

#endif
