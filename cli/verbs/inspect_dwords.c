/* SPDX-License-Identifier: MIT */
#include "inspect_dwords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/decode/inspect.h"
#include "show/entry_findings.h"

enum {
    DWORD = 4,
    FOLD = 16,         /* dwords of one meaning; a longer row is folded */
    AROUND = 8,        /* dwords before and after the requested one */
    ENTRY_SHOWN = 128, /* dwords; a longer entry is shown only around the
                          requested dword */
    PASSED = 64 << 20, /* bytes after which pages are released */
};

/* A finding, while it applies to skipped bytes. */
struct reason {
    bool is_set;
    bool is_shown;
    struct pfd_finding finding;
    char text[768];
};

struct walk {
    struct pfd_decoder *decoder;
    const char *name;
    const uint8_t *bytes;
    uint64_t n;
    const struct inspect_form *form;
    const struct inspect_wish *wish;
    uint64_t from; /* range of bytes to show, [from, to) */
    uint64_t to;
    uint64_t done; /* bytes that were handled */
    uint64_t released;
    struct reason reason;
    struct pfd_word pending; /* meaning of dwords [pending_from, done), not
                                shown yet */
    uint64_t pending_from;
    bool has_pending;
    struct inspect_argument
        *arguments; /* [n_arguments] of the entry, sorted by offset */
    size_t n_arguments;
    size_t room;
    bool found_entry; /* the requested entry was found */
    bool failed;      /* out of memory */
    uint64_t findings;
};

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t value_at(const struct walk *w, uint64_t at)
{
    uint32_t value = 0;
    if (at < w->n)
        memcpy(&value, w->bytes + at, min_of(w->n - at, DWORD));
    return value;
}

static void count(struct walk *w, enum pfd_finding_kind kind)
{
    w->findings += !pfd_finding_is_note(kind);
}

/* Passes a piece to the form if it was requested. */
static void put(struct walk *w, struct inspect_piece *piece)
{
    if (piece->at < w->from || piece->at >= w->to)
        return;
    piece->source = w->name;
    piece->value = value_at(w, piece->at);
    piece->is_asked = piece->n && w->wish->at != UINT64_MAX &&
                      w->wish->at - piece->at / DWORD < piece->n;
    w->form->piece(piece);
}

/* ---- outside of entries ---- */

static void put_reason(struct walk *w)
{
    struct reason *r = &w->reason;
    if (!r->is_set || r->is_shown)
        return;
    r->is_shown = true;
    count(w, r->finding.kind);
    w->form->finding(&r->finding, w->wish->color);
}

/* Shows dwords [from, to) singly or as one piece. */
static void put_dwords(struct walk *w, uint64_t from, uint64_t to, bool whole,
                       const char *what)
{
    struct inspect_piece piece = { .at = from, .what = what };
    for (; piece.at < to; piece.at += DWORD * piece.n) {
        piece.n = whole ? (to - piece.at) / DWORD : 1;
        put(w, &piece);
    }
}

static void flush(struct walk *w, uint64_t end)
{
    uint64_t from = w->pending_from;
    uint64_t to = (end + DWORD - 1) / DWORD * DWORD;
    const char *what = w->pending.text;
    if (!w->has_pending)
        return;
    w->has_pending = false;
    if (from < w->from)
        from = w->from;
    to = min_of(to, w->to);
    if (from >= to)
        return;
    if (!strncmp(what, "skipped (", 9))
        put_reason(w);
    if (w->wish->unfolded || w->wish->at != UINT64_MAX ||
        to - from <= (uint64_t)FOLD * DWORD) {
        put_dwords(w, from, to, false, what);
        return;
    }
    put_dwords(w, from, from + DWORD, false, what);
    put_dwords(w, from + DWORD, to - DWORD, true, what);
    put_dwords(w, to - DWORD, to, false, what);
}

static void add_stretch(struct walk *w, uint64_t to, const char *what)
{
    if (!w->has_pending || strcmp(w->pending.text, what) != 0) {
        flush(w, w->done);
        w->has_pending = true;
        w->pending_from = w->done;
        snprintf(w->pending.text, sizeof w->pending.text, "%s", what);
    }
    w->done = to;
}

/* Names the dword at w->done, which is in no entry; is_tail: no entry
 * follows. */
static void name_gap(struct walk *w, bool is_tail, struct pfd_word *ret)
{
    const struct reason *r = &w->reason;
    bool is_explained = r->is_set && w->done >= r->finding.offset;
    if ((is_tail || !is_explained) &&
        pfd_decoder_word(w->decoder, w->done, ret) == PFD_OK)
        return;
    ret->end = UINT64_MAX;
    if (is_explained) {
        snprintf(ret->text, sizeof ret->text, "skipped (%s)",
                 pfd_finding_name(r->finding.kind));
    } else {
        snprintf(ret->text, sizeof ret->text, "skipped");
        if (r->is_set)
            ret->end = r->finding.offset;
    }
}

static void walk_gap(struct walk *w, uint64_t to, bool is_tail)
{
    w->done = (w->done + DWORD - 1) / DWORD * DWORD;
    while (w->done < to) {
        struct pfd_word word;
        name_gap(w, is_tail, &word);
        add_stretch(w, min_of(word.end, to), word.text);
    }
}

/* Shows the buffer's header. */
static void walk_header(struct walk *w)
{
    struct pfd_word word;
    while (w->done < w->n &&
           pfd_decoder_word(w->decoder, w->done, &word) == PFD_OK &&
           word.end != UINT64_MAX)
        add_stretch(w, min_of(word.end, w->n), word.text);
    flush(w, w->done);
}

/* ---- entries ---- */

static int by_place(const void *a, const void *b)
{
    const struct inspect_argument *x = a;
    const struct inspect_argument *y = b;
    if (x->argument.at != y->argument.at)
        return x->argument.at < y->argument.at ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void read_arguments(struct walk *w, struct pfd_entry *entry)
{
    size_t n = 0;
    const struct pfd_argument *all = pfd_entry_arguments(entry, &n);
    w->n_arguments = 0;
    if (n > w->room) {
        struct inspect_argument *next = realloc(w->arguments, n * sizeof *next);
        w->failed |= !next;
        if (!next)
            return;
        w->arguments = next;
        w->room = n;
    }
    w->failed |= n && !all;
    for (size_t i = 0; all && i < n; i++)
        w->arguments[w->n_arguments++] = (struct inspect_argument){ i, all[i] };
    if (w->n_arguments)
        qsort(w->arguments, n, sizeof *w->arguments, by_place);
}

/* The entry whose dwords are being shown. */
struct place {
    struct pfd_entry *entry;
    uint64_t payload; /* offset in the buffer, bytes */
    uint64_t end;
    struct pfd_word word; /* valid up to word.end, an offset in the entry */
    bool has_word;
    size_t next;                        /* index of the next argument */
    const struct inspect_argument *now; /* the argument of the last dword */
};

/* Does the argument continue in the dword at `at`? */
static bool goes_on(const struct place *p, uint64_t at)
{
    return p->now &&
           p->payload + p->now->argument.at + p->now->argument.n_bytes > at;
}

/* Names a dword that belongs to no word and no argument. */
static void name_rest(const struct walk *w, const struct place *p, uint64_t at,
                      char *ret, size_t n)
{
    const struct pfd_argument *a = p->now ? &p->now->argument : NULL;
    size_t n_text;
    if (goes_on(p, at)) {
        snprintf(ret, n, "  argument %zu, %s", p->now->index,
                 a->type == PFD_ARGUMENT_TEXT ? "more of it" : "its high half");
    } else if (!pfd_entry_format_string(p->entry, &n_text)) {
        snprintf(ret, n, "payload: no format string tells what it is");
    } else if (w->n_arguments && p->next == w->n_arguments) {
        snprintf(ret, n, "behind the last argument");
    } else {
        snprintf(ret, n, "no argument: text or padding");
    }
}

static void name_dword(const struct walk *w, struct place *p, uint64_t at,
                       struct inspect_piece *piece, char *ret, size_t n)
{
    uint32_t from = (uint32_t)(at - p->entry->offset);
    if (!p->has_word || from >= p->word.end)
        p->has_word = pfd_entry_word(p->entry, from, &p->word) == PFD_OK;
    if (p->has_word) {
        snprintf(ret, n, "%s", p->word.text);
    } else if (piece->n_arguments) {
        *ret = '\0';
    } else {
        name_rest(w, p, at, ret, n);
    }
}

/* Shows arguments without bytes of their own, such as null strings. */
static void walk_empty(struct walk *w, struct place *p, uint64_t before)
{
    struct inspect_piece piece = { .what = "", .entry = p->entry };
    while (p->next < w->n_arguments) {
        const struct inspect_argument *a = &w->arguments[p->next];
        if (a->argument.n_bytes || p->payload + a->argument.at >= before)
            return;
        piece.at = min_of(p->payload + a->argument.at, p->end - 1);
        piece.arguments = a;
        piece.n_arguments = 1;
        put(w, &piece);
        p->next++;
    }
}

static void walk_dword(struct walk *w, struct place *p, uint64_t at)
{
    char what[sizeof p->word.text];
    struct inspect_piece piece = { .at = at,
                                   .n = 1,
                                   .what = what,
                                   .entry = p->entry,
                                   .is_first = at == p->entry->offset };
    walk_empty(w, p, at + DWORD);
    if (p->next < w->n_arguments)
        piece.arguments = &w->arguments[p->next];
    while (p->next < w->n_arguments &&
           p->payload + w->arguments[p->next].argument.at < at + DWORD) {
        p->next++;
        piece.n_arguments++;
    }
    name_dword(w, p, at, &piece, what, sizeof what);
    if (piece.n_arguments)
        p->now = &w->arguments[p->next - 1];
    put(w, &piece);
}

/* Extends the range to the requested entry, or to the entry around the
 * requested dword. */
static void choose_range(struct walk *w, const struct pfd_entry *entry)
{
    uint64_t end = entry->offset + entry->n_bytes;
    uint64_t asked = w->wish->at * DWORD;
    if (w->wish->entry == entry->index) {
        w->from = entry->offset;
        w->to = end;
        w->found_entry = true;
    } else if (w->wish->at != UINT64_MAX && asked >= entry->offset &&
               asked < end && entry->n_bytes <= ENTRY_SHOWN * DWORD) {
        w->from = min_of(w->from, entry->offset);
        w->to = end > w->to ? end : w->to;
    }
}

static void show_finding(void *user, const struct pfd_finding *finding)
{
    struct walk *w = user;
    count(w, finding->kind);
    w->form->finding(finding, w->wish->color);
}

static void show_message(struct walk *w, struct pfd_entry *entry)
{
    w->form->message(entry, w->wish->color);
    entry_findings_each(entry, w->name, show_finding, w);
}

static void walk_dwords(struct walk *w, struct place *p)
{
    bool said = false;
    for (uint64_t at = p->entry->offset; at < p->end; at += DWORD) {
        if (!said && at >= p->payload) {
            show_message(w, p->entry);
            said = true;
        }
        walk_dword(w, p, at);
    }
    if (!said)
        show_message(w, p->entry);
    walk_empty(w, p, UINT64_MAX);
}

/* An entry whose bytes are scattered: shows only its contents. */
static void show_scattered(struct walk *w, struct place *p)
{
    show_message(w, p->entry);
    for (size_t i = 0; i < w->n_arguments; i++) {
        struct inspect_piece piece = { .at = p->entry->offset,
                                       .what = "",
                                       .entry = p->entry,
                                       .arguments = &w->arguments[i],
                                       .n_arguments = 1 };
        put(w, &piece);
    }
}

static void walk_entry(struct walk *w, struct pfd_entry *entry)
{
    struct place p = { .entry = entry,
                       .payload = pfd_entry_payload_offset(entry),
                       .end = entry->offset + entry->n_bytes };
    bool is_scattered = p.payload == PFD_NO_OFFSET;
    if (!is_scattered)
        walk_gap(w, entry->offset, false);
    flush(w, w->done);
    w->reason.is_set = is_scattered && w->reason.is_set;
    choose_range(w, entry);
    if (p.end > w->from && entry->offset < w->to) {
        read_arguments(w, entry);
        w->form->entry(entry, w->name, w->arguments, w->n_arguments);
        if (is_scattered) {
            show_scattered(w, &p);
        } else {
            walk_dwords(w, &p);
        }
    }
    if (!is_scattered)
        w->done = p.end;
}

/* ---- the pass over the buffer ---- */

static void walk_finding(struct walk *w, const struct pfd_finding *finding)
{
    struct reason *r = &w->reason;
    bool has_place = finding->offset != PFD_NO_OFFSET;
    if (has_place && finding->offset > w->done)
        walk_gap(w, finding->offset, false);
    flush(w, w->done);
    r->finding = *finding;
    r->is_set = has_place && finding->offset + DWORD > w->done;
    r->is_shown = false;
    snprintf(r->text, sizeof r->text, "%s", finding->text);
    r->finding.text = r->text;
    r->finding.source = w->name;
    bool is_all = w->from == 0 && w->to == UINT64_MAX;
    if (is_all ||
        (has_place && finding->offset >= w->from && finding->offset < w->to)) {
        count(w, finding->kind);
        w->form->finding(&r->finding, w->wish->color);
        r->is_shown = true;
    }
}

/* Releases pages of bytes [released, done). */
static void release(struct walk *w)
{
    uint64_t to = w->done / PASSED * PASSED;
    if (!w->wish->is_mapped || to <= w->released)
        return;
    madvise((void *)(uintptr_t)(w->bytes + w->released), to - w->released,
            MADV_DONTNEED);
    w->released = to;
}

/* Skips entries before the range, some megabytes at a time. */
static void skip(struct walk *w)
{
    uint64_t index = w->wish->entry == UINT64_MAX ? UINT64_MAX : w->wish->entry;
    uint64_t end = 0;
    struct pfd_error err;
    enum pfd_status status = PFD_OK;
    while (status == PFD_OK && end != UINT64_MAX) {
        uint64_t to = min_of(w->done + PASSED, w->from);
        end = UINT64_MAX;
        status = pfd_decoder_skip(w->decoder, to, index, &end, &err);
        if (end != UINT64_MAX) {
            w->done = end;
            w->reason.is_set = false;
        }
        release(w);
    }
}

/* Was everything requested shown? If the format names all dwords, entries
 * follow them. */
static bool is_over(const struct walk *w)
{
    return w->found_entry || (w->done >= w->to && w->done < w->n);
}

static bool check(const struct walk *w, struct pfd_error *err)
{
    if (w->failed) {
        *err = (struct pfd_error){ .code = PFD_ERR_NOMEM,
                                   .offset = PFD_NO_OFFSET,
                                   .text = "out of memory" };
        return false;
    }
    if (w->wish->entry == UINT64_MAX || w->found_entry)
        return true;
    const struct pfd_summary *summary = pfd_decoder_summary(w->decoder);
    *err = (struct pfd_error){ .code = PFD_ERR_USAGE, .offset = PFD_NO_OFFSET };
    snprintf(err->text, sizeof err->text,
             summary->entries ? "there is no entry %llu, the last is %llu"
                              : "there is no entry %llu, and no other",
             (unsigned long long)w->wish->entry,
             (unsigned long long)summary->entries - 1);
    return false;
}

static void set_range(struct walk *w)
{
    uint64_t at = w->wish->at;
    w->to = UINT64_MAX;
    if (at != UINT64_MAX) {
        w->from = (at < AROUND ? 0 : at - AROUND) * DWORD;
        w->to = (at + AROUND + 1) * DWORD;
    } else if (w->wish->entry != UINT64_MAX) {
        w->from = UINT64_MAX;
    }
}

bool inspect_show(struct pfd_decoder *decoder, const char *name,
                  const uint8_t *bytes, uint64_t n,
                  const struct inspect_form *form,
                  const struct inspect_wish *wish, uint64_t *findings,
                  struct pfd_error *err)
{
    struct walk w = { .decoder = decoder,
                      .name = name,
                      .bytes = bytes,
                      .n = n,
                      .form = form,
                      .wish = wish };
    struct pfd_item *item;
    enum pfd_status status = PFD_OK;
    set_range(&w);
    for (bool first = true; !is_over(&w) && !w.failed; first = false) {
        if (!first && w.from > 0)
            skip(&w);
        status = pfd_decoder_next(decoder, &item, err);
        if (first) /* the format is not known earlier */
            walk_header(&w);
        if (status != PFD_OK)
            break;
        if (item->is_entry) {
            walk_entry(&w, item->entry);
        } else {
            walk_finding(&w, item->finding);
        }
    }
    if (status == PFD_END)
        walk_gap(&w, n, true);
    flush(&w, w.done);
    free(w.arguments);
    *findings = w.findings;
    return status >= 0 && check(&w, err);
}
