/* SPDX-License-Identifier: MIT */
/* Replaces output_http.c in a build without HTTP. */
#include "config/output_options.h"

const struct pfdd_output_class pfdd_output_http = {
    .base = { .name = "http", .lacks = "HTTP", .feature = PFDD_FEATURE_HTTP },
};
