/* SPDX-License-Identifier: MIT */
/* -o perfetto: entries as a trace, on its way to standard output. */
#ifndef CLI_PERFETTO_OUTPUT_H
#define CLI_PERFETTO_OUTPUT_H

#include <printfdecode/trace.h>

#include "options.h"

bool perfetto_wanted(const struct options *options);

/* *ret is NULL where it is not asked for. False: it cannot be, which was said.
 * strings: borrowed until the trace is freed. */
bool perfetto_open(const struct options *options,
                   const struct pfd_strings *strings, struct pfd_trace **ret);

/* Says what the trace does not hold. False: it holds nothing, though there were
 * entries, or memory is out; that was said, too. NULL is allowed. */
bool perfetto_end(const struct pfd_trace *trace);

#endif
