/* SPDX-License-Identifier: MIT */
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/tls_context.h"

struct tls {
    const struct tls_config *config;
    SSL_CTX *context;
    SSL *ssl;
    char name[256]; /* that the server's certificate must have */
    bool is_open;   /* the handshake is complete */
    bool is_broken; /* the connection cannot be used any more */
    char why[512];
};

static void free_tls(struct tls *tls)
{
    if (!tls)
        return;
    if (tls->is_open && !tls->is_broken)
        SSL_shutdown(tls->ssl);
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    free(tls);
}

static struct tls *make(const struct tls_config *config, char *err,
                        size_t n_err)
{
    const struct remote_tls_files files = { config->authority,
                                            config->certificate, config->key };
    struct tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        snprintf(err, n_err, "out of memory");
        return NULL;
    }
    tls->config = config;
    tls->context = remote_tls_context(TLS_client_method(), &files, err, n_err);
    if (tls->context)
        return tls;
    free_tls(tls);
    return NULL;
}

/* ---- errors ---- */

static const char *why(const struct tls *tls)
{
    return tls->why;
}

__attribute__((format(printf, 2, 3))) static enum outcome fail(struct tls *tls,
                                                               const char *text,
                                                               ...)
{
    va_list ap;
    va_start(ap, text);
    vsnprintf(tls->why, sizeof tls->why, text, ap);
    va_end(ap);
    tls->is_broken = true;
    return OUTCOME_FAILED;
}

/* Explains why the server's certificate was rejected. */
static enum outcome fail_certificate(struct tls *tls, long code)
{
    const char *authority = tls->config->authority;
    switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return fail(tls, "the server's certificate is for another name than %s",
                    tls->name);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return fail(tls, "the server's certificate is not signed by %s",
                    authority ? authority : "an authority of this system");
    default:
        return fail(tls, "the server's certificate cannot be trusted: %s",
                    X509_verify_cert_error_string(code));
    }
}

/* Alerts about our certificate arrive after a successful handshake: TLS 1.3
 * works so. */
static const char *sentence_of(int reason)
{
    static const struct {
        int reason;
        const char *sentence;
    } rows[] = {
        { SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_REQUIRED,
          "the server wants a certificate (--tls-certificate)" },
        { SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_CA,
          "the server does not know who signed our certificate" },
        { SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_EXPIRED,
          "the server says that our certificate has expired" },
        { SSL_AD_REASON_OFFSET + SSL_AD_BAD_CERTIFICATE,
          "the server does not take our certificate" },
        { SSL_AD_REASON_OFFSET + SSL_AD_PROTOCOL_VERSION,
          "the server does not speak TLS 1.3" },
        { SSL_R_UNSUPPORTED_PROTOCOL, "the server does not speak TLS 1.3" },
        { SSL_R_WRONG_VERSION_NUMBER, "the server does not speak TLS" },
        { SSL_R_PACKET_LENGTH_TOO_LONG, "the server does not speak TLS" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].reason == reason)
            return rows[i].sentence;
    }
    return NULL;
}

static enum outcome fail_hello(struct tls *tls)
{
    return fail(tls, "the server hangs up and does not speak TLS");
}

static enum outcome fail_protocol(struct tls *tls)
{
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    const char *text = ERR_reason_error_string(code);
    if (sentence_of(reason))
        return fail(tls, "%s", sentence_of(reason));
    if (reason != SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return fail(tls, "TLS: %s", text ? text : "no reason is known");
    return tls->is_open ? fail(tls, "the connection was cut off")
                        : fail_hello(tls);
}

/* The outcome of an OpenSSL call that returned rc. */
static enum outcome outcome_of(struct tls *tls, int rc)
{
    int error = errno;
    long verified = SSL_get_verify_result(tls->ssl);
    switch (SSL_get_error(tls->ssl, rc)) {
    case SSL_ERROR_NONE:
        return OUTCOME_DONE;
    case SSL_ERROR_WANT_READ:
        return OUTCOME_WANTS_READ;
    case SSL_ERROR_WANT_WRITE:
        return OUTCOME_WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return OUTCOME_END;
    case SSL_ERROR_SYSCALL:
        return fail(tls, "%s", strerror(error));
    default:
        return verified == X509_V_OK ? fail_protocol(tls)
                                     : fail_certificate(tls, verified);
    }
}

/* ---- steps ---- */

/* An empty name would accept any certificate. */
static bool want_name(SSL *ssl, char *name)
{
    unsigned char binary[16];
    if (!*name)
        return false;
    if (inet_pton(AF_INET, name, binary) == 1 ||
        inet_pton(AF_INET6, name, binary) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    return SSL_set1_host(ssl, name) == 1 &&
           SSL_set_tlsext_host_name(ssl, name) == 1;
}

static enum outcome begin(struct tls *tls, int fd, const char *peer)
{
    snprintf(tls->name, sizeof tls->name, "%s",
             tls->config->name ? tls->config->name : peer);
    tls->ssl = SSL_new(tls->context);
    if (!tls->ssl || SSL_set_fd(tls->ssl, fd) != 1)
        return fail(tls, "out of memory");
    if (!want_name(tls->ssl, tls->name))
        return fail(tls, "'%s' is no name of a server", tls->name);
    SSL_set_connect_state(tls->ssl);
    return OUTCOME_DONE;
}

static enum outcome shake_hands(struct tls *tls)
{
    ERR_clear_error();
    enum outcome outcome = outcome_of(tls, SSL_do_handshake(tls->ssl));
    tls->is_open = outcome == OUTCOME_DONE;
    return outcome == OUTCOME_END ? fail_hello(tls) : outcome;
}

static enum outcome send_bytes(struct tls *tls, const char *bytes, size_t n,
                               size_t *n_ret)
{
    ERR_clear_error();
    errno = 0;
    int rc = SSL_write_ex(tls->ssl, bytes, n, n_ret);
    /* Data that the server sent before it closed can still be read. */
    if (rc != 1 && (errno == EPIPE || errno == ECONNRESET))
        return OUTCOME_END;
    return outcome_of(tls, rc);
}

static enum outcome receive_bytes(struct tls *tls, char *bytes, size_t n,
                                  size_t *n_ret)
{
    ERR_clear_error();
    return outcome_of(tls, SSL_read_ex(tls->ssl, bytes, n, n_ret));
}

const struct tls_class printfdecode_tls = {
    make, free_tls, begin, shake_hands, send_bytes, receive_bytes, why,
};
