/* SPDX-License-Identifier: MIT */
#include "core/base/ranges.h"

#include <stdlib.h>

void pfd_ranges_free(struct pfd_ranges *r)
{
    free(r->at);
    *r = (struct pfd_ranges){ 0 };
}

/* Most ranges come in order and are joined at once. */
static bool join(struct pfd_ranges *r, uint64_t from, uint64_t to)
{
    struct pfd_range *last = r->n ? &r->at[r->n - 1] : NULL;
    if (!last || from < last->from || from > last->to)
        return false;
    if (to > last->to)
        last->to = to;
    return true;
}

void pfd_ranges_add(struct pfd_ranges *r, uint64_t from, uint64_t to)
{
    if (from >= to || join(r, from, to))
        return;
    if (r->n == r->room) {
        size_t room = r->room ? r->room * 2 : 4;
        struct pfd_range *at = realloc(r->at, room * sizeof *at);
        if (!at) {
            r->failed = true;
            return;
        }
        r->at = at;
        r->room = room;
    }
    r->at[r->n++] = (struct pfd_range){ from, to };
}

static int compare(const void *a, const void *b)
{
    const struct pfd_range *x = a;
    const struct pfd_range *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

void pfd_ranges_settle(struct pfd_ranges *r)
{
    size_t n = r->n;
    if (n < 2)
        return;
    qsort(r->at, n, sizeof *r->at, compare);
    r->n = 0;
    for (size_t i = 0; i < n; i++)
        pfd_ranges_add(r, r->at[i].from, r->at[i].to);
}

static void add_gap(struct pfd_ranges *ret, uint64_t from, uint64_t to,
                    uint64_t n_min)
{
    if (to > from && to - from >= n_min)
        pfd_ranges_add(ret, from, to);
}

void pfd_ranges_gaps(const struct pfd_ranges *r, uint64_t end, uint64_t n_min,
                     struct pfd_ranges *ret)
{
    uint64_t at = 0;
    for (size_t i = 0; i < r->n && r->at[i].from < end; i++) {
        add_gap(ret, at, r->at[i].from, n_min);
        at = r->at[i].to;
    }
    add_gap(ret, at, end, n_min);
}

uint64_t pfd_ranges_bytes(const struct pfd_ranges *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->at[i].to - r->at[i].from;
    return n;
}

uint64_t pfd_ranges_end(const struct pfd_ranges *r)
{
    return r->n ? r->at[r->n - 1].to : 0;
}

size_t pfd_range_find(const struct pfd_range *ranges, size_t n, uint64_t at)
{
    size_t from = 0;
    while (from < n) {
        size_t middle = from + (n - from) / 2;
        if (ranges[middle].to > at) {
            n = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}
