/* SPDX-License-Identifier: MIT */
/*
 * Walks over slice copies. Pages of a mapped file cost a fault for every few of
 * them, in virtual machines more than rendering their contents; bytes that are
 * read again and again into the same memory stay in a processor's cache. The
 * buffer itself is authoritative: where a copy does not reach far enough, the
 * walk goes on over the buffer.
 */
#include <stdlib.h>

#include "stream/pipeline/convert_pool.h"

enum {
    WORTH = 1024 * 1024, /* bytes of a buffer: smaller ones are soon mapped */
};

bool pfd_slice_copy_can(const struct pfd_pool *pool)
{
    /* A walk that can begin anywhere needs only the bytes that it walks
     * over. */
    return pool->convert->read_at && pool->format->split && !pool->windows &&
           !pool->chunks && pool->walk.view.n >= WORTH;
}

void pfd_slice_copy_deinit(struct pfd_slice_copy *slice_copy)
{
    free(slice_copy->bytes);
}

static void use(const struct pfd_worker *w, struct pfd_walk *walk)
{
    const struct pfd_slice_copy *slice_copy = &w->slice_copy;
    walk->view = pfd_byte_reader(slice_copy->bytes, slice_copy->n);
    walk->base = slice_copy->from;
    walk->last = slice_copy->from + slice_copy->n == w->pool->whole.n;
}

bool pfd_slice_copy_find(struct pfd_worker *w, struct pfd_walk *walk)
{
    const struct pfd_slice_copy *slice_copy = &w->slice_copy;
    bool is_there = walk->at >= slice_copy->from &&
                    walk->at - slice_copy->from < slice_copy->n;
    if (is_there)
        use(w, walk);
    return is_there;
}

bool pfd_slice_copy_read(struct pfd_worker *w, struct pfd_walk *walk,
                         uint64_t from, uint64_t to)
{
    const struct pfd_convert *convert = w->pool->convert;
    struct pfd_slice_copy *slice_copy = &w->slice_copy;
    if (to > w->pool->whole.n)
        to = w->pool->whole.n;
    if (from >= to || to - from > PFD_SLICE_COPY_BYTES)
        return false;
    if (!slice_copy->bytes &&
        !(slice_copy->bytes = malloc(PFD_SLICE_COPY_BYTES)))
        return false; /* the buffer does */
    size_t n = (size_t)(to - from);
    long got =
        convert->read_at(convert->read_at_user, from, slice_copy->bytes, n);
    slice_copy->from = from;
    slice_copy->n = got == (long)n ? n : 0;
    if (!slice_copy->n)
        return false;
    use(w, walk);
    return true;
}

void pfd_slice_copy_leave(const struct pfd_pool *pool, struct pfd_walk *walk)
{
    walk->view = pool->whole;
    walk->base = 0;
    walk->last = true;
}
