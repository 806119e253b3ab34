/* SPDX-License-Identifier: MIT */
#include "memory/search/prefilter.h"

#include <sys/mman.h>

#include "core/base/thread_pool.h"
#include "memory/search/kernels.h"
#include "memory/search/search_space.h"

enum {
    THREADS_MAX = 64,
    /* Below this number of bytes no thread is started. */
    ALONE_MAX = 4 << 20,
};

size_t pfd_prefilter_page_end(const struct pfd_field *field, size_t at,
                              size_t to)
{
    size_t left =
        PFD_PREFILTER_PAGE - (field->address + at) % PFD_PREFILTER_PAGE;
    return left < to - at ? at + left : to;
}

static bool has_header(const struct pfd_format *format,
                       const struct pfd_field *field, size_t from, size_t to)
{
    struct pfd_whole whole;
    return format->find && format->find(field, from, to, &whole) < to;
}

static bool has_entries(const struct pfd_format *format,
                        const struct pfd_field *field, size_t from, size_t to)
{
    const struct pfd_format_live *live = format->live;
    if (!field->table->n || !live || !live->find)
        return false;
    size_t at = from + (size_t)(-(field->address + from) % live->unit);
    size_t found = to;
    if (at < to)
        found = live->find(field->table, field->bytes, field->n, at, to);
    return found < to && found < field->n;
}

struct pfd_field pfd_prefilter_field(const struct pfd_prefilter *prefilter,
                                     const struct pfd_field *field, size_t i)
{
    struct pfd_field ret = *field;
    ret.table = pfd_strings_table(prefilter->strings, &pfd_formats[i]->strings);
    return ret;
}

static uint64_t mark_page(const struct pfd_prefilter *prefilter,
                          const struct pfd_field *field, size_t from, size_t to)
{
    uint64_t mark = 0;
    /* Most pages of a memory image are zero. */
    if (pfd_is_zero(field->bytes + from, to - from))
        return 0;
    if (pfd_packet_find(prefilter->kernels, field, from, to) < to)
        mark = PFD_PREFILTER_PACKET;
    for (size_t i = 0; i < PFD_PREFILTER_FORMATS && pfd_formats[i]; i++) {
        const struct pfd_field own = pfd_prefilter_field(prefilter, field, i);
        if (has_header(pfd_formats[i], &own, from, to))
            mark |= PFD_PREFILTER_HEADER(i);
        if (has_entries(pfd_formats[i], &own, from, to))
            mark |= PFD_PREFILTER_ENTRIES(i);
    }
    return mark;
}

#ifndef MADV_POPULATE_READ /* missing in musl, and in glibc before 2.35 */
#define MADV_POPULATE_READ 22
#endif

/* Asks the system to load the bytes at once, rather than page by page with the
 * holes around them. Where it cannot, pages are loaded when they are read. */
static void bring_in(const uint8_t *bytes, size_t n)
{
    uintptr_t first =
        (uintptr_t)bytes / PFD_PREFILTER_PAGE * PFD_PREFILTER_PAGE;
    (void)madvise((void *)first, (uintptr_t)bytes + n - first,
                  MADV_POPULATE_READ);
}

/* ---- threads ---- */

struct work {
    const struct pfd_prefilter *prefilter;
    const struct pfd_field *field;
    struct pfd_prefilter_slice *pieces;
};

static void mark_piece(void *user, size_t i)
{
    const struct work *w = user;
    struct pfd_prefilter_slice *p = &w->pieces[i];
    size_t page = 0;
    bring_in(w->field->bytes + p->from, p->to - p->from);
    for (size_t at = p->from; at < p->to; page++) {
        size_t end = pfd_prefilter_page_end(w->field, at, p->to);
        p->marks[page] = mark_page(w->prefilter, w->field, at, end);
        at = end;
    }
}

void pfd_prefilter_run(const struct pfd_prefilter *prefilter,
                       const struct pfd_field *field,
                       struct pfd_prefilter_slice *pieces, size_t n)
{
    struct work w = { prefilter, field, pieces };
    struct pfd_thread_pool *threads = NULL; /* none if there is no memory */
    uint64_t n_bytes = 0;
    unsigned wanted = prefilter->threads < THREADS_MAX ? prefilter->threads
                                                       : (unsigned)THREADS_MAX;
    for (size_t i = 0; i < n; i++)
        n_bytes += pieces[i].to - pieces[i].from;
    if (n_bytes > ALONE_MAX && wanted > 1)
        threads = pfd_thread_pool_new(wanted - 1);
    pfd_thread_pool_share(threads, n, mark_piece, &w);
    pfd_thread_pool_free(threads);
}
