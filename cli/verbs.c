/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include "verbs/verb.h"

static const struct verb *const all[] = {
    &verb_decode,  &verb_strings,     &verb_inspect, &verb_stats,
    &verb_formats, &verb_spirv_check, &verb_extract, &verb_follow,
    &verb_capture, &verb_recover,     &verb_scan,    &verb_info,
    &verb_run,     &verb_table,       &verb_plot,    &verb_replay,
    &verb_doctor,  &verb_diff,        &verb_view,
};

const struct verbs verbs = { all, sizeof all / sizeof all[0] };
