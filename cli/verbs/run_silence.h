/* SPDX-License-Identifier: MIT */
/* What `run` says of a program that ended without a line. */
#ifndef CLI_RUN_SILENCE_H
#define CLI_RUN_SILENCE_H

#include <stdbool.h>

#include "doctor/vulkan_environment.h"
#include "options/options.h"

struct silence {
    const struct options *options;
    const struct vulkan_options *vulkan; /* NULL: it was run without */
    const char *settings;                /* validation's, as `run` made them */
    const char *dump; /* where a runner writes its buffer; NULL: it sends it */
    bool has_connected;
    int signal; /* that ended it; 0: none */
};

/* Says why, and what to type, on standard error. */
void silence_message(const struct silence *silence);

#endif
