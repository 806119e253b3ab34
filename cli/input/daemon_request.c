/* SPDX-License-Identifier: MIT */
#include "daemon_request.h"

struct pfd_subscription daemon_request_of(const struct options *o)
{
    return (struct pfd_subscription){
        .from = o->live.from,
        .matches = o->filter.matches.all,
        .n_matches = o->filter.matches.n,
        .format_strings = o->filter.format_strings.all,
        .n_format_strings = o->filter.format_strings.n,
        .ids = o->filter.ids.all,
        .n_ids = o->filter.ids.n,
        .where = o->filter.where,
        .source = o->filter.sources.n ? o->filter.sources.all[0] : NULL,
        .ignore_case = o->filter.ignore_case,
        .invert = o->filter.invert,
    };
}
