/* SPDX-License-Identifier: MIT */
#include "nats/nats_connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "remote/stored_message.h"

enum {
    PAUSE_MIN_MS = 50,
    PAUSE_MAX_MS = 5000,
    CONNECT_MS = 2000,
    PENDING = 512,   /* unacknowledged messages, at most */
    STALL_MS = 1000, /* that publishing waits when there are so many */
    PASSWORD_MAX = 4096,
    PING_MS = 5000, /* the connection is lost after two without an answer */
};

#define NS_OF_MS(ms) ((int64_t)(ms)*1000000)

bool pfdd_nats_failed(struct pfdd_nats *line, const char *what,
                      natsStatus status)
{
    char said[PFD_NATS_FAILURE];
    pfd_nats_failure(line->nc, status, pfd_nats_why(status), said);
    snprintf(line->why, sizeof line->why, "%s: %.200s", what, said);
    return false;
}

natsStatus pfdd_nats_stream_info(const struct pfdd_nats *line, const char *name,
                                 jsOptions *options, jsStreamInfo **ret,
                                 jsErrCode *code)
{
    *ret = NULL;
    natsStatus s = js_GetStreamInfo(ret, line->js, name, options, code);
    if (s != NATS_OK || (*ret)->Config)
        return s;
    jsStreamInfo_Destroy(*ret);
    *ret = NULL;
    return NATS_PROTOCOL_ERROR;
}

/* ---- options of a connection ---- */

static natsStatus set_password(struct pfdd_nats *line, natsOptions *options)
{
    const struct pfdd_nats_options *nats_options = line->nats_options;
    char password[PASSWORD_MAX] = "";
    FILE *file = fopen(nats_options->password_file, "re");
    if (!file) {
        snprintf(line->why, sizeof line->why, "%.200s cannot be read",
                 nats_options->password_file);
        return NATS_INVALID_ARG;
    }
    size_t n = fread(password, 1, sizeof password - 1, file);
    fclose(file);
    password[n] = '\0';
    password[strcspn(password, "\r\n")] = '\0';
    return natsOptions_SetUserInfo(options, nats_options->user, password);
}

static natsStatus set_tls(natsOptions *options,
                          const struct pfdd_nats_options *nats_options)
{
    const struct pfdd_tls_config *tls = &nats_options->tls;
    natsStatus s = natsOptions_SetSecure(options, true);
    if (s == NATS_OK && tls->authority)
        s = natsOptions_LoadCATrustedCertificates(options, tls->authority);
    if (s == NATS_OK && tls->certificate) {
        s = natsOptions_LoadCertificatesChain(options, tls->certificate,
                                              tls->key);
    }
    return s;
}

static natsStatus set_servers(natsOptions *options,
                              const struct pfdd_nats_options *nats_options)
{
    const char **servers = calloc(nats_options->servers.n, sizeof *servers);
    if (!servers)
        return NATS_NO_MEMORY;
    for (size_t i = 0; i < nats_options->servers.n; i++)
        servers[i] = nats_options->servers.items[i];
    natsStatus s =
        natsOptions_SetServers(options, servers, (int)nats_options->servers.n);
    free(servers);
    return s;
}

/* No reconnecting by the library: it would send old messages that we do not
 * know of. */
static natsStatus set_options(struct pfdd_nats *line, natsOptions *options)
{
    const struct pfdd_nats_options *nats_options = line->nats_options;
    natsStatus s = set_servers(options, nats_options);
    if (s == NATS_OK)
        s = natsOptions_SetAllowReconnect(options, false);
    if (s == NATS_OK)
        s = natsOptions_SetTimeout(options, CONNECT_MS);
    if (s == NATS_OK)
        s = natsOptions_SetPingInterval(options, PING_MS);
    if (s == NATS_OK)
        s = natsOptions_SetName(options, "printfdecoded");
    if (s == NATS_OK)
        s = natsOptions_SetCustomInboxPrefix(options, line->inbox);
    if (s == NATS_OK && pfdd_nats_options_has_tls(nats_options))
        s = set_tls(options, nats_options);
    if (s == NATS_OK && nats_options->user)
        s = set_password(line, options);
    if (s == NATS_OK && nats_options->credentials_file) {
        s = natsOptions_SetUserCredentialsFromFiles(
            options, nats_options->credentials_file, NULL);
    }
    return s;
}

/* ---- streams ---- */

enum {
    N_STREAMS = 4,
    ANSWER_HEAD = 512, /* bytes of an answer beside the message */
};

/* The configuration of stream i. *subject belongs to the caller, and has to
 * live as long as *ret. */
static void configure(unsigned i, const struct pfdd_nats_options *nats_options,
                      const char **subject, jsStreamConfig *ret)
{
    static const struct {
        const char *name;
        const char *subjects;
        int64_t age; /* ns; 0: for ever */
    } streams[N_STREAMS] = {
        { PFDD_LOG_STREAM, "gpulog.v1.>", 0 },
        /* Edges that were away for longer send them again. */
        { PFDD_CODE_STREAM, "gpucode.v1.>", NS_OF_MS(30LL * 24 * 3600 * 1000) },
        /* Likewise. An edge's messages state the acknowledgement that it
         * has. */
        { PFDD_ACK_STREAM, "gpuack.v1.>", NS_OF_MS(30LL * 24 * 3600 * 1000) },
        { PFDD_LEASE_STREAM, "gpulease.v1.>", NS_OF_MS(PFDD_LEASE_MS) },
    };
    jsStreamConfig_Init(ret);
    *subject = streams[i].subjects;
    ret->Name = streams[i].name;
    ret->Subjects = subject;
    ret->SubjectsLen = 1;
    ret->Replicas = (int64_t)nats_options->replicas;
    ret->AllowDirect = true; /* any server answers workers */
    ret->MaxAge = streams[i].age;
    ret->MaxMsgsPerSubject = 1;
    if (i == 0) {
        ret->MaxMsgsPerSubject = -1;
        ret->MaxBytes = (int64_t)nats_options->stream_max;
        ret->MaxAge = NS_OF_MS(nats_options->stream_age_ms);
    } else if (i == 1) {
        ret->Discard = js_DiscardNew;
        ret->DiscardNewPerSubject = true;
    } else if (i == 3) {
        ret->Duplicates = NS_OF_MS(PFDD_LEASE_MS); /* must not exceed MaxAge */
    }
}

/* Servers reserve a stream's bytes when it is made. */
static void add_room(struct pfdd_nats *line, jsErrCode code)
{
    size_t n = strlen(line->why);
    if (code != JSStorageResourcesExceededErr &&
        code != JSInsufficientResourcesErr)
        return;
    snprintf(line->why + n, sizeof line->why - n,
             ": the servers need %" PRIu64 " MiB (stream_max) for %s, and some "
             "more for %s, %s and %s",
             line->nats_options->stream_max >> 20, PFDD_LOG_STREAM,
             PFDD_CODE_STREAM, PFDD_ACK_STREAM, PFDD_LEASE_STREAM);
}

static bool make_stream(struct pfdd_nats *line, jsStreamConfig *config)
{
    jsErrCode code = 0;
    natsStatus s = js_AddStream(NULL, line->js, config, NULL, &code);
    /* Another process has made it meanwhile. */
    if (s != NATS_OK && code != JSStreamNameExistErr) {
        pfdd_nats_failed(line, config->Name, s);
        add_room(line, code);
        return false;
    }
    if (s == NATS_OK)
        pfdd_log(PFDD_INFO, "nats: made stream %s", config->Name);
    return true;
}

void pfdd_nats_note_log(struct pfdd_nats *line, const jsStreamInfo *info)
{
    int64_t n = info->Config->MaxBytes;
    line->n_log_max = n > 0 ? (uint64_t)n : 0;
}

/* *is_there: the stream exists; *is_same: as configured. */
static bool look_at_stream(struct pfdd_nats *line, const jsStreamConfig *config,
                           bool *is_there, bool *is_same)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus s =
        pfdd_nats_stream_info(line, config->Name, NULL, &info, &code);
    *is_there = s == NATS_OK;
    *is_same = *is_there && info->Config->MaxBytes == config->MaxBytes &&
               info->Config->MaxAge == config->MaxAge &&
               info->Config->Replicas == config->Replicas;
    if (*is_there && !strcmp(config->Name, PFDD_LOG_STREAM))
        pfdd_nats_note_log(line, info);
    jsStreamInfo_Destroy(info);
    if (s == NATS_OK || code == JSStreamNotFoundErr)
        return true;
    return pfdd_nats_failed(line, config->Name, s);
}

bool pfdd_nats_make_streams(struct pfdd_nats *line)
{
    for (unsigned i = 0; i < N_STREAMS; i++) {
        const char *subject = NULL;
        jsStreamConfig config;
        bool is_there = false;
        bool is_same = false;
        configure(i, line->nats_options, &subject, &config);
        if (!look_at_stream(line, &config, &is_there, &is_same) ||
            (!is_there && !make_stream(line, &config)))
            return false;
        if (i == 0 && !is_there)
            line->n_log_max = line->nats_options->stream_max;
    }
    return true;
}

static bool set_up(struct pfdd_nats *line, jsStreamConfig *config, FILE *out)
{
    bool is_there = false;
    bool is_same = false;
    if (!look_at_stream(line, config, &is_there, &is_same))
        return false;
    natsStatus s = NATS_OK;
    if (is_there && !is_same) {
        s = js_UpdateStream(NULL, line->js, config, NULL, NULL);
    } else if (!is_there) {
        s = js_AddStream(NULL, line->js, config, NULL, NULL);
    }
    if (s != NATS_OK)
        return pfdd_nats_failed(line, config->Name, s);
    fprintf(out, "%s: %s\n", config->Name,
            is_same    ? "is there"
            : is_there ? "changed"
                       : "made");
    return true;
}

/* ---- the connection ---- */

static void forget(struct pfdd_nats *line)
{
    jsCtx_Destroy(line->js);
    natsConnection_Destroy(line->nc);
    line->js = NULL;
    line->nc = NULL;
}

void pfdd_nats_drop(struct pfdd_nats *line, const char *why)
{
    pfdd_log(PFDD_WARNING, "nats: connection lost: %s", why);
    forget(line);
}

/* The library would print errors, which are visible elsewhere but for this one: a
 * message that a server forbids has no answer. Called by the library's one thread
 * for that, maybe behind the end of the connection's owner. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s,
                     void *user)
{
    static struct pfdd_outage forbidden;
    const char *said = NULL;
    (void)sub;
    (void)user;
    if (s == NATS_NOT_PERMITTED &&
        natsConnection_GetLastError(nc, &said) == NATS_NOT_PERMITTED)
        pfdd_outage_note(&forbidden, PFDD_WARNING, "nats", said);
}

bool pfdd_nats_open(struct pfdd_nats *line, jsPubAckHandler acked, void *user)
{
    natsOptions *options = NULL;
    jsOptions js;
    *line->why = '\0';
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK)
        s = set_options(line, options);
    if (s == NATS_OK)
        s = natsOptions_SetErrorHandler(options, on_error, NULL);
    if (s == NATS_OK)
        s = natsConnection_Connect(&line->nc, options);
    natsOptions_Destroy(options);
    if (s != NATS_OK && !*line->why)
        pfdd_nats_failed(line, line->nats_options->servers.items[0], s);
    if (s != NATS_OK)
        return false;
    jsOptions_Init(&js);
    js.Wait = PFDD_NATS_WAIT_MS;
    js.PublishAsync.MaxPending = PENDING;
    js.PublishAsync.StallWait = STALL_MS;
    js.PublishAsync.AckHandler = acked;
    js.PublishAsync.AckHandlerClosure = user;
    s = natsConnection_JetStream(&line->js, line->nc, &js);
    return s == NATS_OK || pfdd_nats_failed(line, "JetStream", s);
}

void pfdd_nats_close(struct pfdd_nats *line)
{
    forget(line);
}

bool pfdd_nats_connect(struct pfdd_nats *line, jsPubAckHandler acked,
                       void *user)
{
    if (pfdd_nats_open(line, acked, user) && pfdd_nats_make_streams(line)) {
        pfdd_log(PFDD_INFO, "nats: connected to %s",
                 line->nats_options->servers.items[0]);
        line->outage.is_on = line->outage.is_told = false;
        line->pause_ms = 0;
        return true;
    }
    pfdd_outage_note(&line->outage, PFDD_WARNING, "nats", line->why);
    forget(line);
    return false;
}

size_t pfdd_nats_room(const struct pfdd_nats *line)
{
    int64_t max = natsConnection_GetMaxPayload(line->nc);
    return max > ANSWER_HEAD ? (size_t)(max - ANSWER_HEAD) / 4 * 3 : 0;
}

bool pfdd_nats_is_up(const struct pfdd_nats *line)
{
    return line->nc &&
           natsConnection_Status(line->nc) == NATS_CONN_STATUS_CONNECTED;
}

uint64_t pfdd_nats_pause(struct pfdd_nats *line)
{
    uint32_t dice = 0;
    uint64_t next = line->pause_ms ? 2 * line->pause_ms : PAUSE_MIN_MS;
    line->pause_ms = next > PAUSE_MAX_MS ? PAUSE_MAX_MS : next;
    (void)!getrandom(&dice, sizeof dice, 0);
    return line->pause_ms / 2 + dice % (line->pause_ms / 2 + 1);
}

/* ---- names ---- */

void pfdd_code_subject(const char *digest, const char *place, size_t i,
                       char ret[PFDD_SUBJECT])
{
    snprintf(ret, PFDD_SUBJECT, "gpucode.v1.%s%s%s.%zu", digest,
             *place ? "." : "", place, i);
}

unsigned pfdd_edge_hash(const char *edge)
{
    uint32_t hash = 2166136261;
    for (; *edge; edge++)
        hash = (hash ^ (unsigned char)*edge) * 16777619;
    return hash;
}

unsigned pfdd_partition_of(const char *edge)
{
    return pfdd_edge_hash(edge) % PFDD_NATS_PARTITIONS;
}

int pfdd_log_partition(const char *subject)
{
    static const char prefix[] = "gpulog.v1.";
    const char *at = subject + sizeof prefix - 1;
    if (strncmp(subject, prefix, sizeof prefix - 1) != 0 ||
        strspn(at, "0123456789") != 2 || at[2] != '.')
        return -1;
    int n = 10 * (at[0] - '0') + at[1] - '0';
    return n < PFDD_NATS_PARTITIONS ? n : -1;
}

void pfdd_ack_subject(const char *edge, char ret[PFDD_SUBJECT])
{
    snprintf(ret, PFDD_SUBJECT, "gpuack.v1.%02u.%s", pfdd_partition_of(edge),
             edge);
}

int pfdd_ack_put(char *ret, size_t n_ret, const struct pfdd_nats_ack *ack)
{
    return snprintf(ret, n_ret, "%" PRIu64 " %" PRIu64 " %s", ack->acked,
                    ack->epoch, ack->again ? "again" : "ok");
}

/* Parses digits and a space. False: malformed. */
static bool take_number(const char **text, uint64_t *ret)
{
    char *end = NULL;
    if (**text < '0' || **text > '9')
        return false;
    *ret = strtoull(*text, &end, 10);
    *text = end + (*end == ' ');
    return *end == ' ' && *ret <= PFDD_NATS_MAX;
}

bool pfdd_ack_get(const char *text, int n, struct pfdd_nats_ack *ret)
{
    char copy[80];
    const char *at = copy;
    if (n <= 0 || n >= (int)sizeof copy)
        return false;
    memcpy(copy, text, (size_t)n);
    copy[n] = '\0';
    if (!take_number(&at, &ret->acked) || !take_number(&at, &ret->epoch))
        return false;
    ret->again = !strcmp(at, "again");
    return ret->again || !strcmp(at, "ok");
}

/* ---- setting up ---- */

static bool set_up_all(struct pfdd_nats *line, FILE *out)
{
    for (unsigned i = 0; i < N_STREAMS; i++) {
        const char *subject = NULL;
        jsStreamConfig config;
        configure(i, line->nats_options, &subject, &config);
        if (!set_up(line, &config, out))
            return false;
    }
    return true;
}

bool pfdd_nats_set_up(const struct pfdd_block *block, FILE *out, char *err,
                      size_t n_err)
{
    struct pfdd_nats line = { .nats_options = pfdd_nats_options_of(block),
                              .inbox = PFDD_INBOX_SETUP };
    bool ok = pfdd_nats_open(&line, NULL, NULL) && set_up_all(&line, out);
    if (!ok)
        snprintf(err, n_err, "%s", line.why);
    pfdd_nats_close(&line);
    return ok;
}
