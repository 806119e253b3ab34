/* SPDX-License-Identifier: MIT */
/* -o perfetto: converts entries into a trace on standard output. */
#ifndef CLI_PERFETTO_OUTPUT_H
#define CLI_PERFETTO_OUTPUT_H

#include <stdbool.h>

#include "analysis/trace/trace.h"

/* output: the word of -o, or NULL. */
bool perfetto_wanted(const char *output);

/* *ret is NULL for other outputs. False: it is not possible; an error was
 * printed. strings: borrowed until the trace is freed. */
bool perfetto_open(const char *output, const struct pfd_strings *strings,
                   struct pfd_trace **ret);

/* Ends the trace, and prints what it leaves out. False: no entry had a time, or
 * out of memory; an error was printed. NULL is allowed. */
bool perfetto_end(const struct pfd_trace *trace);

#endif
