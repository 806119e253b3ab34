/* SPDX-License-Identifier: MIT */
#include "memory/search/search_buffers.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "core/base/thread.h"
#include "memory/search/search_space.h"

enum {
    /* Limit of all decoding, as a multiple of the searched bytes: nested
     * candidates could cost the square. */
    TRIED_FACTOR = 8,
    TRIED_LEAST = 1 << 26,
    /* Equal bytes at the start that make a copy: a header and an entry. */
    COPY_MIN = 32,
    COMPARED_MAX = 1 << 26,
    GROWTH_MAX = 1 << 26,
    COPIED_DEFAULT = 384 << 20,
    COPIED_LEAST = 24 << 20,
    DWORD = 4,
    PAGE = 4096,
    /* Bytes of a header by which its format is recognized. */
    HEADER_MAX = 4096,
};

static uint64_t decoded(const struct pfd_summary *s)
{
    return s->entries - s->unknown;
}

static void spend(struct pfd_search *s, uint64_t n)
{
    s->n_left = s->n_left > n ? s->n_left - n : 0;
}

/* ---- trying ---- */

/* Counts the entries of a candidate that decode in one format. Holes do not
 * count as data: passing over them is cheap. */
static void try_format(struct pfd_search *s, const struct pfd_candidate *c,
                       const struct pfd_format *format, struct pfd_summary *ret)
{
    struct pfd_memory_view memory_view;
    *ret = (struct pfd_summary){ 0 };
    pfd_memory_view_take(&s->search_space, c->found_buffer.address,
                         c->found_buffer.used, s->n_left, &memory_view);
    const struct pfd_convert convert = {
        .strings = s->how->strings,
        .format = format->info.name,
        .source = "",
        .holes = memory_view.holes.at,
        .n_holes = memory_view.holes.n,
        .threads = 1,
    };
    spend(s, memory_view.n_data);
    s->failed |= memory_view.failed ||
                 (memory_view.bytes &&
                  pfd_convert_bytes(&convert, memory_view.bytes, memory_view.n,
                                    ret, NULL) == PFD_ERR_NOMEM);
    pfd_memory_view_free(&memory_view);
}

static bool has_strings(const struct pfd_search *s,
                        const struct pfd_format *format)
{
    return pfd_strings_table(s->how->strings, &format->strings)->n > 0;
}

/* For a candidate from a packet: takes the format whose header is there and
 * that decodes the largest part. */
static void choose_format(struct pfd_search *s, struct pfd_candidate *c)
{
    uint8_t header[HEADER_MAX];
    size_t n = pfd_search_space_read(&s->search_space, c->found_buffer.address,
                                     header, sizeof header);
    for (size_t i = 0; pfd_formats[i]; i++) {
        const struct pfd_format *f = pfd_formats[i];
        struct pfd_candidate as = *c;
        struct pfd_summary summary = { 0 };
        struct pfd_whole whole;
        if (!f->measure || !f->measure(header, n, &whole))
            continue;
        as.format = f;
        as.found_buffer.size = whole.size;
        as.found_buffer.used = whole.used;
        try_format(s, &as, f, &summary);
        as.found_buffer.summary = summary;
        if (!c->format ||
            decoded(&summary) > decoded(&c->found_buffer.summary) ||
            (!decoded(&c->found_buffer.summary) && !has_strings(s, c->format)))
            *c = as;
    }
}

/* Is the header there by chance? Then next to nothing decodes. */
static bool is_chance(const struct pfd_candidate *c)
{
    return !decoded(&c->found_buffer.summary) ||
           (c->format->measure &&
            c->found_buffer.summary.bytes < c->found_buffer.used / 100);
}

/* The process goes on writing, and the header does not give the buffer's
 * end. */
static uint64_t room_to_grow(const struct pfd_search *s,
                             const struct pfd_found_buffer *f)
{
    uint64_t n = pfd_search_space_region_left(&s->search_space, f->address);
    n = n < GROWTH_MAX ? n : GROWTH_MAX;
    return n > f->used ? n : f->used;
}

static void try_candidate(struct pfd_search *s, struct pfd_candidate *c)
{
    struct pfd_found_buffer *f = &c->found_buffer;
    if (!s->n_left) {
        s->is_more = true;
        c->is_dropped = true;
        return;
    }
    if (c->format) {
        try_format(s, c, c->format, &f->summary);
    } else {
        choose_format(s, c);
    }
    if (c->has_no_size && !s->how->core)
        f->size = room_to_grow(s, f);
    f->size = pfd_search_space_measure(&s->search_space, f->address, f->size);
    if (f->used > f->size)
        f->used = f->size;
    c->is_dropped = !f->size || !c->format || (!f->by_dispatch && is_chance(c));
    if (c->format)
        f->format = c->format->info.name;
}

/* ---- ranking ---- */

/* Order: candidates from packets; then the larger decoded part; then more
 * entries. */
static int compare(const void *a, const void *b)
{
    const struct pfd_candidate *x = a;
    const struct pfd_candidate *y = b;
    const struct pfd_summary *s = &x->found_buffer.summary;
    const struct pfd_summary *u = &y->found_buffer.summary;
    if (x->is_dropped != y->is_dropped)
        return x->is_dropped ? 1 : -1;
    if (x->found_buffer.by_dispatch != y->found_buffer.by_dispatch)
        return x->found_buffer.by_dispatch ? -1 : 1;
    double share = (double)s->bytes /
                   (double)(x->found_buffer.used ? x->found_buffer.used : 1);
    double other = (double)u->bytes /
                   (double)(y->found_buffer.used ? y->found_buffer.used : 1);
    bool is_clean = !s->skipped_bytes && !s->unknown && !s->lost_bytes;
    bool is_other = !u->skipped_bytes && !u->unknown && !u->lost_bytes;
    if (is_clean != is_other)
        return is_clean ? -1 : 1;
    if (!is_clean && share != other)
        return share > other ? -1 : 1;
    if (decoded(s) != decoded(u))
        return decoded(s) > decoded(u) ? -1 : 1;
    return x->found_buffer.address < y->found_buffer.address
               ? -1
               : x->found_buffer.address > y->found_buffer.address;
}

static bool is_sound(const struct pfd_candidate *c)
{
    const struct pfd_summary *s = &c->found_buffer.summary;
    return !s->skipped_bytes && !s->unknown && !s->lost_bytes;
}

static bool starts_alike(struct pfd_search_space *search_space,
                         const struct pfd_found_buffer *a,
                         const struct pfd_found_buffer *b)
{
    uint8_t head[2][COPY_MIN] = { { 0 }, { 0 } };
    uint64_t n = a->used < b->used ? a->used : b->used;
    n = n < COPY_MIN ? n : COPY_MIN;
    pfd_search_space_read(search_space, a->address, head[0], (size_t)n);
    pfd_search_space_read(search_space, b->address, head[1], (size_t)n);
    return !memcmp(head[0], head[1], COPY_MIN);
}

/* The number of equal bytes at the beginning of both. */
static size_t compare_bytes(struct pfd_search *s,
                            const struct pfd_found_buffer *a,
                            const struct pfd_found_buffer *b)
{
    struct pfd_memory_view x;
    struct pfd_memory_view y;
    uint64_t n = a->used < b->used ? a->used : b->used;
    size_t same = 0;
    n = n < COMPARED_MAX ? n : COMPARED_MAX;
    pfd_memory_view_take(&s->search_space, a->address, n, s->n_left, &x);
    pfd_memory_view_take(&s->search_space, b->address, n, s->n_left, &y);
    size_t most = x.n < y.n ? x.n : y.n;
    while (x.bytes && y.bytes && same < most && x.bytes[same] == y.bytes[same])
        same++;
    spend(s, x.n_data + y.n_data);
    s->failed |= x.failed || y.failed;
    pfd_memory_view_free(&x);
    pfd_memory_view_free(&y);
    return same;
}

/* Does it have no entry that the better one lacks? */
static bool is_copy(struct pfd_search *s, const struct pfd_candidate *c,
                    const struct pfd_candidate *better)
{
    if (c->format != better->format || c->found_buffer.by_dispatch ||
        !s->n_left ||
        !starts_alike(&s->search_space, &c->found_buffer,
                      &better->found_buffer))
        return false;
    uint64_t n = compare_bytes(s, &c->found_buffer, &better->found_buffer);
    if (c->found_buffer.used == better->found_buffer.used &&
        (n == c->found_buffer.used || n == COMPARED_MAX))
        return true;
    /* A part of a buffer, such as a block of a file that was being written. */
    return n >= COPY_MIN && n < c->found_buffer.used && !is_sound(c) &&
           decoded(&c->found_buffer.summary) <=
               decoded(&better->found_buffer.summary);
}

static bool overlap(const struct pfd_found_buffer *a,
                    const struct pfd_found_buffer *b)
{
    return a->address < b->address + b->used &&
           b->address < a->address + a->used;
}

/* Drops candidates that overlap a better one or are a copy of it. */
static void drop_duplicates(struct pfd_search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pfd_candidate *c = &s->candidates[i];
        for (size_t k = 0; k < i && !c->is_dropped; k++) {
            struct pfd_candidate *better = &s->candidates[k];
            if (better->is_dropped && !better->is_copy)
                continue;
            c->is_dropped = overlap(&c->found_buffer, &better->found_buffer);
            if (!c->is_dropped && !better->is_copy && is_copy(s, c, better)) {
                c->is_dropped = true;
                c->is_copy = true;
                better->found_buffer.n_copies++;
            }
        }
    }
}

/* Cuts a buffer where the next one begins: its header gives a size larger than
 * its memory. */
static void trim(struct pfd_search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pfd_found_buffer *f = &s->candidates[i].found_buffer;
        for (size_t k = 0; k < s->n && !s->candidates[i].is_dropped; k++) {
            uint64_t next = s->candidates[k].found_buffer.address;
            if (!s->candidates[k].is_dropped && next > f->address &&
                next - f->address < f->size)
                f->size = next - f->address;
        }
        if (f->used > f->size)
            f->used = f->size;
    }
}

/* Is the last dword zero, and the bytes behind it? So ends an entry that the
 * buffer's end cuts, in memory without another owner. */
static bool ends_in_zeros(struct pfd_search_space *search_space,
                          const struct pfd_found_buffer *f)
{
    uint8_t bytes[2 * DWORD];
    if (f->used < DWORD)
        return false;
    size_t n = pfd_search_space_read(search_space, f->address + f->used - DWORD,
                                     bytes, sizeof bytes);
    return n >= DWORD && pfd_is_zero(bytes, n);
}

/* Does the last entry cross the border of a page? The page behind it may belong
 * to another owner. If more entries follow behind the border, the end is
 * sound. */
static bool is_last_over_border(struct pfd_search *s,
                                const struct pfd_candidate *c)
{
    const struct pfd_format_live *live = c->format->live;
    const struct pfd_found_buffer *f = &c->found_buffer;
    struct pfd_candidate cut = *c;
    struct pfd_summary before = { 0 };
    uint64_t border = (f->address + f->used - 1) / PAGE * PAGE;
    if (!live || !f->used || border <= f->address + live->n_header)
        return false;
    cut.found_buffer.used = border - f->address;
    try_format(s, &cut, c->format, &before);
    return before.bytes + live->n_header < cut.found_buffer.used &&
           f->summary.entries - before.entries == 1;
}

static void doubt_ends(struct pfd_search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pfd_candidate *c = &s->candidates[i];
        if (!c->is_dropped && c->has_no_size) {
            c->found_buffer.is_end_doubtful =
                !is_sound(c) ||
                ends_in_zeros(&s->search_space, &c->found_buffer) ||
                is_last_over_border(s, c);
        }
    }
}

/* ---- results ---- */

static struct pfd_found_buffers *make_list(const struct pfd_search *s)
{
    struct pfd_found_buffers *list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    list->at = calloc(s->n + 1, sizeof *list->at);
    for (size_t i = 0; list->at && i < s->n; i++) {
        if (s->candidates[i].is_dropped)
            continue;
        struct pfd_found_buffer *f = &list->at[list->n];
        *f = s->candidates[i].found_buffer;
        f->kernel = f->kernel ? strdup(f->kernel) : NULL;
        list->n++;
    }
    list->is_more = s->is_more;
    list->n_stray_runs = s->n_stray_runs;
    list->n_stray_entries = s->n_stray_entries;
    list->n_searched = s->n_searched;
    if (list->at)
        return list;
    free(list);
    return NULL;
}

static void judge(struct pfd_search *s)
{
    uint64_t n = s->n_searched;
    s->n_left = n < UINT64_MAX / TRIED_FACTOR - TRIED_LEAST
                    ? n * TRIED_FACTOR + TRIED_LEAST
                    : UINT64_MAX;
    for (size_t i = 0; i < s->n; i++)
        try_candidate(s, &s->candidates[i]);
    qsort(s->candidates, s->n, sizeof *s->candidates, compare);
    drop_duplicates(s);
    trim(s);
    doubt_ends(s);
}

static uint64_t count_copied(uint64_t wanted)
{
    wanted = wanted ? wanted : COPIED_DEFAULT;
    return wanted > COPIED_LEAST ? wanted : COPIED_LEAST;
}

static unsigned count_threads(unsigned wanted)
{
    return wanted ? wanted : pfd_processor_count();
}

static enum pfd_status load_kernels(struct pfd_search *s, struct pfd_error *err)
{
    struct pfd_memory *memory = s->how->memory;
    enum pfd_status status = PFD_OK;
    if (s->how->core)
        status = pfd_memory_open_core(s->how->core, &memory, err);
    if (status == PFD_OK)
        status = pfd_kernels_load(&s->kernels, memory, err);
    if (s->how->core)
        pfd_memory_close(memory);
    return status;
}

/* PFD_OK; any other: there is no list, with the reason. */
static enum pfd_status search_and_judge(struct pfd_search *s,
                                        struct pfd_found_buffers **ret,
                                        struct pfd_error *err)
{
    enum pfd_status status = load_kernels(s, err);
    if (status != PFD_OK)
        return status;
    pfd_search_all(s);
    if (s->is_stopped)
        return pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET, "stopped");
    if (s->search_space.status == PFD_OK && !s->failed)
        judge(s);
    if (s->search_space.status != PFD_OK)
        return s->search_space.status;
    *ret = s->failed ? NULL : make_list(s);
    return *ret ? PFD_OK
                : pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

enum pfd_status pfd_search_buffers(
    const struct pfd_buffer_search *buffer_search,
    struct pfd_found_buffers **ret, struct pfd_error *err)
{
    struct pfd_search s = {
        .how = buffer_search,
        .search_space = { .core = buffer_search->core,
                          .memory = buffer_search->memory,
                          .n_copied_max =
                              count_copied(buffer_search->n_copied_max),
                          .err = err },
    };
    s.candidates = calloc(PFD_CANDIDATES_MAX, sizeof *s.candidates);
    s.slices = calloc(PFD_PREFILTER_PIECES, sizeof *s.slices);
    s.failed = !s.candidates || !s.slices;
    s.prefilter =
        (struct pfd_prefilter){ buffer_search->strings, &s.kernels,
                                count_threads(buffer_search->threads) };
    *ret = NULL;
    enum pfd_status status = search_and_judge(&s, ret, err);
    free(s.candidates);
    free(s.slices);
    pfd_kernels_free(&s.kernels);
    return status;
}

void pfd_found_buffers_free(struct pfd_found_buffers *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        free((void *)(uintptr_t)list->at[i].kernel);
    free(list->at);
    free(list);
}
