/* SPDX-License-Identifier: MIT */
#include "net/nats_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "delivery/stock.h"

enum {
    LIST_MAX = 64 << 20, /* bytes of a list */
    AGAIN_MS = 1000,     /* until one that was missing is asked for again */
};

/* ---- messages ---- */

static bool get_number(natsMsg *message, const char *name, uint64_t *ret)
{
    const char *text = NULL;
    char *end = NULL;
    if (natsMsgHeader_Get(message, name, &text) != NATS_OK || !text ||
        *text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return !*end && *ret <= PFDD_NATS_MAX;
}

static bool get_word(natsMsg *message, const char *name, char *ret,
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

struct pfdd_parcel *pfdd_fetch_entries(natsMsg *message)
{
    struct pfdd_parcel *p = calloc(1, sizeof *p);
    int n = natsMsg_GetDataLength(message);
    bool ok = p && n > 0 &&
              get_word(message, PFDD_HEADER_EDGE, p->edge, sizeof p->edge) &&
              get_number(message, PFDD_HEADER_FIRST, &p->first) &&
              get_number(message, PFDD_HEADER_LAST, &p->last) &&
              get_number(message, PFDD_HEADER_PREVIOUS, &p->previous) &&
              get_number(message, PFDD_HEADER_ACKED, &p->acked) &&
              get_number(message, PFDD_HEADER_EPOCH, &p->epoch) &&
              p->previous < p->first && p->first <= p->last;
    if (ok)
        get_word(message, PFDD_HEADER_CODE, p->code, sizeof p->code);
    ok = ok && (p->bytes = malloc((size_t)n));
    if (!ok) {
        pfdd_parcel_free(p);
        return NULL;
    }
    memcpy(p->bytes, natsMsg_GetData(message), (size_t)n);
    p->n = (size_t)n;
    return p;
}

struct pfdd_parcel *pfdd_fetch_ack(natsMsg *message)
{
    static const char prefix[] = "gpuack.v1.00.";
    const char *subject = natsMsg_GetSubject(message);
    size_t n = strlen(subject);
    const char *edge = subject + sizeof prefix - 1;
    struct pfdd_nats_ack ack;
    struct pfdd_parcel *p = NULL;
    if (n == sizeof prefix - 1 + PFDD_EDGE_NAME - 1 &&
        strspn(edge, "0123456789abcdef") == PFDD_EDGE_NAME - 1 &&
        pfdd_ack_get(natsMsg_GetData(message), natsMsg_GetDataLength(message),
                     &ack))
        p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->kind = PFDD_PARCEL_ACKED;
    snprintf(p->edge, sizeof p->edge, "%s", edge);
    p->acked = ack.acked;
    return p;
}

bool pfdd_fetch_acks(struct pfdd_nats *line,
                     void (*give)(void *user, struct pfdd_parcel *parcel),
                     void *user)
{
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = PFDD_NATS_WAIT_MS;
    options.Stream.Info.SubjectsFilter = "gpuack.v1.>";
    natsStatus s =
        js_GetStreamInfo(&info, line->js, PFDD_ACK_STREAM, &options, NULL);
    if (s != NATS_OK)
        return pfdd_nats_failed(line, PFDD_ACK_STREAM, s);
    const jsStreamStateSubjects *all = info->State.Subjects;
    for (int i = 0; all && i < all->Count && s == NATS_OK; i++) {
        natsMsg *message = NULL;
        s = js_GetLastMsg(&message, line->js, PFDD_ACK_STREAM,
                          all->List[i].Subject, NULL, NULL);
        struct pfdd_parcel *p = s == NATS_OK ? pfdd_fetch_ack(message) : NULL;
        if (p)
            give(user, p);
        natsMsg_Destroy(message);
    }
    jsStreamInfo_Destroy(info);
    return s == NATS_OK || pfdd_nats_failed(line, PFDD_ACK_STREAM, s);
}

/* ---- code objects ---- */

struct fetching {
    struct pfdd_nats *line;
    size_t room; /* bytes that are left for objects */
    bool is_unsure;
};

/* Adds piece i to bytes [*n]; false: there is none, or it is too much. */
static bool fetch_piece(struct fetching *f, const char *digest, size_t i,
                        size_t n_max, char **bytes, size_t *n)
{
    char subject[PFDD_SUBJECT];
    natsMsg *message = NULL;
    jsDirectGetMsgOptions which;
    jsDirectGetMsgOptions_Init(&which);
    pfdd_code_subject(digest, i, subject);
    which.LastBySubject = subject;
    natsStatus s =
        js_DirectGetMsg(&message, f->line->js, PFDD_CODE_STREAM, NULL, &which);
    f->is_unsure |= s != NATS_OK && s != NATS_NOT_FOUND;
    size_t n_piece = s == NATS_OK ? (size_t)natsMsg_GetDataLength(message) : 0;
    char *longer =
        n_piece && n_piece <= n_max - *n ? realloc(*bytes, *n + n_piece) : NULL;
    if (longer) {
        memcpy(longer + *n, natsMsg_GetData(message), n_piece);
        *bytes = longer;
        *n += n_piece;
    }
    natsMsg_Destroy(message);
    return longer;
}

/* What is not what its digest says is taken away, or it would stay for good: of
 * each piece there is the first that came. Edges that are asked to send again
 * put it there. */
static void take_away(struct fetching *f, const char *digest)
{
    char subject[PFDD_SUBJECT];
    jsOptions options;
    jsOptions_Init(&options);
    snprintf(subject, sizeof subject, "gpucode.v1.%s.>", digest);
    options.Stream.Purge.Subject = subject;
    natsStatus s =
        js_PurgeStream(f->line->js, PFDD_CODE_STREAM, &options, NULL);
    pfdd_log(PFDD_WARNING, "nats: what lies at %s is something else: %s",
             subject, s == NATS_OK ? "taken away" : natsStatus_GetText(s));
}

/* What has this digest: bytes [*n], allocated. NULL: it is not there, or
 * something else. n_max: bytes; is_whole: it has exactly so many. */
static char *fetch(struct fetching *f, const char *digest, size_t n_max,
                   bool is_whole, size_t *n)
{
    char text[PFDD_SHA256_TEXT] = "";
    uint8_t sum[PFDD_SHA256_BYTES];
    char *bytes = NULL;
    bool more = true;
    *n = 0;
    for (size_t i = 0; more; i++) {
        size_t before = *n;
        more = fetch_piece(f, digest, i, n_max, &bytes, n) &&
               *n - before == PFDD_CODE_PIECE && !(is_whole && *n == n_max);
    }
    if (bytes) {
        pfdd_sha256(bytes, *n, sum);
        pfdd_sha256_text(sum, text);
    }
    if (strcmp(text, digest) == 0)
        return bytes;
    if (bytes && !f->is_unsure)
        take_away(f, digest);
    free(bytes);
    return NULL;
}

/* False: it is not there. */
static bool fetch_object(struct fetching *f, const struct pfdd_stock_item *item,
                         struct pfdd_parcel *p)
{
    char digest[PFDD_SHA256_TEXT];
    struct pfdd_parcel_object *o = &p->objects[p->n_objects];
    pfdd_sha256_text(item->digest, digest);
    if (item->n > f->room) {
        pfdd_log(PFDD_ERROR,
                 "nats: no room for '%.200s': entries go without it",
                 item->name);
        return true;
    }
    o->bytes = fetch(f, digest, item->n, true, &o->n);
    o->name = o->bytes ? strdup(item->name) : NULL;
    if (!o->name) {
        free(o->bytes);
        o->bytes = NULL;
        return false;
    }
    o->is_shader = item->is_shader;
    o->shader = item->shader;
    p->n_objects++;
    f->room -= o->n;
    return true;
}

static bool fetch_objects(struct fetching *f,
                          const struct pfdd_stock_list *list,
                          struct pfdd_parcel *p)
{
    p->objects = calloc(list->n + 1, sizeof *p->objects);
    for (size_t i = 0; p->objects && i < list->n; i++) {
        if (!fetch_object(f, &list->items[i], p))
            return false;
    }
    return p->objects;
}

struct pfdd_parcel *pfdd_fetch_code(struct pfdd_nats *line, const char *digest,
                                    size_t n_max, bool *is_unsure)
{
    struct fetching f = { .line = line, .room = n_max };
    struct pfdd_stock_list list = { 0 };
    size_t n = 0;
    struct pfdd_parcel *p = calloc(1, sizeof *p);
    char *text = p ? fetch(&f, digest, LIST_MAX, false, &n) : NULL;
    bool ok =
        text && pfdd_stock_parse(text, n, &list) && fetch_objects(&f, &list, p);
    free(text);
    pfdd_stock_list_deinit(&list);
    *is_unsure = f.is_unsure;
    if (!ok) {
        pfdd_parcel_free(p);
        return NULL;
    }
    p->kind = PFDD_PARCEL_CODE;
    snprintf(p->code, sizeof p->code, "%s", digest);
    return p;
}

void pfdd_missing_note(struct pfdd_missing *missing, const char *digest,
                       uint64_t now_ms)
{
    if (strcmp(missing->digest, digest) != 0) {
        pfdd_log(PFDD_WARNING,
                 "nats: the list of code objects %s is not there, or not what "
                 "it needs: edges are asked to send it again",
                 digest);
    }
    snprintf(missing->digest, sizeof missing->digest, "%s", digest);
    missing->ms = now_ms;
}

bool pfdd_missing_has(const struct pfdd_missing *missing, const char *digest,
                      uint64_t now_ms)
{
    return now_ms - missing->ms < AGAIN_MS && !strcmp(missing->digest, digest);
}
