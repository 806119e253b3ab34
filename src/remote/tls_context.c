/* SPDX-License-Identifier: MIT */
#include "remote/tls_context.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 3, 4))) static bool wrong(char *err, size_t n_err,
                                                        const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    vsnprintf(err, n_err, text, ap);
    va_end(ap);
    return false;
}

/* OpenSSL would ask on the terminal, which may be unattended. */
static int no_passphrase(char *ret, int n, int for_writing, void *was_asked)
{
    *(bool *)was_asked = true;
    return -1;
}

static bool is_readable(const char *path, char *err, size_t n_err)
{
    return access(path, R_OK) == 0 ||
           wrong(err, n_err, "%s: %s", path, strerror(errno));
}

static bool load_authority(SSL_CTX *context, const char *path, char *err,
                           size_t n_err)
{
    if (!path) {
        return SSL_CTX_set_default_verify_paths(context) == 1 ||
               wrong(err, n_err, "the system's authorities cannot be read");
    }
    if (!is_readable(path, err, n_err))
        return false;
    return SSL_CTX_load_verify_file(context, path) == 1 ||
           wrong(err, n_err, "%s: no certificates in PEM form", path);
}

static bool load_key(SSL_CTX *context, const struct remote_tls_files *files,
                     const bool *was_asked, char *err, size_t n_err)
{
    int rc = SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM);
    unsigned long code = ERR_peek_last_error();
    if (*was_asked) {
        return wrong(err, n_err,
                     "%s: protected by a passphrase, which is not asked for",
                     files->key);
    }
    /* OpenSSL accepts a key of another type, which does not match. */
    if (rc == 1 ? SSL_CTX_check_private_key(context) != 1
                : ERR_GET_LIB(code) == ERR_LIB_X509) {
        return wrong(err, n_err, "%s: not the key of %s", files->key,
                     files->certificate);
    }
    return rc == 1 ||
           wrong(err, n_err, "%s: no private key in PEM form", files->key);
}

static bool load_own(SSL_CTX *context, const struct remote_tls_files *files,
                     const bool *was_asked, char *err, size_t n_err)
{
    const char *path = files->certificate;
    if (!path)
        return true;
    if (!is_readable(path, err, n_err) || !is_readable(files->key, err, n_err))
        return false;
    if (SSL_CTX_use_certificate_chain_file(context, path) != 1)
        return wrong(err, n_err, "%s: no certificate in PEM form", path);
    return load_key(context, files, was_asked, err, n_err);
}

SSL_CTX *remote_tls_context(const SSL_METHOD *method,
                            const struct remote_tls_files *files, char *err,
                            size_t n_err)
{
    bool was_asked = false;
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(method);
    if (!context) {
        wrong(err, n_err, "out of memory");
        return NULL;
    }
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_verify(context,
                       SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &was_asked);
    bool ok = load_authority(context, files->authority, err, n_err) &&
              load_own(context, files, &was_asked, err, n_err);
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (ok)
        return context;
    SSL_CTX_free(context);
    return NULL;
}
