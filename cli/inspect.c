/* SPDX-License-Identifier: MIT */
/* printfdecode inspect: a buffer, dword by dword, for who debugs a driver. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "options.h"
#include "output.h"
#include "tell.h"

struct walk {
    const struct options *options;
    const uint8_t *bytes;
    uint64_t n;
    uint64_t done; /* bytes shown */
    struct pfd_format_info format;
    bool color;
};

static uint32_t word_at(const struct walk *w, uint64_t at)
{
    uint32_t word = 0;
    uint64_t left = at < w->n ? w->n - at : 0;
    if (left)
        memcpy(&word, w->bytes + at, left < 4 ? left : 4);
    return word;
}

/* Begins a line; the caller writes what the dword means, and a newline. */
static void begin(struct walk *w, uint64_t at)
{
    output_printf("%8llu  %08x  ", (unsigned long long)at / 4, word_at(w, at));
    w->done = at + 4;
}

static void say(const struct walk *w, const char *style, const char *text)
{
    output_printf("%s", w->color ? style : "");
    output_escaped(text, strlen(text));
    output_printf("%s\n", w->color ? "\033[0m" : "");
}

enum {
    FOLD = 16
}; /* dwords of one kind that are shown singly */

/* Dwords that belong to nothing; many are folded, unless all are wanted. */
static void show_plain(struct walk *w, uint64_t to, const char *what)
{
    uint64_t end = to < w->n ? to : w->n;
    uint64_t n = end > w->done ? (end - w->done) / 4 : 0;
    if (n > FOLD && !w->options->verbose) {
        show_plain(w, w->done + 4, what);
        output_printf("%8s  %8s  %llu more dwords: %s\n", "...", "",
                      (unsigned long long)n - 2, what);
        w->done += (n - 2) * 4;
    }
    while (w->done < to && w->done < w->n) {
        begin(w, w->done);
        say(w, "\033[2m", what);
    }
}

static void show_header(struct walk *w)
{
    for (size_t i = 0; i < w->format.n_header_words && w->done < w->n; i++) {
        begin(w, w->done);
        output_printf("%s\n", w->format.header_words[i]);
    }
}

static void show_message(const struct walk *w, struct pfd_entry *entry)
{
    size_t n = 0;
    const char *message = pfd_entry_message(entry, &n);
    output_printf("%20s%s\"", "", w->color ? "\033[32m" : "");
    for (size_t i = 0; message && i < n;) {
        const char *newline = memchr(message + i, '\n', n - i);
        size_t k = newline ? (size_t)(newline - message) - i : n - i;
        output_escaped(message + i, k);
        if (newline)
            output_printf("\\n");
        i += k + (newline != NULL);
    }
    output_printf("\"%s\n", w->color ? "\033[0m" : "");
}

static void print_argument(size_t i, const struct pfd_argument *a)
{
    bool is_text = a->type == PFD_ARGUMENT_TEXT;
    output_printf("argument %zu, %u %s", i,
                  is_text ? a->n_bytes : a->n_bytes * 8,
                  is_text ? "bytes" : "bits");
    if (a->conversion)
        output_printf(", %%%c", a->conversion);
    switch (a->type) {
    case PFD_ARGUMENT_INT:
        output_printf(" = %lld\n", (long long)a->i);
        break;
    case PFD_ARGUMENT_UNSIGNED:
        output_printf(" = %llu\n", (unsigned long long)a->u);
        break;
    case PFD_ARGUMENT_FLOAT:
        output_printf(" = %.*g\n", a->n_bytes == 8 ? 17 : 9, a->f);
        break;
    case PFD_ARGUMENT_TEXT:
        output_printf(" = %s", a->text ? "'" : "(null)\n");
        if (a->text) {
            output_escaped(a->text, a->n_bytes);
            output_printf("'\n");
        }
        break;
    }
}

static double float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return (double)f;
}

static void show_origin(struct pfd_entry *entry)
{
    const char *stream = pfd_stream_name((enum pfd_stream)entry->stream);
    struct pfd_origin o;
    if (stream)
        output_printf("%20sstream: %s\n", "", stream);
    for (size_t i = 0; pfd_entry_origin(entry, i, &o) == PFD_OK; i++) {
        output_printf("%20s%s: ", "", o.name);
        if (o.type == PFD_ORIGIN_TEXT)
            output_escaped(o.text, o.n);
        uint32_t n = o.type == PFD_ORIGIN_TEXT     ? 0
                     : o.type == PFD_ORIGIN_COORDS ? o.n
                     : o.type == PFD_ORIGIN_FLOATS ? o.n
                                                   : 1;
        for (uint32_t k = 0; k < n && k < 3; k++) {
            if (o.type == PFD_ORIGIN_FLOATS) {
                output_printf("%s%.9g", k ? ", " : "", float_of(o.value[k]));
            } else {
                output_printf(o.type == PFD_ORIGIN_HEX ? "%s0x%llx" : "%s%llu",
                              k ? ", " : "", (unsigned long long)o.value[k]);
            }
        }
        output_printf("\n");
    }
}

static void show_arguments(struct walk *w, struct pfd_entry *entry)
{
    uint64_t payload = entry->offset + entry->n_bytes - entry->n_payload;
    struct pfd_argument a;
    bool in_place = w->bytes + payload == (const uint8_t *)entry->payload;
    if (in_place)
        show_plain(w, payload, "entry header");
    for (size_t i = 0; pfd_entry_argument(entry, i, &a) == PFD_OK; i++) {
        uint64_t at = payload + a.at - a.at % 4;
        if (in_place)
            show_plain(w, at, "no argument");
        if (in_place && w->done <= at && a.n_bytes > 0) {
            begin(w, at);
        } else {
            output_printf("%20s", "");
        }
        print_argument(i, &a);
        if (!in_place)
            continue;
        show_plain(w, payload + a.at + a.n_bytes,
                   a.type == PFD_ARGUMENT_TEXT ? "  more of it"
                                               : "  its high half");
    }
    if (!in_place) /* its bytes stand in several places */
        return;
    show_plain(w, entry->offset + entry->n_bytes,
               entry->string ? "no argument" : "payload");
}

static void show_findings(struct walk *w, const struct pfd_entry *entry)
{
    for (unsigned k = 0; k < PFD_N_FINDING_KINDS; k++) {
        char text[512];
        enum pfd_finding_kind kind = (enum pfd_finding_kind)k;
        if (!(entry->findings >> k & 1))
            continue;
        pfd_entry_finding_text(entry, kind, text, sizeof text);
        output_printf("%20s%s%s: ", "", w->color ? "\033[33m" : "",
                      pfd_finding_name(kind));
        say(w, "", text);
    }
}

static void show_entry(struct walk *w, struct pfd_entry *entry)
{
    size_t n = 0;
    if (w->format.n_entry_words) { /* or entries are in no order */
        show_plain(w, entry->offset, "skipped");
    } else {
        output_printf("%8llu  entry %llu, %u dwords, id 0x%012llx\n",
                      (unsigned long long)entry->offset / 4,
                      (unsigned long long)entry->index, entry->n_bytes / 4,
                      (unsigned long long)entry->id);
    }
    for (size_t i = 0; i < w->format.n_entry_words; i++) {
        begin(w, entry->offset + 4 * i);
        output_printf("%s", w->format.entry_words[i]);
        if (i == 0) {
            output_printf("  (entry %llu, %u dwords, id 0x%012llx)",
                          (unsigned long long)entry->index, entry->n_bytes / 4,
                          (unsigned long long)entry->id);
        }
        output_printf("\n");
    }
    if (pfd_entry_format_string(entry, &n))
        show_message(w, entry);
    show_origin(entry);
    show_findings(w, entry);
    show_arguments(w, entry);
}

static void show_finding(struct walk *w, const struct pfd_finding *finding)
{
    if (finding->offset != PFD_NO_OFFSET && finding->offset > w->done)
        show_plain(w, finding->offset, "skipped");
    output_printf("%20s%s%s: ", "", w->color ? "\033[33m" : "",
                  pfd_finding_name(finding->kind));
    say(w, "", finding->text);
}

static bool find_format(const char *name, struct pfd_format_info *ret)
{
    for (size_t i = 0; pfd_format_get(i, ret) == PFD_OK; i++) {
        if (!strcmp(ret->name, name))
            return true;
    }
    return false;
}

static void show_format(struct walk *w, const char *name)
{
    if (name && find_format(name, &w->format))
        show_header(w);
}

static bool walk_buffer(struct walk *w, const struct inputs *in,
                        const char *name, struct pfd_summary *summary)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_error err;
    struct pfd_item item;
    enum pfd_status status =
        pfd_decoder_new(in->strings, w->options->format, name, &decoder, &err);
    if (status == PFD_OK)
        pfd_decoder_set_options(decoder, &w->options->decoding);
    if (status == PFD_OK)
        status = pfd_decoder_view(decoder, w->bytes, w->n, 0, true, &err);
    for (bool first = true; status == PFD_OK; first = false) {
        status = pfd_decoder_next(decoder, &item, &err);
        if (first) /* only now is the format decided */
            show_format(w, pfd_decoder_format(decoder));
        if (status == PFD_OK && item.is_entry) {
            show_entry(w, &item.entry);
        } else if (status == PFD_OK) {
            show_finding(w, &item.finding);
        }
    }
    if (status < 0) {
        tell_error("%s: %s", name, err.text);
    } else {
        pfd_decoder_summary(decoder, summary);
    }
    show_plain(w, w->n, "not used (stale, or never written)");
    pfd_decoder_free(decoder);
    return status >= 0;
}

int inspect_run(const struct options *o)
{
    struct inputs in;
    bool ok = true;
    uint64_t findings = 0;
    inputs_open(&in, o, tell_finding, NULL);
    if (in.n_buffers == 0 && !in.failed) {
        tell_error("no buffer among the files");
        ok = false;
    }
    for (size_t i = 0; i < in.n_buffers; i++) {
        struct buffer *b = &in.buffers[i];
        struct pfd_summary summary = { 0 };
        struct pfd_error err;
        char *copy = NULL;
        /* An annotated walk is not for gigabytes: streams are kept whole. */
        if (!b->bytes && !input_slurp(b, &copy, &b->n, &err)) {
            tell_error("%s: %s", b->name, err.text);
            ok = false;
        }
        struct walk w = { .options = o,
                          .bytes = copy ? (uint8_t *)copy : b->bytes,
                          .n = b->n,
                          .color = options_color(o, STDOUT_FILENO) };
        if (in.n_buffers > 1)
            output_printf("%s:\n", b->name);
        ok = walk_buffer(&w, &in, b->name, &summary) && ok;
        findings += summary.findings;
        free(copy);
    }
    ok = ok && !in.failed && !output_failed();
    findings += in.n_findings;
    inputs_close(&in);
    return !ok ? EXIT_ERROR : findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
