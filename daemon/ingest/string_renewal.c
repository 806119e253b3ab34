/* SPDX-License-Identifier: MIT */
#include "ingest/string_renewal.h"

enum {
    GARBAGE_MIN = 256 << 10,
    ROOM_MIN = 1 << 20,
};

/* Bytes for the live part of a set, and as many for temporary memory. 0: there
 * are not so many. */
static size_t room_for(const struct pfdd_string_renewal *r, size_t n_set,
                       size_t n_left)
{
    size_t n_here = n_set > r->n_garbage ? n_set - r->n_garbage : 0;
    size_t room = 2 * n_here + ROOM_MIN;
    room = room > r->n_least ? room : r->n_least;
    return room <= n_left / 2 ? room : 0;
}

bool pfdd_string_renewal_is_due(const struct pfdd_string_renewal *r,
                                size_t n_set, size_t n_left)
{
    return !r->set && r->n_garbage >= GARBAGE_MIN &&
           r->n_garbage >= n_set / 2 && room_for(r, n_set, n_left);
}

bool pfdd_string_renewal_begin(struct pfdd_string_renewal *r, size_t n_set,
                               size_t n_left)
{
    r->set = pfd_strings_new();
    if (!r->set)
        return false;
    r->n_bytes = room_for(r, n_set, n_left);
    r->n_going = r->n_garbage;
    r->n_garbage = 0;
    return true;
}

size_t pfdd_string_renewal_rest(const struct pfdd_string_renewal *r)
{
    size_t n = r->set ? pfd_strings_memory(r->set) : 0;
    return n < r->n_bytes ? r->n_bytes - n : 0;
}

void pfdd_string_renewal_end(struct pfdd_string_renewal *r, bool is_done)
{
    r->n_garbage += is_done ? 0 : r->n_going;
    r->n_least = is_done ? 0 : 2 * r->n_bytes;
    r->n_bytes = 0;
    r->set = NULL;
}
