/* SPDX-License-Identifier: MIT */
/* In the place of tls.c where there is no OpenSSL: nothing can be made, so
 * nothing else is ever called. */
#include <stdio.h>

#include "tls.h"

struct tls *tls_new(const struct tls_config *config, char *err, size_t n_err)
{
    snprintf(err, n_err, "built without TLS");
    return NULL;
}

void tls_free(struct tls *tls)
{
}

enum outcome tls_begin(struct tls *tls, int fd, const char *peer)
{
    return OUTCOME_FAILED;
}

enum outcome tls_shake_hands(struct tls *tls)
{
    return OUTCOME_FAILED;
}

enum outcome tls_send(struct tls *tls, const char *bytes, size_t n,
                      size_t *n_ret)
{
    return OUTCOME_FAILED;
}

enum outcome tls_receive(struct tls *tls, char *bytes, size_t n, size_t *n_ret)
{
    return OUTCOME_FAILED;
}

const char *tls_why(const struct tls *tls)
{
    return "";
}
