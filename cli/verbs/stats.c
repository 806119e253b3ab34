/* SPDX-License-Identifier: MIT */
/* printfdecode stats: counts entries instead of printing them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/convert_inputs.h"
#include "input/filter.h"
#include "input/open_inputs.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct stats_options {
    struct options common;
    const char *sort;
};

static const struct stats_options *own(const struct options *o)
{
    return (const struct stats_options *)o;
}

enum {
    BAR = 24 /* characters */
};

/* JSON readers with doubles round larger integers. */
static const uint64_t exact_max = UINT64_C(1) << 53;

struct row {
    size_t order;
    uint64_t id;
    const char *text; /* [n_text] */
    size_t n_text;
    bool is_owned; /* text is owned: it came in a buffer */
    uint64_t entries;
    uint64_t bytes;
};

struct stats {
    uint64_t *entries; /* [n_strings] */
    uint64_t *bytes;
    struct row *rows; /* [n_rows] of [room], in the requested order */
    size_t n_rows;
    size_t room;
    struct row others; /* sum for strings beyond the limit of separate rows */
    struct pfd_summary total;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_bytes(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = compare_numbers(y->bytes, x->bytes);
    return order ? order : compare_numbers(x->order, y->order);
}

static int by_entries(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = compare_numbers(y->entries, x->entries);
    return order ? order : by_bytes(a, b);
}

static int by_id(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = compare_numbers(x->id, y->id);
    return order ? order : by_bytes(a, b);
}

static const struct sorting {
    const char *name;
    int (*compare)(const void *a, const void *b);
} sortings[] = {
    { "bytes", by_bytes },
    { "entries", by_entries },
    { "id", by_id },
};

/* NULL: there is no such order; an error was printed. */
static const struct sorting *find_sorting(const char *name)
{
    for (size_t i = 0; i < sizeof sortings / sizeof *sortings; i++) {
        if (!name || !strcmp(name, sortings[i].name))
            return &sortings[i];
    }
    message_error("--sort takes bytes, entries or id, not '%s'", name);
    return NULL;
}

/* Appends a row; exits when out of memory. */
static struct row *add_row(struct stats *stats)
{
    if (stats->n_rows == stats->room) {
        size_t room = stats->room ? 2 * stats->room : 64;
        void *rows = realloc(stats->rows, room * sizeof *stats->rows);
        if (!rows)
            exit_without_memory();
        stats->rows = rows;
        stats->room = room;
    }
    struct row *row = &stats->rows[stats->n_rows];
    *row = (struct row){ .order = stats->n_rows++ };
    return row;
}

/* Adds counts of a string that came in a buffer; called for each thread. */
static void add_made(void *user, const struct pfd_string_info *s,
                     uint64_t entries, uint64_t bytes)
{
    struct stats *stats = user;
    struct row *row = s ? add_row(stats) : &stats->others;
    if (s) {
        char *text = malloc(s->n_text + 1);
        if (!text)
            exit_without_memory();
        memcpy(text, s->text, s->n_text);
        row->text = text;
        row->n_text = s->n_text;
        row->is_owned = true;
        row->id = s->id;
    }
    row->entries += entries;
    row->bytes += bytes;
}

static int by_text(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = compare_numbers(x->id, y->id);
    if (!order)
        order = compare_numbers(x->n_text, y->n_text);
    return order ? order : memcmp(x->text, y->text, x->n_text);
}

static void free_text(struct row *row)
{
    if (row->is_owned)
        free((char *)(uintptr_t)row->text);
}

/* Merges the rows that threads and buffers have for one string. */
static void merge_made(struct stats *stats)
{
    size_t n = 0;
    if (stats->n_rows)
        qsort(stats->rows, stats->n_rows, sizeof *stats->rows, by_text);
    for (size_t i = 0; i < stats->n_rows; i++) {
        struct row *row = &stats->rows[i];
        struct row *last = n ? &stats->rows[n - 1] : NULL;
        if (last && !by_text(last, row)) {
            last->entries += row->entries;
            last->bytes += row->bytes;
            free_text(row);
        } else {
            stats->rows[n++] = *row;
        }
    }
    stats->n_rows = n;
}

static void add_known(struct stats *stats, const struct pfd_strings *strings)
{
    size_t n = pfd_strings_count(strings);
    for (size_t i = 0; i < n; i++) {
        struct pfd_string_info s;
        if (!stats->entries[i])
            continue;
        pfd_strings_get(strings, i, &s);
        struct row *row = add_row(stats);
        row->id = s.id;
        row->text = s.text;
        row->n_text = s.n_text;
        row->entries = stats->entries[i];
        row->bytes = stats->bytes[i];
    }
}

static void sort_rows(struct stats *stats, const struct sorting *sorting)
{
    if (stats->n_rows) {
        qsort(stats->rows, stats->n_rows, sizeof *stats->rows,
              sorting->compare);
    }
}

static void free_rows(struct stats *stats)
{
    for (size_t i = 0; i < stats->n_rows; i++)
        free_text(&stats->rows[i]);
    free(stats->rows);
}

static double share(const struct stats *stats, uint64_t bytes)
{
    return stats->total.bytes
               ? 100.0 * (double)bytes / (double)stats->total.bytes
               : 0;
}

/* Draws eighths of a character, so that small shares are visible. */
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

static void print_string(const struct row *row)
{
    for (size_t i = 0; i < row->n_text; i++) {
        if (row->text[i] == '\n') {
            output_printf("\\n");
        } else {
            output_escaped(row->text + i, 1);
        }
    }
}

static void print_rest(const struct stats *stats, uint64_t entries,
                       uint64_t bytes, bool bars, const char *what)
{
    if (!entries)
        return;
    print_row(stats, entries, bytes, bars);
    output_printf("%s\n", what);
}

static void print_text(const struct stats *stats, bool bars)
{
    const struct pfd_summary *t = &stats->total;
    uint64_t unknown_bytes = t->bytes - stats->others.bytes;
    output_printf("%12s %14s %8s %*sid              format string\n", "entries",
                  "bytes", "share", bars ? BAR + 1 : 0, "");
    for (size_t i = 0; i < stats->n_rows; i++) {
        const struct row *r = &stats->rows[i];
        print_row(stats, r->entries, r->bytes, bars);
        output_printf("0x%012llx  ", (unsigned long long)r->id);
        print_string(r);
        output_printf("\n");
        unknown_bytes -= r->bytes;
    }
    print_rest(stats, stats->others.entries, stats->others.bytes, bars,
               "(more format strings)");
    print_rest(stats, t->unknown, unknown_bytes, bars, "(unknown ids)");
    output_printf("%12llu %14llu          total; %llu bytes lost, %llu "
                  "skipped, %llu findings\n",
                  (unsigned long long)t->entries, (unsigned long long)t->bytes,
                  (unsigned long long)t->lost_bytes,
                  (unsigned long long)t->skipped_bytes,
                  (unsigned long long)t->findings);
}

static void print_counts_json(const struct stats *stats, const struct row *r)
{
    output_printf(",\"entries\":%llu,\"bytes\":%llu,\"share\":%.4f}\n",
                  (unsigned long long)r->entries, (unsigned long long)r->bytes,
                  share(stats, r->bytes) / 100);
}

static void print_json(const struct stats *stats)
{
    const struct pfd_summary *t = &stats->total;
    for (size_t i = 0; i < stats->n_rows; i++) {
        const struct row *r = &stats->rows[i];
        output_printf("{\"type\":\"string\",\"id\":\"0x%012llx\",",
                      (unsigned long long)r->id);
        output_json_text("string", r->text, r->n_text);
        print_counts_json(stats, r);
    }
    if (stats->others.entries) {
        output_printf("{\"type\":\"string\",\"id\":null,\"string\":null");
        print_counts_json(stats, &stats->others);
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

static int stats_run(const struct options *o)
{
    struct inputs in;
    struct stats stats = { 0 };
    struct filtering filtering = { 0 };
    const struct sorting *sorting = find_sorting(own(o)->sort);
    if (!sorting || !filtering_open(&filtering, &o->filter))
        return EXIT_ERROR;
    inputs_open(&in, o, message_finding, NULL);
    size_t n = pfd_strings_count(in.strings);
    stats.entries = calloc(n + 1, sizeof *stats.entries);
    stats.bytes = calloc(n + 1, sizeof *stats.bytes);
    if (!stats.entries || !stats.bytes)
        exit_without_memory();
    inputs_want_buffers(&in, "");
    struct pfd_convert convert = {
        .strings = in.strings,
        .filter = filtering.filter,
        .n_emitted = &filtering.n_given,
        .n_doubts = &filtering.n_doubts,
        .format = o->reading.format,
        .options = &o->reading.decoding,
        .threads = o->threads,
        .string_entries = stats.entries,
        .string_bytes = stats.bytes,
        .string_sum = add_made,
        .string_sum_user = &stats,
    };
    bool ok = convert_buffers(o, &in, &convert, &stats.total) && !in.failed;
    filtering_end(&filtering, in.strings);
    merge_made(&stats);
    add_known(&stats, in.strings);
    sort_rows(&stats, sorting);
    stats.total.findings += in.n_findings;
    if (in.n_buffers && o->output && !strcmp(o->output, "json")) {
        print_json(&stats);
    } else if (in.n_buffers) {
        print_text(&stats, isatty(STDOUT_FILENO) || o->color == WHEN_ALWAYS);
    }
    free_rows(&stats);
    inputs_close(&in);
    free(stats.entries);
    free(stats.bytes);
    ok = ok && !output_failed();
    return filtering_close(&filtering, !ok                    ? EXIT_ERROR
                                       : stats.total.findings ? EXIT_FINDINGS
                                                              : EXIT_CLEAN);
}

static const struct option_row rows[] = {
    { "sort", 0, "NAME", "bytes (default), entries or id",
      offsetof(struct stats_options, sort), option_text, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,
    &options_output,
    OPTIONS_READING,
    &options_filter,
    &options_work,
    OPTIONS_ENDING,
    NULL,
};

const struct verb verb_stats = {
    .name = "stats",
    .files = "BUFFER [FILE...]",
    .help = "count entries and bytes for each format string",
    .run = stats_run,
    .groups = groups,
    .size = sizeof(struct stats_options),
};
