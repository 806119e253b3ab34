/* SPDX-License-Identifier: MIT */
#include "nats/nats_status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/name.h"
#include "config/units.h"
#include "core/base/clock.h"
#include "nats/nats_connection.h"
#include "nats/nats_fetch.h"
#include "nats/nats_lease.h"

enum {
    /* Anybody who may publish there could store more messages. */
    WORKERS_MAX = 10000,
    SUBJECTS_MAX = 100000,
    ABOUT = 128, /* bytes of a worker's own message */
};

#define NS_PER_S UINT64_C(1000000000)

struct worker {
    char id[PFDD_EDGE_ID];
    char about[PFDD_NAME_ROOM]; /* its host and process; "": not known */
    bool has[PFDD_NATS_PARTITIONS];
    unsigned n; /* partitions */
};

/* An incarnation whose message is the last one of a subject. */
struct edge {
    char id[PFDD_EDGE_NAME];
    char host[PFDD_NAME_ROOM];
    uint64_t last; /* number of its last item, as of then */
    uint64_t time; /* when that was stored, ns since 1970 */
    uint64_t acked;
    uint64_t acked_time; /* of the last acknowledgement; 0: there is none */
};

struct status {
    struct pfdd_nats line;
    FILE *out;
    struct worker *workers; /* [n_workers] */
    size_t n_workers;
    size_t workers_size;
    bool has_more_workers;
    bool has_more_subjects;
    struct edge *edges; /* [n_edges] */
    size_t n_edges;
    size_t size;
};

static uint64_t seconds_since(uint64_t time)
{
    uint64_t now = pfd_clock_ns(CLOCK_REALTIME);
    return time && time < now ? (now - time) / NS_PER_S : 0;
}

/* ---- streams ---- */

static void put_stream(struct status *s, const char *name,
                       const jsStreamInfo *info)
{
    const jsStreamState *state = &info->State;
    fprintf(s->out, "%s: %" PRIu64 " messages, %" PRIu64 " KiB", name,
            state->Msgs, (state->Bytes + 1023) / 1024);
    if (info->Config->MaxBytes > 0) {
        fputs(" of ", s->out);
        pfdd_units_put_size(s->out, (uint64_t)info->Config->MaxBytes);
    }
    if (state->Msgs) {
        fprintf(s->out, ", the oldest from %" PRIu64 " seconds ago",
                seconds_since((uint64_t)state->FirstTime));
    }
    fputc('\n', s->out);
}

static bool put_streams(struct status *s)
{
    static const char *const names[] = { PFDD_LOG_STREAM, PFDD_CODE_STREAM,
                                         PFDD_ACK_STREAM, PFDD_LEASE_STREAM };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        jsStreamInfo *info = NULL;
        natsStatus status =
            pfdd_nats_stream_info(&s->line, names[i], NULL, &info, NULL);
        if (status != NATS_OK)
            return pfdd_nats_failed(&s->line, names[i], status);
        put_stream(s, names[i], info);
        jsStreamInfo_Destroy(info);
    }
    return true;
}

/* ---- workers ---- */

/* The items [n] of size bytes each, with room for one more. NULL: out of memory;
 * they are as they were. */
static void *make_room(void *items, size_t n, size_t size, size_t *room)
{
    if (n < *room)
        return items;
    size_t more = *room ? 2 * *room : 64;
    void *ret = realloc(items, more * size);
    if (ret)
        *room = more;
    return ret;
}

/* NULL: out of memory. */
static struct worker *find_worker(struct status *s, const char *id)
{
    for (size_t i = 0; i < s->n_workers; i++) {
        if (!strcmp(s->workers[i].id, id))
            return &s->workers[i];
    }
    struct worker *all =
        make_room(s->workers, s->n_workers, sizeof *all, &s->workers_size);
    if (!all)
        return NULL;
    s->workers = all;
    struct worker *w = &all[s->n_workers++];
    *w = (struct worker){ .n = 0 };
    snprintf(w->id, sizeof w->id, "%s", id);
    return w;
}

static void take_worker(struct status *s, const struct pfd_stored_message *m)
{
    const char *id = pfdd_lease_worker(m->subject);
    struct worker *w = id ? find_worker(s, id) : NULL;
    s->has_more_workers |= id && !w;
    if (w && m->bytes && m->n < ABOUT)
        pfdd_name_put(w->about, m->bytes, m->n);
}

static void take_lease(struct status *s, const struct pfd_stored_message *m)
{
    int i = pfdd_lease_partition(m->subject);
    struct worker *w = NULL;
    if (i < 0 || !m->bytes || m->n != PFDD_EDGE_ID - 1 ||
        strlen(m->bytes) != m->n)
        return;
    for (size_t k = 0; k < s->n_workers && !w; k++) {
        if (!strcmp(s->workers[k].id, m->bytes))
            w = &s->workers[k];
    }
    if (w && !w->has[i]) {
        w->has[i] = true;
        w->n++;
    }
}

/* Calls for the stored messages of a subject with wildcards, n_max at most; *more:
 * there may be others. */
static bool each_lease(struct status *s, const char *subject, unsigned n_max,
                       bool *more,
                       void (*take)(struct status *s,
                                    const struct pfd_stored_message *m))
{
    uint64_t number = 1;
    natsStatus status = NATS_OK;
    for (unsigned i = 0; status == NATS_OK && i < n_max; i++) {
        struct pfd_stored_message m;
        status = pfd_stored_message_next(s->line.nc, PFDD_LEASE_STREAM, subject,
                                         number, &m);
        if (status == NATS_OK) {
            take(s, &m);
            number = m.number + 1;
        }
        pfd_stored_message_deinit(&m);
    }
    *more |= status == NATS_OK;
    return status == NATS_OK || status == NATS_NOT_FOUND ||
           pfdd_nats_failed(&s->line, PFDD_LEASE_STREAM, status);
}

/* "0-31 40" */
static void put_partitions(FILE *out, const bool has[PFDD_NATS_PARTITIONS])
{
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++) {
        unsigned first = i;
        if (!has[i])
            continue;
        while (i + 1 < PFDD_NATS_PARTITIONS && has[i + 1])
            i++;
        fprintf(out, i > first ? " %u-%u" : " %u", first, i);
    }
}

static bool put_workers(struct status *s)
{
    bool free_ones[PFDD_NATS_PARTITIONS];
    unsigned n_free = 0;
    bool more = false;
    if (!each_lease(s, "gpulease.v1.worker.*", WORKERS_MAX,
                    &s->has_more_workers, take_worker) ||
        !each_lease(s, "gpulease.v1.*", 2 * PFDD_NATS_PARTITIONS, &more,
                    take_lease))
        return false;
    memset(free_ones, true, sizeof free_ones);
    fprintf(s->out, "workers: %zu%s\n", s->n_workers,
            s->has_more_workers ? ", and others that are not looked at" : "");
    for (size_t i = 0; i < s->n_workers; i++) {
        const struct worker *w = &s->workers[i];
        fprintf(s->out, "  %s%s%.8s: %u partitions:", w->about,
                *w->about ? ", " : "", w->id, w->n);
        put_partitions(s->out, w->has);
        fputc('\n', s->out);
        for (unsigned k = 0; k < PFDD_NATS_PARTITIONS; k++)
            free_ones[k] &= !w->has[k];
    }
    for (unsigned k = 0; k < PFDD_NATS_PARTITIONS; k++)
        n_free += free_ones[k];
    if (n_free) {
        fprintf(s->out, "  nobody: %u partitions:", n_free);
        put_partitions(s->out, free_ones);
        fputc('\n', s->out);
    }
    return true;
}

/* ---- edges ---- */

/* NULL: out of memory. */
static struct edge *find_edge(struct status *s, const char *id)
{
    for (size_t i = 0; i < s->n_edges; i++) {
        if (!strcmp(s->edges[i].id, id))
            return &s->edges[i];
    }
    struct edge *all = make_room(s->edges, s->n_edges, sizeof *all, &s->size);
    if (!all)
        return NULL;
    s->edges = all;
    struct edge *e = &all[s->n_edges++];
    *e = (struct edge){ .last = 0 };
    snprintf(e->id, sizeof e->id, "%s", id);
    return e;
}

/* Takes the last message of a subject. */
static natsStatus take_last(struct status *s, const char *subject)
{
    struct pfd_stored_message m;
    natsStatus status =
        pfd_stored_message_last(s->line.nc, PFDD_LOG_STREAM, subject, &m);
    struct pfdd_worker_message *p =
        status == NATS_OK ? pfdd_fetch_entries(&m) : NULL;
    struct edge *e = p ? find_edge(s, p->edge) : NULL;
    if (e && p->queued >= e->last) {
        e->last = p->queued;
        e->time = m.time;
        e->acked = p->acked > e->acked ? p->acked : e->acked;
        pfdd_name_put(e->host, p->host, strlen(p->host));
    }
    pfdd_worker_message_free(p);
    pfd_stored_message_deinit(&m);
    return status == NATS_NOT_FOUND ? NATS_OK : status;
}

static natsStatus take_ack(struct status *s, struct edge *e)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message m;
    pfdd_ack_subject(e->id, subject);
    natsStatus status =
        pfd_stored_message_last(s->line.nc, PFDD_ACK_STREAM, subject, &m);
    struct pfdd_worker_message *p =
        status == NATS_OK ? pfdd_fetch_ack(&m) : NULL;
    if (p) {
        e->acked = p->acked > e->acked ? p->acked : e->acked;
        e->acked_time = m.time;
    }
    pfdd_worker_message_free(p);
    pfd_stored_message_deinit(&m);
    return status == NATS_NOT_FOUND ? NATS_OK : status;
}

static natsStatus take_edges(struct status *s)
{
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Info.SubjectsFilter = "gpulog.v1.>";
    natsStatus status =
        pfdd_nats_stream_info(&s->line, PFDD_LOG_STREAM, &options, &info, NULL);
    const jsStreamStateSubjects *all =
        status == NATS_OK ? info->State.Subjects : NULL;
    for (int i = 0;
         status == NATS_OK && all && i < all->Count && i < SUBJECTS_MAX; i++)
        status = take_last(s, all->List[i].Subject);
    s->has_more_subjects = all && all->Count > SUBJECTS_MAX;
    jsStreamInfo_Destroy(info);
    for (size_t i = 0; status == NATS_OK && i < s->n_edges; i++)
        status = take_ack(s, &s->edges[i]);
    return status;
}

static uint64_t waiting(const struct edge *e)
{
    return e->last > e->acked ? e->last - e->acked : 0;
}

static int by_waiting(const void *a, const void *b)
{
    const struct edge *one = a;
    const struct edge *two = b;
    uint64_t n = waiting(one);
    uint64_t m = waiting(two);
    return n != m ? (n < m) - (n > m) : strcmp(one->host, two->host);
}

static bool put_edges(struct status *s)
{
    uint64_t n = 0;
    natsStatus status = take_edges(s);
    if (status != NATS_OK)
        return pfdd_nats_failed(&s->line, PFDD_LOG_STREAM, status);
    if (s->n_edges)
        qsort(s->edges, s->n_edges, sizeof *s->edges, by_waiting);
    for (size_t i = 0; i < s->n_edges; i++)
        n += waiting(&s->edges[i]) > 0;
    fprintf(s->out,
            "edges: %zu, of which %" PRIu64 " have lines that are not "
            "written%s\n",
            s->n_edges, n,
            s->has_more_subjects ? "; and others that are not looked at" : "");
    for (size_t i = 0; i < s->n_edges; i++) {
        const struct edge *e = &s->edges[i];
        fprintf(s->out,
                "  %s, %.8s: %" PRIu64 " lines wait, written up to %" PRIu64
                " of %" PRIu64 "; the last came %" PRIu64 " seconds ago",
                e->host, e->id, waiting(e), e->acked, e->last,
                seconds_since(e->time));
        if (e->acked_time) {
            fprintf(s->out, ", a worker acknowledged %" PRIu64 " seconds ago",
                    seconds_since(e->acked_time));
        }
        fputc('\n', s->out);
    }
    return true;
}

bool pfdd_nats_status(const struct pfdd_nats_options *nats_options,
                      const char *inbox, FILE *out, char *err, size_t n_err)
{
    struct status *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(err, n_err, "out of memory");
        return false;
    }
    s->line.nats_options = nats_options;
    s->line.inbox = inbox;
    s->out = out;
    bool ok = pfdd_nats_open(&s->line, NULL, NULL) && put_streams(s) &&
              put_workers(s) && put_edges(s);
    if (!ok)
        snprintf(err, n_err, "%s", s->line.why);
    pfdd_nats_close(&s->line);
    free(s->workers);
    free(s->edges);
    free(s);
    return ok;
}
