/* SPDX-License-Identifier: MIT */
#include "nats/nats_worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "nats/nats_code.h"
#include "nats/nats_fetch.h"
#include "nats/nats_partitions.h"

enum {
    QUEUE_MAX = 4 << 20, /* bytes that wait for the loop, at most */
    LOOK_MS = 1000,      /* between checks of streams and leases */
    POLL_MS = 20,        /* between polls without new messages, at first, */
    POLL_MAX_MS = 100,   /* and at most */
    FEW = 64,            /* new messages */
    TURN = 64,           /* messages of a partition in a turn */
};

#define NS_OF_MS(ms) ((uint64_t)(ms)*1000000)

struct outgoing {
    struct outgoing *next;
    char edge[PFDD_EDGE_NAME];
    struct pfdd_nats_ack ack;
};

struct pfdd_worker {
    struct pfdd_worker_options options;
    uv_async_t async;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t cond; /* signals the thread: work, or room */
    /* Under the mutex. */
    bool stop;
    bool has_ended;
    struct pfdd_worker_message *first;
    struct pfdd_worker_message **end;
    size_t n_bytes;
    char trouble[PFDD_OUTAGE_WHY];
    uint64_t n_log_max;
    struct outgoing *acks;
    struct outgoing **acks_end;
    /* Has a mutex of its own, which may be locked under this one. */
    struct pfdd_partitions partitions;
    /* The thread's. */
    struct pfdd_nats line;
    int64_t created; /* time of the stream's creation */
    uint64_t last;   /* number of its last message, at the last check */
    uint64_t seen;   /* all partitions were read up to there */
    uint64_t looked; /* ms */
    bool has_failed; /* to read, since then: line.why */
    uint64_t pause_ms;
    struct pfdd_nats_code_lists codes;
    struct pfdd_nats_edge_acks brought;
    unsigned next_part; /* the next to have a turn */
};

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

static void wake(struct pfdd_worker *w)
{
    uv_async_send(&w->async);
}

static void hand_over(void *user, struct pfdd_worker_message *p)
{
    struct pfdd_worker *w = user;
    p->next = NULL;
    p->n_memory = sizeof *p + p->n;
    for (size_t i = 0; i < p->n_objects; i++)
        p->n_memory += sizeof *p->objects + p->objects[i].n;
    uv_mutex_lock(&w->mutex);
    *w->end = p;
    w->end = &p->next;
    w->n_bytes += p->n_memory;
    uv_mutex_unlock(&w->mutex);
    wake(w);
}

static bool has_room(struct pfdd_worker *w)
{
    uv_mutex_lock(&w->mutex);
    bool ret = !w->stop && w->n_bytes < QUEUE_MAX;
    uv_mutex_unlock(&w->mutex);
    return ret;
}

/* ---- messages ---- */

/* False: try again later. */
static bool take_entries(struct pfdd_worker *w, struct pfdd_partition *part,
                         struct pfdd_worker_message *p)
{
    p->partition = part->number;
    p->stream = w->created;
    enum pfdd_code_state code = pfdd_nats_code_lists_bring(&w->codes, p);
    if ((code == PFDD_CODE_MORE && !pfdd_partition_is_late(part)) ||
        !pfdd_nats_edge_acks_bring(&w->brought, &w->line, p, part->term,
                                   hand_over, w))
        return false;
    pfdd_partition_end_wait(part);
    if (code != PFDD_CODE_DONE) {
        free(p->bytes);
        p->bytes = NULL;
        p->n = 0;
        p->kind = PFDD_WORKER_MESSAGE_MISSING;
        w->line.n_refused++;
    }
    hand_over(w, p);
    return true;
}

/* Likewise. */
static bool take_message(struct pfdd_worker *w, struct pfdd_partition *part,
                         struct pfd_stored_message *message)
{
    struct pfdd_worker_message *p = pfdd_fetch_entries(message);
    if (!p) {
        pfdd_log_about(&w->line.told, PFDD_WARNING,
                       "nats: message %" PRIu64 " of %.200s is none of an edge",
                       message->number, message->subject);
        w->line.n_refused++;
        return true;
    }
    bool ok = take_entries(w, part, p);
    if (!ok)
        pfdd_worker_message_free(p);
    return ok;
}

/* There was no answer to a request for messages; none that was looked for is no
 * failure. */
static void note_failure(struct pfdd_worker *w, natsStatus s)
{
    if (s == NATS_OK || s == NATS_NOT_FOUND)
        return;
    pfdd_nats_failed(&w->line, PFDD_LOG_STREAM, s);
    w->has_failed = true;
}

/* The next message of a partition. NATS_NOT_FOUND: there is none. */
static natsStatus read_next(struct pfdd_worker *w, struct pfdd_partition *part)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message message;
    snprintf(subject, sizeof subject, "gpulog.v1.%02u.>", part->number);
    natsStatus s = pfd_stored_message_next(w->line.nc, PFDD_LOG_STREAM, subject,
                                           part->position + 1, &message);
    note_failure(w, s);
    if (s == NATS_OK && take_message(w, part, &message)) {
        part->position = message.number;
    } else if (s == NATS_OK) {
        s = NATS_TIMEOUT;
    }
    pfd_stored_message_deinit(&message);
    return s;
}

/* The partition of a message, if it is ours and was not read up to there. */
static struct pfdd_partition *part_of(struct pfdd_worker *w,
                                      const struct pfd_stored_message *message)
{
    int i = pfdd_log_partition(message->subject);
    struct pfdd_partition *part = i >= 0 ? &w->partitions.all[i] : NULL;
    return part && pfdd_partition_is_ours(part) &&
                   part->position < message->number
               ? part
               : NULL;
}

/* Reads a few new messages in the order of the stream, as polling each
 * partition would take longer. Results as of read_some(). */
static unsigned read_new(struct pfdd_worker *w, bool *is_all)
{
    unsigned n = 0;
    natsStatus s = NATS_OK;
    while (s == NATS_OK && w->seen < w->last && has_room(w)) {
        struct pfd_stored_message message;
        s = pfd_stored_message_next(w->line.nc, PFDD_LOG_STREAM, "gpulog.v1.>",
                                    w->seen + 1, &message);
        note_failure(w, s);
        struct pfdd_partition *part =
            s == NATS_OK ? part_of(w, &message) : NULL;
        if (part && !take_message(w, part, &message))
            s = NATS_TIMEOUT;
        if (s == NATS_OK)
            w->seen = message.number;
        if (s == NATS_OK && part) {
            part->position = w->seen;
            n++;
        }
        pfd_stored_message_deinit(&message);
    }
    /* The stream may have grown since the check. */
    if (w->last < w->seen)
        w->last = w->seen;
    *is_all = s == NATS_NOT_FOUND;
    return n;
}

/* Gives a partition its turn. Results as of read_some(). */
static unsigned read_part(struct pfdd_worker *w, struct pfdd_partition *part,
                          bool *is_all)
{
    unsigned n = 0;
    natsStatus s = NATS_OK;
    for (unsigned k = 0;
         k < TURN && s == NATS_OK && pfdd_partition_is_ours(part); k++) {
        if (!has_room(w)) {
            s = NATS_TIMEOUT;
            break;
        }
        s = read_next(w, part);
        n += s == NATS_OK;
    }
    *is_all &= s == NATS_NOT_FOUND || !pfdd_partition_is_ours(part);
    return n;
}

/* Reads all partitions, in turns, until the next check is due. Returns the
 * number of messages. *is_all: there are no more, and nothing failed. A message
 * that cannot be taken now blocks its own partition only. */
static unsigned read_some(struct pfdd_worker *w, bool *is_all)
{
    unsigned n = 0;
    unsigned i = 0;
    *is_all = true;
    for (; i < PFDD_PARTITIONS && now_ms() - w->looked < LOOK_MS; i++) {
        struct pfdd_partition *part =
            &w->partitions.all[w->next_part++ % PFDD_PARTITIONS];
        n += read_part(w, part, is_all);
        if (!has_room(w) || !pfdd_nats_is_up(&w->line))
            break;
    }
    *is_all &= i == PFDD_PARTITIONS;
    return n;
}

/* ---- the stream ---- */

/* Reads a stream from the beginning if it is another one, or has lost its last
 * messages; items that were taken already are recognized by their numbers.
 * False: there is no stream. */
static bool check_stream(struct pfdd_worker *w)
{
    jsStreamInfo *info = NULL;
    natsStatus s =
        pfdd_nats_stream_info(&w->line, PFDD_LOG_STREAM, NULL, &info, NULL);
    if (s != NATS_OK)
        return pfdd_nats_failed(&w->line, PFDD_LOG_STREAM, s);
    uint64_t last = info->State.LastSeq;
    bool is_another = info->Created != w->created || last < w->last;
    w->created = info->Created;
    w->last = last;
    pfdd_nats_note_log(&w->line, info);
    jsStreamInfo_Destroy(info);
    if (is_another) {
        pfdd_partitions_rewind(&w->partitions);
        w->seen = 0;
    }
    return true;
}

/* ---- the thread ---- */

static void wait_a_while(struct pfdd_worker *w, uint64_t ms)
{
    uv_mutex_lock(&w->mutex);
    if (!w->stop && !w->acks)
        uv_cond_timedwait(&w->cond, &w->mutex, NS_OF_MS(ms));
    uv_mutex_unlock(&w->mutex);
}

static void on_published(jsCtx *js, natsMsg *message, jsPubAck *ack,
                         jsPubAckErr *error, void *user)
{
    (void)js;
    (void)ack;
    (void)error; /* the next acknowledgement has more; edges ask again */
    (void)user;
    natsMsg_Destroy(message);
}

static void set_trouble(struct pfdd_worker *w)
{
    const char *why = pfdd_outage_why(&w->line.outage);
    uv_mutex_lock(&w->mutex);
    w->n_log_max = w->line.n_log_max;
    snprintf(w->trouble, sizeof w->trouble, "%s",
             why          ? why
             : w->line.nc ? ""
                          : "no server is connected");
    uv_mutex_unlock(&w->mutex);
}

static void dial(struct pfdd_worker *w)
{
    bool ok = pfdd_nats_connect(&w->line, on_published, w);
    set_trouble(w);
    if (!ok)
        wait_a_while(w, pfdd_nats_pause(&w->line));
    w->looked = 0;
}

static void send_acks(struct pfdd_worker *w)
{
    uv_mutex_lock(&w->mutex);
    struct outgoing *out = w->acks;
    w->acks = NULL;
    w->acks_end = &w->acks;
    uv_mutex_unlock(&w->mutex);
    while (out) {
        struct outgoing *next = out->next;
        char subject[PFDD_SUBJECT];
        char text[64];
        int n = pfdd_ack_put(text, sizeof text, &out->ack);
        pfdd_ack_subject(out->edge, subject);
        js_PublishAsync(w->line.js, subject, text, n, NULL);
        free(out);
        out = next;
    }
}

/* Checks streams and leases. Missing streams are made again. */
static void look(struct pfdd_worker *w)
{
    if (now_ms() - w->looked < LOOK_MS)
        return;
    bool ok = check_stream(w) ||
              (pfdd_nats_make_streams(&w->line) && check_stream(w));
    ok = ok && pfdd_partitions_share(&w->partitions) && !w->has_failed;
    if (ok) {
        pfdd_outage_end(&w->line.outage, "nats", "works again");
    } else {
        pfdd_outage_note(&w->line.outage, PFDD_WARNING, "nats", w->line.why);
    }
    set_trouble(w);
    w->looked = now_ms();
    w->has_failed = false;
    /* Partitions may have begun, and a lagging server may have reported the end
     * too early. */
    w->seen = 0;
}

static void work(struct pfdd_worker *w)
{
    bool is_all = true;
    send_acks(w);
    look(w);
    pfdd_nats_code_lists_turn(&w->codes);
    bool is_fetching = w->codes.n_coming > 0;
    if (w->seen == w->last && w->last && !check_stream(w)) {
        wait_a_while(w, POLL_MAX_MS);
        return;
    }
    uint64_t last = w->last;
    unsigned n = 0;
    if (w->seen && w->seen < last && last - w->seen <= FEW &&
        pfdd_partitions_has_most(&w->partitions) && !is_fetching) {
        n = read_new(w, &is_all);
    } else if (w->seen < last) {
        n = read_some(w, &is_all);
    }
    if (is_all)
        w->seen = last;
    if (n || is_fetching) {
        w->pause_ms = POLL_MS;
        return;
    }
    wait_a_while(w, w->pause_ms);
    w->pause_ms =
        w->pause_ms < POLL_MAX_MS ? w->pause_ms + POLL_MS : POLL_MAX_MS;
}

static void run(void *user)
{
    struct pfdd_worker *w = user;
    bool stop = false;
    while (!stop) {
        if (w->line.nc && !pfdd_nats_is_up(&w->line))
            pfdd_nats_drop(&w->line, "the server has gone");
        if (w->line.nc) {
            work(w);
        } else {
            dial(w);
        }
        uv_mutex_lock(&w->mutex);
        stop = w->stop;
        uv_mutex_unlock(&w->mutex);
    }
    if (w->line.nc) {
        send_acks(w);
        pfdd_partitions_release(&w->partitions);
        natsConnection_FlushTimeout(w->line.nc, 1000);
    }
    pfdd_nats_code_lists_deinit(&w->codes);
    jsCtx_Destroy(w->line.js);
    natsConnection_Destroy(w->line.nc);
    uv_mutex_lock(&w->mutex);
    w->has_ended = true;
    uv_mutex_unlock(&w->mutex);
    wake(w);
}

/* ---- on the loop ---- */

static void on_closed(uv_handle_t *handle)
{
    struct pfdd_worker *w = handle->data;
    w->options.closed(w->options.user);
    pfdd_partitions_deinit(&w->partitions);
    uv_mutex_destroy(&w->mutex);
    uv_cond_destroy(&w->cond);
    free(w);
}

static void on_unused_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void drop_all(struct pfdd_worker *w)
{
    while (w->first) {
        struct pfdd_worker_message *p = w->first;
        w->first = p->next;
        pfdd_worker_message_free(p);
    }
    while (w->acks) {
        struct outgoing *out = w->acks;
        w->acks = out->next;
        free(out);
    }
}

static void on_async(uv_async_t *async)
{
    struct pfdd_worker *w = async->data;
    uv_mutex_lock(&w->mutex);
    bool has_ended = w->has_ended;
    uv_mutex_unlock(&w->mutex);
    if (has_ended) {
        uv_thread_join(&w->thread);
        drop_all(w);
        uv_close((uv_handle_t *)async, on_closed);
    } else {
        w->options.wake(w->options.user);
    }
}

struct pfdd_worker *pfdd_worker_new(const struct pfdd_worker_options *options)
{
    struct pfdd_worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->options = *options;
    w->line.nats_options = options->nats_options;
    w->line.inbox = PFDD_INBOX_WORKER;
    w->end = &w->first;
    w->acks_end = &w->acks;
    pfdd_partitions_init(&w->partitions, &w->line, hand_over, w);
    w->codes.line = &w->line;
    w->codes.n_max = options->n_code_max;
    w->codes.give = hand_over;
    w->codes.user = w;
    w->pause_ms = POLL_MS;
    uv_mutex_init(&w->mutex);
    uv_cond_init(&w->cond);
    uv_async_init(options->loop, &w->async, on_async);
    w->async.data = w;
    if (uv_thread_create(&w->thread, run, w) == 0)
        return w;
    uv_close((uv_handle_t *)&w->async, on_unused_closed);
    return NULL;
}

/* True: the lease has expired while this process stood still; another worker
 * may have the partition. */
static bool is_late(struct pfdd_worker *w, const struct pfdd_worker_message *p)
{
    return p->kind == PFDD_WORKER_MESSAGE_ENTRIES &&
           !pfdd_partitions_is_leased(&w->partitions, p->partition);
}

struct pfdd_worker_message *pfdd_worker_take(struct pfdd_worker *w)
{
    struct pfdd_worker_message *p = NULL;
    uv_mutex_lock(&w->mutex);
    while ((p = w->first)) {
        w->first = p->next;
        if (!w->first)
            w->end = &w->first;
        w->n_bytes -= p->n_memory;
        uv_cond_broadcast(&w->cond);
        if (!is_late(w, p))
            break;
        pfdd_worker_message_free(p);
    }
    uv_mutex_unlock(&w->mutex);
    return p;
}

void pfdd_worker_leave(struct pfdd_worker *w, unsigned partition)
{
    pfdd_partitions_leave(&w->partitions, partition);
    uv_mutex_lock(&w->mutex);
    uv_cond_broadcast(&w->cond);
    uv_mutex_unlock(&w->mutex);
}

void pfdd_worker_trouble(struct pfdd_worker *w, char *ret, size_t n)
{
    uv_mutex_lock(&w->mutex);
    snprintf(ret, n, "%s", w->trouble);
    uv_mutex_unlock(&w->mutex);
}

uint64_t pfdd_worker_log_max(struct pfdd_worker *w)
{
    uv_mutex_lock(&w->mutex);
    uint64_t ret = w->n_log_max;
    uv_mutex_unlock(&w->mutex);
    return ret;
}

unsigned pfdd_worker_partitions(struct pfdd_worker *w)
{
    return pfdd_partitions_count(&w->partitions);
}

uint64_t pfdd_worker_refused(struct pfdd_worker *w)
{
    return w->line.n_refused;
}

bool pfdd_worker_ack(struct pfdd_worker *w, const char *edge, uint64_t acked,
                     uint64_t epoch, bool again)
{
    struct outgoing *out = calloc(1, sizeof *out);
    if (!out)
        return false;
    snprintf(out->edge, sizeof out->edge, "%s", edge);
    out->ack = (struct pfdd_nats_ack){ acked, epoch, again };
    uv_mutex_lock(&w->mutex);
    *w->acks_end = out;
    w->acks_end = &out->next;
    uv_cond_broadcast(&w->cond);
    uv_mutex_unlock(&w->mutex);
    return true;
}

size_t pfdd_worker_memory(struct pfdd_worker *w)
{
    uv_mutex_lock(&w->mutex);
    size_t n = w->n_bytes;
    uv_mutex_unlock(&w->mutex);
    return sizeof *w + n + w->codes.n_bytes;
}

void pfdd_worker_close(struct pfdd_worker *w)
{
    uv_mutex_lock(&w->mutex);
    w->stop = true;
    uv_cond_broadcast(&w->cond);
    uv_mutex_unlock(&w->mutex);
}
