/* SPDX-License-Identifier: MIT */
/* One entry a line, safe for a terminal. */
#include <string.h>
#include <time.h>

#include "core/base/escape.h"
#include "core/base/safe_line.h"
#include "core/decode/inspect.h"
#include "core/filter/highlight.h"
#include "core/output/severity.h"
#include "core/output/sink.h"

/*
 * The prefix of a text line: the entry's time and origin, as far as known and
 * requested, in brackets; and the colour of the message.
 */

enum {
    NS = 1000000000,
};

/* ---- values ---- */

static double origin_float(const struct pfd_origin *o, uint32_t i)
{
    uint32_t bits = (uint32_t)o->value[i];
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static void add_value(struct pfd_text *out, const struct pfd_origin *o)
{
    if (o->type == PFD_ORIGIN_TEXT) {
        pfd_text_add_safe_words(out, o->text, o->n);
        return;
    }
    bool several = o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS;
    uint32_t n = several && o->n <= 3 ? o->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        if (o->type == PFD_ORIGIN_FLOATS) {
            pfd_text_printf(out, "%s%.9g", i ? "," : "", origin_float(o, i));
        } else {
            pfd_text_printf(out,
                            o->type == PFD_ORIGIN_HEX ? "%s0x%llx" : "%s%llu",
                            i ? "," : "", (unsigned long long)o->value[i]);
        }
    }
}

/* "2026-11-20T20:09:49.500000000Z"; room for 40 bytes. */
static char *put_time(char *to, uint64_t unix_ns)
{
    time_t t = (time_t)(unix_ns / NS);
    struct tm tm;
    size_t n = 0;
    if (gmtime_r(&t, &tm))
        n = strftime(to, 24, "%Y-%m-%dT%H:%M:%S", &tm);
    uint64_t left = unix_ns % NS;
    to[n] = '.';
    for (size_t i = 9; i > 0; i--, left /= 10)
        to[n + i] = (char)('0' + left % 10);
    to[n + 10] = 'Z';
    return to + n + 11;
}

/* ---- file and line ---- */

static void add_url(struct pfd_text *out, const char *links,
                    const struct pfd_origin *file)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char plain[] = "-._~/";
    size_t n = strlen(links);
    if (file->n && file->text[0] == '/') { /* begins behind the host */
        const char *host = strstr(links, "://");
        const char *root = host ? strchr(host + 3, '/') : NULL;
        n = root ? (size_t)(root - links) : n;
    }
    pfd_text_add(out, links, n);
    for (uint32_t i = 0; i < file->n; i++) {
        uint8_t c = (uint8_t)file->text[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') || (c && strchr(plain, c));
        char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };
        pfd_text_add(out, is_plain ? (const char *)&c : escaped,
                     is_plain ? 1 : 3);
    }
}

/* "reduce.cu:41", as a hyperlink if requested. */
static void add_file_line(struct pfd_text *out,
                          const struct pfd_source_place *p, const char *links)
{
    bool is_link = links && p->file;
    if (is_link) {
        pfd_text_puts(out, "\033]8;;");
        add_url(out, links, p->file);
        if (p->line) {
            pfd_text_printf(out, "#%llu",
                            (unsigned long long)p->line->value[0]);
        }
        pfd_text_puts(out, "\033\\");
    }
    if (p->file)
        add_value(out, p->file);
    if (p->line) {
        pfd_text_puts(out, p->file ? ":" : "line ");
        add_value(out, p->line);
    }
    if (is_link)
        pfd_text_puts(out, "\033]8;;\033\\");
}

/* ---- the whole prefix ---- */

/* Is this origin shown with its name, among others? */
static bool is_named(const struct pfd_origin *o,
                     const struct pfd_source_place *place, unsigned show)
{
    if (show & PFD_SHOW_LINE && (o == place->file || o == place->line))
        return false;
    return show & PFD_SHOW_ORIGIN ||
           (show & PFD_SHOW_LANE && !strcmp(o->name, "lane"));
}

static void add_named(struct pfd_text *out, struct pfd_entry *entry,
                      const struct pfd_sink_options *options)
{
    const char *stream = pfd_stream_name((enum pfd_stream)entry->stream);
    unsigned show = options->show;
    size_t n = 0;
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    const struct pfd_source_place place = pfd_source_place(o, n);
    if (show & PFD_SHOW_LINE && (place.file || place.line)) {
        add_file_line(out, &place, options->links);
        pfd_text_puts(out, " ");
    }
    if (stream && show & PFD_SHOW_ORIGIN)
        pfd_text_printf(out, "%s ", stream);
    for (size_t i = 0; i < n; i++) {
        if (!is_named(&o[i], &place, show))
            continue;
        pfd_text_printf(out, "%s=", o[i].name);
        add_value(out, &o[i]);
        pfd_text_puts(out, " ");
    }
}

/* "[reduce.cu:41 lane=3] "; nothing where the origin is unknown. */
static void prefix_add(struct pfd_text *out, struct pfd_entry *entry,
                       const struct pfd_sink_options *options)
{
    size_t before = out->n;
    pfd_text_puts(out, options->color ? "\033[2m[" : "[");
    size_t begin = out->n;
    if (options->show & PFD_SHOW_TIME && options->time) {
        char time[48];
        pfd_text_add(out, time, (size_t)(put_time(time, options->time) - time));
        pfd_text_puts(out, " ");
    }
    if (options->show & PFD_SHOW_SOURCE && entry->of->source) {
        pfd_text_add_safe_words(out, entry->of->source,
                                strlen(entry->of->source));
        pfd_text_puts(out, " ");
    }
    add_named(out, entry, options);
    if (options->show & PFD_SHOW_ID) {
        pfd_text_printf(out, "0x%012llx ", (unsigned long long)entry->id);
    }
    if (out->n == begin) {
        out->n = before;
        return;
    }
    out->n -= out->n > begin; /* the last space */
    pfd_text_puts(out, options->color ? "]\033[0m " : "] ");
}

/* ---- colours ---- */

/* The escape sequence of a message's colour: by its level, its stream, and
 * whether all messages of its format are errors. NULL: no colour. */
static const char *prefix_color(struct pfd_entry *entry)
{
    static const char *const styles[] = {
        [PFD_SEVERITY_ERROR] = "\033[31m",
        [PFD_SEVERITY_WARNING] = "\033[33m",
        [PFD_SEVERITY_NOTE] = NULL,
        [PFD_SEVERITY_DEBUG] = "\033[2m",
    };
    return entry->stream == PFD_STREAM_STDERR
               ? styles[PFD_SEVERITY_ERROR]
               : styles[pfd_entry_severity(entry)];
}

/* The payload as words, so that no data is hidden. */
static void add_unknown(struct pfd_text *out, const struct pfd_entry *entry,
                        bool color)
{
    const char *what = "unknown id";
    if (entry->findings >> PFD_FINDING_torn_header & 1) {
        what = "torn header, id";
    } else if (entry->findings >> PFD_FINDING_incomplete & 1) {
        what = "incomplete, id";
    }
    pfd_text_printf(out, "%s<%s 0x%012llx", color ? "\033[33m" : "", what,
                    (unsigned long long)entry->id);
    const uint8_t *payload = entry->payload;
    for (uint32_t at = 0; at + 4 <= entry->n_payload; at += 4) {
        uint32_t word;
        memcpy(&word, payload + at, sizeof word);
        pfd_text_printf(out, "%s%08x", at ? " " : ": ", word);
    }
    pfd_text_puts(out, color ? ">\033[0m\n" : ">\n");
}

enum {
    MATCHES_MAX = 64 /* in a message, of which each has its cost */
};

static bool is_plain(const struct pfd_string *s)
{
    return (s->flags & (PFD_STRING_PLAIN | PFD_STRING_CHAR)) ==
           PFD_STRING_PLAIN;
}

/* "[ambiguous] " before a message that findings make doubtful. */
static void add_marks(struct pfd_text *out, const struct pfd_entry *entry,
                      bool color)
{
    const char *before = color ? "\033[33m[" : "[";
    uint64_t left = entry->findings;
    bool any = false;
    for (; left; left &= left - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(left);
        if (pfd_finding_is_note(kind))
            continue;
        pfd_text_printf(out, "%s%s", any ? "," : before,
                        pfd_finding_name(kind));
        any = true;
    }
    if (any)
        pfd_text_puts(out, color ? "]\033[0m " : "] ");
}

/* A message with its matches in bold red, as grep has them, and the rest in its
 * own colour. */
static void add_highlighted(struct pfd_text *out, const char *message, size_t n,
                            struct pfd_highlight *highlight, const char *style)
{
    size_t done = 0;
    size_t from = 0;
    size_t to = 0;
    pfd_text_puts(out, style);
    pfd_highlight_begin(highlight, message, n);
    for (int i = 0; i < MATCHES_MAX; i++) {
        if (!pfd_highlight_next(highlight, &from, &to))
            break;
        pfd_text_add_safe(out, message + done, from - done);
        pfd_text_puts(out, "\033[0m\033[1;31m");
        pfd_text_add_safe(out, message + from, to - from);
        pfd_text_puts(out, "\033[0m");
        pfd_text_puts(out, style);
        done = to;
    }
    pfd_text_add_safe(out, message + done, n - done);
}

static void text_highlighted(struct pfd_text *out, struct pfd_entry *entry,
                             const struct pfd_sink_options *options)
{
    size_t n = 0;
    const char *style = prefix_color(entry);
    const char *message = pfd_entry_message(entry, &n);
    if (!message) {
        out->failed = true;
        return;
    }
    n -= n > 0 && message[n - 1] == '\n';
    if (options->finding_marks)
        add_marks(out, entry, true);
    add_highlighted(out, message, n, options->highlight, style ? style : "");
    pfd_text_puts(out, style ? "\033[0m\n" : "\n");
}

static void text_entry(struct pfd_text *out, struct pfd_entry *entry,
                       const struct pfd_sink_options *options)
{
    if (__builtin_expect(options->show, 0))
        prefix_add(out, entry, options);
    if (!entry->string) {
        add_unknown(out, entry, options->color);
        return;
    }
    if (options->highlight) {
        text_highlighted(out, entry, options);
        return;
    }
    const char *style = options->color ? prefix_color(entry) : NULL;
    char *at = NULL;
    char *end = NULL;
    if (is_plain(entry->string) && !options->finding_marks && !style) {
        at = pfd_text_reserve(out, entry->room + 1);
        if (!at)
            return;
        end =
            pfd_program_print(at, entry->steps, pfd_string_text(entry->string),
                              PFD_RAW, entry->payload, &entry->findings);
    } else {
        size_t n = 0;
        const char *message = pfd_entry_message(entry, &n);
        if (options->finding_marks)
            add_marks(out, entry, options->color);
        if (style)
            pfd_text_puts(out, style);
        at = message ? pfd_text_reserve(out, 4 * n + 1) : NULL;
        if (!at) {
            out->failed = true;
            return;
        }
        end = pfd_escape_terminal(at, message, n);
    }
    if (end == at || end[-1] != '\n')
        *end++ = '\n';
    out->n += (size_t)(end - at);
    if (style) { /* the line's end is not coloured */
        out->n--;
        pfd_text_puts(out, "\033[0m\n");
    }
}

static size_t text_run(struct pfd_text *out,
                       const struct pfd_entry_run *entry_run, size_t full,
                       const struct pfd_sink_options *options)
{
    size_t i = 0;
    if (options->show || options->finding_marks || options->color)
        return 0;
    for (; i < entry_run->n && out->n <= full; i++) {
        const struct pfd_record *r = &entry_run->records[i];
        char *end =
            is_plain(r->string) ? pfd_sink_message(out, entry_run, r, 1) : NULL;
        if (!end)
            break;
        if (end == out->data + out->n || end[-1] != '\n')
            *end++ = '\n';
        out->n = (size_t)(end - out->data);
    }
    return i;
}

static void text_hidden(struct pfd_text *out, uint64_t n,
                        const struct pfd_sink_options *options)
{
    bool color = options->color;
    pfd_text_printf(out,
                    "%s<%llu more %s of unknown ids; --show unknown shows "
                    "them>%s\n",
                    color ? "\033[33m" : "", (unsigned long long)n,
                    n == 1 ? "entry" : "entries", color ? "\033[0m" : "");
}

/* The separator that grep uses. */
static void text_between(struct pfd_text *out, bool color)
{
    pfd_text_puts(out, color ? "\033[36m--\033[0m\n" : "--\n");
}

/* ---- lines beside messages ---- */

/* "! SOURCE: dword 7: ". */
static void add_place(struct pfd_text *out, const char *source, uint64_t offset,
                      const char *style)
{
    pfd_text_puts(out, style);
    pfd_text_puts(out, "! ");
    if (source) {
        pfd_text_add_safe_words(out, source, strlen(source));
        pfd_text_puts(out, ": ");
    }
    if (offset != PFD_NO_OFFSET)
        pfd_text_printf(out, "dword %llu: ", (unsigned long long)offset / 4);
}

static void text_tell_entry(struct pfd_text *out, const struct pfd_entry *entry,
                            bool color)
{
    bool any = false;
    for (uint64_t left = entry->findings; left && entry->string;
         left &= left - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(left);
        if (pfd_finding_is_note(kind))
            continue;
        if (!any) {
            add_place(out, entry->of->source, entry->offset,
                      color ? "\033[33m" : "");
        }
        pfd_text_printf(out, "%s%s", any ? ", " : "", pfd_finding_name(kind));
        any = true;
    }
    if (any)
        pfd_text_puts(out, color ? "\033[0m\n" : "\n");
}

static void text_tell(struct pfd_text *out, const struct pfd_finding *finding,
                      const struct pfd_sink_options *options)
{
    bool color = options->color;
    if (pfd_finding_is_note(finding->kind))
        return;
    add_place(out, finding->source, finding->offset, color ? "\033[33m" : "");
    pfd_text_printf(out, "%s: ", pfd_finding_name(finding->kind));
    pfd_text_add_safe_words(out, finding->text, strlen(finding->text));
    pfd_text_puts(out, color ? "\033[0m\n" : "\n");
}

static void text_gap(struct pfd_text *out, const struct pfd_gap *gap,
                     const char *source, const struct pfd_sink_options *options)
{
    bool color = options->color;
    add_place(out, source, PFD_NO_OFFSET, color ? "\033[31m" : "");
    pfd_text_puts(out, "gap: ");
    if (gap->missed)
        pfd_text_printf(out, "%llu lost: ", (unsigned long long)gap->missed);
    pfd_text_add_safe_words(out, gap->reason, strlen(gap->reason));
    pfd_text_puts(out, color ? "\033[0m\n" : "\n");
}

const struct pfd_sink pfd_sink_text = {
    .name = "text",
    .entry = text_entry,
    .run = text_run,
    .hidden = text_hidden,
    .between = text_between,
    .tell_entry = text_tell_entry,
    .tell = text_tell,
    .gap = text_gap,
};
