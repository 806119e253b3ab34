/* SPDX-License-Identifier: MIT */
/* A module, loaded on demand. Messages are requested one by one, so no consumer
 * is created on the server, and none has to be deleted. */
#include "nats.h"

#include <nats/nats.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/stored_message.h"
#include "tls.h"

enum {
    WHY = 400,
    WAIT_MS = 5000, /* for an answer */
    CONNECT_MS = 3000,
    RECONNECT_MS = 500,
    PING_MS = 5000,
    PASSWORD_MAX = 4096,
    SERVERS_MAX = 64,
    SUBJECT = 200,
    SHA256_BYTES = 32,
};

#define INBOX       "_INBOX.reader" /* share/printfdecode.nats.conf */
#define LOG_STREAM  "GPULOG"
#define LOG_ALL     "gpulog.v1.>"
#define CODE_STREAM "GPUCODE"

/* Limit of numbers from the server; larger ones are invalid. */
#define NUMBER_MAX (UINT64_C(1) << 60)

struct nats {
    natsConnection *nc;
    jsCtx *js;
    struct pfd_stored_message message; /* the last one */
    char why[WHY];
};

static enum outcome fail(struct nats *f, const char *what, natsStatus status)
{
    char said[PFD_NATS_FAILURE];
    pfd_nats_failure(f->nc, status, pfd_nats_why(status), said);
    snprintf(f->why, sizeof f->why, "%s: %s", what, said);
    return OUTCOME_FAILED;
}

/* ---- the connection ---- */

static natsStatus set_password(natsOptions *options,
                               const struct nats_config *config, char *err,
                               size_t n_err)
{
    char password[PASSWORD_MAX] = "";
    FILE *file = fopen(config->password_file, "re");
    if (!file) {
        snprintf(err, n_err, "%s cannot be read", config->password_file);
        return NATS_INVALID_ARG;
    }
    size_t n = fread(password, 1, sizeof password - 1, file);
    fclose(file);
    password[n] = '\0';
    password[strcspn(password, "\r\n")] = '\0';
    return natsOptions_SetUserInfo(options, config->user, password);
}

static natsStatus set_tls(natsOptions *options, const struct tls_config *tls)
{
    natsStatus s = natsOptions_SetSecure(options, true);
    if (s == NATS_OK && tls && tls->authority)
        s = natsOptions_LoadCATrustedCertificates(options, tls->authority);
    if (s == NATS_OK && tls && tls->certificate) {
        s = natsOptions_LoadCertificatesChain(options, tls->certificate,
                                              tls->key);
    }
    if (s == NATS_OK && tls && tls->name)
        s = natsOptions_SetExpectedHostname(options, tls->name);
    return s;
}

static natsStatus set_servers(natsOptions *options, const char *urls)
{
    const char *servers[SERVERS_MAX];
    int n = 0;
    char *copy = strdup(urls);
    char *rest = NULL;
    if (!copy)
        return NATS_NO_MEMORY;
    for (char *word = strtok_r(copy, ",", &rest); word && n < SERVERS_MAX;
         word = strtok_r(NULL, ",", &rest))
        servers[n++] = word;
    natsStatus s = natsOptions_SetServers(options, servers, n);
    free(copy);
    return s;
}

/* Prevents the library from printing errors; they are reported elsewhere. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s,
                     void *user)
{
    (void)nc;
    (void)sub;
    (void)s;
    (void)user;
}

static natsStatus set_options(natsOptions *options,
                              const struct nats_config *config, char *err,
                              size_t n_err)
{
    natsStatus s = set_servers(options, config->url);
    if (s == NATS_OK)
        s = natsOptions_SetAllowReconnect(options, config->persists);
    if (s == NATS_OK)
        s = natsOptions_SetMaxReconnect(options, -1);
    if (s == NATS_OK)
        s = natsOptions_SetReconnectWait(options, RECONNECT_MS);
    if (s == NATS_OK)
        s = natsOptions_SetTimeout(options, CONNECT_MS);
    if (s == NATS_OK)
        s = natsOptions_SetPingInterval(options, PING_MS);
    if (s == NATS_OK)
        s = natsOptions_SetName(options, "printfdecode");
    if (s == NATS_OK)
        s = natsOptions_SetCustomInboxPrefix(options, INBOX);
    if (s == NATS_OK)
        s = natsOptions_SetErrorHandler(options, on_error, NULL);
    if (s == NATS_OK && !strncmp(config->url, "tls://", 6))
        s = set_tls(options, config->tls);
    if (s == NATS_OK && config->user)
        s = set_password(options, config, err, n_err);
    if (s == NATS_OK && config->credentials) {
        s = natsOptions_SetUserCredentialsFromFiles(options,
                                                    config->credentials, NULL);
    }
    return s;
}

static void close_nats(struct nats *f)
{
    if (!f)
        return;
    pfd_stored_message_deinit(&f->message);
    jsCtx_Destroy(f->js);
    natsConnection_Destroy(f->nc);
    free(f);
}

static struct nats *open_nats(const struct nats_config *config, char *err,
                              size_t n_err)
{
    natsOptions *options = NULL;
    jsOptions js;
    struct nats *f = calloc(1, sizeof *f);
    natsStatus s = f ? natsOptions_Create(&options) : NATS_NO_MEMORY;
    *err = '\0';
    if (s == NATS_OK)
        s = set_options(options, config, err, n_err);
    if (s == NATS_OK)
        s = natsConnection_Connect(&f->nc, options);
    /* A server refuses about one of 400 signatures that libnats 3.4 makes with
     * good credentials. Each connection gets a new one: try again. */
    if (s == NATS_CONNECTION_AUTH_FAILED && config->credentials)
        s = natsConnection_Connect(&f->nc, options);
    natsOptions_Destroy(options);
    jsOptions_Init(&js);
    js.Wait = WAIT_MS;
    if (s == NATS_OK)
        s = natsConnection_JetStream(&f->js, f->nc, &js);
    if (s == NATS_OK)
        return f;
    if (!*err)
        snprintf(err, n_err, "%.300s", pfd_nats_why(s));
    close_nats(f);
    return NULL;
}

/* ---- messages ---- */

static enum outcome look(struct nats *f, struct nats_state *ret)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus s = js_GetStreamInfo(&info, f->js, LOG_STREAM, NULL, &code);
    if (code == JSStreamNotFoundErr)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, LOG_STREAM, s);
    *ret = (struct nats_state){ .first = info->State.FirstSeq,
                                .last = info->State.LastSeq,
                                .created = info->Created };
    jsStreamInfo_Destroy(info);
    return OUTCOME_DONE;
}

static bool get_number(const struct pfd_stored_message *a, const char *name,
                       uint64_t *ret)
{
    char text[24];
    char *end = NULL;
    if (!pfd_stored_message_header(a, name, text, sizeof text) || *text < '0' ||
        *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return !*end && *ret <= NUMBER_MAX;
}

/* Reads n_ret - 1 hexadecimal digits; else ret is empty. */
static bool get_digits(const struct pfd_stored_message *a, const char *name,
                       char *ret, size_t n_ret)
{
    bool ok = pfd_stored_message_header(a, name, ret, n_ret) &&
              strspn(ret, "0123456789abcdef") == n_ret - 1;
    if (!ok)
        *ret = '\0';
    return ok;
}

static void read_message(const struct pfd_stored_message *a,
                         struct nats_message *ret)
{
    *ret = (struct nats_message){
        .number = a->number,
        .time = a->time,
        .bytes = a->bytes,
        .n = a->n,
    };
    ret->is_edges = ret->n > 0 &&
                    get_digits(a, "Gpulog-Edge", ret->edge, sizeof ret->edge) &&
                    get_number(a, "Gpulog-First", &ret->first) &&
                    get_number(a, "Gpulog-Last", &ret->last) &&
                    get_number(a, "Gpulog-Previous", &ret->previous) &&
                    ret->previous < ret->first && ret->first <= ret->last;
    get_digits(a, "Gpulog-Code", ret->code, sizeof ret->code);
    get_digits(a, "Gpulog-Code-At", ret->place, sizeof ret->place);
}

static enum outcome next(struct nats *f, uint64_t number,
                         struct nats_message *ret)
{
    pfd_stored_message_deinit(&f->message);
    natsStatus s = pfd_stored_message_next(f->nc, LOG_STREAM, LOG_ALL,
                                           number ? number : 1, &f->message);
    if (s == NATS_NOT_FOUND)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, LOG_STREAM, s);
    read_message(&f->message, ret);
    return OUTCOME_DONE;
}

/* ---- code objects ---- */

/* Appends piece i to bytes [*n]. OUTCOME_END: there is none, or it is too
 * long. */
static enum outcome add_piece(struct nats *f, const char *digest,
                              const char *place, size_t i, size_t n_max,
                              char **bytes, size_t *n)
{
    char subject[SUBJECT];
    struct pfd_stored_message a;
    snprintf(subject, sizeof subject, "gpucode.v1.%s%s%s.%zu", digest,
             *place ? "." : "", place, i);
    natsStatus s = pfd_stored_message_last(f->nc, CODE_STREAM, subject, &a);
    if (s == NATS_NOT_FOUND)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, CODE_STREAM, s);
    char *longer = a.n && a.n <= n_max - *n ? realloc(*bytes, *n + a.n) : NULL;
    if (longer) {
        memcpy(longer + *n, a.bytes, a.n);
        *bytes = longer;
        *n += a.n;
    }
    pfd_stored_message_deinit(&a);
    return longer ? OUTCOME_DONE : OUTCOME_END;
}

static bool has_digest(const char *bytes, size_t n, const char *digest)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    char text[NATS_DIGEST_HEX] = "";
    unsigned n_sum = 0;
    if (!bytes || !EVP_Digest(bytes, n, sum, &n_sum, EVP_sha256(), NULL) ||
        n_sum != SHA256_BYTES)
        return false;
    for (size_t i = 0; i < n_sum; i++)
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
    return !strcmp(text, digest);
}

static enum outcome fetch_from(struct nats *f, const char *digest,
                               const char *place, size_t n_max, char **ret,
                               size_t *n)
{
    enum outcome outcome = OUTCOME_DONE;
    size_t before = 0;
    size_t n_first = 0; /* bytes of all pieces but the last */
    *ret = NULL;
    *n = 0;
    for (size_t i = 0; outcome == OUTCOME_DONE; i++) {
        before = *n;
        outcome = add_piece(f, digest, place, i, n_max, ret, n);
        if (i == 0)
            n_first = *n;
        if (*n - before != n_first || *n == n_max || !n_first ||
            (i == 0 && has_digest(*ret, *n, digest)))
            break;
    }
    if (outcome != OUTCOME_FAILED)
        outcome = has_digest(*ret, *n, digest) ? OUTCOME_DONE : OUTCOME_END;
    if (outcome != OUTCOME_DONE) {
        free(*ret);
        *ret = NULL;
    }
    return outcome;
}

static enum outcome fetch(struct nats *f, const char *digest, const char *place,
                          size_t n_max, char **ret, size_t *n)
{
    enum outcome outcome = fetch_from(f, digest, "", n_max, ret, n);
    return outcome == OUTCOME_END && *place
               ? fetch_from(f, digest, place, n_max, ret, n)
               : outcome;
}

static const char *why(const struct nats *f)
{
    return f->why;
}

const struct nats_class printfdecode_nats = {
    .open = open_nats,
    .close = close_nats,
    .look = look,
    .next = next,
    .fetch = fetch,
    .why = why,
};
