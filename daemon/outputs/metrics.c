/* SPDX-License-Identifier: MIT */
/* The page of /metrics, in the text format of Prometheus. */
#include "outputs/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/common.h>

#include "base/digits.h"
#include "base/log.h"
#include "base/process_usage.h"
#include "core/base/text.h"
#include "ingest/fd_store.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/poller.h"
#include "ingest/string_store.h"
#include "outputs/state_page.h"
#include "ring/cursor.h"
#include "spool/spool.h"

enum {
    HEADS = 1024,     /* bytes around the series of sources, */
    REST = 32 * 1024, /* and of all others, about */
};

static void head(FILE *out, const char *name, const char *type,
                 const char *help)
{
    fprintf(out, "# HELP printfdecode_%s %s\n# TYPE printfdecode_%s %s\n", name,
            help, name, type);
}

static void counter(FILE *out, const char *name, uint64_t value,
                    const char *help)
{
    head(out, name, "counter", help);
    fprintf(out, "printfdecode_%s %" PRIu64 "\n", name, value);
}

static void gauge(FILE *out, const char *name, uint64_t value, const char *help)
{
    head(out, name, "gauge", help);
    fprintf(out, "printfdecode_%s %" PRIu64 "\n", name, value);
}

/* Metrics that all programs have, under the names that they share. */
static void put_process(FILE *out, const struct pfdd_delivery *delivery)
{
    struct pfdd_process_usage u;
    pfdd_process_usage_get(&u);
    const struct {
        const char *name;
        const char *type;
        const char *help;
        double value;
    } series[] = {
        { "cpu_seconds_total", "counter", "Processor time.",
          (double)u.cpu_ns / 1e9 },
        { "open_fds", "gauge", "Open file descriptors.", (double)u.n_fds },
        { "max_fds", "gauge", "How many it may open.", (double)u.max_fds },
        { "virtual_memory_bytes", "gauge", "Address space.",
          (double)u.virtual_bytes },
        { "resident_memory_bytes", "gauge", "Memory in use.",
          (double)u.resident_bytes },
        { "start_time_seconds", "gauge",
          "When the process started, seconds since 1970.",
          (double)delivery->started / 1e9 },
    };
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        fprintf(out,
                "# HELP process_%s %s\n# TYPE process_%s %s\n"
                "process_%s %.15g\n",
                series[i].name, series[i].help, series[i].name, series[i].type,
                series[i].name, series[i].value);
    }
}

static void seconds(FILE *out, const char *name, uint64_t value_ms,
                    const char *help)
{
    head(out, name, "gauge", help);
    fprintf(out, "printfdecode_%s %" PRIu64 ".%03" PRIu64 "\n", name,
            value_ms / 1000, value_ms % 1000);
}

/* A name (name.h) contains no newline. */
static void put_label(FILE *out, const char *name)
{
    for (; *name; name++)
        fprintf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
}

static void put_memory(FILE *out, const struct pfdd_delivery *delivery)
{
    struct pfdd_memory m;
    size_t total = pfdd_memory(delivery, &m);
    head(out, "memory_bytes", "gauge", "Memory by what holds it.");
    fprintf(out,
            "printfdecode_memory_bytes{part=\"ring\"} %zu\n"
            "printfdecode_memory_bytes{part=\"pages\"} %zu\n"
            "printfdecode_memory_bytes{part=\"inputs\"} %zu\n"
            "printfdecode_memory_bytes{part=\"frames\"} %zu\n"
            "printfdecode_memory_bytes{part=\"buffers\"} %zu\n"
            "printfdecode_memory_bytes{part=\"sessions\"} %zu\n"
            "printfdecode_memory_bytes{part=\"helpers\"} %zu\n"
            "printfdecode_memory_bytes{part=\"strings\"} %zu\n"
            "printfdecode_memory_bytes{part=\"outputs\"} %zu\n",
            m.ring, m.pages, m.inputs, m.frames, m.buffers, m.sessions,
            m.helpers, m.strings, m.outputs);
    gauge(out, "memory_accounted_bytes", total, "The sum of all parts.");
    gauge(out, "memory_peak_bytes", delivery->budget->peak,
          "The largest that this sum has been.");
    gauge(out, "memory_max_bytes", delivery->config->memory_max,
          "The configured cap.");
}

static uint64_t n_long_of_queue(const struct pfdd_delivery *delivery)
{
    struct pfdd_spool_state q = { 0 };
    if (delivery->spool)
        pfdd_spool_state(delivery->spool, &q);
    return q.n_long;
}

static void put_queue(FILE *out, const struct pfdd_delivery *delivery)
{
    struct pfdd_spool_state q;
    if (!delivery->spool)
        return;
    pfdd_spool_state(delivery->spool, &q);
    gauge(out, "queue_bytes", q.bytes, "Disk space of the queue's segments.");
    gauge(out, "queue_object_bytes", q.objects,
          "Disk space of the code objects that its entries need.");
    gauge(out, "queue_left_objects", q.objects_left,
          "Code objects that came later and have no room in queue_max.");
    gauge(out, "queue_segments", q.segments, "Segments of the queue.");
    counter(out, "queue_cut_bytes_total", q.cut,
            "Bytes that could not be read.");
    counter(out, "queue_errors_total", q.errors, "Failed writes.");
    gauge(out, "queue_failing", q.failing, "1: the queue cannot be written.");
}

static void put_lines(FILE *out, const struct pfdd_delivery *delivery)
{
    static const char *const kinds[] = { "entry", "finding", "gap" };
    head(out, "lines_total", "counter",
         "Lines delivered to the ring, by type.");
    for (unsigned i = 0; i < PFDD_N_KINDS; i++) {
        fprintf(out, "printfdecode_lines_total{type=\"%s\"} %" PRIu64 "\n",
                kinds[i], delivery->ring->n_lines[i]);
    }
    counter(out, "bytes_total", delivery->ring->n_in,
            "Bytes of all chunks of entries.");
    gauge(out, "next_sequence", delivery->ring->next_seq,
          "Sequence number of the next line.");
}

static void put_readers(FILE *out, const struct pfdd_delivery *delivery)
{
    uint64_t n = 0;
    uint64_t missed = delivery->count->missed;
    uint64_t behind = 0;
    for (const struct pfdd_cursor *r = pfdd_cursors_first(delivery->ring); r;
         r = pfdd_cursors_next(r)) {
        uint64_t seq = pfdd_cursor_seq(r);
        uint64_t lag =
            delivery->ring->next_seq > seq ? delivery->ring->next_seq - seq : 0;
        n++;
        missed += r->missed;
        behind = lag > behind ? lag : behind;
    }
    gauge(out, "readers", n, "Subscribers and outputs that read the ring.");
    counter(out, "missed_lines_total", missed,
            "Lines that readers were too slow for, each with a gap record.");
    gauge(out, "behind_lines", behind,
          "Lines that the slowest reader has left.");
}

/* Series of records that outputs have sent. */
static void put_sent(FILE *out, const struct pfdd_delivery *delivery,
                     const char *name, const char *type, const char *help,
                     size_t member)
{
    head(out, name, type, help);
    for (const struct pfdd_output *o = delivery->outputs; o; o = o->next) {
        if (!o->class->sent || o->closing)
            continue;
        struct pfdd_sent sent = o->class->sent(o);
        fprintf(out, "printfdecode_%s{type=\"%s\",output=\"", name,
                o->config->block.type_class->name);
        put_label(out, o->class->checkpoint_name(o->config));
        const char *at = (const char *)&sent + member;
        uint64_t value = member == offsetof(struct pfdd_sent, is_connected)
                             ? sent.is_connected
                             : *(const uint64_t *)(const void *)at;
        if (member == offsetof(struct pfdd_sent, age_ns)) {
            fprintf(out, "\"} %.3f\n", (double)value / 1e9);
        } else {
            fprintf(out, "\"} %" PRIu64 "\n", value);
        }
    }
}

static void put_outputs(FILE *out, const struct pfdd_delivery *delivery)
{
    bool any = false;
    for (const struct pfdd_output *o = delivery->outputs; o; o = o->next)
        any |= o->class->sent && !o->closing;
    if (!any)
        return;
    put_sent(out, delivery, "output_sent_total", "counter",
             "Messages that an output has sent, or written; of nats chunks.",
             offsetof(struct pfdd_sent, sent));
    put_sent(out, delivery, "output_dropped_total", "counter",
             "Messages that it could not send in time, or at all.",
             offsetof(struct pfdd_sent, dropped));
    put_sent(out, delivery, "output_retried_total", "counter",
             "Sends that failed and were tried again.",
             offsetof(struct pfdd_sent, retried));
    put_sent(out, delivery, "output_acknowledged_total", "counter",
             "Messages of which it is known that they have arrived.",
             offsetof(struct pfdd_sent, acked));
    put_sent(out, delivery, "output_oldest_seconds", "gauge",
             "For how long the oldest waits that has not arrived, or not gone.",
             offsetof(struct pfdd_sent, age_ns));
    put_sent(out, delivery, "output_connected", "gauge",
             "1: its peer is connected, or its file can be written.",
             offsetof(struct pfdd_sent, is_connected));
}

static void put_sums(FILE *out, const struct pfdd_buffer_stats *buffer_stats)
{
    counter(out, "unknown_entries_total", buffer_stats->unknown,
            "Entries whose id no format string has.");
    counter(out, "lost_bytes_total", buffer_stats->lost_bytes,
            "Bytes that buffers were too small for.");
    counter(out, "skipped_bytes_total", buffer_stats->skipped_bytes,
            "Bytes of buffers that no entry was made of.");
    head(out, "findings_total", "counter",
         "What was found in buffers, by kind; printfdecode(1) lists them.");
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        fprintf(out, "printfdecode_findings_total{kind=\"%s\"} %" PRIu64 "\n",
                pfd_finding_name((enum pfd_finding_kind)i),
                buffer_stats->findings[i]);
    }
}

/* Counters of errors and requests. */
static void put_counters(FILE *out, const struct pfdd_delivery *delivery)
{
    const struct pfdd_counters *c = delivery->count;
    counter(out, "too_long_lines_total",
            delivery->render_cache->n_long + n_long_of_queue(delivery),
            "Lines above 1 MiB, each replaced by a gap record.");
    counter(out, "pages_made_total", delivery->render_cache->n_made,
            "Pages of text that were made of entries.");
    counter(out, "costly_total", c->costly,
            "Subscribers cut off because what they match costs too much.");
    counter(out, "no_memory_lines_total", delivery->ring->no_memory,
            "Lines lost for lack of memory, with a gap record.");
    counter(out, "bad_frames_total", c->bad_frames,
            "Frames of producers that could not be used.");
    counter(out, "disconnected_total", c->disconnected,
            "Subscribers disconnected because they were too slow.");
    counter(out, "file_errors_total", c->file_errors,
            "Failed writes of files.");
    counter(out, "file_retries_total", c->file_retries,
            "Writes of files tried again.");
    counter(out, "truncated_total", c->truncated,
            "Watched files that were cut.");
    counter(out, "replaced_total", c->replaced,
            "Watched files that another file took the place of.");
    counter(out, "out_of_descriptors_total", c->out_of_fds,
            "Times that no file descriptor was left.");
    counter(out, "refused_total", c->refused,
            "Connections, and streams over HTTP, that were refused.");
    gauge(out, "waiting_producers", c->waiting,
          "Producers that have connected and wait until there is room.");
    counter(out, "idle_producers_total", c->idle,
            "Producers without a buffer that said nothing, closed.");
    counter(out, "refused_files_total", c->refused_files,
            "Files in watched folders that were not read.");
    gauge(out, "waiting_files", c->waiting_files,
          "Sources with lines whose file waits until others are written.");
    gauge(out, "unread_processes", c->unread_processes,
          "Processes that inputs are to read, and cannot.");
    counter(out, "nats_duplicates_total", c->nats.duplicates,
            "Messages of edges that were there already.");
    counter(out, "nats_again_total", c->nats.again,
            "Times that an edge was asked to send something again.");
    counter(out, "nats_refused_total", c->nats.refused,
            "Messages of NATS that are no edge's, or lack code objects.");
    gauge(out, "nats_partitions", c->nats.partitions,
          "Partitions of NATS that are leased to this worker.");
    gauge(out, "nats_edges", c->nats.edges,
          "Edges that this worker has heard in the last 10 minutes.");
    gauge(out, "nats_waiting", c->nats.waiting,
          "Messages of edges whose entries are taken and not written.");
    gauge(out, "nats_oldest_seconds", c->nats.oldest_ns / 1000000000,
          "Age of the oldest of them.");
    counter(out, "http_requests_total", c->requests, "HTTP requests.");
    counter(out, "reloads_total", c->reloads, "Configurations taken over.");
    counter(out, "bad_reloads_total", c->bad_reloads,
            "Configurations that could not be used.");
    counter(out, "log_suppressed_total", pfdd_log_suppressed(),
            "Log lines held back because there were too many.");
}

/* Bytes, at most. out: NULL, or gets them. */
static size_t put_inputs(FILE *out, const struct pfdd_delivery *delivery)
{
    size_t n = 0;
    for (const struct pfdd_input *in = delivery->ingest->inputs; in;
         in = in->next) {
        if (in->class->metrics && !in->closing)
            n += in->class->metrics(in, out);
    }
    return n;
}

/* NULL: out of memory. */
static char *write_rest(const struct pfdd_delivery *delivery, size_t *n)
{
    char *text = NULL;
    const struct pfdd_counters *c = delivery->count;
    FILE *out = open_memstream(&text, n);
    if (!out)
        return NULL;
    size_t n_sessions = 0;
    for (const struct pfdd_follower *s = delivery->ingest->followers; s;
         s = pfdd_follower_next(s))
        n_sessions++;
    head(out, "build_info", "gauge", "The version.");
    fprintf(out, "printfdecode_build_info{version=\"%s\"} 1\n", pfd_version());
    gauge(out, "start_time_seconds", delivery->started / 1000000000,
          "When it started, seconds since 1970.");
    put_process(out, delivery);
    put_lines(out, delivery);
    put_readers(out, delivery);
    put_memory(out, delivery);
    put_queue(out, delivery);
    put_outputs(out, delivery);
    gauge(out, "sessions", n_sessions, "Buffers that are followed.");
    gauge(out, "kept_buffers", pfdd_fd_store_count(delivery->ingest->fd_store),
          "Buffers that the service manager keeps over a restart.");
    gauge(out, "strings",
          pfdd_string_store_count(delivery->ingest->string_store),
          "Format strings.");
    seconds(out, "poll_interval_seconds",
            delivery->ingest->poller
                ? pfdd_poller_interval(delivery->ingest->poller)
                : 0,
            "Between looks at buffers.");
    seconds(out, "loop_lag_seconds", delivery->lag_ms,
            "By how much the loop was late the last time.");
    counter(out, "polls_total", c->polls, "Looks at buffers.");
    counter(out, "waits_total", c->waits,
            "Looks put off because readers were behind.");
    counter(out, "lost_entries_total", c->gap_lines,
            "Entries known to be lost on their way in.");
    put_sums(out, &delivery->ingest->outcome.buffer_stats);
    put_counters(out, delivery);
    put_inputs(out, delivery);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- sources, on a worker ---- */

static void put_name(struct pfd_text *out, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            pfd_text_add(out, "\\", 1);
        pfd_text_add(out, name, 1);
    }
}

/* The source without a name stands for all that are not listed. */
static void put_row(struct pfd_text *out, const char *series, const char *name,
                    const char *host, uint64_t value)
{
    pfd_text_puts(out, series);
    put_name(out, name);
    if (*host) {
        pfd_text_puts(out, "\",host=\"");
        put_name(out, host);
    }
    pfd_text_puts(out, "\"} ");
    pfdd_text_number(out, value);
    pfd_text_add(out, "\n", 1);
}

static void put_series(struct pfd_text *out, const struct pfdd_metrics *m,
                       const char *begin, const char *series, bool of_gaps)
{
    pfd_text_puts(out, begin);
    for (size_t i = 0; i < m->n_rows; i++) {
        const struct pfdd_metrics_row *row = &m->rows[i];
        put_row(out, series, row->name, row->host,
                of_gaps ? row->counts.gaps : row->counts.lines);
    }
    put_row(out, series, "", "", of_gaps ? m->others.gaps : m->others.lines);
}

static size_t page_bytes(const struct pfdd_metrics *m,
                         const struct pfdd_delivery *delivery)
{
    return m->n_rest + delivery->source_table->n_listed_bytes + HEADS;
}

static void make(struct pfdd_job *job)
{
    struct pfdd_metrics *m = PFDD_MEMBER_OF(struct pfdd_metrics, job, job);
    struct pfd_text out = { 0 };
    if (m->is_state) {
        m->text = pfdd_state_write(m->state, &m->n);
        return;
    }
    pfd_text_reserve(&out, m->n);
    pfd_text_add(&out, m->rest, m->n_rest);
    put_series(&out, m,
               "# HELP printfdecode_source_entries_total Entries of each "
               "source; \"\": of those that are gone for long.\n"
               "# TYPE printfdecode_source_entries_total counter\n",
               "printfdecode_source_entries_total{source=\"", false);
    put_series(&out, m,
               "# HELP printfdecode_source_gaps_total Gap records of each "
               "source; likewise.\n"
               "# TYPE printfdecode_source_gaps_total counter\n",
               "printfdecode_source_gaps_total{source=\"", true);
    m->text = pfd_text_take(&out, &m->n);
}

/* ---- the snapshot ---- */

static void free_snapshot(struct pfdd_metrics *m)
{
    free(m->rest);
    free(m->rows);
    free(m->names);
    pfdd_state_free(m->state);
    m->rest = m->names = NULL;
    m->rows = NULL;
    m->state = NULL;
}

/* A page has each twice, with more beside it. */
static size_t names_bytes(const struct pfdd_source_table *s)
{
    return s->n_listed_bytes / 2 + 1;
}

static void snapshot_sources(struct pfdd_metrics *m,
                             const struct pfdd_source_table *s)
{
    char *at = m->names;
    size_t left = names_bytes(s);
    for (uint32_t i = 0; i < s->n && m->n_rows < s->n_listed; i++) {
        const struct pfdd_source *it = &s->items[i];
        size_t n_name = it->is_listed ? strlen(it->name) + 1 : 0;
        size_t n = n_name ? n_name + strlen(it->host) + 1 : 0;
        if (!n || n > left)
            continue;
        memcpy(at, it->name, n_name);
        memcpy(at + n_name, it->host, n - n_name);
        m->rows[m->n_rows++] =
            (struct pfdd_metrics_row){ it->counts, at, at + n_name };
        at += n;
        left -= n;
    }
    m->others = s->others;
}

/* Reserves memory for the snapshot and for making the page. */
static bool take_snapshot(struct pfdd_metrics *m,
                          const struct pfdd_delivery *delivery)
{
    const struct pfdd_source_table *s = delivery->source_table;
    size_t n_rows = s->n_listed * sizeof *m->rows;
    size_t n = sizeof *m + s->n_listed_bytes + n_rows + 2 * REST +
               2 * put_inputs(NULL, delivery) + names_bytes(s) + HEADS;
    if (!pfdd_resource_account_change(&m->account, n))
        return false;
    m->rest = write_rest(delivery, &m->n_rest);
    m->rows = malloc(n_rows + 1);
    m->names = malloc(names_bytes(s));
    if (!m->rest || !m->rows || !m->names)
        return false;
    snapshot_sources(m, s);
    m->n = page_bytes(m, delivery);
    return true;
}

static bool snapshot_state(struct pfdd_metrics *m,
                           const struct pfdd_delivery *delivery)
{
    size_t n = sizeof *m + pfdd_state_most(delivery);
    if (!pfdd_resource_account_change(&m->account, n))
        return false;
    m->state = pfdd_state_new(delivery);
    return m->state;
}

static struct pfdd_metrics *new_page(struct pfdd_delivery *delivery,
                                     const struct pfdd_peer_key *key)
{
    struct pfdd_metrics *m = calloc(1, sizeof *m);
    if (m && pfdd_user_accounts_join(&delivery->pages, key, &m->account)) {
        m->refs = 1;
        return m;
    }
    free(m);
    return NULL;
}

struct pfdd_metrics *pfdd_metrics_new(struct pfdd_delivery *delivery,
                                      const struct pfdd_peer_key *key,
                                      bool is_state)
{
    struct pfdd_metrics *m = new_page(delivery, key);
    if (!m)
        return NULL;
    m->job.run = make;
    m->is_state = is_state;
    if (is_state ? snapshot_state(m, delivery) : take_snapshot(m, delivery))
        return m;
    pfdd_metrics_unref(m);
    return NULL;
}

struct pfdd_metrics *pfdd_metrics_of(struct pfdd_delivery *delivery,
                                     const struct pfdd_peer_key *key,
                                     char *text, size_t n)
{
    struct pfdd_metrics *m = new_page(delivery, key);
    if (!m)
        return NULL;
    if (!pfdd_resource_account_change(&m->account, sizeof *m + n)) {
        pfdd_metrics_unref(m);
        return NULL;
    }
    m->text = text;
    m->n = n;
    return m;
}

void pfdd_metrics_finish(struct pfdd_metrics *m)
{
    size_t n = sizeof *m + (m->text ? m->n : 0);
    free_snapshot(m);
    pfdd_resource_account_change(&m->account, n);
}

void pfdd_metrics_unref(struct pfdd_metrics *m)
{
    if (!m || --m->refs > 0)
        return;
    free_snapshot(m);
    free(m->text);
    pfdd_user_accounts_leave(&m->account);
    free(m);
}
