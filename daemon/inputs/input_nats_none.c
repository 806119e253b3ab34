/* SPDX-License-Identifier: MIT */
/* Takes the place of input_nats.c in a build without libnats. */
#include "config/input_options.h"

const struct pfdd_input_class pfdd_input_nats = {
    .base = { .name = "nats", .lacks = "NATS", .feature = PFDD_FEATURE_NATS },
};
