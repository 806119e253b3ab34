/* SPDX-License-Identifier: MIT */
/* The memory that all parts have together, and what is left of it. */
#include "delivery/queue.h"
#include "sources/daemon.h"
#include "sources/library.h"

enum {
    RESERVE = 32, /* this part of memory_max is for what is not known before, */
    LOOKS = 8,    /* and this for looks at buffers */
};

size_t pfdd_memory(const struct pfdd *d, struct pfdd_memory *ret)
{
    *ret = (struct pfdd_memory){
        .ring = d->ring.n_held,
        .pages = d->pages.n_bytes,
        .inputs = d->input_bytes,
        .frames = d->frame_bytes,
        .sessions = d->session_bytes + d->sources.n_bytes,
        .buffers = d->buffer_bytes,
    };
    if (d->library)
        ret->strings = pfdd_library_memory(d->library);
    if (d->queue)
        ret->outputs = pfdd_queue_memory(d->queue);
    for (const struct pfdd_output *o = d->outputs; o; o = o->next)
        ret->outputs += o->class->memory(o);
    return ret->ring + ret->pages + ret->inputs + ret->frames + ret->buffers +
           ret->sessions + ret->strings + ret->outputs;
}

bool pfdd_must_wait(struct pfdd *d)
{
    /* Those on their way, one that is done, and the one that asks. */
    size_t n_coming = (pfdd_pool_pending(d->decoders) + 2) * d->batch;
    bool busy = pfdd_ring_is_busy(&d->ring, n_coming);
    d->count.waits += busy;
    return busy;
}

/* Bytes that are taken, or kept for parts that do not ask. */
static size_t taken(const struct pfdd *d)
{
    struct pfdd_memory parts;
    size_t n = pfdd_memory(d, &parts);
    /* Lines come whether there is room or not: the ring's is kept free, and
     * some for what is not known before. */
    n += pfdd_ring_most(&d->ring) - parts.ring + d->frame_reserve +
         d->config->config->memory_max / RESERVE;
    if (d->pages.n_bytes_max > parts.pages)
        n += d->pages.n_bytes_max - parts.pages;
    return n + (d->library ? pfdd_library_most(d->library) : 0);
}

static size_t left_for_looks(const struct pfdd *d)
{
    size_t share = d->config->config->memory_max / LOOKS;
    return share > d->look_bytes ? share - d->look_bytes : 0;
}

size_t pfdd_room(const struct pfdd *d)
{
    size_t n = taken(d) + left_for_looks(d);
    size_t max = d->config->config->memory_max;
    return n < max ? max - n : 0;
}

bool pfdd_has_room(const struct pfdd *d, size_t n)
{
    return n < pfdd_room(d);
}

bool pfdd_has_look_room(const struct pfdd *d, size_t n)
{
    return n <= left_for_looks(d) &&
           taken(d) + n < d->config->config->memory_max;
}

void pfdd_note_memory(struct pfdd *d)
{
    struct pfdd_memory parts;
    size_t n = pfdd_memory(d, &parts);
    d->memory_peak = n > d->memory_peak ? n : d->memory_peak;
}

bool pfdd_has_frame_room(const struct pfdd *d, size_t n)
{
    size_t max = d->config->config->memory_max;
    return d->frame_bytes + n < max / 2 && pfdd_has_room(d, n + max / 8);
}
