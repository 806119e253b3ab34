/* SPDX-License-Identifier: MIT */
/* One entry a line, safe for a terminal. */
#include <string.h>

#include "core/base/escape.h"
#include "core/filter/highlight.h"
#include "core/output/line_prefix.h"

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

static void add_escaped(struct pfd_text *out, const char *text, size_t n)
{
    if (!n)
        return; /* out may have no memory yet */
    char *at = pfd_text_reserve(out, 4 * n);
    if (at)
        out->n += (size_t)(pfd_escape_terminal(at, text, n) - at);
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
        add_escaped(out, message + done, from - done);
        pfd_text_puts(out, "\033[0m\033[1;31m");
        add_escaped(out, message + from, to - from);
        pfd_text_puts(out, "\033[0m");
        pfd_text_puts(out, style);
        done = to;
    }
    add_escaped(out, message + done, n - done);
}

static void text_highlighted(struct pfd_text *out, struct pfd_entry *entry,
                             const struct pfd_sink_options *options)
{
    size_t n = 0;
    const char *style = pfd_prefix_color(entry);
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
        pfd_prefix_add(out, entry, options);
    if (!entry->string) {
        add_unknown(out, entry, options->color);
        return;
    }
    if (options->highlight) {
        text_highlighted(out, entry, options);
        return;
    }
    const char *style = options->color ? pfd_prefix_color(entry) : NULL;
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

/* Untrusted text, kept on its line. */
static void add_safe(struct pfd_text *out, const char *text)
{
    size_t n = strlen(text);
    char *at = pfd_text_reserve(out, 4 * n);
    if (!at)
        return;
    char *end = pfd_escape_terminal(at, text, n);
    out->n += (size_t)(end - at);
    for (; at < end; at++)
        *at = *at == '\n' ? ' ' : *at;
}

/* "! SOURCE: dword 7: ". */
static void add_place(struct pfd_text *out, const char *source, uint64_t offset,
                      const char *style)
{
    pfd_text_puts(out, style);
    pfd_text_puts(out, "! ");
    if (source) {
        add_safe(out, source);
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
                      bool color)
{
    if (pfd_finding_is_note(finding->kind))
        return;
    add_place(out, finding->source, finding->offset, color ? "\033[33m" : "");
    pfd_text_printf(out, "%s: ", pfd_finding_name(finding->kind));
    add_safe(out, finding->text);
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
    add_safe(out, gap->reason);
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
