/* SPDX-License-Identifier: MIT */
/* The verbs: each is defined in the file of its name, with its options. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "options/option_groups.h"
#include "options/option_values.h"
#include "options/options.h"

extern const struct verb verb_capture;
extern const struct verb verb_decode;
extern const struct verb verb_diff;
extern const struct verb verb_doctor;
extern const struct verb verb_extract;
extern const struct verb verb_follow;
extern const struct verb verb_formats;
extern const struct verb verb_info;
extern const struct verb verb_inspect;
extern const struct verb verb_plot;
extern const struct verb verb_recover;
extern const struct verb verb_replay;
extern const struct verb verb_run;
extern const struct verb verb_scan;
extern const struct verb verb_spirv_check;
extern const struct verb verb_stats;
extern const struct verb verb_strings;
extern const struct verb verb_table;
extern const struct verb verb_view;

#endif
