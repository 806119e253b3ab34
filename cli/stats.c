/* SPDX-License-Identifier: MIT */
/* printfdecode stats: what the entries are, counted and not printed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "output.h"
#include "run.h"
#include "tell.h"

enum {
    BAR = 24 /* characters */
};

/* Readers of JSON that keep 53 bits of a number round what is beyond. */
static const uint64_t exact_max = UINT64_C(1) << 53;

struct row {
    size_t string;
    uint64_t entries;
    uint64_t bytes;
};

struct stats {
    uint64_t *entries; /* [n_strings] */
    uint64_t *bytes;
    struct row *rows; /* [n_rows], the most entries first */
    size_t n_rows;
    struct pfd_summary total;
};

static int compare(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    if (x->entries != y->entries)
        return x->entries < y->entries ? 1 : -1;
    return x->string < y->string ? -1 : 1;
}

static void make_rows(struct stats *stats, size_t n_strings)
{
    for (size_t i = 0; i < n_strings; i++) {
        if (stats->entries[i]) {
            stats->rows[stats->n_rows++] =
                (struct row){ i, stats->entries[i], stats->bytes[i] };
        }
    }
    qsort(stats->rows, stats->n_rows, sizeof *stats->rows, compare);
}

static double share(const struct stats *stats, uint64_t bytes)
{
    return stats->total.bytes
               ? 100.0 * (double)bytes / (double)stats->total.bytes
               : 0;
}

/* Eighths of a character, so that small shares are seen too. */
static void print_bar(double percent)
{
    static const char *const parts[] = { "",  "▏", "▎", "▍", "▌",
                                         "▋", "▊", "▉", "█" };
    int eighths = (int)(percent / 100 * (double)(BAR * 8) + 0.5);
    int used = 0;
    for (; eighths > 0; eighths -= 8, used++)
        output_printf("%s", parts[eighths < 8 ? eighths : 8]);
    output_printf("%*s ", BAR - used, "");
}

static void print_row(const struct stats *stats, uint64_t entries,
                      uint64_t bytes, bool bars)
{
    double percent = share(stats, bytes);
    output_printf("%12llu %14llu %6.2f %% ", (unsigned long long)entries,
                  (unsigned long long)bytes, percent);
    if (bars)
        print_bar(percent);
}

static void print_string(const struct pfd_string_info *s)
{
    for (size_t i = 0; i < s->n_text; i++) {
        if (s->text[i] == '\n') {
            output_printf("\\n");
        } else {
            output_escaped(s->text + i, 1);
        }
    }
}

static void print_text(const struct stats *stats,
                       const struct pfd_strings *strings, bool bars)
{
    const struct pfd_summary *t = &stats->total;
    uint64_t unknown_bytes = t->bytes;
    output_printf("%12s %14s %8s %*sid              format string\n", "entries",
                  "bytes", "share", bars ? BAR + 1 : 0, "");
    for (size_t i = 0; i < stats->n_rows; i++) {
        const struct row *r = &stats->rows[i];
        struct pfd_string_info s;
        pfd_strings_get(strings, r->string, &s);
        print_row(stats, r->entries, r->bytes, bars);
        output_printf("0x%012llx  ", (unsigned long long)s.id);
        print_string(&s);
        output_printf("\n");
        unknown_bytes -= r->bytes;
    }
    if (t->unknown) {
        print_row(stats, t->unknown, unknown_bytes, bars);
        output_printf("(unknown ids)\n");
    }
    output_printf("%12llu %14llu          total; %llu bytes lost, %llu "
                  "skipped, %llu findings\n",
                  (unsigned long long)t->entries, (unsigned long long)t->bytes,
                  (unsigned long long)t->lost_bytes,
                  (unsigned long long)t->skipped_bytes,
                  (unsigned long long)t->findings);
}

static void print_json(const struct stats *stats,
                       const struct pfd_strings *strings)
{
    const struct pfd_summary *t = &stats->total;
    for (size_t i = 0; i < stats->n_rows; i++) {
        const struct row *r = &stats->rows[i];
        struct pfd_string_info s;
        pfd_strings_get(strings, r->string, &s);
        output_printf("{\"type\":\"string\",\"id\":\"0x%012llx\","
                      "\"string\":\"",
                      (unsigned long long)s.id);
        output_json(s.text, s.n_text);
        output_printf("\",\"entries\":%llu,\"bytes\":%llu,\"share\":%.4f}\n",
                      (unsigned long long)r->entries,
                      (unsigned long long)r->bytes,
                      share(stats, r->bytes) / 100);
    }
    output_printf(
        "{\"type\":\"summary\",\"entries\":%llu,\"unknown\":%llu,"
        "\"bytes\":%llu,\"lost_bytes\":%llu,\"skipped_bytes\":%llu,"
        "\"findings\":%llu",
        (unsigned long long)t->entries, (unsigned long long)t->unknown,
        (unsigned long long)t->bytes, (unsigned long long)t->lost_bytes,
        (unsigned long long)t->skipped_bytes, (unsigned long long)t->findings);
    if (t->lost_bytes > exact_max) {
        output_printf(",\"lost_bytes_exact\":\"%llu\"",
                      (unsigned long long)t->lost_bytes);
    }
    output_printf("}\n");
}

int stats_run(const struct options *o)
{
    struct inputs in;
    struct stats stats = { 0 };
    struct filtering filtering = { 0 };
    if (!filtering_open(&filtering, o))
        return EXIT_ERROR;
    inputs_open(&in, o, tell_finding, NULL);
    size_t n = pfd_strings_count(in.strings);
    stats.entries = calloc(n + 1, sizeof *stats.entries);
    stats.bytes = calloc(n + 1, sizeof *stats.bytes);
    stats.rows = calloc(n + 1, sizeof *stats.rows);
    if (!stats.entries || !stats.bytes || !stats.rows) {
        tell_error("out of memory");
        exit(EXIT_ERROR);
    }
    inputs_want_buffers(&in, "");
    struct pfd_convert convert = {
        .strings = in.strings,
        .filter = filtering.filter,
        .n_given = &filtering.n_given,
        .n_doubts = &filtering.n_doubts,
        .format = o->format,
        .options = o->decoding,
        .threads = o->threads,
        .limit = UINT64_MAX,
        .string_entries = stats.entries,
        .string_bytes = stats.bytes,
    };
    bool ok = run_buffers(o, &in, &convert, &stats.total) && !in.failed;
    filtering_end(&filtering, in.strings);
    make_rows(&stats, n);
    stats.total.findings += in.n_findings;
    if (in.n_buffers && o->output && !strcmp(o->output, "json")) {
        print_json(&stats, in.strings);
    } else if (in.n_buffers) {
        print_text(&stats, in.strings,
                   isatty(STDOUT_FILENO) || o->color == WHEN_ALWAYS);
    }
    inputs_close(&in);
    free(stats.entries);
    free(stats.bytes);
    free(stats.rows);
    ok = ok && !output_failed();
    return filtering_close(&filtering, !ok                    ? EXIT_ERROR
                                       : stats.total.findings ? EXIT_FINDINGS
                                                              : EXIT_CLEAN);
}
