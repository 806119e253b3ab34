/* SPDX-License-Identifier: MIT */
/*
 * Input `nats`: a worker of NATS JetStream. Chunks of entries come from edges
 * (output_nats.c) and go into the ring as if their buffers were local. Chunks
 * that all required outputs have written are acknowledged to the edges, which
 * keep them until then.
 *
 * A chunk names the previous chunk of its edge, so that none is taken too early
 * or twice, and an edge is asked to send missing chunks again. After a restart,
 * nats/worker_acks.h and spool/resend_dedup.h tell which chunks were written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest.h"
#include "ingest/string_store.h"
#include "inputs/edge_entries.h"
#include "inputs/edge_metrics.h"
#include "inputs/edges_seen.h"
#include "nats/nats_connection.h"
#include "nats/nats_status.h"
#include "nats/nats_worker.h"
#include "nats/worker_acks.h"
#include "spool/spool.h"

enum {
    TURN = 1 << 20,        /* bytes taken in one turn */
    LOOK_MS = 20,          /* between checks of acknowledgements */
    COUNT_NS = 1000000000, /* between counts of edges */
    RETRY_MS = 10,         /* until a message that has to wait is retried */
};

struct nats_input_config {
    struct pfdd_input_config base;
    struct pfdd_nats_options nats_options;
};

/* A message whose entries are in the ring or further on: not written yet. */
struct arrival {
    struct arrival *next;
    char edge[PFDD_ACKS_ID];
    unsigned partition;
    uint64_t last;   /* sequence number, the edge's */
    uint64_t end;    /* after it, our sequence number */
    uint64_t time;   /* ns since 1970, when it came */
    bool is_entries; /* else a gap */
};

struct nats_input {
    struct pfdd_input base;
    struct pfdd_worker *worker; /* NULL: an older input has to end first */
    bool has_joined;
    struct pfdd_consumer consumer; /* keeps segments that the acks file does not
                                      cover yet */
    uv_timer_t timer;
    uv_timer_t retry;
    unsigned n_handles; /* that are open */
    uint64_t deadline;  /* uv_now(), for entries in flight at the end */
    bool is_shut;       /* nothing is waited for any more */
    struct pfdd_worker_message *worker_message; /* the message that has to
                                                   wait */
    struct pfdd_edge_entries entries;
    struct pfdd_edges_seen seen;
    struct pfdd_acks acks;
    struct arrival *arrivals; /* oldest first */
    struct arrival **end;
    size_t n_arrivals;
    unsigned n_of_part[PFDD_PARTITIONS]; /* arrivals of each partition */
    bool is_leaving[PFDD_PARTITIONS];    /* goes to another worker, when it has
                                            no arrivals */
    size_t n_bytes;                      /* of memory, charged */
    uint64_t n_refused;                  /* refused messages that are counted */
    uint64_t counted;                    /* ns: when edges were counted */
    bool is_window_told;
    struct pfdd_log_topic told;
    char trouble[PFDD_OUTAGE_WHY]; /* "": none */
    /* Owned by the job, which writes the acks file. */
    struct pfdd_job job;
    bool is_saving;
    bool has_failed;
    char *text;
    uint64_t saving; /* our sequence number that the file covers */
};

static const struct nats_input_config *config_of(const struct nats_input *in)
{
    return (const struct nats_input_config *)(const void *)in->base.config;
}

/* ---- memory ---- */

static size_t memory_of(const struct nats_input *in)
{
    return sizeof *in + (in->worker ? pfdd_worker_memory(in->worker) : 0) +
           (in->worker_message ? in->worker_message->n_memory : 0) +
           in->acks.size * sizeof *in->acks.edges +
           in->entries.dedup.size * sizeof *in->entries.dedup.items +
           in->n_arrivals * sizeof *in->arrivals + in->entries.known.n_bytes +
           pfdd_edges_seen_memory(&in->seen);
}

static void count_memory(struct nats_input *in, size_t n)
{
    in->base.ingest->budget->inputs += n - in->n_bytes;
    in->n_bytes = n;
    pfdd_memory_budget_note(in->base.ingest->budget);
}

/* ---- messages of edges ---- */

static void ask_again(struct nats_input *in, struct pfdd_acks_edge *e,
                      uint64_t epoch)
{
    if (e->epoch == epoch)
        return;
    e->epoch = epoch;
    in->base.ingest->count->nats.again++;
    pfdd_worker_ack(in->worker, e->id, e->saved, epoch, true);
}

/* NULL: not now: too many new edges wait for their entries to be written, or
 * out of memory. */
static struct pfdd_acks_edge *edge_of(struct nats_input *in,
                                      const struct pfdd_worker_message *p)
{
    struct pfdd_acks_edge *e = pfdd_acks_find(&in->acks, p->edge);
    if (!e) {
        pfdd_log_about(&in->told, PFDD_WARNING,
                       "nats: edge %s waits for too many others that are new",
                       p->edge);
    }
    return e;
}

/* True: the message is the next one of its edge. */
static bool is_next(struct nats_input *in, struct pfdd_acks_edge *e,
                    const struct pfdd_worker_message *p)
{
    if (p->acked > e->taken)
        e->taken = p->acked;
    if (p->acked > e->acked)
        e->acked = p->acked;
    if (p->last <= e->taken) {
        in->base.ingest->count->nats.duplicates++;
        e->is_news |= p->last <= e->saved;
        return false;
    }
    if (p->previous > e->taken) {
        ask_again(in, e, p->epoch);
        return false;
    }
    return true;
}

/* True: an edge's numbers came before, with other items: its machine was put back
 * while it ran, or runs twice. The items are new all the same. */
static bool is_again(struct nats_input *in, const struct pfdd_worker_message *p)
{
    uint64_t mark = 0;
    if (p->last > pfdd_acks_seek(&in->acks, p->edge)->taken ||
        !(mark = pfdd_edge_entries_mark(p)) ||
        !pfdd_edges_seen_is_other(&in->seen, p, mark))
        return false;
    pfdd_log_peer(
        PFDD_WARNING,
        "nats: edge %s on '%s' numbers other items as earlier ones: its "
        "state has gone back, or there is a copy of it that runs; "
        "they are written all the same",
        p->edge, p->host);
    return true;
}

/* Items of a chunk that came already, in a shorter one: an edge cuts chunks to what
 * its servers take. */
static uint64_t n_had(const struct pfdd_acks_edge *e,
                      const struct pfdd_worker_message *p)
{
    return e->taken >= p->first && e->taken < p->last ? e->taken - p->first + 1
                                                      : 0;
}

/* False: not yet. */
static bool take_entries(struct nats_input *in,
                         const struct pfdd_worker_message *p)
{
    struct pfdd_ingest *ingest = in->base.ingest;
    struct pfdd_acks_edge *e = edge_of(in, p);
    const struct pfdd_edge_code *code =
        *p->code ? pfdd_edge_code_find(&in->entries.known, p->code) : NULL;
    struct arrival *a = NULL;
    if (!e)
        return false;
    pfdd_edges_seen_note(&in->seen, p);
    if (!is_next(in, e, p) && !is_again(in, p))
        return true;
    if (*p->code && !code) {
        ask_again(in, e, p->epoch);
        return true;
    }
    if (pfdd_is_backlogged(ingest) ||
        pfdd_string_store_is_busy_for(ingest->string_store,
                                      code ? code->producer : NULL) ||
        !(a = calloc(1, sizeof *a)))
        return false;
    a->end = pfdd_edge_entries_put(&in->entries, p, code, n_had(e, p),
                                   &a->is_entries);
    if (!a->end) {
        free(a);
        return false;
    }
    snprintf(a->edge, sizeof a->edge, "%s", p->edge);
    a->last = p->last;
    a->time = pfdd_time_now();
    if (e->taken < p->last)
        e->taken = p->last;
    pfdd_edges_seen_take(&in->seen, p, pfdd_edge_entries_mark(p));
    e->n_waiting++;
    a->partition = p->partition;
    in->n_of_part[a->partition]++;
    *in->end = a;
    in->end = &a->next;
    in->n_arrivals++;
    return true;
}

/* False: not yet. */
static bool take_message(struct nats_input *in, struct pfdd_worker_message *p)
{
    struct pfdd_acks_edge *e = NULL;
    switch (p->kind) {
    case PFDD_WORKER_MESSAGE_ENTRIES:
        return take_entries(in, p);
    case PFDD_WORKER_MESSAGE_CODE:
        pfdd_edge_code_take(&in->entries.known, p);
        return true;
    case PFDD_WORKER_MESSAGE_FORGET:
        pfdd_edge_buffers_forget(&in->entries.known);
        return true;
    case PFDD_WORKER_MESSAGE_MISSING:
        e = edge_of(in, p);
        if (e && is_next(in, e, p))
            ask_again(in, e, p->epoch);
        return e;
    case PFDD_WORKER_MESSAGE_LEAVE:
        in->is_leaving[p->partition] = true;
        return true;
    case PFDD_WORKER_MESSAGE_ACKED:
        e = edge_of(in, p);
        if (e && p->acked > e->acked)
            e->acked = e->saved = p->acked;
        if (e && p->acked > e->taken)
            e->taken = p->acked;
        return e;
    }
    return true;
}

static void on_retry(uv_timer_t *timer);

static void take_messages(struct nats_input *in)
{
    size_t n = 0;
    while (!in->base.closing && n < TURN) {
        struct pfdd_worker_message *p = in->worker_message;
        if (!p)
            p = pfdd_worker_take(in->worker);
        in->worker_message = NULL;
        if (!p)
            break;
        if (!take_message(in, p)) {
            in->worker_message = p;
            break;
        }
        n += p->n_memory;
        pfdd_worker_message_free(p);
    }
    count_memory(in, memory_of(in));
    if (!in->base.closing && (in->worker_message || n >= TURN)) {
        uv_timer_start(&in->retry, on_retry, in->worker_message ? RETRY_MS : 0,
                       0);
    }
}

static void on_retry(uv_timer_t *timer)
{
    take_messages(timer->data);
}

static void on_worker(void *user)
{
    struct nats_input *in = user;
    if (!in->base.closing && !uv_is_active((uv_handle_t *)&in->retry))
        take_messages(in);
}

/* ---- acknowledgements ---- */

static void pass(struct nats_input *in, uint64_t seq)
{
    if (seq <= in->consumer.acked)
        return;
    in->consumer.passed = in->consumer.given = in->consumer.last = seq;
    pfdd_consumer_ack(&in->consumer, seq);
}

/* Counts arrivals up to seq as written. True: the acks file has to be
 * written. */
static bool note_written(struct nats_input *in, uint64_t seq)
{
    bool is_news = false;
    while (in->arrivals && in->arrivals->end <= seq + 1) {
        struct arrival *a = in->arrivals;
        struct pfdd_acks_edge *e = pfdd_acks_seek(&in->acks, a->edge);
        if (a->last > e->acked) {
            e->acked = a->last;
            is_news = true;
        }
        e->n_waiting--;
        if (a->is_entries)
            pfdd_acks_prove(&in->acks, e);
        in->arrivals = a->next;
        if (!in->arrivals)
            in->end = &in->arrivals;
        in->n_arrivals--;
        in->n_of_part[a->partition]--;
        free(a);
    }
    for (size_t i = 0; i < in->acks.n && !is_news; i++)
        is_news = in->acks.edges[i].acked > in->acks.edges[i].saved;
    return is_news;
}

static void finish_close(struct nats_input *in);

static void run_save(struct pfdd_job *job)
{
    struct nats_input *in = PFDD_MEMBER_OF(struct nats_input, job, job);
    in->has_failed =
        !pfdd_acks_write(in->base.ingest->config->state_dir, in->text);
}

static void tell_edges(struct nats_input *in)
{
    for (size_t i = 0; i < in->acks.n; i++) {
        struct pfdd_acks_edge *e = &in->acks.edges[i];
        if (e->is_news) {
            e->is_news =
                !pfdd_worker_ack(in->worker, e->id, e->saved, 0, false);
        }
    }
}

static void save_done(struct pfdd_job *job)
{
    struct nats_input *in = PFDD_MEMBER_OF(struct nats_input, job, job);
    in->is_saving = false;
    free(in->text);
    in->text = NULL;
    if (in->has_failed) {
        pfdd_log(PFDD_ERROR, "nats: what edges may forget cannot be written "
                             "to the state folder; trying again");
    }
    for (size_t i = 0; i < in->acks.n && !in->has_failed; i++) {
        struct pfdd_acks_edge *e = &in->acks.edges[i];
        e->is_news |= e->saving > e->saved;
        if (e->saving > e->saved)
            e->saved = e->saving;
    }
    if (!in->has_failed)
        pass(in, in->saving);
    if (in->worker)
        tell_edges(in);
    finish_close(in);
}

static void save(struct nats_input *in, uint64_t seq)
{
    in->text = pfdd_acks_text(&in->acks);
    if (!in->text)
        return;
    for (size_t i = 0; i < in->acks.n; i++)
        in->acks.edges[i].saving = in->acks.edges[i].acked;
    in->saving = seq;
    in->is_saving = true;
    pfdd_pool_submit(in->base.ingest->thread_pools->disk, &in->job);
}

/* Leaves partitions whose arrivals are all written and acknowledged. */
static void leave(struct nats_input *in)
{
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++) {
        if (in->is_leaving[i] && !in->n_of_part[i]) {
            in->is_leaving[i] = false;
            pfdd_worker_leave(in->worker, i);
        }
    }
}

static bool begin(struct nats_input *in);
static void shut(struct nats_input *in);

/* At the end, another worker gets the partitions only when all arrivals are
 * written and acknowledged, or it would write them once more. */
static void shut_if(struct nats_input *in, bool is_time)
{
    if (is_time && in->base.closing && !in->is_shut)
        shut(in);
}

static void count_refused(struct nats_input *in)
{
    uint64_t n = pfdd_worker_refused(in->worker);
    in->base.ingest->count->nats.refused += n - in->n_refused;
    in->n_refused = n;
}

/* What the servers drop before it is read is sent again. */
static void check_window(struct nats_input *in, uint64_t window)
{
    uint64_t max = in->worker ? pfdd_worker_log_max(in->worker) : 0;
    bool is_more = max && window > max;
    if (is_more && !in->is_window_told) {
        pfdd_log(PFDD_WARNING,
                 "nats: %" PRIu64 " edges may have %" PRIu64
                 " MiB in flight, and the servers keep %" PRIu64
                 " MiB (stream_max): what they drop is sent again; raise "
                 "'stream_max', or lower 'window' of the edges",
                 in->base.ingest->count->nats.edges, window >> 20, max >> 20);
    }
    in->is_window_told = is_more;
}

static void count_waiting(struct nats_input *in)
{
    struct pfdd_counters *count = in->base.ingest->count;
    uint64_t now = pfdd_time_now();
    uint64_t since = in->arrivals ? in->arrivals->time : now;
    count->nats.waiting = in->n_arrivals;
    count->nats.oldest_ns = since < now ? now - since : 0;
    uint64_t window = 0;
    if (now - in->counted < COUNT_NS)
        return;
    in->counted = now;
    count->nats.edges = pfdd_edges_seen_count(&in->seen, &window);
    check_window(in, window);
}

static void on_timer(uv_timer_t *timer)
{
    struct nats_input *in = timer->data;
    count_waiting(in);
    shut_if(in, uv_now(in->base.ingest->loop) >= in->deadline);
    if (in->is_shut || in->is_saving || (!in->worker && !begin(in)))
        return;
    in->base.ingest->count->nats.partitions =
        pfdd_worker_partitions(in->worker);
    count_refused(in);
    pfdd_worker_trouble(in->worker, in->trouble, sizeof in->trouble);
    uint64_t seq = pfdd_consumers_acked(in->consumer.of, &in->consumer);
    if (note_written(in, seq)) {
        save(in, seq);
    } else {
        pass(in, seq);
        tell_edges(in);
        leave(in);
        shut_if(in, !in->n_arrivals);
    }
}

/* ---- life ---- */

static void finish_close(struct nats_input *in)
{
    if (!in->base.closing || in->worker || in->n_handles || in->is_saving)
        return;
    if (in->has_joined)
        pfdd_spool_leave(in->base.ingest->spool, &in->consumer);
    while (in->arrivals) {
        struct arrival *a = in->arrivals;
        in->arrivals = a->next;
        free(a);
    }
    in->base.ingest->count->nats.partitions = 0;
    pfdd_worker_message_free(in->worker_message);
    pfdd_edge_buffers_forget(&in->entries.known);
    pfdd_acks_deinit(&in->acks);
    pfdd_edges_seen_deinit(&in->seen);
    pfdd_resend_dedup_deinit(&in->entries.dedup);
    count_memory(in, 0);
    pfdd_input_closed(&in->base);
}

static void on_worker_closed(void *user)
{
    struct nats_input *in = user;
    in->worker = NULL;
    finish_close(in);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct nats_input *in = handle->data;
    in->n_handles--;
    finish_close(in);
}

static void on_queue(struct pfdd_consumer *consumer)
{
    (void)consumer; /* the timer checks it */
}

static bool is_alone(const struct nats_input *in)
{
    for (const struct pfdd_input *i = in->base.ingest->inputs; i; i = i->next) {
        if (i->class == in->base.class && i != &in->base)
            return false;
    }
    return true;
}

/* Begins when the input of an older configuration has ended, and has written
 * its state. False: not yet. */
static bool begin(struct nats_input *in)
{
    struct pfdd_ingest *ingest = in->base.ingest;
    const struct pfdd_worker_options options = {
        .loop = ingest->loop,
        .nats_options = &config_of(in)->nats_options,
        .n_code_max = (size_t)ingest->config->memory_max / 4,
        .wake = on_worker,
        .closed = on_worker_closed,
        .user = in,
    };
    if (in->base.closing || !is_alone(in))
        return false;
    in->worker = pfdd_worker_new(&options);
    if (!in->worker)
        return false;
    in->consumer.name = "input nats";
    in->consumer.wake = on_queue;
    in->consumer.is_raw = true;
    pfdd_spool_join(ingest->spool, &in->consumer);
    in->has_joined = true;
    pfdd_acks_read(ingest->config->state_dir, &in->acks);
    pfdd_resend_dedup_read(&in->consumer, &in->entries.dedup);
    count_memory(in, memory_of(in));
    return true;
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct nats_input *in = (struct nats_input *)input;
    if (!input->ingest->spool) {
        snprintf(err, n_err,
                 "an input 'nats' needs an output that is required");
        return false;
    }
    in->entries.known.ingest = input->ingest;
    in->end = &in->arrivals;
    in->job.run = run_save;
    in->job.done = save_done;
    uv_timer_init(input->ingest->loop, &in->timer);
    uv_timer_init(input->ingest->loop, &in->retry);
    in->timer.data = in->retry.data = in;
    in->n_handles = 2;
    uv_timer_start(&in->timer, on_timer, LOOK_MS, LOOK_MS);
    return true;
}

static void shut(struct nats_input *in)
{
    in->is_shut = true;
    uv_close((uv_handle_t *)&in->timer, on_handle_closed);
    uv_close((uv_handle_t *)&in->retry, on_handle_closed);
    if (in->worker)
        pfdd_worker_close(in->worker);
}

static void close_input(struct pfdd_input *input)
{
    struct nats_input *in = (struct nats_input *)input;
    in->deadline =
        uv_now(input->ingest->loop) + input->ingest->config->drain_ms;
    if (!in->worker)
        shut(in);
}

static bool trouble(const struct pfdd_input *input, char *ret, size_t n)
{
    const struct nats_input *in = (const struct nats_input *)input;
    snprintf(ret, n, "%s", in->trouble);
    return *in->trouble;
}

static size_t metrics(const struct pfdd_input *input, FILE *out)
{
    const struct nats_input *in = (const struct nats_input *)input;
    static const char connected[] =
        "# HELP printfdecode_nats_connected 1: the worker's servers and streams "
        "are there.\n"
        "# TYPE printfdecode_nats_connected gauge\n"
        "printfdecode_nats_connected ";
    if (out)
        fprintf(out, "%s%d\n", connected, in->worker && !*in->trouble);
    return sizeof connected + 2 + pfdd_edge_metrics(&in->seen, &in->acks, out);
}

/* ---- its keys ---- */

static const struct pfdd_part parts[] = {
    { &pfdd_nats_options_group,
      offsetof(struct nats_input_config, nats_options) },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct nats_input_config *config = (const void *)block;
    fputs("entries of edges come from NATS at ", out);
    pfdd_nats_options_plan(&config->nats_options, out);
}

static bool status(const struct pfdd_block *block, FILE *out, char *err,
                   size_t n_err)
{
    return pfdd_nats_status(pfdd_nats_options_of(block), PFDD_INBOX_WORKER, out,
                            err, n_err);
}

const struct pfdd_input_class pfdd_input_nats = {
    .base = { .name = "nats",
              .size = sizeof(struct nats_input_config),
              .parts = parts,
              .plan = plan,
              .set_up = pfdd_nats_set_up,
              .status = status,
              .needs_required = "an input 'nats' needs an output that is "
                                "required: edges keep what is not written",
              .only_one = "there is one input 'nats'" },
    .size = sizeof(struct nats_input),
    .open = open_input,
    .close = close_input,
    .trouble = trouble,
    .metrics = metrics,
};
