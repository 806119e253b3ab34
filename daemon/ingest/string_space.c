/* SPDX-License-Identifier: MIT */
#include "ingest/string_space.h"

#include "base/resource_account.h"
#include "ingest/ingest.h"

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

/* True: at least half of a set of n_set bytes is of evicted objects, and n_left
 * bytes of memory suffice for both sets for a while. */
static bool string_renewal_is_due(const struct pfdd_string_renewal *r,
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

enum {
    SPARE = 16, /* memory_max / SPARE: kept free, at the expense of producers
                   that have gone */
};

size_t pfdd_string_space_memory(const struct pfdd_string_store *lib)
{
    return lib->n_alive + lib->n_coming + lib->n_kept_free +
           lib->string_renewal.n_bytes +
           pfdd_string_sets_memory(&lib->string_sets) + lib->producers.n_memory;
}

size_t pfdd_string_space_share(const struct pfdd_string_store *lib,
                               size_t n_own)
{
    size_t room = pfdd_string_space_memory(lib) +
                  pfdd_memory_budget_left(lib->ingest->budget);
    size_t max = room < lib->n_bytes_max ? room : lib->n_bytes_max;
    /* Bytes of connected producers, and of queued objects of producers that
     * have gone. */
    size_t taken = lib->n_orphans + lib->producers.n_bytes;
    return pfdd_resource_share(max, taken, n_own, lib->floor);
}

void pfdd_string_space_drop(struct pfdd_string_store *lib, struct pfdd_code *o)
{
    if (!o->is_dropped) {
        lib->n_bytes -= pfdd_code_cost(o->n);
        lib->string_renewal.n_garbage += o->producer ? 0 : o->n_set;
    }
    o->is_dropped = true;
}

bool pfdd_string_space_sweep(struct pfdd_string_store *lib)
{
    struct pfdd_catalogue *c = pfdd_catalogue_sweep(lib->catalogue, 0);
    if (!c)
        return false;
    pfdd_catalogue_drop(lib->catalogue);
    lib->catalogue = c;
    return true;
}

size_t pfdd_string_space_current(const struct pfdd_string_store *lib)
{
    return lib->string_sets.current->strings->n_bytes;
}

bool pfdd_string_space_wants_renewal(const struct pfdd_string_store *lib)
{
    return string_renewal_is_due(&lib->string_renewal,
                                 pfdd_string_space_current(lib),
                                 pfdd_memory_budget_left(lib->ingest->budget));
}

/* True: the store has space for n bytes more, and there is memory for them, for
 * their strings and for the next set. Memory that the build in flight will
 * release counts as free for the latter two. */
static bool has_room(const struct pfdd_string_store *lib, bool is_little,
                     size_t n)
{
    const struct pfdd_memory_budget *budget = lib->ingest->budget;
    size_t left = is_little ? pfdd_memory_budget_left_for_last(budget)
                            : pfdd_memory_budget_left(budget);
    size_t n_build =
        n + pfdd_string_build_cost(lib->string_sets.current->strings->set);
    return lib->n_bytes + lib->n_coming + n <= lib->n_bytes_max && n < left &&
           n + n_build < left + lib->n_kept_free;
}

static bool has_little(const struct pfdd_string_store *lib,
                       const struct pfdd_producer *sender, size_t n)
{
    return sender && sender->n_bytes + n <= lib->floor;
}

/* The oldest object, from index *i on, that no connected producer has sent.
 * NULL: none. */
static struct pfdd_code *next_gone(struct pfdd_string_store *lib, size_t *i)
{
    const struct pfdd_catalogue *c = lib->catalogue;
    while (lib->may_have_gone && *i < c->n) {
        struct pfdd_code *o = c->objects[(*i)++];
        if (pfdd_code_has_gone(o))
            return o;
    }
    lib->may_have_gone = false;
    return NULL;
}

bool pfdd_string_space_make_room(struct pfdd_string_store *lib,
                                 const struct pfdd_producer *sender, size_t n)
{
    size_t i = 0;
    struct pfdd_code *o = NULL;
    bool is_swept = true;
    bool is_little = has_little(lib, sender, n);
    if (sender && n > pfdd_string_space_share(lib, sender->n_bytes))
        return false;
    while (!has_room(lib, is_little, n) && (o = next_gone(lib, &i))) {
        pfdd_string_space_drop(lib, o);
        is_swept = false;
    }
    if (!is_swept && !lib->busy)
        pfdd_string_space_sweep(lib);
    return has_room(lib, is_little, n);
}

/* Free memory, with what the string store reserves for a while. */
static size_t steady_left(const struct pfdd_string_store *lib)
{
    return pfdd_memory_budget_left(lib->ingest->budget) + lib->n_kept_free +
           lib->string_renewal.n_bytes;
}

void pfdd_string_space_leave_spare(struct pfdd_string_store *lib)
{
    size_t wanted =
        lib->ingest->budget->max / SPARE + pfdd_string_space_current(lib);
    size_t left = steady_left(lib);
    if (left >= wanted)
        return;
    size_t n_most = lib->string_sets.behind.n_bytes + left;
    pfdd_bindings_trim(&lib->string_sets.behind,
                       n_most > wanted ? n_most - wanted : 0);
    if (steady_left(lib) >= wanted || lib->string_renewal.set)
        return;
    size_t i = 0;
    struct pfdd_code *o = NULL;
    while (!pfdd_string_space_wants_renewal(lib) && (o = next_gone(lib, &i)))
        pfdd_string_space_drop(lib, o);
}
