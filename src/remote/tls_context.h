/* SPDX-License-Identifier: MIT */
/* What connections of TLS 1.3 have in common: the peer has to have a certificate
 * of the authority. */
#ifndef REMOTE_TLS_CONTEXT_H
#define REMOTE_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stddef.h>

/* In PEM form. */
struct remote_tls_files {
    const char *authority;   /* NULL: the system's */
    const char *certificate; /* ours; NULL: none, and no key */
    const char *key;
};

/* Reads the files. NULL: err [n_err] says which one is wrong, and why. */
SSL_CTX *remote_tls_context(const SSL_METHOD *method,
                            const struct remote_tls_files *files, char *err,
                            size_t n_err);

#endif
