/* SPDX-License-Identifier: MIT */
/* Replaces output_sqlite.c in a build without SQLite. */
#include "config/output_options.h"

const struct pfdd_output_class pfdd_output_sqlite = {
    .base = { .name = "sqlite",
              .lacks = "SQLite",
              .feature = PFDD_FEATURE_SQLITE },
};
