/* SPDX-License-Identifier: MIT */
/* In the place of output_nats.c in a build without libnats. */
#include "config/output_options.h"

const struct pfdd_output_class pfdd_output_nats = {
    .base = { .name = "nats", .lacks = "NATS", .feature = PFDD_FEATURE_NATS },
};
