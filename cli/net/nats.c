/* SPDX-License-Identifier: MIT */
/* A module, loaded on demand. Messages are requested one by one, so no consumer
 * is created on the server, and none has to be deleted. A message's number and
 * time are in the JSON of the answer, which the server alone writes; the
 * publisher writes the headers. */
#include "nats.h"

#include <limits.h>
#include <nats/nats.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

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
    NOT_FOUND = 404,
    PIECE = 512 * 1024, /* bytes of a message of GPUCODE, except for the last
                           one */
    SHA256_BYTES = 32,
};

#define INBOX       "_INBOX.reader" /* share/printfdecode.nats.conf */
#define LOG_STREAM  "GPULOG"
#define LOG_ALL     "gpulog.v1.>"
#define CODE_STREAM "GPUCODE"
#define MESSAGE_OF  "$JS.API.STREAM.MSG.GET."

/* Limit of numbers from the server; larger ones are invalid. */
#define NUMBER_MAX (UINT64_C(1) << 60)

/* A server's answer. All zeros: none. */
struct answer {
    char *headers; /* [n_headers], owned, as bytes [n] */
    char *bytes;
    size_t n_headers;
    size_t n;
    uint64_t number;
    uint64_t time;
};

struct nats {
    natsConnection *nc;
    jsCtx *js;
    struct answer answer; /* the last answer */
    char why[WHY];
};

static enum outcome fail(struct nats *f, const char *what, natsStatus status)
{
    const char *last = nats_GetLastError(NULL);
    snprintf(f->why, sizeof f->why, "%s: %.300s", what,
             last && *last ? last : natsStatus_GetText(status));
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

static void free_answer(struct answer *a)
{
    free(a->headers);
    free(a->bytes);
    *a = (struct answer){ 0 };
}

static void close_nats(struct nats *f)
{
    if (!f)
        return;
    free_answer(&f->answer);
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
    const char *last = nats_GetLastError(NULL);
    if (!*err) {
        snprintf(err, n_err, "%.300s",
                 last && *last ? last : natsStatus_GetText(s));
    }
    close_nats(f);
    return NULL;
}

/* ---- answers ---- */

/* Decodes base64: allocated bytes [*n_ret] and a NUL. NULL: invalid, or out of
 * memory. */
static char *decode(const char *text, size_t n, size_t *n_ret)
{
    size_t n_padding = 0;
    while (n_padding < n && n_padding < 2 && text[n - 1 - n_padding] == '=')
        n_padding++;
    unsigned char *ret = n % 4 == 0 ? malloc(n / 4 * 3 + 1) : NULL;
    int got = ret && n <= INT_MAX
                  ? EVP_DecodeBlock(ret, (const unsigned char *)text, (int)n)
                  : -1;
    if (got < 0 || (size_t)got < n_padding) {
        free(ret);
        return NULL;
    }
    *n_ret = (size_t)got - n_padding;
    ret[*n_ret] = '\0';
    return (char *)ret;
}

/* Reads 2001-02-03T04:05:06.789Z as ns since 1970; 0: invalid. */
static uint64_t time_of(const char *text)
{
    struct tm tm = { 0 };
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    uint64_t unit = 1000000000;
    time_t seconds = rest ? timegm(&tm) : 0;
    uint64_t ret = seconds > 0 ? (uint64_t)seconds * unit : 0;
    if (ret && *rest == '.')
        rest++;
    for (; ret && *rest >= '0' && *rest <= '9' && unit > 1; rest++) {
        unit /= 10;
        ret += unit * (uint64_t)(*rest - '0');
    }
    return ret;
}

/* Cuts the payload, most of an answer, out before the rest is parsed: base64
 * has no escapes. A quotation mark in a string is escaped, so the key is found
 * nowhere else. */
static json_t *parse(const char *text, size_t n, struct answer *ret, bool *ok)
{
    static const char key[] = "\"data\":\"";
    const char *data = memmem(text, n, key, sizeof key - 1);
    const char *end = NULL;
    *ok = true;
    if (data) {
        data += sizeof key - 1;
        end = memchr(data, '"', (size_t)(text + n - data));
    }
    if (end) {
        ret->bytes = decode(data, (size_t)(end - data), &ret->n);
        *ok = ret->bytes;
    }
    size_t n_data = end ? (size_t)(end - data) : 0;
    size_t before = end ? (size_t)(data - text) : n;
    char *rest = malloc(n - n_data + 1);
    if (!rest)
        return NULL;
    memcpy(rest, text, before);
    memcpy(rest + before, text + before + n_data, n - before - n_data);
    json_t *root = json_loadb(rest, n - n_data, JSON_ALLOW_NUL, NULL);
    free(rest);
    return root;
}

static natsStatus read_answer(const char *text, size_t n, struct answer *ret)
{
    bool ok = false;
    *ret = (struct answer){ 0 };
    json_t *root = parse(text, n, ret, &ok);
    const json_t *message = json_object_get(root, "message");
    const json_t *headers = json_object_get(message, "hdrs");
    json_int_t number = json_integer_value(json_object_get(message, "seq"));
    json_int_t code = json_integer_value(
        json_object_get(json_object_get(root, "error"), "code"));
    ret->number = number > 0 ? (uint64_t)number : 0;
    ret->time = time_of(json_string_value(json_object_get(message, "time")));
    if (headers) {
        ret->headers = decode(json_string_value(headers),
                              json_string_length(headers), &ret->n_headers);
        ok = ok && ret->headers;
    }
    json_decref(root);
    if (ok && ret->number)
        return NATS_OK;
    free_answer(ret);
    return code == NOT_FOUND ? NATS_NOT_FOUND : NATS_ERR;
}

static natsStatus ask(struct nats *f, const char *subject, const char *question,
                      struct answer *ret)
{
    natsMsg *answer = NULL;
    *ret = (struct answer){ 0 };
    natsStatus s = natsConnection_RequestString(&answer, f->nc, subject,
                                                question, WAIT_MS);
    if (s == NATS_OK) {
        s = read_answer(natsMsg_GetData(answer),
                        (size_t)natsMsg_GetDataLength(answer), ret);
    }
    natsMsg_Destroy(answer);
    return s;
}

/* The value of the first header of this name. False: there is none, or it does
 * not fit. */
static bool get_header(const struct answer *a, const char *name, char *ret,
                       size_t n_ret)
{
    size_t n_name = strlen(name);
    const char *at = a->headers;
    const char *end = at ? at + a->n_headers : NULL;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((next ? next : end) - at);
        if (n > n_name && !memcmp(at, name, n_name) && at[n_name] == ':') {
            at += n_name + 1;
            n -= n_name + 1;
            for (; n && *at == ' '; n--)
                at++;
            n -= n && at[n - 1] == '\r';
            bool fits = n < n_ret && !memchr(at, '\0', n);
            if (fits)
                memcpy(ret, at, n);
            ret[fits ? n : 0] = '\0';
            return fits;
        }
        at = next ? next + 1 : end;
    }
    return false;
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

static bool get_number(const struct answer *a, const char *name, uint64_t *ret)
{
    char text[24];
    char *end = NULL;
    if (!get_header(a, name, text, sizeof text) || *text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return !*end && *ret <= NUMBER_MAX;
}

/* Reads n_ret - 1 hexadecimal digits; else ret is empty. */
static bool get_digits(const struct answer *a, const char *name, char *ret,
                       size_t n_ret)
{
    bool ok = get_header(a, name, ret, n_ret) &&
              strspn(ret, "0123456789abcdef") == n_ret - 1;
    if (!ok)
        *ret = '\0';
    return ok;
}

static void read_message(const struct answer *a, struct nats_message *ret)
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
    char question[SUBJECT];
    snprintf(question, sizeof question,
             "{\"seq\":%llu,\"next_by_subj\":\"" LOG_ALL "\"}",
             (unsigned long long)(number ? number : 1));
    free_answer(&f->answer);
    natsStatus s = ask(f, MESSAGE_OF LOG_STREAM, question, &f->answer);
    if (s == NATS_NOT_FOUND)
        return OUTCOME_END;
    if (s != NATS_OK)
        return fail(f, LOG_STREAM, s);
    read_message(&f->answer, ret);
    return OUTCOME_DONE;
}

/* ---- code objects ---- */

/* Appends piece i to bytes [*n]. OUTCOME_END: there is none, or it is too
 * long. */
static enum outcome add_piece(struct nats *f, const char *digest,
                              const char *place, size_t i, size_t n_max,
                              char **bytes, size_t *n)
{
    char question[SUBJECT];
    struct answer a;
    snprintf(question, sizeof question,
             "{\"last_by_subj\":\"gpucode.v1.%s%s%s.%zu\"}", digest,
             *place ? "." : "", place, i);
    natsStatus s = ask(f, MESSAGE_OF CODE_STREAM, question, &a);
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
    free_answer(&a);
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
    *ret = NULL;
    *n = 0;
    for (size_t i = 0; outcome == OUTCOME_DONE; i++) {
        before = *n;
        outcome = add_piece(f, digest, place, i, n_max, ret, n);
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
