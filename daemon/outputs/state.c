/* SPDX-License-Identifier: MIT */
/*
 * The page of /state: what the daemon knows of its inputs and sources now, as
 * one object of JSON. What the live page says of rates, losses and silence is
 * made of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/version.h>

#include "sources/daemon.h"
#include "sources/library.h"
#include "sources/session.h"

enum {
    SOURCES = 256, /* that are told of, at most */
    INPUTS = 64,
    INPUT_TEXT = 1024, /* bytes of what is said of one */
};

/* What several buffers of a source are like now. */
struct told {
    uint32_t source;
    unsigned n_buffers;
    unsigned n_unwritten;
    unsigned n_unread;
    unsigned n_holes;
    unsigned n_waiting;
    uint64_t size; /* of the largest */
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

/* As in all our JSON: what readers may round is there once more, as a text. */
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

static void put_plan(FILE *out, const struct pfdd_block *block)
{
    char text[INPUT_TEXT] = "";
    FILE *plan = fmemopen(text, sizeof text, "w");
    if (plan) {
        block->class->plan(block, plan);
        fclose(plan);
    }
    /* Half a letter is none. */
    size_t n = strnlen(text, sizeof text - 1);
    while (n == sizeof text - 1 && (text[n - 1] & 0x80))
        text[--n] = '\0';
    text[n] = '\0';
    put_text(out, text);
}

static void put_inputs(FILE *out, const struct pfdd *d)
{
    size_t n = 0;
    fputs(",\"inputs\":[", out);
    for (const struct pfdd_input *in = d->inputs; in; in = in->next) {
        if (++n > INPUTS)
            continue;
        fprintf(out, "%s{\"type\":\"%s\",\"text\":", n > 1 ? "," : "",
                in->class->base.name);
        put_plan(out, &in->config->block);
        fputc('}', out);
    }
    fputc(']', out);
    put_count(out, "n_inputs", n);
}

/* ---- sources ---- */

static bool is_troubled(const struct pfdd_source *s)
{
    return s->troubles.findings || s->troubles.lost_bytes || s->counts.gaps;
}

/* Those that are there come first, and among them those of which something
 * went wrong. */
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

/* Returns how many; *n_all: there are. */
static size_t choose(const struct pfdd_sources *s, struct told told[SOURCES],
                     size_t *n_all)
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

static void look_at_buffers(const struct pfdd *d, struct told *told, size_t n)
{
    for (const struct pfdd_session *s = d->sessions; s;
         s = pfdd_session_next(s)) {
        struct pfdd_session_view view;
        pfdd_session_see(s, &view);
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

static void put_source(FILE *out, const struct pfdd_source *s,
                       const struct told *told)
{
    const struct pfdd_source_troubles *t = &s->troubles;
    fputs("{\"name\":", out);
    put_text(out, s->name);
    put_count(out, "entries", s->counts.lines);
    put_count(out, "gaps", s->counts.gaps);
    put_count(out, "findings", t->findings);
    put_count(out, "unknown", t->unknown);
    put_ids(out, t);
    put_count(out, "lost_bytes", t->lost_bytes);
    put_count(out, "skipped_bytes", t->skipped_bytes);
    put_overflow(out, &t->overflow);
    put_count(out, "buffers", told->n_buffers);
    put_count(out, "unwritten", told->n_unwritten);
    put_count(out, "unread", told->n_unread);
    put_count(out, "with_holes", told->n_holes);
    put_count(out, "waiting", told->n_waiting);
    put_count(out, "size", told->size);
    fputc('}', out);
}

static void put_sources(FILE *out, const struct pfdd *d)
{
    struct told told[SOURCES];
    size_t n_all = 0;
    size_t n = choose(&d->sources, told, &n_all);
    look_at_buffers(d, told, n);
    fputs(",\"sources\":[", out);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc(',', out);
        put_source(out, &d->sources.items[told[i].source], &told[i]);
    }
    fputc(']', out);
    put_count(out, "n_sources", n_all);
}

char *pfdd_state(const struct pfdd *d, size_t *n)
{
    char *text = NULL;
    const struct pfdd_sums *sums = &d->outcome.sums;
    FILE *out = open_memstream(&text, n);
    if (!out)
        return NULL;
    fprintf(out, "{\"type\":\"state\",\"version\":\"%s\"", pfd_version());
    fprintf(out, ",\"time_unix_nano\":\"%" PRIu64 "\"", pfdd_time_now());
    fprintf(out, ",\"started_unix_nano\":\"%" PRIu64 "\"", d->started);
    put_truth(out, "ready", pfdd_is_ready(d));
    put_count(out, "strings", pfdd_library_count(d->library));
    put_count(out, "oldest_sequence", pfdd_ring_oldest(&d->ring));
    put_count(out, "next_sequence", d->ring.next_seq);
    put_count(out, "entries", sums->entries);
    put_count(out, "unknown", sums->unknown);
    put_count(out, "lost_bytes", sums->lost_bytes);
    put_count(out, "skipped_bytes", sums->skipped_bytes);
    put_count(out, "lost_entries", d->count.gap_lines);
    put_inputs(out, d);
    put_sources(out, d);
    fputs("}\n", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
