/* SPDX-License-Identifier: MIT */
#include "core/output/line_prefix.h"

#include <string.h>
#include <time.h>

#include "core/base/escape.h"
#include "core/decode/inspect.h"

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

/* Untrusted text, kept on its line. */
static void add_safe(struct pfd_text *out, const char *text, size_t n)
{
    char *at = pfd_text_reserve(out, 4 * n + 1);
    if (!at)
        return;
    char *end = pfd_escape_terminal(at, text, n);
    out->n += (size_t)(end - at);
    for (; at < end; at++)
        *at = *at == '\n' ? ' ' : *at;
}

static void add_value(struct pfd_text *out, const struct pfd_origin *o)
{
    if (o->type == PFD_ORIGIN_TEXT) {
        add_safe(out, o->text, o->n);
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

char *pfd_put_time(char *to, uint64_t unix_ns)
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

struct place {
    const struct pfd_origin *file; /* NULL: not known */
    const struct pfd_origin *line; /* likewise */
};

static void find_place(const struct pfd_origin *o, size_t n, struct place *ret)
{
    *ret = (struct place){ 0 };
    for (size_t i = 0; i < n; i++) {
        if (o[i].type == PFD_ORIGIN_TEXT && !strcmp(o[i].name, "file")) {
            ret->file = &o[i];
        } else if (o[i].type == PFD_ORIGIN_NUMBER &&
                   !strcmp(o[i].name, "line")) {
            ret->line = &o[i];
        }
    }
}

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
static void add_place(struct pfd_text *out, const struct place *p,
                      const char *links)
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
static bool is_named(const struct pfd_origin *o, const struct place *place,
                     unsigned show)
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
    struct place place;
    size_t n = 0;
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    find_place(o, n, &place);
    if (show & PFD_SHOW_LINE && (place.file || place.line)) {
        add_place(out, &place, options->links);
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

void pfd_prefix_add(struct pfd_text *out, struct pfd_entry *entry,
                    const struct pfd_sink_options *options)
{
    size_t before = out->n;
    pfd_text_puts(out, options->color ? "\033[2m[" : "[");
    size_t begin = out->n;
    if (options->show & PFD_SHOW_TIME && options->time) {
        char time[48];
        pfd_text_add(out, time,
                     (size_t)(pfd_put_time(time, options->time) - time));
        pfd_text_puts(out, " ");
    }
    if (options->show & PFD_SHOW_SOURCE && entry->of->source) {
        add_safe(out, entry->of->source, strlen(entry->of->source));
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

const char *pfd_prefix_color(struct pfd_entry *entry)
{
    static const struct {
        const char *level;
        const char *style;
    } levels[] = { { "error", "\033[31m" },
                   { "warning", "\033[33m" },
                   { "debug", "\033[2m" },
                   { "trace", "\033[2m" } };
    size_t n = 0;
    if (entry->of->format->complains || entry->stream == PFD_STREAM_STDERR)
        return "\033[31m";
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    for (size_t i = 0; i < n; i++) {
        if (o[i].type != PFD_ORIGIN_TEXT || strcmp(o[i].name, "level") != 0)
            continue;
        for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) {
            if (o[i].n == strlen(levels[k].level) &&
                !memcmp(o[i].text, levels[k].level, o[i].n))
                return levels[k].style;
        }
    }
    return NULL;
}
