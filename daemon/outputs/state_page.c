/* SPDX-License-Identifier: MIT */
#include "outputs/state_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/common.h>

#include "base/name.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/string_store.h"

enum {
    SOURCES = 256, /* sources on the page, at most */
    INPUTS = 64,
    INPUT_TEXT = 1024, /* bytes of the words on one */
    /* Bytes of the text, at most: but for inputs and sources, of an input, of a
     * source but for its name; and what a byte becomes. */
    REST = 2048,
    ESCAPED = 6,
    INPUT = 64 + ESCAPED * INPUT_TEXT,
    SOURCE = 1104,
    NAME_ESCAPED = 2, /* names have no control characters */
};

/* The sum over all buffers of a source. */
struct told {
    uint32_t source;
    unsigned n_buffers;
    unsigned n_unwritten;
    unsigned n_unread;
    unsigned n_holes;
    unsigned n_waiting;
    uint64_t size; /* of the largest buffer */
};

struct pfdd_state {
    uint64_t time; /* like started, ns since 1970 */
    uint64_t started;
    bool is_ready;
    uint64_t n_strings;
    uint64_t oldest;
    uint64_t next_seq;
    uint64_t entries;
    uint64_t unknown;
    uint64_t lost_bytes;
    uint64_t skipped_bytes;
    uint64_t lost_entries;
    size_t n_inputs; /* all that there are */
    struct input {
        const char *type; /* a constant */
        char text[INPUT_TEXT];
    } * inputs;       /* [n_inputs], INPUTS at most */
    size_t n_sources; /* all that there are */
    size_t n_rows;
    struct row {
        struct told told;
        struct pfdd_source_counts counts;
        struct pfdd_source_troubles troubles;
        char name[PFDD_NAME_MAX + 1];
        char host[PFDD_NAME_MAX + 1]; /* "": this machine, or not known */
    } rows[];                         /* [n_rows] */
};

/* UTF-8. */
static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ') {
            fprintf(out, "\\u%04x", c);
        } else {
            fprintf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
        }
    }
    fputc('"', out);
}

/* As in all JSON of the daemon: a number that a parser might round has a text
 * member, too. */
static void put_count(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, value);
    if (value > UINT64_C(1) << 53)
        fprintf(out, ",\"%s_exact\":\"%" PRIu64 "\"", name, value);
}

static void put_truth(FILE *out, const char *name, bool value)
{
    fprintf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

/* ---- inputs ---- */

static size_t count_inputs(const struct pfdd_delivery *delivery)
{
    size_t n = 0;
    for (const struct pfdd_input *in = delivery->ingest->inputs; in;
         in = in->next)
        n++;
    return n;
}

static size_t n_told(size_t n_inputs)
{
    return n_inputs < INPUTS ? n_inputs : INPUTS;
}

/* Bytes of text [n] without the part of a letter that it may end with. */
static size_t whole_letters(const char *text, size_t n)
{
    size_t at = n;
    while (at && (text[at - 1] & 0xc0) == 0x80)
        at--;
    unsigned char first = at ? (unsigned char)text[at - 1] : 0;
    size_t length = first >= 0xf0   ? 4
                    : first >= 0xe0 ? 3
                    : first >= 0xc0 ? 2
                                    : 1;
    return at && at - 1 + length > n ? at - 1 : n;
}

static void note_plan(const struct pfdd_block *block, char text[INPUT_TEXT])
{
    FILE *plan = fmemopen(text, INPUT_TEXT, "w");
    if (plan) {
        block->type_class->plan(block, plan);
        fclose(plan);
    }
    text[whole_letters(text, strnlen(text, INPUT_TEXT - 1))] = '\0';
}

static void note_inputs(struct pfdd_state *s,
                        const struct pfdd_delivery *delivery)
{
    const struct pfdd_input *in = delivery->ingest->inputs;
    for (size_t i = 0; in && i < n_told(s->n_inputs); i++, in = in->next) {
        s->inputs[i].type = in->class->base.name;
        note_plan(&in->config->block, s->inputs[i].text);
    }
}

static void put_inputs(FILE *out, const struct pfdd_state *s)
{
    fputs(",\"inputs\":[", out);
    for (size_t i = 0; i < n_told(s->n_inputs); i++) {
        fprintf(out, "%s{\"type\":\"%s\",\"text\":", i ? "," : "",
                s->inputs[i].type);
        put_text(out, s->inputs[i].text);
        fputc('}', out);
    }
    fputc(']', out);
    put_count(out, "n_inputs", s->n_inputs);
}

/* ---- sources ---- */

static bool is_troubled(const struct pfdd_source *s)
{
    return s->troubles.findings || s->troubles.lost_bytes || s->counts.gaps;
}

/* Sources with buffers come first, and among them sources with problems. */
static unsigned rank(const struct pfdd_source *s)
{
    return s->refs ? (is_troubled(s) ? 0 : 1) : 2;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct told *)a)->source;
    uint32_t y = ((const struct told *)b)->source;
    return (x > y) - (x < y);
}

/* Returns the number of chosen sources; *n_all: of all. */
static size_t choose(const struct pfdd_source_table *s,
                     struct told told[SOURCES], size_t *n_all)
{
    size_t n = 0;
    *n_all = 0;
    for (unsigned wanted = 0; wanted < 3; wanted++) {
        for (uint32_t i = 0; i < s->n; i++) {
            const struct pfdd_source *it = &s->items[i];
            if (!it->name || !it->is_listed || rank(it) != wanted)
                continue;
            ++*n_all;
            if (n < SOURCES)
                told[n++] = (struct told){ .source = i };
        }
    }
    qsort(told, n, sizeof *told, by_number);
    return n;
}

static void look_at_buffers(const struct pfdd_delivery *delivery,
                            struct told *told, size_t n)
{
    for (const struct pfdd_follower *s = delivery->ingest->followers; s;
         s = pfdd_follower_next(s)) {
        struct pfdd_follower_view view;
        pfdd_follower_see(s, &view);
        struct told key = { .source = view.source };
        struct told *it = bsearch(&key, told, n, sizeof key, by_number);
        if (!it || view.is_trial)
            continue;
        it->n_buffers++;
        it->n_unwritten += !view.is_written;
        it->n_unread += view.is_unread;
        it->n_holes += view.has_holes;
        it->n_waiting += view.waits;
        it->size = view.size > it->size ? view.size : it->size;
    }
}

static void put_ids(FILE *out, const struct pfdd_source_troubles *t)
{
    fputs(",\"unknown_ids\":[", out);
    for (size_t i = 0; i < t->n_ids; i++)
        fprintf(out, "%s\"0x%012" PRIx64 "\"", i ? "," : "", t->ids[i]);
    fputc(']', out);
}

static void put_overflow(FILE *out, const struct pfdd_source_overflow *o)
{
    if (!o->lost_bytes || !o->size)
        return;
    fprintf(out, ",\"overflow\":{\"size\":%" PRIu64, o->size);
    put_count(out, "lost_bytes", o->lost_bytes);
    put_count(out, "entries", o->entries);
    fputc('}', out);
}

static void put_source(FILE *out, const struct row *s)
{
    const struct pfdd_source_troubles *t = &s->troubles;
    const struct told *source_summary = &s->told;
    fputs("{\"name\":", out);
    put_text(out, s->name);
    if (*s->host) {
        fputs(",\"host\":", out);
        put_text(out, s->host);
    }
    put_count(out, "entries", s->counts.lines);
    put_count(out, "gaps", s->counts.gaps);
    put_count(out, "findings", t->findings);
    put_count(out, "unknown", t->unknown);
    put_ids(out, t);
    put_count(out, "lost_bytes", t->lost_bytes);
    put_count(out, "skipped_bytes", t->skipped_bytes);
    put_overflow(out, &t->overflow);
    put_count(out, "buffers", source_summary->n_buffers);
    put_count(out, "unwritten", source_summary->n_unwritten);
    put_count(out, "unread", source_summary->n_unread);
    put_count(out, "with_holes", source_summary->n_holes);
    put_count(out, "waiting", source_summary->n_waiting);
    put_count(out, "size", source_summary->size);
    fputc('}', out);
}

static void put_sources(FILE *out, const struct pfdd_state *s)
{
    fputs(",\"sources\":[", out);
    for (size_t i = 0; i < s->n_rows; i++) {
        if (i)
            fputc(',', out);
        put_source(out, &s->rows[i]);
    }
    fputc(']', out);
    put_count(out, "n_sources", s->n_sources);
}

/* told: [n] */
static void note_sources(struct pfdd_state *s,
                         const struct pfdd_delivery *delivery,
                         const struct told *told, size_t n)
{
    for (; s->n_rows < n; s->n_rows++) {
        struct row *row = &s->rows[s->n_rows];
        const struct pfdd_source *it =
            &delivery->source_table->items[told[s->n_rows].source];
        row->told = told[s->n_rows];
        row->counts = it->counts;
        row->troubles = it->troubles;
        snprintf(row->name, sizeof row->name, "%s", it->name);
        snprintf(row->host, sizeof row->host, "%s", it->host);
    }
}

/* ---- the page ---- */

size_t pfdd_state_most(const struct pfdd_delivery *delivery)
{
    size_t n_inputs = n_told(count_inputs(delivery));
    size_t n_sources = delivery->source_table->n_listed < SOURCES
                           ? delivery->source_table->n_listed
                           : SOURCES;
    size_t note = sizeof(struct pfdd_state) + n_inputs * sizeof(struct input) +
                  n_sources * sizeof(struct row);
    /* Those of listed ones are in these bytes twice, as they are written. */
    size_t n_names = n_sources * NAME_ESCAPED * 2 * PFDD_NAME_MAX;
    n_names = n_names < delivery->source_table->n_listed_bytes
                  ? n_names
                  : delivery->source_table->n_listed_bytes;
    return note + REST + n_inputs * INPUT + n_sources * SOURCE + n_names;
}

static void note_sums(struct pfdd_state *s,
                      const struct pfdd_delivery *delivery)
{
    const struct pfdd_buffer_stats *buffer_stats =
        &delivery->ingest->outcome.buffer_stats;
    s->time = pfdd_time_now();
    s->started = delivery->started;
    s->is_ready = pfdd_is_ready(delivery);
    s->n_strings = pfdd_string_store_count(delivery->ingest->string_store);
    s->oldest = pfdd_ring_oldest(delivery->ring);
    s->next_seq = delivery->ring->next_seq;
    s->entries = buffer_stats->entries;
    s->unknown = buffer_stats->unknown;
    s->lost_bytes = buffer_stats->lost_bytes;
    s->skipped_bytes = buffer_stats->skipped_bytes;
    s->lost_entries = delivery->count->gap_lines;
}

struct pfdd_state *pfdd_state_new(const struct pfdd_delivery *delivery)
{
    struct told source_summary[SOURCES];
    size_t n_all = 0;
    size_t n = choose(delivery->source_table, source_summary, &n_all);
    struct pfdd_state *s = calloc(1, sizeof *s + n * sizeof *s->rows);
    if (!s)
        return NULL;
    s->n_inputs = count_inputs(delivery);
    s->n_sources = n_all;
    s->inputs = calloc(n_told(s->n_inputs) + 1, sizeof *s->inputs);
    if (!s->inputs) {
        pfdd_state_free(s);
        return NULL;
    }
    look_at_buffers(delivery, source_summary, n);
    note_sums(s, delivery);
    note_inputs(s, delivery);
    note_sources(s, delivery, source_summary, n);
    return s;
}

void pfdd_state_free(struct pfdd_state *state)
{
    if (!state)
        return;
    free(state->inputs);
    free(state);
}

/* Bytes of its text, at most, and one. */
static size_t text_room(const struct pfdd_state *s)
{
    size_t n = REST + n_told(s->n_inputs) * INPUT + s->n_rows * SOURCE + 1;
    for (size_t i = 0; i < s->n_rows; i++)
        n += NAME_ESCAPED * (strlen(s->rows[i].name) + strlen(s->rows[i].host));
    return n;
}

char *pfdd_state_write(const struct pfdd_state *s, size_t *n)
{
    size_t room = text_room(s);
    char *text = malloc(room);
    FILE *out = text ? fmemopen(text, room, "w") : NULL;
    if (!out) {
        free(text);
        return NULL;
    }
    fprintf(out, "{\"type\":\"state\",\"version\":\"%s\"", pfd_version());
    fprintf(out, ",\"time_unix_nano\":\"%" PRIu64 "\"", s->time);
    fprintf(out, ",\"started_unix_nano\":\"%" PRIu64 "\"", s->started);
    put_truth(out, "ready", s->is_ready);
    put_count(out, "strings", s->n_strings);
    put_count(out, "oldest_sequence", s->oldest);
    put_count(out, "next_sequence", s->next_seq);
    put_count(out, "entries", s->entries);
    put_count(out, "unknown", s->unknown);
    put_count(out, "lost_bytes", s->lost_bytes);
    put_count(out, "skipped_bytes", s->skipped_bytes);
    put_count(out, "lost_entries", s->lost_entries);
    put_inputs(out, s);
    put_sources(out, s);
    fputs("}\n", out);
    long end = fflush(out) == 0 && !ferror(out) ? ftell(out) : 0;
    if (fclose(out) != 0 || end <= 0) {
        free(text);
        return NULL;
    }
    *n = (size_t)end;
    char *fits = realloc(text, *n);
    return fits ? fits : text;
}
