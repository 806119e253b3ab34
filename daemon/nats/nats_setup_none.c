/* SPDX-License-Identifier: MIT */
/* Replaces nats_setup.c in a build without libnats. */
#include "base/features.h"
#include "nats/nats_setup.h"

bool pfdd_nats_setup(const struct pfdd_nats_options *farm, FILE *out, char *err,
                     size_t n_err)
{
    snprintf(err, n_err, "this printfdecoded is built without NATS: %s",
             pfdd_feature_remedy(PFDD_FEATURE_NATS));
    return false;
}
