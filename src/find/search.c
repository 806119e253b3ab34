/* SPDX-License-Identifier: MIT */
/*
 * One pass over the memory of a core, page by page. Source of what a dispatch
 * packet is: hsa_kernel_dispatch_packet_t of the HSA runtime's specification,
 * 1.2; the processor sets a packet's type to "invalid" once it has taken it and
 * leaves the rest.
 */
#include <sys/mman.h>

#include "base/ranges.h"
#include "decode/recover.h"
#include "find/find.h"

enum {
    PAGE = 4096,
    PACKET = 64,
    PACKET_KERNEL = 32,
    PACKET_ARGUMENTS = 40,
    PACKET_INVALID = 1,
    PACKET_DISPATCH = 2,
    TELL_EVERY = 1 << 26,
    BROUGHT_IN = 1 << 23, /* bytes at a time */
    /* A buffer whose first entries are not written yet begins at a page, and so
     * many before the first entry that is. */
    PAGES_BACK = 256,
    REACH_MAX = 16, /* and it is not so many times longer than what is seen */
    FORMATS_MAX = 32,
};

/* Memory that stands in one piece. */
struct stretch {
    struct pfd_search *search;
    const uint8_t *bytes; /* [n] */
    size_t n;
    uint64_t address;
    struct pfd_ranges data;       /* of the bytes: what is no hole */
    size_t next[FORMATS_MAX];     /* of each format: what is before is told */
    uint64_t within[FORMATS_MAX]; /* and which run belongs to the buffer that
                                     was found last */
};

static bool is_zero(const uint8_t *p, size_t n)
{
    return p[0] == 0 && !memcmp(p, p + 1, n - 1);
}

static struct pfd_candidate *add(struct pfd_search *s, uint64_t address)
{
    if (s->n == PFD_CANDIDATES_MAX) {
        s->is_more = true;
        return NULL;
    }
    struct pfd_candidate *c = &s->candidates[s->n++];
    *c = (struct pfd_candidate){ .found.address = address };
    return c;
}

/* ---- dispatches ---- */

static void name_queue(const struct pfd_search *s, struct pfd_found *found)
{
    struct pfd_core_queue q;
    for (size_t i = 0; pfd_core_queue(s->how->core, i, &q) == PFD_OK; i++) {
        if (found->packet < q.ring_address ||
            found->packet - q.ring_address >= q.ring_size)
            continue;
        found->has_queue = true;
        found->queue_id = q.queue_id;
        found->gpu_id = q.gpu_id;
        return;
    }
}

static void take_packet(const struct stretch *t, size_t at,
                        const struct pfd_kernel *kernel)
{
    const struct pfd_core *core = t->search->how->core;
    struct pfd_cursor c = pfd_cursor(t->bytes + at, PACKET);
    uint8_t type = pfd_cursor_u8(&c);
    uint64_t buffer = 0;
    pfd_cursor_seek(&c, PACKET_ARGUMENTS);
    uint64_t arguments = pfd_cursor_u64(&c);
    if ((type != PACKET_INVALID && type != PACKET_DISPATCH) ||
        kernel->printf_buffer > UINT64_MAX - arguments ||
        pfd_core_read(core, arguments + kernel->printf_buffer, &buffer,
                      sizeof buffer) != sizeof buffer ||
        !buffer)
        return;
    struct pfd_candidate *candidate = add(t->search, buffer);
    if (!candidate)
        return;
    candidate->found.by_dispatch = true;
    candidate->found.packet = t->address + at;
    candidate->found.kernel = kernel->name;
    name_queue(t->search, &candidate->found);
}

static void search_packets(struct stretch *t, size_t from, size_t to)
{
    const struct pfd_kernels *kernels = &t->search->kernels;
    const struct pfd_cursor c = pfd_cursor(t->bytes, t->n);
    if (!kernels->n)
        return;
    uint64_t first = kernels->at[0].address;
    uint64_t last = kernels->at[kernels->n - 1].address;
    size_t at = from + (size_t)(-(t->address + from) % PACKET);
    for (; at < to && t->n - at >= PACKET; at += PACKET) {
        uint64_t address = pfd_cursor_peek_u64(&c, at + PACKET_KERNEL);
        if (address < first || address > last)
            continue;
        const struct pfd_kernel *kernel = pfd_kernels_find(kernels, address);
        if (kernel)
            take_packet(t, at, kernel);
    }
}

/* ---- headers ---- */

static void search_headers(struct stretch *t, const struct pfd_format *format,
                           const struct pfd_table *table, size_t i, size_t from,
                           size_t to)
{
    enum {
        ALIGNMENT = 8
    };
    struct pfd_whole whole;
    size_t at = t->next[i] > from ? t->next[i] : from;
    at += (size_t)(-(t->address + at) % ALIGNMENT);
    while (at < to) {
        at = format->find(table, t->bytes, t->n, at, to, &whole);
        if (at >= to)
            return;
        struct pfd_candidate *c = add(t->search, t->address + at);
        if (!c)
            return;
        c->format = format;
        c->found.size = whole.size;
        c->found.used = whole.used;
        at += whole.is_sure ? (size_t)whole.used : (size_t)ALIGNMENT;
        at += (size_t)(-(t->address + at) % ALIGNMENT);
        t->next[i] = at;
    }
}

/* A header at the beginning of a page before a run, whose entries reach over
 * it; false: there is none. */
static bool look_back(const struct stretch *t, const struct pfd_format *format,
                      struct pfd_recover_run *run)
{
    const struct pfd_format_live *live = format->live;
    size_t in_page = (size_t)((t->address + run->from) % PAGE);
    if (run->from < in_page)
        return false;
    size_t at = (size_t)run->from - in_page;
    for (unsigned i = 0; i < PAGES_BACK; i++, at -= PAGE) {
        const uint8_t *header = t->bytes + at;
        if (t->n - at >= live->n_header && live->is_header(header)) {
            uint64_t used = live->used(header);
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

static void take_run(struct stretch *t, const struct pfd_format *format,
                     size_t i, struct pfd_recover_run *run)
{
    struct pfd_search *s = t->search;
    if (run->header == PFD_NO_OFFSET &&
        (run->to <= t->within[i] || !look_back(t, format, run))) {
        bool is_stray = run->to > t->within[i];
        s->n_stray_runs += is_stray;
        s->n_stray_entries += is_stray ? run->n_entries : 0;
        return;
    }
    struct pfd_candidate *c = add(s, t->address + run->header);
    if (!c)
        return;
    c->format = format;
    c->found.size = c->found.used = run->used - run->header;
    if (run->used > t->within[i])
        t->within[i] = run->used;
}

static void search_runs(struct stretch *t, const struct pfd_format *format,
                        const struct pfd_table *table, size_t i, size_t from,
                        size_t to)
{
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
        take_run(t, format, i, &run);
        at = (size_t)run.to;
    }
    t->next[i] = at;
}

/* ---- all of it ---- */

static void search_page(struct stretch *t, size_t from, size_t to)
{
    const struct pfd_strings *strings = t->search->how->strings;
    search_packets(t, from, to);
    for (size_t i = 0; i < FORMATS_MAX && pfd_formats[i]; i++) {
        const struct pfd_format *f = pfd_formats[i];
        const struct pfd_table *table = pfd_strings_table(strings, &f->strings);
        if (f->find)
            search_headers(t, f, table, i, from, to);
        if (table->n && f->live && f->live->find)
            search_runs(t, f, table, i, from, to);
    }
}

static void tell(struct pfd_search *s, uint64_t n)
{
    s->n_done += n;
    if (!s->how->progress || s->n_done - s->n_told < TELL_EVERY)
        return;
    s->n_told = s->n_done;
    s->is_stopped = !s->how->progress(s->how->user, s->n_done,
                                      pfd_core_info(s->how->core)->n_present);
}

/* Has the system bring bytes in at once, and not the holes around them page by
 * page; where it cannot, they come as they are looked at. */
static void bring_in(const struct stretch *t, size_t from, size_t end)
{
    uintptr_t first = (uintptr_t)(t->bytes + from) / PAGE * PAGE;
    uintptr_t last = (uintptr_t)(t->bytes + end);
    (void)madvise((void *)first, last - first, MADV_POPULATE_READ);
}

static void search_range(struct stretch *t, size_t from, size_t end)
{
    size_t to = 0;
    size_t there = from;
    for (size_t at = from; at < end && !t->search->is_stopped; at = to) {
        if (at >= there) {
            there = end - at < BROUGHT_IN ? end : at + BROUGHT_IN;
            bring_in(t, at, there);
        }
        uint64_t left = PAGE - (t->address + at) % PAGE;
        to = left < end - at ? at + (size_t)left : end;
        /* Most of a memory image is zero. */
        if (!is_zero(t->bytes + at, to - at))
            search_page(t, at, to);
        t->search->n_searched += to - at;
        tell(t->search, to - at);
    }
}

static bool add_data(void *user, uint64_t from, uint64_t to)
{
    struct stretch *t = user;
    pfd_ranges_add(&t->data, from - t->address, to - t->address);
    return !t->data.failed;
}

static void search_segment(struct pfd_search *s, size_t i,
                           const struct pfd_core_segment *segment)
{
    struct stretch t = { .search = s, .address = segment->address };
    uint64_t n = 0;
    uint64_t at = 0;
    t.bytes = pfd_core_bytes(s->how->core, segment->address, &n);
    if (!t.bytes)
        return;
    t.n = (size_t)n;
    pfd_core_data(s->how->core, i, add_data, &t);
    s->failed |= t.data.failed;
    for (size_t k = 0; k < t.data.n && !s->is_stopped; k++) {
        tell(s, t.data.at[k].from - at);
        at = t.data.at[k].to;
        search_range(&t, (size_t)t.data.at[k].from, (size_t)at);
    }
    tell(s, t.n - at);
    pfd_ranges_free(&t.data);
}

void pfd_search_all(struct pfd_search *s)
{
    struct pfd_core_segment segment;
    for (size_t i = 0; pfd_core_segment(s->how->core, i, &segment) == PFD_OK &&
                       !s->is_stopped && !s->failed;
         i++)
        search_segment(s, i, &segment);
}
