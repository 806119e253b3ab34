/* SPDX-License-Identifier: MIT */
/* -o perfetto: converts entries into a trace on standard output. */
#ifndef CLI_PERFETTO_OUTPUT_H
#define CLI_PERFETTO_OUTPUT_H

#include <stdbool.h>

#include "analysis/trace/trace.h"

/* False: it is not possible; an error was printed, and *ret is NULL. strings:
 * borrowed until the trace is freed; NULL is allowed. */
bool perfetto_open(const struct pfd_strings *strings, struct pfd_trace **ret);

/* Ends the trace, and prints what it leaves out. False: no entry had a time, or
 * out of memory; an error was printed. NULL is allowed. */
bool perfetto_end(const struct pfd_trace *trace);

#endif
