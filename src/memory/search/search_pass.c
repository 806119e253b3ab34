/* SPDX-License-Identifier: MIT */
/*
 * One pass over memory. A prefilter (prefilter.c) marks pages on several
 * threads; this file searches the marked ones, in order.
 */
#include <string.h>

#include "core/decode/recover.h"
#include "memory/search/kernels.h"
#include "memory/search/search_buffers.h"
#include "memory/search/search_space.h"

enum {
    PAGE = PFD_PREFILTER_PAGE,
    TELL_EVERY = 1 << 26,
    /* A buffer whose first entries are not written yet begins at a page; limit
     * of pages before the first written entry. */
    PAGES_BACK = 256,
    REACH_MAX = 16, /* and its length is at most this multiple of the written
                       part */
};

static const char agreement[] = "header and entries agree";

/* The part of memory that is searched now. */
struct entry_range {
    struct pfd_search *search;
    const struct pfd_search_space_walk *walk;
    struct pfd_mapped_range range;
    struct pfd_field field;
    const uint8_t *bytes; /* [n]: the field's */
    size_t n;
    uint64_t address;
    size_t n_pieces;
    size_t next[PFD_PREFILTER_FORMATS]; /* by format: bytes before this were
                                           searched */
    uint64_t
        within[PFD_PREFILTER_FORMATS]; /* by format: the end of the buffer found
                                          last; runs before it belong to it */
};

static struct pfd_candidate *add(struct pfd_search *s, uint64_t address)
{
    if (s->n == PFD_CANDIDATES_MAX) {
        s->is_more = true;
        return NULL;
    }
    struct pfd_candidate *c = &s->candidates[s->n++];
    *c = (struct pfd_candidate){ .found_buffer.address = address };
    return c;
}

/* ---- dispatches ---- */

static void name_queue(const struct pfd_search *s,
                       struct pfd_found_buffer *found_buffer)
{
    struct pfd_core_queue q;
    for (size_t i = 0;
         s->how->core && pfd_core_queue(s->how->core, i, &q) == PFD_OK; i++) {
        if (found_buffer->packet < q.ring_address ||
            found_buffer->packet - q.ring_address >= q.ring_size)
            continue;
        found_buffer->has_queue = true;
        found_buffer->queue_id = q.queue_id;
        found_buffer->gpu_id = q.gpu_id;
        return;
    }
}

static void take_packet(const struct entry_range *t, size_t at)
{
    struct pfd_search *s = t->search;
    struct pfd_packet p = pfd_packet_read(&s->kernels, &t->field, at);
    uint64_t buffer = 0;
    if (!p.is_dispatch || p.kernel->printf_buffer > UINT64_MAX - p.arguments ||
        pfd_search_space_read(&s->search_space,
                              p.arguments + p.kernel->printf_buffer, &buffer,
                              sizeof buffer) != sizeof buffer ||
        !buffer)
        return;
    struct pfd_candidate *candidate = add(s, buffer);
    if (!candidate)
        return;
    candidate->found_buffer.by_dispatch = true;
    candidate->found_buffer.packet = t->address + at;
    candidate->found_buffer.kernel = p.kernel->name;
    name_queue(s, &candidate->found_buffer);
}

static void search_packets(const struct entry_range *t, size_t from, size_t to)
{
    const struct pfd_kernels *kernels = &t->search->kernels;
    size_t at = pfd_packet_find(kernels, &t->field, from, to);
    for (; at < to; at = pfd_packet_find(kernels, &t->field, at + 1, to))
        take_packet(t, at);
}

/* ---- headers ---- */

/* Where an allocator places a large buffer: at the beginning of a page, or
 * behind malloc()'s header. */
static bool is_allocation(uint64_t address)
{
    enum {
        MALLOC_HEADER = 16
    };
    return address % PAGE == 0 || address % PAGE == MALLOC_HEADER;
}

static void search_headers(struct entry_range *t, const struct pfd_field *field,
                           size_t i, size_t from, size_t to)
{
    enum {
        ALIGNMENT = 8
    };
    const struct pfd_format *format = pfd_formats[i];
    struct pfd_whole whole;
    size_t at = t->next[i] > from ? t->next[i] : from;
    while (at < to) {
        at = format->find(field, at, to, &whole);
        if (at >= to)
            return;
        if (whole.is_doubtful && !is_allocation(t->address + at)) {
            at += ALIGNMENT;
            continue;
        }
        struct pfd_candidate *c = add(t->search, t->address + at);
        if (!c)
            return;
        c->format = format;
        c->found_buffer.size = whole.size;
        c->found_buffer.used = whole.used;
        c->has_no_size = whole.has_no_size;
        c->found_buffer.why = whole.why ? whole.why : agreement;
        at += whole.is_sure ? (size_t)whole.used : (size_t)ALIGNMENT;
        t->next[i] = at;
    }
}

/* The bytes behind a header whose first entry is not complete: zeros, or an
 * older entry. */
static bool is_first(const struct pfd_format *format,
                     const struct pfd_table *table, const uint8_t *bytes,
                     size_t n)
{
    enum {
        DWORD = 4
    };
    return n >= DWORD && (pfd_is_zero(bytes, DWORD) ||
                          format->live->entry_at(table, bytes, n));
}

/* Finds a header at the beginning of a page before a run, whose entries extend
 * over the run; false: there is none. */
static bool look_back(const struct entry_range *t,
                      const struct pfd_format *format,
                      const struct pfd_table *table,
                      struct pfd_recover_run *run)
{
    const struct pfd_format_live *live = format->live;
    size_t in_page = (size_t)((t->address + run->from) % PAGE);
    if (run->from < in_page)
        return false;
    size_t at = (size_t)run->from - in_page;
    for (unsigned i = 0; i < PAGES_BACK; i++, at -= PAGE) {
        const uint8_t *header = t->bytes + at;
        if (t->n - at >= live->n_header && live->is_header(header) &&
            is_first(format, table, header + live->n_header,
                     t->n - at - live->n_header)) {
            uint64_t used = live->used(table, header);
            if (at + used >= run->to && used <= t->n - at &&
                used / REACH_MAX <= run->to - at) {
                run->header = at;
                run->used = at + used;
                return true;
            }
        }
        if (at < PAGE)
            return false;
    }
    return false;
}

static void take_run(struct entry_range *t, const struct pfd_field *field,
                     size_t i, struct pfd_recover_run *run)
{
    struct pfd_search *s = t->search;
    const struct pfd_format *format = pfd_formats[i];
    if (run->header == PFD_NO_OFFSET &&
        (run->to <= t->within[i] || !look_back(t, format, field->table, run))) {
        bool is_stray = run->to > t->within[i];
        s->n_stray_runs += is_stray;
        s->n_stray_entries += is_stray ? run->n_entries : 0;
        return;
    }
    struct pfd_candidate *c = add(s, t->address + run->header);
    if (!c)
        return;
    c->format = format;
    c->found_buffer.size = c->found_buffer.used = run->used - run->header;
    c->found_buffer.why = agreement;
    c->has_no_size = true;
    if (run->used > t->within[i])
        t->within[i] = run->used;
}

static void search_runs(struct entry_range *t, const struct pfd_field *field,
                        size_t i, size_t from, size_t to)
{
    const struct pfd_format *format = pfd_formats[i];
    const struct pfd_table *table = field->table;
    const struct pfd_format_live *live = format->live;
    size_t at = t->next[i] > from ? t->next[i] : from;
    at += (size_t)(-(t->address + at) % live->unit);
    while (at < to && t->n - at >= live->unit) {
        at = live->find(table, t->bytes, t->n, at, to);
        if (at >= to || at >= t->n)
            break;
        struct pfd_recover_run run =
            pfd_recover_measure(format, table, t->bytes, t->n, at);
        if (run.n_entries == 1 && !live->is_telling(t->bytes + at)) {
            at += live->unit;
            continue;
        }
        take_run(t, field, i, &run);
        at = (size_t)run.to;
    }
    t->next[i] = at;
}

/* ---- all of it ---- */

static void search_page(struct entry_range *t, size_t from, size_t to,
                        uint64_t mark)
{
    const struct pfd_prefilter *prefilter = &t->search->prefilter;
    if (mark & PFD_PREFILTER_PACKET)
        search_packets(t, from, to);
    for (size_t i = 0; i < PFD_PREFILTER_FORMATS && pfd_formats[i]; i++) {
        const struct pfd_field own =
            pfd_prefilter_field(prefilter, &t->field, i);
        if (mark & PFD_PREFILTER_HEADER(i))
            search_headers(t, &own, i, from, to);
        if (mark & PFD_PREFILTER_ENTRIES(i))
            search_runs(t, &own, i, from, to);
    }
}

static void report_progress(struct pfd_search *s, uint64_t n_done)
{
    s->n_done = n_done;
    if (!s->how->progress || s->n_done - s->n_reported < TELL_EVERY)
        return;
    s->n_reported = s->n_done;
    s->is_stopped = !s->how->progress(s->how->user, s->n_done, s->n_all);
}

/* Searches the slices that were collected. */
static void search_slices(struct entry_range *t)
{
    struct pfd_search *s = t->search;
    struct pfd_prefilter_slice *pieces = s->slices;
    pfd_prefilter_run(&s->prefilter, &t->field, pieces, t->n_pieces);
    for (size_t i = 0; i < t->n_pieces && !s->is_stopped; i++) {
        const struct pfd_prefilter_slice *p = &pieces[i];
        size_t page = 0;
        for (size_t at = p->from; at < p->to; page++) {
            size_t end = pfd_prefilter_page_end(&t->field, at, p->to);
            if (p->marks[page])
                search_page(t, at, end, p->marks[page]);
            at = end;
        }
        s->n_searched += p->to - p->from;
        report_progress(s, s->n_done + (p->to - p->from));
    }
    t->n_pieces = 0;
}

static bool add_data(void *user, size_t from, size_t to)
{
    struct entry_range *t = user;
    for (size_t at = from; at < to && !t->search->is_stopped;) {
        struct pfd_prefilter_slice *p = &t->search->slices[t->n_pieces++];
        /* A slice has no more pages than marks, wherever it begins. */
        size_t n = PFD_PREFILTER_PIECE - (t->address + at) % PAGE;
        p->from = at;
        p->to = n < to - at ? at + n : to;
        at = p->to;
        if (t->n_pieces == PFD_PREFILTER_PIECES)
            search_slices(t);
    }
    return !t->search->is_stopped;
}

/* Moves the state of a region to the offsets of its next mapped range. */
static void move(struct entry_range *t, size_t n)
{
    for (size_t i = 0; i < PFD_PREFILTER_FORMATS; i++) {
        t->next[i] = t->next[i] > n ? t->next[i] - n : 0;
        t->within[i] = t->within[i] > n ? t->within[i] - n : 0;
    }
}

static void search_range(struct entry_range *t)
{
    static const struct pfd_options defaults;
    struct pfd_search *s = t->search;
    const struct pfd_mapped_range *p = &t->range;
    if (p->goes_on) {
        move(t, (size_t)(p->address - t->address));
    } else {
        memset(t->next, 0, sizeof t->next);
        memset(t->within, 0, sizeof t->within);
    }
    t->bytes = p->bytes;
    t->n = p->n;
    t->address = p->address;
    t->field = (struct pfd_field){
        .bytes = t->bytes,
        .n = t->n,
        .address = t->address,
        .shader_table = pfd_strings_shaders(s->how->strings),
        .options = s->how->options ? s->how->options : &defaults,
    };
    pfd_search_space_data(&s->search_space, t->walk, p, add_data, t);
    search_slices(t);
    if (!s->is_stopped)
        report_progress(s, p->n_all); /* the holes */
}

void pfd_search_all(struct pfd_search *s)
{
    struct pfd_search_space_walk walk = { 0 };
    struct entry_range t = { .search = s, .walk = &walk };
    pfd_search_space_renew(&s->search_space);
    s->n_all = pfd_search_space_size(&s->search_space);
    while (!s->is_stopped && !s->failed &&
           pfd_search_space_next(&s->search_space, &walk, &t.range))
        search_range(&t);
    pfd_search_space_walk_end(&walk);
}
