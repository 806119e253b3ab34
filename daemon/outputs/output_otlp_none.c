/* SPDX-License-Identifier: MIT */
/* Replaces output_otlp.c in a build without libcurl. */
#include "config/output_options.h"

const struct pfdd_output_class pfdd_output_otlp = {
    .base = { .name = "otlp", .lacks = "OTLP", .feature = PFDD_FEATURE_CURL },
};
