/* SPDX-License-Identifier: MIT */
#include "collapsed_lines.h"

#include <time.h>

#include "core/base/clock.h"
#include "messages.h"
#include "output.h"

bool collapsed_lines_open(const struct collapse_options *o, const char *output,
                          struct pfd_collapse **ret)
{
    struct pfd_error err;
    const struct pfd_collapse_spec spec = {
        .output = output ? output : "text",
        .equal = o->how == COLLAPSE_EQUAL,
        .window = o->window,
        .write = output_write,
    };
    *ret = NULL;
    if (o->how == COLLAPSE_NO && o->window) {
        message_error("--window is for --collapse");
        return false;
    }
    if (o->how == COLLAPSE_NO || pfd_collapse_new(&spec, ret, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

bool collapsed_lines_end(struct pfd_collapse *collapse)
{
    if (!collapse || pfd_collapse_end(collapse) != PFD_ERR_NOMEM)
        return true;
    message_error("out of memory");
    return false;
}

bool collapsed_lines_end_in_time(struct pfd_collapse *collapse,
                                 uint64_t *ended_ns)
{
    if (!collapse)
        return true;
    uint64_t now = pfd_clock_ns(CLOCK_MONOTONIC);
    if (now - *ended_ns < (uint64_t)COLLAPSING_MS * 1000000)
        return true;
    *ended_ns = now;
    return collapsed_lines_end(collapse);
}
