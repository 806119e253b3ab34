/* SPDX-License-Identifier: MIT */
/* Replaces output_nats.c in a build without libnats. */
#include "config/output_options.h"

const struct pfdd_output_class pfdd_output_nats = {
    .base = { .name = "nats", .lacks = "NATS", .feature = PFDD_FEATURE_NATS },
};
