/* SPDX-License-Identifier: MIT */
#include "perfetto_output.h"

#include <unistd.h>

#include "messages.h"
#include "output.h"

bool perfetto_open(const struct pfd_strings *strings, struct pfd_trace **ret)
{
    struct pfd_error err;
    const struct pfd_trace_spec spec = {
        .strings = strings,
        .write = output_write,
    };
    *ret = NULL;
    if (isatty(STDOUT_FILENO)) {
        message_error("a trace is no text: > FILE");
        return false;
    }
    if (pfd_trace_new(&spec, ret, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

static void message_count(uint64_t n, const char *one, const char *several)
{
    if (n)
        message_hint("%llu %s", (unsigned long long)n, n == 1 ? one : several);
}

bool perfetto_end(const struct pfd_trace *trace)
{
    struct pfd_trace_counts c;
    if (!trace)
        return true;
    if (pfd_trace_end(trace, &c) == PFD_ERR_NOMEM) {
        message_error("out of memory");
        return false;
    }
    if (c.untimed && !c.instants) {
        message_error("no entry has a time, which all in a trace has: captures "
                      "have times, buffers do not");
        return false;
    }
    message_count(c.untimed, "entry has no time, and is not in the trace",
                  "entries have no time, and are not in the trace");
    message_count(
        c.unbounded,
        "value is NaN or infinite: no counter has it, its instant does",
        "values are NaN or infinite: no counter has them, their "
        "instants do");
    message_count(c.uncounted, "value is of a counter too many",
                  "values are of counters too many: there are 65,536");
    message_count(c.over_large, "entry is too long for a trace",
                  "entries are too long for a trace");
    return true;
}
