/* SPDX-License-Identifier: MIT */
/*
 * Walks over parts that are read. Pages of a file that is mapped cost a fault
 * for every few of them, in virtual machines more than printing what they hold;
 * what is read again and again into the same memory stays in a processor's
 * cache. The buffer itself is what counts: where a part does not reach far
 * enough, the walk goes on over that.
 */
#include <stdlib.h>

#include "stream/pipeline/convert_pool.h"

enum {
    WORTH = 1024 * 1024, /* of a buffer: smaller ones are soon mapped */
};

bool pfd_part_can(const struct pfd_pool *pool)
{
    /* A walk that can begin anywhere needs no more than what it walks over. */
    return pool->convert->read_at && pool->format->split && !pool->windows &&
           !pool->chunks && pool->walk.view.n >= WORTH;
}

void pfd_part_deinit(struct pfd_part *part)
{
    free(part->bytes);
}

static void use(const struct pfd_worker *w, struct pfd_walk *walk)
{
    const struct pfd_part *part = &w->part;
    walk->view = pfd_byte_reader(part->bytes, part->n);
    walk->base = part->from;
    walk->last = part->from + part->n == w->pool->whole.n;
}

bool pfd_part_find(struct pfd_worker *w, struct pfd_walk *walk)
{
    const struct pfd_part *part = &w->part;
    bool is_there = walk->at >= part->from && walk->at - part->from < part->n;
    if (is_there)
        use(w, walk);
    return is_there;
}

bool pfd_part_read(struct pfd_worker *w, struct pfd_walk *walk, uint64_t from,
                   uint64_t to)
{
    const struct pfd_convert *convert = w->pool->convert;
    struct pfd_part *part = &w->part;
    if (to > w->pool->whole.n)
        to = w->pool->whole.n;
    if (from >= to || to - from > PFD_PART_BYTES)
        return false;
    if (!part->bytes && !(part->bytes = malloc(PFD_PART_BYTES)))
        return false; /* the buffer does */
    size_t n = (size_t)(to - from);
    long got = convert->read_at(convert->read_at_user, from, part->bytes, n);
    part->from = from;
    part->n = got == (long)n ? n : 0;
    if (!part->n)
        return false;
    use(w, walk);
    return true;
}

void pfd_part_leave(const struct pfd_pool *pool, struct pfd_walk *walk)
{
    walk->view = pool->whole;
    walk->base = 0;
    walk->last = true;
}
