/* SPDX-License-Identifier: MIT */
#include "ring/left_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/filter/filter.h"

void pfdd_left_out_add(struct pfdd_left_out *to, uint64_t n_entries,
                       uint64_t findings)
{
    to->entries += n_entries;
    for (; findings; findings &= findings - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(findings);
        to->findings += !pfd_finding_is_note((enum pfd_finding_kind)kind);
    }
}

size_t pfdd_left_out_print(const struct pfdd_left_out *filtered,
                           const struct pfdd_left_out *sampled,
                           const struct pfd_filter *filter,
                           const struct pfd_strings *strings,
                           char ret[PFDD_LEFT_OUT_RECORD])
{
    struct pfd_error err;
    char *at = ret;
    at += sprintf(at,
                  "{\"type\":\"left_out\",\"filtered\":{\"entries\":%" PRIu64
                  ",\"findings\":%" PRIu64 "},\"sampled\":{\"entries\":%" PRIu64
                  ",\"findings\":%" PRIu64 "}",
                  filtered->entries, filtered->findings, sampled->entries,
                  sampled->findings);
    if (filter && pfd_filter_check(filter, strings, &err) != PFD_OK) {
        at += sprintf(at, ",\"condition\":\"");
        at = pfd_escape_json(at, err.text, strlen(err.text));
        *at++ = '"';
    }
    *at++ = '}';
    *at = '\0';
    return (size_t)(at - ret);
}
