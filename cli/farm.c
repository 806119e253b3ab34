/* SPDX-License-Identifier: MIT */
/* A module: messages are had by direct gets, which any server of a cluster
 * answers, so there is no consumer that would have to be taken away again. */
#include "farm.h"

#include <nats/nats.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls.h"

enum {
    WHY = 400,
    WAIT_MS = 5000, /* for an answer */
    CONNECT_MS = 3000,
    RECONNECT_MS = 500,
    PING_MS = 5000,
    PASSWORD_MAX = 4096,
    SERVERS_MAX = 64,
    SUBJECT = 100,
    PIECE = 512 * 1024, /* bytes of a message of GPUCODE, but for the last */
    SHA256_BYTES = 32,
};

#define LOG_STREAM  "GPULOG"
#define LOG_ALL     "gpulog.v1.>"
#define CODE_STREAM "GPUCODE"

/* Larger numbers are nobody's. */
#define NUMBER_MAX (UINT64_C(1) << 60)

struct farm {
    natsConnection *nc;
    jsCtx *js;
    natsMsg *message; /* that was given last */
    char why[WHY];
};

static enum outcome fail(struct farm *f, const char *what, natsStatus status)
{
    const char *last = nats_GetLastError(NULL);
    snprintf(f->why, sizeof f->why, "%s: %.300s", what,
             last && *last ? last : natsStatus_GetText(status));
    return OUTCOME_FAILED;
}

/* ---- the connection ---- */

static natsStatus set_password(natsOptions *options,
                               const struct farm_config *config, char *err,
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

/* It would be printed by the library: what matters is said elsewhere. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s,
                     void *user)
{
    (void)nc;
    (void)sub;
    (void)s;
    (void)user;
}

static natsStatus set_options(natsOptions *options,
                              const struct farm_config *config, char *err,
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

static void close_farm(struct farm *f)
{
    if (!f)
        return;
    natsMsg_Destroy(f->message);
    jsCtx_Destroy(f->js);
    natsConnection_Destroy(f->nc);
    free(f);
}

static struct farm *open_farm(const struct farm_config *config, char *err,
                              size_t n_err)
{
    natsOptions *options = NULL;
    jsOptions js;
    struct farm *f = calloc(1, sizeof *f);
    natsStatus s = f ? natsOptions_Create(&options) : NATS_NO_MEMORY;
    *err = '\0';
    if (s == NATS_OK)
        s = set_options(options, config, err, n_err);
    if (s == NATS_OK)
        s = natsConnection_Connect(&f->nc, options);
    /* Servers refuse about one of 400 signatures that libnats 3.4 makes with
     * good credentials: each connection has another one. */
    if (s == NATS_CONNECTION_AUTH_FAILED && config->credentials)
        s = natsConnection_Connect(&f->nc, options);
    natsOptions_Destroy(options);
    jsOptions_Init(&js);
    js.Wait = WAIT_MS;
    if (s == NATS_OK)
        s = natsConnection_JetStream(&f->js, f->nc, &js);
    if (s == NATS_OK)
        return f;
    const char *last = nats_GetLastError(NULL);
    if (!*err) {
        snprintf(err, n_err, "%.300s",
                 last && *last ? last : natsStatus_GetText(s));
    }
    close_farm(f);
    return NULL;
}

/* ---- messages ---- */

static enum outcome look(struct farm *f, struct farm_state *ret)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus s = js_GetStreamInfo(&info, f->js, LOG_STREAM, NULL, &code);
    if (code == JSStreamNotFoundErr)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, LOG_STREAM, s);
    *ret = (struct farm_state){ .first = info->State.FirstSeq,
                                .last = info->State.LastSeq,
                                .created = info->Created };
    jsStreamInfo_Destroy(info);
    return OUTCOME_DONE;
}

static bool get_number(natsMsg *message, const char *name, uint64_t *ret)
{
    const char *text = NULL;
    char *end = NULL;
    if (natsMsgHeader_Get(message, name, &text) != NATS_OK || !text ||
        *text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return !*end && *ret <= NUMBER_MAX;
}

/* n_ret - 1 hexadecimal digits. */
static bool get_digits(natsMsg *message, const char *name, char *ret,
                       size_t n_ret)
{
    const char *text = NULL;
    if (natsMsgHeader_Get(message, name, &text) != NATS_OK || !text ||
        strlen(text) != n_ret - 1 ||
        strspn(text, "0123456789abcdef") != n_ret - 1)
        return false;
    memcpy(ret, text, n_ret);
    return true;
}

static void read_message(natsMsg *message, struct farm_message *ret)
{
    *ret = (struct farm_message){
        .number = natsMsg_GetSequence(message),
        .time = (uint64_t)natsMsg_GetTime(message),
        .bytes = natsMsg_GetData(message),
        .n = (size_t)natsMsg_GetDataLength(message),
    };
    ret->is_edges =
        ret->n > 0 &&
        get_digits(message, "Gpulog-Edge", ret->edge, sizeof ret->edge) &&
        get_number(message, "Gpulog-First", &ret->first) &&
        get_number(message, "Gpulog-Last", &ret->last) &&
        get_number(message, "Gpulog-Previous", &ret->previous) &&
        ret->previous < ret->first && ret->first <= ret->last;
    if (!get_digits(message, "Gpulog-Code", ret->code, sizeof ret->code))
        *ret->code = '\0';
}

static enum outcome next(struct farm *f, uint64_t number,
                         struct farm_message *ret)
{
    jsDirectGetMsgOptions which;
    jsDirectGetMsgOptions_Init(&which);
    which.NextBySubject = LOG_ALL;
    which.Sequence = number;
    natsMsg_Destroy(f->message);
    f->message = NULL;
    natsStatus s =
        js_DirectGetMsg(&f->message, f->js, LOG_STREAM, NULL, &which);
    if (s == NATS_NOT_FOUND)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, LOG_STREAM, s);
    read_message(f->message, ret);
    return OUTCOME_DONE;
}

/* ---- code objects ---- */

/* Adds piece i to bytes [*n]. OUTCOME_END: there is none, or too much of it. */
static enum outcome add_piece(struct farm *f, const char *digest, size_t i,
                              size_t n_max, char **bytes, size_t *n)
{
    char subject[SUBJECT];
    natsMsg *message = NULL;
    jsDirectGetMsgOptions which;
    jsDirectGetMsgOptions_Init(&which);
    snprintf(subject, sizeof subject, "gpucode.v1.%s.%zu", digest, i);
    which.LastBySubject = subject;
    natsStatus s = js_DirectGetMsg(&message, f->js, CODE_STREAM, NULL, &which);
    if (s == NATS_NOT_FOUND)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, CODE_STREAM, s);
    size_t n_piece = (size_t)natsMsg_GetDataLength(message);
    char *longer =
        n_piece && n_piece <= n_max - *n ? realloc(*bytes, *n + n_piece) : NULL;
    if (longer) {
        memcpy(longer + *n, natsMsg_GetData(message), n_piece);
        *bytes = longer;
        *n += n_piece;
    }
    natsMsg_Destroy(message);
    return longer ? OUTCOME_DONE : OUTCOME_END;
}

static bool has_digest(const char *bytes, size_t n, const char *digest)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    char text[FARM_DIGEST] = "";
    unsigned n_sum = 0;
    if (!bytes || !EVP_Digest(bytes, n, sum, &n_sum, EVP_sha256(), NULL) ||
        n_sum != SHA256_BYTES)
        return false;
    for (size_t i = 0; i < n_sum; i++)
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
    return !strcmp(text, digest);
}

static enum outcome fetch(struct farm *f, const char *digest, size_t n_max,
                          char **ret, size_t *n)
{
    enum outcome outcome = OUTCOME_DONE;
    size_t before = 0;
    *ret = NULL;
    *n = 0;
    for (size_t i = 0; outcome == OUTCOME_DONE; i++) {
        before = *n;
        outcome = add_piece(f, digest, i, n_max, ret, n);
        if (*n - before != PIECE || *n == n_max)
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

static const char *why(const struct farm *f)
{
    return f->why;
}

const struct farm_class printfdecode_farm = {
    .open = open_farm,
    .close = close_farm,
    .look = look,
    .next = next,
    .fetch = fetch,
    .why = why,
};
