/* SPDX-License-Identifier: MIT */
/* Replaces tls.c in a build without OpenSSL. Configurations with TLS are
 * refused, so no other function is called. */
#include <stdio.h>

#include "base/features.h"
#include "net/tls.h"

struct pfdd_tls *pfdd_tls_new(const struct pfdd_tls_options *options, char *err,
                              size_t n_err)
{
    snprintf(err, n_err, "built without TLS: %s",
             pfdd_feature_remedy(PFDD_FEATURE_TLS));
    return NULL;
}

void pfdd_tls_begin(struct pfdd_tls *tls, int fd)
{
}

void pfdd_tls_close(struct pfdd_tls *tls)
{
}

size_t pfdd_tls_memory(const struct pfdd_tls *tls)
{
    return 0;
}
