/* SPDX-License-Identifier: MIT */
/* Shared by the parts of `info`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "input/code_source.h"
#include "options/options.h"

struct info {
    const struct options *options;
    bool json;
    pfd_finding_fn hear; /* called with this struct as its user */
    uint64_t n_findings;
    bool is_split; /* the code of this file is in others, which come, too */
};

/* Describes a capture: frames, strings, time, buffers and labels. False: an
 * error was printed. */
bool info_capture(struct info *x, const struct code_source *code_source);

#endif
