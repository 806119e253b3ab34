/* SPDX-License-Identifier: MIT */
#include "nats/nats_edge.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/name.h"
#include "nats/nats_edge_code.h"

enum {
    QUEUE_MAX = 4 << 20, /* bytes that wait to be sent, at most */
    HOST = 64,
};

#define NS_OF_MS(ms) ((uint64_t)(ms)*1000000)

/* Acknowledgements for an incarnation. */
struct heard {
    struct heard *next;
    char id[PFDD_INCARNATION_ID];
    uint64_t acked;        /* under the mutex */
    natsSubscription *sub; /* the thread's; NULL: not subscribed */
};

struct pfdd_edge {
    struct pfdd_edge_options options;
    char host[PFDD_TOKEN];
    unsigned partition;
    uv_async_t async;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t cond;
    /* Under the mutex. */
    bool stop;
    bool has_ended;              /* the thread has ended */
    bool has_stored;             /* a message, since the last failure */
    struct pfdd_shipment *first; /* not sent yet */
    struct pfdd_shipment **end;
    size_t n_bytes;
    struct pfdd_edge_news news;
    struct heard *heard;
    char failure[PFDD_NATS_WHY]; /* why a message was not stored; "": one was */
    natsStatus failure_status;
    bool has_failed;        /* a message that was sent was not stored */
    uint64_t failed_epoch;  /* messages up to this epoch are dropped */
    uint64_t current_epoch; /* of the last message that was sent */
    bool was_asked;         /* a worker has asked to send again */
    /* The thread's. */
    struct pfdd_nats line;
    struct pfdd_nats_edge_code code;
};

void pfdd_shipment_free(struct pfdd_shipment *s)
{
    if (!s)
        return;
    free(s->buffer);
    free(s->bytes);
    free(s);
}

static size_t shipment_bytes(const struct pfdd_shipment *s)
{
    return sizeof *s + s->n;
}

/* ---- acknowledgements ---- */

static void wake(struct pfdd_edge *e)
{
    uv_async_send(&e->async);
}

/* Starts the current epoch again. */
static void fail(struct pfdd_edge *e, natsStatus status, const char *why)
{
    uv_mutex_lock(&e->mutex);
    e->has_failed = true;
    e->failure_status = status;
    snprintf(e->failure, sizeof e->failure, "%.200s", why);
    uv_cond_signal(&e->cond);
    uv_mutex_unlock(&e->mutex);
}

/* A server has stored a message, or not. Called by a thread of the library. */
static void on_stored(jsCtx *js, natsMsg *message, jsPubAck *ack,
                      jsPubAckErr *error, void *user)
{
    struct pfdd_edge *e = user;
    (void)js;
    natsMsg_Destroy(message);
    if (error) {
        fail(e, error->Err,
             error->ErrText && *error->ErrText
                 ? error->ErrText
                 : natsStatus_GetText(error->Err));
        return;
    }
    (void)ack;
    uv_mutex_lock(&e->mutex);
    e->news.n_stored++;
    e->has_stored = true;
    *e->failure = '\0';
    uv_mutex_unlock(&e->mutex);
}

/* Under the mutex. NULL: nothing was heard of this incarnation. */
static struct heard *find_heard(const struct pfdd_edge *e, const char *id)
{
    struct heard *h = e->heard;
    while (h && strcmp(h->id, id) != 0)
        h = h->next;
    return h;
}

static void take_ack(struct pfdd_edge *e, const char *id, const char *text,
                     size_t n)
{
    struct pfdd_nats_ack ack;
    if (!pfdd_ack_get(text, n > INT_MAX ? INT_MAX : (int)n, &ack))
        return;
    uv_mutex_lock(&e->mutex);
    struct heard *h = find_heard(e, id);
    if (h && ack.acked > h->acked)
        h->acked = ack.acked;
    if (ack.again && ack.epoch == e->current_epoch) {
        e->has_failed = e->was_asked = true;
        uv_cond_signal(&e->cond);
    }
    uv_mutex_unlock(&e->mutex);
    wake(e);
}

/* An acknowledgement of a worker. Called likewise. */
static void on_ack(natsConnection *nc, natsSubscription *sub, natsMsg *message,
                   void *user)
{
    const char *dot = strrchr(natsMsg_GetSubject(message), '.');
    (void)nc;
    (void)sub;
    take_ack(user, dot ? dot + 1 : "", natsMsg_GetData(message),
             (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
}

static struct heard *add_heard(struct pfdd_edge *e, const char *id)
{
    uv_mutex_lock(&e->mutex);
    struct heard *h = find_heard(e, id);
    if (!h && (h = calloc(1, sizeof *h))) {
        snprintf(h->id, sizeof h->id, "%s", id);
        h->next = e->heard;
        e->heard = h;
    }
    uv_mutex_unlock(&e->mutex);
    return h;
}

static void unsubscribe(struct pfdd_edge *e)
{
    for (struct heard *h = e->heard; h; h = h->next) {
        natsSubscription_Destroy(h->sub);
        h->sub = NULL;
    }
}

/* Subscribes to an incarnation's acknowledgements, and reads the last one. */
static bool subscribe(struct pfdd_edge *e, const char *id)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message last;
    struct heard *h = add_heard(e, id);
    if (h && h->sub)
        return true;
    pfdd_ack_subject(id, subject);
    natsStatus s =
        h ? natsConnection_Subscribe(&h->sub, e->line.nc, subject, on_ack, e)
          : NATS_NO_MEMORY;
    if (s != NATS_OK)
        return pfdd_nats_failed(&e->line, "acknowledgements cannot be had", s);
    if (pfd_stored_message_last(e->line.nc, PFDD_ACK_STREAM, subject, &last) ==
        NATS_OK)
        take_ack(e, id, last.bytes, last.n);
    pfd_stored_message_deinit(&last);
    return true;
}

/* ---- entries ---- */

static natsStatus set_number(natsMsg *message, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return natsMsgHeader_Set(message, name, text);
}

/* A header has no line breaks. */
static natsStatus set_text(natsMsg *message, const char *name, const char *text)
{
    char copy[256];
    size_t n = 0;
    for (; n < sizeof copy - 1 && text[n]; n++)
        copy[n] = (unsigned char)text[n] < ' ' ? '_' : text[n];
    copy[n] = '\0';
    return natsMsgHeader_Set(message, name, copy);
}

static natsStatus set_headers(const struct pfdd_edge *e, natsMsg *message,
                              const struct pfdd_shipment *s,
                              const struct pfdd_known_code *code)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { PFDD_HEADER_FIRST, s->first },
        { PFDD_HEADER_LAST, s->last },
        { PFDD_HEADER_PREVIOUS, s->previous },
        { PFDD_HEADER_ACKED, s->acked },
        { PFDD_HEADER_EPOCH, s->epoch },
        { PFDD_HEADER_PID, s->pid },
        { PFDD_HEADER_QUEUED, s->queued },
        { PFDD_HEADER_WINDOW, s->window },
    };
    natsStatus status = natsMsgHeader_Set(message, PFDD_HEADER_EDGE, s->edge);
    if (status == NATS_OK) {
        status =
            natsMsgHeader_Set(message, PFDD_HEADER_STATE, e->options.state);
    }
    if (status == NATS_OK)
        status = natsMsgHeader_Set(message, PFDD_HEADER_RUN, s->run);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (status == NATS_OK)
            status = set_number(message, numbers[i].name, numbers[i].value);
    }
    if (status == NATS_OK)
        status = set_text(message, PFDD_HEADER_BUFFER, s->buffer);
    if (status == NATS_OK && code)
        status = natsMsgHeader_Set(message, PFDD_HEADER_CODE, code->digest);
    if (status == NATS_OK && code && *code->place)
        status = natsMsgHeader_Set(message, PFDD_HEADER_PLACE, code->place);
    return status;
}

static bool publish(struct pfdd_edge *e, const struct pfdd_shipment *s)
{
    char subject[PFDD_SUBJECT];
    char id[160];
    natsMsg *message = NULL;
    jsPubOptions options;
    const struct pfdd_known_code *code = NULL;
    if (!subscribe(e, s->edge))
        return false;
    if (s->last <= pfdd_edge_acked(e, s->edge))
        return true; /* a worker has it */
    if (s->manifest.number) {
        code = pfdd_nats_edge_code_send(&e->code, &s->manifest);
        if (!code)
            return false;
    }
    snprintf(subject, sizeof subject, "gpulog.v1.%02u.%s.%s", e->partition,
             e->host, s->gpu);
    snprintf(id, sizeof id, "%s/%" PRIu64 "-%" PRIu64 "/%" PRIu64, s->edge,
             s->first, s->last, s->epoch);
    jsPubOptions_Init(&options);
    options.MsgId = id;
    options.MaxWait = PFDD_NATS_WAIT_MS;
    natsStatus status =
        natsMsg_Create(&message, subject, NULL, s->bytes, (int)s->n);
    if (status == NATS_OK)
        status = set_headers(e, message, s, code);
    if (status == NATS_OK)
        status = js_PublishMsgAsync(e->line.js, &message, &options);
    natsMsg_Destroy(message);
    if (status != NATS_OK) {
        snprintf(e->line.why, sizeof e->line.why, "publishing: %s",
                 natsStatus_GetText(status));
    }
    return status == NATS_OK;
}

/* ---- the thread ---- */

static void forget_waiting(struct pfdd_edge *e)
{
    while (e->first) {
        struct pfdd_shipment *s = e->first;
        e->first = s->next;
        pfdd_shipment_free(s);
    }
    e->end = &e->first;
    e->n_bytes = 0;
}

static void tell_again(struct pfdd_edge *e)
{
    uv_mutex_lock(&e->mutex);
    e->has_failed = false;
    e->failed_epoch = e->current_epoch;
    e->news.again = true;
    forget_waiting(e);
    e->code.pieces.is_doubtful = e->was_asked;
    e->was_asked = false;
    uv_mutex_unlock(&e->mutex);
    /* Perhaps missing code objects are the reason. */
    e->code.n = 0;
    wake(e);
}

static void set_connected(struct pfdd_edge *e, bool is_connected)
{
    uv_mutex_lock(&e->mutex);
    e->news.is_connected = is_connected;
    if (is_connected)
        e->news.max_payload = pfdd_nats_room(&e->line);
    e->news.n_log_max = e->line.n_log_max;
    const char *why = pfdd_outage_why(&e->line.outage);
    snprintf(e->news.trouble, sizeof e->news.trouble, "%s", why ? why : "");
    uv_mutex_unlock(&e->mutex);
    wake(e);
}

static void hang_up(struct pfdd_edge *e, const char *why)
{
    unsubscribe(e);
    pfdd_nats_drop(&e->line, why);
    set_connected(e, false);
}

static void wait_a_while(struct pfdd_edge *e, uint64_t ms)
{
    uv_mutex_lock(&e->mutex);
    if (!e->stop)
        uv_cond_timedwait(&e->cond, &e->mutex, NS_OF_MS(ms));
    uv_mutex_unlock(&e->mutex);
}

static void dial(struct pfdd_edge *e)
{
    if (!pfdd_nats_connect(&e->line, on_stored, e)) {
        set_connected(e, false);
        wait_a_while(e, pfdd_nats_pause(&e->line));
        return;
    }
    set_connected(e, true);
    tell_again(e);
}

/* The next shipment. NULL: there was none for a while. */
static struct pfdd_shipment *next_shipment(struct pfdd_edge *e, bool *stop,
                                           bool *failed)
{
    struct pfdd_shipment *s = NULL;
    uv_mutex_lock(&e->mutex);
    if (!e->first && !e->stop && !e->has_failed)
        uv_cond_timedwait(&e->cond, &e->mutex, NS_OF_MS(200));
    s = e->has_failed ? NULL : e->first;
    if (s) {
        e->first = s->next;
        if (!e->first)
            e->end = &e->first;
        e->n_bytes -= shipment_bytes(s);
        e->current_epoch = s->epoch;
    }
    *stop = e->stop;
    *failed = e->has_failed;
    uv_mutex_unlock(&e->mutex);
    return s;
}

/* Messages are not stored, for this reason; NULL: they are. */
static void set_trouble(struct pfdd_edge *e, const char *why)
{
    if (why) {
        pfdd_outage_note(&e->line.outage, PFDD_WARNING, "nats", why);
    } else {
        pfdd_outage_end(&e->line.outage, "nats", "messages are stored again");
    }
    set_connected(e, true);
}

/* Sending failed: pauses, then sends everything again that is not
 * acknowledged. */
static void start_again(struct pfdd_edge *e)
{
    char why[PFD_NATS_FAILURE];
    uv_mutex_lock(&e->mutex);
    if (e->has_stored)
        e->line.pause_ms = 0;
    e->has_stored = false;
    pfd_nats_failure(e->line.nc, e->failure_status, e->failure, why);
    *e->failure = '\0';
    uv_mutex_unlock(&e->mutex);
    if (!pfdd_nats_make_streams(&e->line)) {
        set_trouble(e, e->line.why);
    } else if (*why) {
        set_trouble(e, why);
    }
    wait_a_while(e, pfdd_nats_pause(&e->line));
    tell_again(e);
}

static bool stores_again(struct pfdd_edge *e)
{
    uv_mutex_lock(&e->mutex);
    bool ret = e->has_stored && !e->has_failed;
    uv_mutex_unlock(&e->mutex);
    return ret;
}

static void send_next(struct pfdd_edge *e, bool *stop)
{
    bool failed = false;
    struct pfdd_shipment *s = next_shipment(e, stop, &failed);
    if (pfdd_outage_why(&e->line.outage) && stores_again(e))
        set_trouble(e, NULL);
    if (failed) {
        start_again(e);
        return;
    }
    if (s && s->epoch > e->failed_epoch) {
        if (!publish(e, s))
            fail(e, NATS_OK, e->line.why);
    }
    if (s)
        wake(e); /* the owner may send more */
    pfdd_shipment_free(s);
}

static void run(void *user)
{
    struct pfdd_edge *e = user;
    bool stop = false;
    while (!stop) {
        if (e->line.nc && !pfdd_nats_is_up(&e->line))
            hang_up(e, "the server has gone");
        if (e->line.nc) {
            send_next(e, &stop);
        } else {
            dial(e);
            uv_mutex_lock(&e->mutex);
            stop = e->stop;
            uv_mutex_unlock(&e->mutex);
        }
    }
    unsubscribe(e);
    jsCtx_Destroy(e->line.js);
    natsConnection_Destroy(e->line.nc);
    uv_mutex_lock(&e->mutex);
    e->has_ended = true;
    uv_mutex_unlock(&e->mutex);
    wake(e);
}

/* ---- on the loop ---- */

static void on_closed(uv_handle_t *handle)
{
    struct pfdd_edge *e = handle->data;
    e->options.closed(e->options.user);
    while (e->heard) {
        struct heard *h = e->heard;
        e->heard = h->next;
        free(h);
    }
    uv_mutex_destroy(&e->mutex);
    uv_cond_destroy(&e->cond);
    free(e);
}

static void on_async(uv_async_t *async)
{
    struct pfdd_edge *e = async->data;
    uv_mutex_lock(&e->mutex);
    bool has_ended = e->has_ended;
    uv_mutex_unlock(&e->mutex);
    if (has_ended) {
        uv_thread_join(&e->thread);
        forget_waiting(e);
        uv_close((uv_handle_t *)async, on_closed);
    } else {
        e->options.wake(e->options.user);
    }
}

static void on_unused_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void name_host(char ret[PFDD_TOKEN])
{
    snprintf(ret, PFDD_TOKEN, "%s", pfdd_host_name());
    for (char *c = ret; *c; c++) {
        if (*c == '.' || *c == '*' || *c == '>' || *c <= ' ')
            *c = '_';
    }
}

/* The same after a restart, so that one worker has all of them in order; others
 * for copies of a state folder on other hosts. */
static unsigned choose_partition(const char *state, const char *host)
{
    char text[PFDD_INCARNATION_ID + PFDD_TOKEN];
    snprintf(text, sizeof text, "%s %s", state, host);
    return pfdd_partition_of(text);
}

struct pfdd_edge *pfdd_edge_new(const struct pfdd_edge_options *options)
{
    struct pfdd_edge *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->options = *options;
    e->line.nats_options = options->nats_options;
    e->line.inbox = PFDD_INBOX_EDGE;
    e->code.pieces.line = &e->line;
    e->code.dir = options->dir;
    e->end = &e->first;
    name_host(e->host);
    e->partition = choose_partition(options->state, e->host);
    uv_mutex_init(&e->mutex);
    uv_cond_init(&e->cond);
    uv_async_init(options->loop, &e->async, on_async);
    e->async.data = e;
    if (uv_thread_create(&e->thread, run, e) == 0)
        return e;
    uv_close((uv_handle_t *)&e->async, on_unused_closed);
    return NULL;
}

bool pfdd_edge_has_room(struct pfdd_edge *e)
{
    uv_mutex_lock(&e->mutex);
    bool ret = e->news.is_connected && !e->news.again && !e->has_failed &&
               e->n_bytes < QUEUE_MAX;
    uv_mutex_unlock(&e->mutex);
    return ret;
}

void pfdd_edge_send(struct pfdd_edge *e, struct pfdd_shipment *s)
{
    s->next = NULL;
    uv_mutex_lock(&e->mutex);
    *e->end = s;
    e->end = &s->next;
    e->n_bytes += shipment_bytes(s);
    uv_cond_signal(&e->cond);
    uv_mutex_unlock(&e->mutex);
}

void pfdd_edge_hear(struct pfdd_edge *e, struct pfdd_edge_news *ret)
{
    uv_mutex_lock(&e->mutex);
    *ret = e->news;
    e->news.again = false;
    e->news.n_stored = 0;
    uv_mutex_unlock(&e->mutex);
}

uint64_t pfdd_edge_acked(struct pfdd_edge *e, const char *incarnation)
{
    uv_mutex_lock(&e->mutex);
    const struct heard *h = find_heard(e, incarnation);
    uint64_t acked = h ? h->acked : 0;
    uv_mutex_unlock(&e->mutex);
    return acked;
}

void pfdd_edge_forget(struct pfdd_edge *e)
{
    uv_mutex_lock(&e->mutex);
    forget_waiting(e);
    uv_mutex_unlock(&e->mutex);
}

size_t pfdd_edge_memory(struct pfdd_edge *e)
{
    uv_mutex_lock(&e->mutex);
    size_t n = e->n_bytes;
    uv_mutex_unlock(&e->mutex);
    return sizeof *e + n;
}

void pfdd_edge_close(struct pfdd_edge *e)
{
    uv_mutex_lock(&e->mutex);
    e->stop = true;
    uv_cond_signal(&e->cond);
    uv_mutex_unlock(&e->mutex);
}
