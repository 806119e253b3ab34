/* SPDX-License-Identifier: MIT */
/* In the place of tls.c where there is no OpenSSL: configurations that want TLS
 * are refused, so nothing else is ever called. */
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
