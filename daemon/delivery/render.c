/* SPDX-License-Identifier: MIT */
/* Text of chunks, on a worker. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include <printfdecode/chunk.h>
#include <printfdecode/lines.h>

#include "delivery/page.h"

enum {
    SLICE_NS = 5000000, /* what a choice may take until others have a turn */
    /* What a choice may take of itself, beside what it is allowed in all. */
    ITEM_NS = 20000,
    BYTE_NS = 50,
};

struct render {
    struct pfdd_page *page;
    const struct pfdd_choice *choice;
    struct pfd_lines *lines;
    struct pfd_chunk_reader *reader;
    const struct pfdd_buffer *buffer; /* that reader is for */
    uint64_t seq;                     /* of the next item */
    uint64_t until;                   /* a choice has until then */
    char *sse;                        /* [n_sse] events */
    size_t n_sse;
    size_t sse_size;
    bool failed;
};

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static size_t gathered(const struct render *r)
{
    size_t n = 0;
    pfd_lines_bytes(r->lines, &n);
    return n;
}

/* ---- events ---- */

static void put_event(struct render *r, const char *event)
{
    size_t n = 0;
    const char *line = pfd_lines_bytes(r->lines, &n);
    size_t room = r->n_sse + n + 128;
    if (!line || n == 0)
        return;
    if (room > r->sse_size) {
        char *more = realloc(r->sse, 2 * room);
        if (!more) {
            r->failed = true;
            return;
        }
        r->sse = more;
        r->sse_size = 2 * room;
    }
    char *at = r->sse + r->n_sse;
    at += event ? sprintf(at, "event: %s\n", event) : 0;
    at += sprintf(at, "id: %" PRIu64 "\ndata: ", r->seq);
    memcpy(at, line, n); /* ends with a newline */
    at[n] = '\n';
    r->n_sse = (size_t)(at - r->sse) + n + 1;
    pfd_lines_clear(r->lines);
}

/* ---- items ---- */

static void lose(struct render *r, size_t before, const char *reason)
{
    struct pfd_gap gap = { 1, reason };
    pfd_lines_cut(r->lines, before);
    pfd_lines_gap(r->lines, &gap, r->buffer->name);
}

/* A message that no pattern could be tried on to its end is shown. */
static void tell_doubt(struct render *r, const struct pfd_entry *entry)
{
    struct pfd_finding finding = {
        .kind = PFD_FINDING_too_large,
        .offset = entry->offset,
        .index = entry->index,
        .in_buffer = true,
        .source = r->buffer->name,
        .text = "a pattern gave up on this message: it may not match",
    };
    if (!r->choice->wants.no_findings)
        pfd_lines_finding(r->lines, &finding);
}

static void put_entry(struct render *r, struct pfd_entry *entry)
{
    struct pfd_filter_run *run = r->choice ? r->choice->run : NULL;
    uint64_t doubts = run ? pfd_filter_gave_up(run) : 0;
    if (run && !pfd_filter_want(run, entry))
        return;
    pfd_lines_entry(r->lines, entry);
    if (run && pfd_filter_gave_up(run) != doubts)
        tell_doubt(r, entry);
}

static void put_finding(struct render *r, const struct pfd_finding *finding)
{
    const struct pfdd_wants *w = r->choice ? &r->choice->wants : NULL;
    if (w && (w->no_findings || w->entries_only))
        return;
    pfd_lines_finding(r->lines, finding);
}

static void put_item(struct render *r, const struct pfdd_chunk *c, bool is_else,
                     struct pfd_chunk_item *item)
{
    static const char *const events[] = { NULL, "finding", "gap" };
    size_t before = gathered(r);
    size_t n = 0;
    pfd_lines_set_stamp(r->lines, r->seq, c->time);
    if (item->type == PFD_CHUNK_GAP) {
        if (!r->choice || !r->choice->wants.no_findings)
            pfd_lines_gap(r->lines, &item->gap, c->buffer->name);
    } else if (item->type == PFD_CHUNK_ENTRY && !is_else) {
        put_entry(r, &item->entry);
    } else if (!is_else) {
        put_finding(r, &item->finding);
    }
    if (!pfd_lines_bytes(r->lines, &n) && n) {
        lose(r, before, "no_memory");
    } else if (n - before > PFDD_LINE_MAX) {
        lose(r, before, "line_too_long");
        r->page->n_long++;
    }
    if (r->page->form == PFDD_SSE)
        put_event(r, events[item->type]);
}

/* ---- chunks ---- */

static void end_item(struct render *r)
{
    struct pfdd_page *p = r->page;
    size_t n = p->form == PFDD_SSE ? r->n_sse : gathered(r);
    p->ends[r->seq - p->first] = (uint32_t)n;
    r->seq++;
}

/* True: the page has enough, and others wait. */
static bool is_full(const struct render *r)
{
    size_t n = r->page->form == PFDD_SSE ? r->n_sse : gathered(r);
    return n >= PFDD_PAGE || (r->choice && uv_hrtime() > r->until);
}

static bool open_chunk(struct render *r, const struct pfdd_chunk *c)
{
    if (!r->reader || r->buffer != c->buffer) {
        pfd_chunk_reader_free(r->reader);
        r->reader = NULL;
        r->buffer = c->buffer;
        if (pfd_chunk_reader_new(r->page->strings->set, c->buffer->name,
                                 &c->buffer->options, &r->reader,
                                 NULL) != PFD_OK)
            return false;
    }
    uint64_t generation = c->contents.generation;
    pfd_lines_set_origin_members(r->lines, c->buffer->origin);
    /* Lines of the first generation do not say so. */
    pfd_lines_set_place(r->lines, generation ? generation : UINT64_MAX,
                        UINT64_MAX);
    return pfd_chunk_reader_open(r->reader, c->bytes, c->n, NULL) == PFD_OK;
}

/* Each item has its number, also those that cannot be read for want of
 * memory. */
static void next_item(struct render *r, bool *ok, struct pfd_chunk_item *ret)
{
    static const struct pfd_chunk_item none = {
        .type = PFD_CHUNK_GAP,
        .gap = { 1, "no_memory" },
    };
    *ok = *ok && pfd_chunk_reader_next(r->reader, ret, NULL) == PFD_OK;
    if (!*ok)
        *ret = none;
}

static bool is_of_another(const struct render *r, const struct pfdd_chunk *c)
{
    const char *source = r->choice ? r->choice->wants.source : NULL;
    return source && strcmp(c->buffer->name, source) != 0;
}

/* False: the page is full. */
static bool put_chunk(struct render *r, const struct pfdd_chunk *c)
{
    uint64_t end = c->first_seq + c->n_items;
    bool is_else = is_of_another(r, c);
    if (is_else && !c->contents.n[PFDD_GAP]) {
        while (r->seq < end)
            end_item(r);
        return true;
    }
    bool ok = open_chunk(r, c);
    for (uint64_t seq = c->first_seq; seq < end; seq++) {
        struct pfd_chunk_item item;
        next_item(r, &ok, &item);
        if (seq < r->seq)
            continue;
        put_item(r, c, is_else, &item);
        end_item(r);
        if (is_full(r))
            return false;
    }
    return true;
}

/* ---- the page ---- */

static bool start(struct render *r)
{
    static const char *const names[] = { "json", "text", "raw", "json" };
    struct pfdd_page *p = r->page;
    struct pfdd_choice *choice = p->choice;
    if (pfd_lines_new(names[p->form], false, p->form != PFDD_TEXT, &r->lines,
                      NULL) != PFD_OK)
        return false;
    if (!choice || !choice->wants.no_findings)
        pfd_lines_tell(r->lines);
    if (choice && choice->wants.entries && !choice->run &&
        pfd_filter_run_new(choice->wants.entries, p->strings->set, &choice->run,
                           NULL) != PFD_OK)
        return false;
    p->ends = malloc((p->end - p->first) * sizeof *p->ends);
    return p->ends != NULL;
}

static void finish(struct render *r)
{
    struct pfdd_page *p = r->page;
    if (p->form == PFDD_SSE) {
        p->text = r->sse;
        p->n = r->n_sse;
    } else {
        p->text = pfd_lines_take(r->lines, &p->n);
    }
    char *fits = p->n ? realloc(p->text, p->n) : NULL;
    p->text = fits ? fits : p->text;
    p->has_failed = r->failed;
    p->full = r->seq;
}

void pfdd_page_render(struct pfdd_page *page)
{
    uint64_t began = page->choice ? cpu_ns() : 0;
    size_t n_in = 0;
    struct render r = {
        .page = page,
        .choice = page->choice,
        .seq = page->first,
        .until = uv_hrtime() + SLICE_NS,
    };
    if (start(&r)) {
        size_t i = 0;
        while (i < page->n_pieces && !r.failed &&
               put_chunk(&r, page->pieces[i]))
            n_in += page->pieces[i++]->n;
        finish(&r);
    } else {
        page->has_failed = true;
    }
    if (page->choice) {
        page->choice->debt_ns += (int64_t)(cpu_ns() - began) -
                                 (int64_t)(r.seq - page->first) * ITEM_NS -
                                 (int64_t)n_in * BYTE_NS;
    }
    pfd_lines_free(r.lines);
    pfd_chunk_reader_free(r.reader);
}
