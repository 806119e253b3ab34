/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdlib.h>
#include <string.h>

void context_init(struct context *n, uint64_t tail, uint64_t context)
{
    *n = (struct context){ .tail = tail, .context = context };
}

void context_deinit(struct context *n)
{
    free(n->last);
    free(n->ranges);
}

static void *grown(struct context *n, void *array, size_t *room, size_t size)
{
    size_t more = *room ? 2 * *room : 256;
    void *ret = realloc(array, more * size);
    if (ret) {
        *room = more;
    } else {
        n->failed = true;
    }
    return ret;
}

/* Adds entries [from, to); ranges are added in order of `from`. */
static void add_range(struct context *n, uint64_t from, uint64_t to)
{
    if (n->n_ranges && from <= n->ranges[n->n_ranges - 1].to) {
        n->ranges[n->n_ranges - 1].to = to;
        return;
    }
    if (n->n_ranges == n->ranges_room) {
        void *ranges = grown(n, n->ranges, &n->ranges_room, sizeof *n->ranges);
        if (!ranges)
            return;
        n->ranges = ranges;
    }
    n->ranges[n->n_ranges++] = (struct pfd_range){ from, to };
}

static void add_around(struct context *n, uint64_t index)
{
    uint64_t from = index > n->context ? index - n->context : 0;
    uint64_t to = index + 1;
    add_range(n, from,
              UINT64_MAX - to < n->context ? UINT64_MAX : to + n->context);
}

/* Drops all but the last `tail` indexes. */
static void drop_old(struct context *n)
{
    memmove(n->last, n->last + (n->n_last - n->tail),
            n->tail * sizeof *n->last);
    n->n_last = n->tail;
}

static void add_last(struct context *n, uint64_t index)
{
    if (n->n_last / 2 >= n->tail)
        drop_old(n);
    if (n->n_last == n->room) {
        void *last = grown(n, n->last, &n->room, sizeof *n->last);
        if (!last)
            return;
        n->last = last;
    }
    n->last[n->n_last++] = index;
}

static void take(void *user, const uint64_t *indexes, size_t n_indexes)
{
    struct context *n = user;
    n->n_wanted += n_indexes;
    for (size_t i = 0; i < n_indexes && !n->failed; i++) {
        if (n->tail) {
            add_last(n, indexes[i]);
        } else {
            add_around(n, indexes[i]);
        }
    }
}

void context_look(struct context *n, struct pfd_convert *convert)
{
    convert->output = NULL;
    convert->write_chunk = NULL;
    convert->finding = NULL;
    convert->id_counts = NULL;
    n->n_given = convert->n_emitted;
    convert->n_emitted = NULL;
    convert->emitted = take;
    convert->given_user = n;
}

bool context_show(struct context *n, struct pfd_convert *convert)
{
    static const struct pfd_range none;
    if (n->tail && n->n_last > n->tail)
        drop_old(n);
    for (size_t i = 0; i < n->n_last; i++)
        add_around(n, n->last[i]);
    convert->filter = NULL;
    convert->skip = 0;
    convert->limit = 0;
    convert->no_entries = false;
    convert->n_emitted = NULL;
    convert->n_doubts = NULL;
    if (n->n_given)
        *n->n_given += n->tail && n->n_wanted > n->tail ? n->tail : n->n_wanted;
    convert->ranges = n->n_ranges ? n->ranges : &none;
    convert->n_ranges = n->n_ranges;
    convert->marks_ranges = n->context > 0;
    return !n->failed;
}
