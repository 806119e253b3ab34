/* SPDX-License-Identifier: MIT */
/* Renders chunks to text, or to frames of entries, on a worker. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include <printfdecode/capture.h>
#include <printfdecode/lines.h>

#include "core/filter/filter.h"
#include "core/output/lines.h"
#include "ring/log_record.h"
#include "ring/render_cache.h"
#include "ring/render_told.h"
#include "stream/capture/chunk.h"
#include "stream/capture/wire.h"

enum {
    SLICE_NS = 5000000, /* of processor time, before other jobs run */
    /* Processor time that a render choice is allowed for each item and byte. */
    ITEM_NS = 20000,
    BYTE_NS = 50,
};

struct render {
    struct pfdd_rendered_block *rendered_block;
    const struct pfdd_render_choice *render_choice;
    struct pfd_lines *lines;
    struct pfd_chunk_reader *reader;
    const struct pfdd_buffer *buffer; /* that the reader was opened for */
    uint64_t time;                    /* of the current chunk, like
                                         generation */
    uint64_t generation;
    uint64_t seq;   /* of the next item */
    uint64_t began; /* render choice: pfdd_job_cpu_ns() at the start */
    uint64_t until; /* uv_hrtime() before which its slice is not over */
    /* Output of events, frames and log records; other forms are in lines. */
    struct pfd_text own;
    bool is_own; /* output goes to `own` */
    size_t made; /* bytes of output, up to the last item */
    char *block; /* the text block that lines began with */
    /* [n_message], of a log record, borrowed; NULL: the text is in lines. */
    const char *message;
    size_t n_message;
    /* Selected entries that follow each other go out as one frame. */
    struct pfd_chunk_writer *writer;
    const struct pfdd_chunk *run_of; /* the chunk of the current run; NULL:
                                        none */
    uint64_t run_first;              /* sequence number of its first item */
    bool is_new; /* the item has not been sampled or counted yet */
    bool failed;
};

static size_t gathered(const struct render *r)
{
    size_t n = 0;
    pfd_lines_bytes(r->lines, &n);
    return n;
}

/* The sampler, which counts left-out entries; NULL: none. */
static struct pfdd_sampler *sample_of(const struct render *r)
{
    struct pfdd_render_choice *render_choice = r->rendered_block->render_choice;
    return render_choice && render_choice->wants.sample
               ? &render_choice->sampler
               : NULL;
}

/* NULL: lines are rendered, not log records. */
static const struct pfdd_encoding *encoding_of(const struct render *r)
{
    return r->render_choice ? r->render_choice->wants.encoding : NULL;
}

static struct pfdd_collapser *collapser_of(const struct render *r)
{
    return r->render_choice ? r->render_choice->collapser : NULL;
}

static size_t bytes_made(const struct render *r)
{
    if (collapser_of(r))
        return collapser_of(r)->n;
    return r->is_own ? r->own.n : gathered(r);
}

/* Room for n more bytes in `own`; NULL: out of memory. */
static char *make_room(struct render *r, size_t n)
{
    char *at = pfd_text_reserve(&r->own, n);
    r->failed |= !at;
    return at;
}

/* Stores the end of the last item. An item beyond the number that was reserved
 * fails the block. */
static void set_end(struct render *r, size_t n)
{
    struct pfdd_rendered_block *p = r->rendered_block;
    uint64_t i = r->seq - 1 - p->first;
    if (i < p->n_ends && n <= UINT32_MAX) {
        p->ends[i] = (uint32_t)n;
    } else {
        r->failed = true;
    }
}

/* ---- events ---- */

static void put_event(struct render *r, const char *event)
{
    size_t n = 0;
    const char *line = pfd_lines_bytes(r->lines, &n);
    char *at = line && n ? make_room(r, n + 128) : NULL;
    if (!at)
        return;
    at += event ? sprintf(at, "event: %s\n", event) : 0;
    at += sprintf(at, "id: %" PRIu64 "\ndata: ", r->seq);
    memcpy(at, line, n); /* ends with a newline */
    at[n] = '\n';
    r->own.n = (size_t)(at - r->own.data) + n + 1;
    pfd_lines_clear(r->lines);
}

/* Moves a line of JSON to `own`. */
static void put_line(struct render *r)
{
    size_t n = 0;
    const char *line = pfd_lines_bytes(r->lines, &n);
    char *at = line && n ? make_room(r, n) : NULL;
    if (!at)
        return;
    memcpy(at, line, n);
    r->own.n += n;
    pfd_lines_clear(r->lines);
}

/* ---- frames ---- */

static bool put_own(void *user, const void *bytes, size_t n)
{
    struct render *r = user;
    pfd_text_add(&r->own, bytes, n);
    r->failed |= r->own.failed;
    return !r->own.failed;
}

static void put_frame(struct render *r, const struct pfdd_chunk *c,
                      uint64_t sequence, const void *bytes, size_t n)
{
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_ENTRIES,
        .buffer = c->buffer->frame->buffer,
        .generation = c->contents.generation,
        .sequence = sequence,
        .time = c->time,
        .bytes = { bytes, n },
    };
    if (pfd_wire_write(&frame, put_own, r, NULL) != PFD_OK)
        r->failed = true;
}

static void end_run(struct render *r)
{
    size_t n = 0;
    const void *bytes = r->run_of ? pfd_chunk_finish(r->writer, &n) : NULL;
    if (bytes) {
        put_frame(r, r->run_of, r->run_first, bytes, n);
    } else if (n) {
        r->failed = true;
    }
    r->run_of = NULL;
}

static void end_item(struct render *r)
{
    r->seq++;
    r->made = bytes_made(r);
    set_end(r, r->made);
}

/* Ends a run: its frame goes out with the last item. */
static void end_items(struct render *r)
{
    if (!r->run_of)
        return;
    end_run(r);
    r->seq--;
    end_item(r);
}

/* Sets the facts of the current item that a filter may test. */
static void set_facts(struct render *r)
{
    const struct pfd_filter_facts facts = {
        .time_unix_ns = r->time,
        .sequence = r->seq,
        .generation = r->generation,
        .buffer = r->buffer->frame,
    };
    pfd_filter_run_set(r->render_choice->run, &facts);
}

/* The finding is added to the entry: another item would need a sequence number
 * of its own. */
static enum pfd_status add_chosen(struct render *r, struct pfd_entry *entry)
{
    struct pfd_filter_run *run =
        r->render_choice ? r->render_choice->run : NULL;
    uint64_t doubts = run ? pfd_filter_gave_up(run) : 0;
    if (run)
        set_facts(r);
    if (run && !pfd_filter_want(run, entry))
        return PFD_END;
    if (run && pfd_filter_gave_up(run) != doubts)
        entry->findings |= PFD_FINDING_BIT(too_large);
    return pfd_chunk_add_entry(r->writer, entry, NULL);
}

/* PFD_END: the item is filtered out. */
static enum pfd_status choose_item(struct render *r, bool is_else,
                                   struct pfd_chunk_item *item)
{
    static const struct pfdd_selection all;
    const struct pfdd_selection *w =
        r->render_choice ? &r->render_choice->wants : &all;
    if (item->type == PFD_CHUNK_GAP) {
        return w->no_findings ? PFD_END
                              : pfd_chunk_add_gap(r->writer, &item->gap, NULL);
    }
    if (is_else)
        return PFD_END;
    if (item->type == PFD_CHUNK_ENTRY)
        return add_chosen(r, &item->entry);
    if (w->no_findings || w->entries_only)
        return PFD_END;
    return pfd_chunk_add_finding(r->writer, &item->finding, NULL);
}

static void put_chosen(struct render *r, const struct pfdd_chunk *c,
                       bool is_else, struct pfd_chunk_item *item)
{
    enum pfd_status status = choose_item(r, is_else, item);
    r->failed |= status != PFD_OK && status != PFD_END;
    if (status == PFD_END) {
        end_items(r);
    } else if (!r->run_of) {
        r->run_of = c;
        r->run_first = r->seq;
    }
}

/* ---- items ---- */

static void lose(struct render *r, size_t before, const char *reason)
{
    struct pfd_gap gap = { 1, reason };
    pfd_lines_cut(r->lines, before);
    pfd_lines_gap(r->lines, &gap, r->buffer->name);
}

/* Where a pattern could not be matched to its end, the message is shown, with a
 * finding. */
static void tell_doubt(struct render *r, struct pfd_entry *entry)
{
    struct pfd_finding finding = {
        .kind = PFD_FINDING_too_large,
        .offset = entry->offset,
        .index = entry->index,
        .in_buffer = true,
        .source = r->buffer->name,
        .text = "a pattern gave up on this message: it may not match",
    };
    if (encoding_of(r)) {
        entry->findings |= PFD_FINDING_BIT(too_large);
    } else if (!r->render_choice->wants.no_findings) {
        pfd_lines_finding(r->lines, &finding);
    }
}

/* A log record has the printed message, where that is known, instead of a
 * line. */
static void put_words(struct render *r, struct pfd_entry *entry)
{
    if (encoding_of(r))
        r->message = pfd_entry_message(entry, &r->n_message);
    if (!r->message)
        pfd_lines_entry(r->lines, entry);
}

/* False: the item is filtered out, here and below. */
static bool put_entry(struct render *r, struct pfd_entry *entry)
{
    struct pfd_filter_run *run =
        r->render_choice ? r->render_choice->run : NULL;
    struct pfdd_sampler *sampler = sample_of(r);
    uint64_t doubts = run ? pfd_filter_gave_up(run) : 0;
    if (run)
        set_facts(r);
    if (run && !pfd_filter_want(run, entry))
        return false;
    /* Entries of a block that is rendered again are not left out: the count may
     * be too high, but never too low. */
    if (r->is_new && !pfdd_sampler_takes(sampler, entry->findings)) {
        pfdd_left_out_add(&sampler->sampled, 1, entry->findings);
        return true;
    }
    put_words(r, entry);
    if (run && pfd_filter_gave_up(run) != doubts)
        tell_doubt(r, entry);
    return true;
}

static bool put_between(struct render *r, const struct pfdd_chunk *c,
                        const struct pfd_chunk_item *item)
{
    const struct pfdd_selection *w =
        r->render_choice ? &r->render_choice->wants : NULL;
    bool is_gap = item->type == PFD_CHUNK_GAP;
    if (w && (w->no_findings || (w->entries_only && !is_gap)))
        return false;
    if (is_gap) {
        pfd_lines_gap(r->lines, &item->gap, c->buffer->name);
    } else {
        pfd_lines_finding(r->lines, &item->finding);
    }
    return true;
}

/* Gaps go to all cursors, whatever source they want. */
static bool put_record(struct render *r, const struct pfdd_chunk *c,
                       bool is_else, struct pfd_chunk_item *item)
{
    if (is_else && item->type != PFD_CHUNK_GAP)
        return false;
    return item->type == PFD_CHUNK_ENTRY ? put_entry(r, &item->entry)
                                         : put_between(r, c, item);
}

/* ---- log records ---- */

/* The text is the line, or the printed message of an entry whose string is
 * known. item NULL: it was lost. */
static void put_log_record(struct render *r, const struct pfdd_chunk *c,
                           struct pfd_chunk_item *item)
{
    struct pfdd_log_record log_record = {
        .sequence = r->seq,
        .time = c->time,
        .buffer = c->buffer,
        .generation = c->contents.generation,
        .map = r->render_choice->wants.map,
        .text = r->message,
        .n = r->n_message,
    };
    if (!r->message)
        log_record.text = pfd_lines_bytes(r->lines, &log_record.n);
    if (!log_record.text || (!r->message && !log_record.n))
        return;
    pfdd_log_record_set_item(&log_record, item,
                             !r->render_choice->wants.no_findings);
    pfdd_log_record_put(&r->own, encoding_of(r), &log_record);
    r->failed |= r->own.failed;
    pfd_lines_clear(r->lines);
}

static void collapse(struct render *r, struct pfdd_collapser *collapser)
{
    size_t n = 0;
    const char *rows = pfd_lines_bytes(r->lines, &n);
    pfdd_collapser_add(collapser, rows, n);
    r->failed |= collapser->failed;
    pfd_lines_clear(r->lines);
}

static void put_item(struct render *r, const struct pfdd_chunk *c, bool is_else,
                     struct pfd_chunk_item *item)
{
    static const char *const events[] = { NULL, "finding", "gap" };
    size_t before = 0;
    size_t n = 0;
    bool is_lost = false;
    if (r->rendered_block->form == PFDD_ENTRIES) {
        put_chosen(r, c, is_else, item);
        return;
    }
    before = r->is_own || collapser_of(r) ? 0 : r->made;
    r->message = NULL;
    r->n_message = 0;
    pfd_lines_set_stamp(r->lines, r->seq, c->time);
    if (!put_record(r, c, is_else, item))
        pfdd_sampler_filter_out(r->is_new ? sample_of(r) : NULL, item);
    if (!pfd_lines_bytes(r->lines, &n) && n) {
        lose(r, before, "no_memory");
        is_lost = true;
    } else if (n - before > PFDD_LINE_MAX || r->n_message > PFDD_LINE_MAX) {
        lose(r, before, "line_too_long");
        r->message = NULL;
        r->rendered_block->n_long++;
        is_lost = true;
    }
    struct pfdd_collapser *collapser = collapser_of(r);
    if (collapser) {
        collapse(r, collapser);
    } else if (encoding_of(r)) {
        put_log_record(r, c, is_lost ? NULL : item);
    } else if (r->rendered_block->form == PFDD_SSE) {
        put_event(r, events[item->type]);
    } else if (r->is_own) {
        put_line(r);
    }
}

/* ---- chunks ---- */

/* True: the render choice has used its slice of processor time, which takes
 * longer on a busy machine. The thread's clock is a system call, so it is read
 * rarely. */
static bool is_slice_over(struct render *r)
{
    uint64_t now = uv_hrtime();
    if (now <= r->until)
        return false;
    uint64_t had = pfdd_job_cpu_ns() - r->began;
    if (had >= SLICE_NS)
        return true;
    r->until = now + (SLICE_NS - had);
    return false;
}

/* True: the block has enough text, or its slice is over. Shared blocks end with
 * a chunk where that is possible. */
static bool is_full(struct render *r)
{
    size_t enough = r->render_choice
                        ? PFDD_RENDERED_BLOCK
                        : PFDD_RENDERED_BLOCK + PFDD_RENDERED_BLOCK / 4;
    return r->made >= enough || (r->render_choice && is_slice_over(r));
}

static bool open_chunk(struct render *r, const struct pfdd_chunk *c)
{
    if (!r->reader || r->buffer != c->buffer) {
        pfd_chunk_reader_free(r->reader);
        r->reader = NULL;
        r->buffer = c->buffer;
        if (pfd_chunk_reader_new(r->rendered_block->strings->set,
                                 c->buffer->name, &c->buffer->options,
                                 &r->reader, NULL) != PFD_OK)
            return false;
    }
    uint64_t generation = c->contents.generation;
    r->time = c->time;
    r->generation = generation;
    pfd_lines_set_buffer(r->lines, c->buffer->frame->buffer);
    pfd_lines_set_origin_members(r->lines, c->buffer->origin);
    /* Lines of the first generation do not mention it. */
    pfd_lines_set_place(r->lines, generation ? generation : UINT64_MAX,
                        UINT64_MAX);
    return pfd_chunk_reader_open(r->reader, c->bytes, c->n, NULL) == PFD_OK;
}

/* Each item has a sequence number, even if it cannot be read for lack of
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
    const struct pfdd_selection *w =
        r->render_choice ? &r->render_choice->wants : NULL;
    return w && !pfdd_buffer_is_of(c->buffer, w->source, w->host);
}

/* End of the chunk's items that belong to the block. A block may end within a
 * chunk, where another block begins. */
static uint64_t end_in_page(const struct render *r, const struct pfdd_chunk *c)
{
    uint64_t end = c->first_seq + c->n_items;
    return end < r->rendered_block->end ? end : r->rendered_block->end;
}

/* True: all of the chunk is still to be rendered. */
static bool is_whole(const struct render *r, const struct pfdd_chunk *c)
{
    return c->first_seq >= r->seq &&
           c->first_seq + c->n_items <= r->rendered_block->end;
}

/* Writes the chunk as one frame; its items go out with the last one. */
static void put_whole(struct render *r, const struct pfdd_chunk *c)
{
    uint64_t end = c->first_seq + c->n_items;
    while (r->seq + 1 < end)
        end_item(r);
    put_frame(r, c, c->first_seq, c->bytes, c->n);
    end_item(r);
}

/* Entries: a chunk that is wanted in part is written anew. */
static bool has_writer(struct render *r)
{
    if (r->rendered_block->form == PFDD_ENTRIES && !r->writer &&
        pfd_chunk_writer_new(&r->writer, NULL) != PFD_OK)
        r->failed = true;
    return !r->failed;
}

/* False: the block is full, or rendering failed. */
static bool put_chunk(struct render *r, const struct pfdd_chunk *c)
{
    uint64_t end = end_in_page(r, c);
    if (end <= r->seq)
        return true;
    if (r->rendered_block->form == PFDD_ENTRIES && !r->render_choice &&
        is_whole(r, c)) {
        put_whole(r, c);
        return r->made < PFDD_RENDERED_BLOCK;
    }
    if (!has_writer(r))
        return false;
    bool is_else = is_of_another(r, c);
    if (is_else && !c->contents.n[PFDD_GAP] && !sample_of(r)) {
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
        r->is_new = sample_of(r) && pfdd_sampler_item(sample_of(r), seq);
        put_item(r, c, is_else, &item);
        end_item(r);
        if (is_full(r)) {
            end_items(r);
            return false;
        }
    }
    end_items(r);
    return true;
}

/* ---- the block ---- */

/* Lines are rendered into a text block: one of the render cache, or a new
 * one. */
static void give_block(struct render *r)
{
    struct pfdd_rendered_block *p = r->rendered_block;
    r->block = p->is_block ? p->text : malloc(PFDD_BLOCK);
    p->text = NULL;
    p->is_block = false;
    if (r->block)
        pfd_lines_give(r->lines, r->block, PFDD_BLOCK);
}

static bool prepare_filter(struct pfdd_render_choice *render_choice,
                           const struct pfd_strings *strings)
{
    const struct pfd_filter *filter = render_choice->wants.entries;
    if (!filter)
        return true;
    if (!render_choice->run &&
        pfd_filter_run_new(filter, strings, &render_choice->run, NULL) !=
            PFD_OK)
        return false;
    pfd_filter_run_set_room(render_choice->run, render_choice->room);
    return true;
}

static bool start(struct render *r)
{
    static const char *const names[] = { "json", "text", "raw", "raw", "json" };
    struct pfdd_rendered_block *p = r->rendered_block;
    struct pfdd_render_choice *render_choice = p->render_choice;
    r->is_own = p->form == PFDD_SSE || p->form == PFDD_ENTRIES ||
                encoding_of(r) || sample_of(r);
    if (pfd_lines_new(names[p->form], false, p->form != PFDD_TEXT, &r->lines,
                      NULL) != PFD_OK)
        return false;
    if (!render_choice || !render_choice->wants.no_findings)
        pfd_lines_tell(r->lines);
    if (render_choice && render_choice->wants.fields)
        pfd_lines_fields(r->lines);
    if (collapser_of(r))
        pfd_lines_rows(r->lines);
    if (render_choice && !prepare_filter(render_choice, p->strings->set))
        return false;
    if (!r->is_own && !render_choice)
        give_block(r);
    if (render_choice && render_choice->wants.sample) {
        pfdd_sampler_begin(&render_choice->sampler, render_choice->wants.sample,
                           p->first, p->end - p->first, uv_hrtime());
    }
    p->n_ends = (size_t)(p->end - p->first);
    p->ends = malloc(p->n_ends * sizeof *p->ends);
    return p->ends;
}

/* Takes the lines that the collapser has finished by now. */
static void take_runs(struct render *r, struct pfdd_collapser *collapser)
{
    struct pfdd_rendered_block *p = r->rendered_block;
    uint64_t now = uv_hrtime();
    if (pfdd_collapser_is_due(collapser, now))
        pfdd_collapser_end(collapser, r->seq - 1, now);
    r->failed |= collapser->failed;
    p->text = pfdd_collapser_take(collapser, &p->n);
    if (r->seq > p->first)
        set_end(r, p->n);
}

static void finish(struct render *r)
{
    struct pfdd_rendered_block *p = r->rendered_block;
    struct pfdd_collapser *collapser = collapser_of(r);
    if (collapser) {
        take_runs(r, collapser);
    } else if (r->is_own) {
        p->text = r->own.data;
        p->n = r->own.n;
    } else {
        p->text = pfd_lines_take(r->lines, &p->n);
        p->is_block = p->text && p->text == r->block;
    }
    char *fits = p->n && !p->is_block ? realloc(p->text, p->n) : NULL;
    p->text = fits ? fits : p->text;
    p->has_failed = r->failed;
    p->full = r->seq;
}

static void tell(struct render *r)
{
    size_t n = r->own.n;
    r->failed |= !pfdd_render_tell(r->rendered_block, r->seq, &r->own);
    if (r->own.n != n)
        set_end(r, r->own.n);
}

void pfdd_rendered_block_render(struct pfdd_rendered_block *rendered_block)
{
    size_t n_in = 0;
    struct render r = {
        .rendered_block = rendered_block,
        .render_choice = rendered_block->render_choice,
        .seq = rendered_block->first,
        .began = rendered_block->render_choice ? pfdd_job_cpu_ns() : 0,
        .until = uv_hrtime() + SLICE_NS,
    };
    if (start(&r)) {
        size_t i = 0;
        while (i < rendered_block->n_pieces && !r.failed &&
               put_chunk(&r, rendered_block->pieces[i]))
            n_in += rendered_block->pieces[i++]->n;
        if (sample_of(&r))
            pfdd_sampler_end(sample_of(&r));
        tell(&r);
        finish(&r);
    } else {
        rendered_block->has_failed = true;
    }
    if (rendered_block->render_choice) {
        rendered_block->render_choice->debt_ns +=
            (int64_t)(pfdd_job_cpu_ns() - r.began) -
            (int64_t)(r.seq - rendered_block->first) * ITEM_NS -
            (int64_t)n_in * BYTE_NS;
    }
    pfd_lines_free(r.lines);
    pfd_chunk_reader_free(r.reader);
    pfd_chunk_writer_free(r.writer);
}
