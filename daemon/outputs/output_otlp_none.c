/* SPDX-License-Identifier: MIT */
/* In the place of output_otlp.c in a build without libcurl. */
#include "config/output_options.h"

const struct pfdd_output_class pfdd_output_otlp = {
    .base = { .name = "otlp", .lacks = "OTLP", .feature = PFDD_FEATURE_CURL },
};
