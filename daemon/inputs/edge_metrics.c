/* SPDX-License-Identifier: MIT */
#include "inputs/edge_metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

enum {
    EDGES = 256, /* that have series */
    HEADS = 512, /* bytes around the series */
    SERIES = 2,
    ROW = 224,    /* bytes of one, with a host */
    ID_SHOWN = 8, /* digits of an identity */
};

struct row {
    const struct pfdd_seen_edge *edge;
    uint64_t lag; /* lines */
};

static uint64_t lag_of(const struct pfdd_seen_edge *e,
                       const struct pfdd_acks *acks)
{
    const struct pfdd_acks_edge *a = pfdd_acks_seek(acks, e->edge);
    uint64_t acked = a ? a->acked : 0;
    return e->queued > acked ? e->queued - acked : 0;
}

static int by_lag(const void *a, const void *b)
{
    const struct row *one = a;
    const struct row *two = b;
    return one->lag != two->lag
               ? (one->lag < two->lag) - (one->lag > two->lag)
               : (one->edge > two->edge) - (one->edge < two->edge);
}

static void put_label(FILE *out, const char *name,
                      const struct pfdd_seen_edge *e)
{
    fprintf(out, "printfdecode_%s{edge=\"%.*s\",host=\"", name, ID_SHOWN,
            e->state);
    for (const char *c = e->host; *c; c++)
        fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs("\"} ", out);
}

static void put_rows(FILE *out, const struct row *rows, size_t n)
{
    fputs(
        "# HELP printfdecode_nats_edge_lag_lines Lines of an edge that are not "
        "written, as of its last message.\n"
        "# TYPE printfdecode_nats_edge_lag_lines gauge\n",
        out);
    for (size_t i = 0; i < n; i++) {
        put_label(out, "nats_edge_lag_lines", rows[i].edge);
        fprintf(out, "%" PRIu64 "\n", rows[i].lag);
    }
    fputs("# HELP printfdecode_nats_edge_silent_seconds Since its last "
          "message.\n"
          "# TYPE printfdecode_nats_edge_silent_seconds gauge\n",
          out);
    for (size_t i = 0; i < n; i++) {
        put_label(out, "nats_edge_silent_seconds", rows[i].edge);
        fprintf(out, "%" PRIu64 "\n",
                pfdd_time_since(rows[i].edge->heard) / 1000000000);
    }
}

size_t pfdd_edge_metrics(const struct pfdd_edges_seen *seen,
                         const struct pfdd_acks *acks, FILE *out)
{
    size_t n = seen->n < EDGES ? seen->n : EDGES;
    size_t most = HEADS + n * SERIES * ROW + seen->n * sizeof(struct row);
    struct row *rows = out ? malloc((seen->n + 1) * sizeof *rows) : NULL;
    size_t n_rows = 0;
    for (size_t i = 0; rows && i < seen->n; i++) {
        const struct pfdd_seen_edge *e = &seen->edges[i];
        if (pfdd_edges_seen_is_current(seen, e))
            rows[n_rows++] = (struct row){ e, lag_of(e, acks) };
    }
    if (n_rows > EDGES) {
        qsort(rows, n_rows, sizeof *rows, by_lag);
        n_rows = EDGES;
    }
    if (rows)
        put_rows(out, rows, n_rows);
    free(rows);
    return most;
}
