/* SPDX-License-Identifier: MIT */
#include "memory/search/search_space.h"

#include <sys/mman.h>

#include "memory/space/mapped_range.h"

enum {
    BACK = 1 << 20, /* bytes of a window before what is searched, */
    AHEAD_PART = 8, /* and behind it: such a part of it */
    PAGE = 4096,
};

static void fail(struct pfd_space *space, enum pfd_status status)
{
    if (space->status == PFD_OK && status == PFD_ERR_NOMEM)
        pfd_fail(space->err, status, PFD_NO_OFFSET, "out of memory");
    if (space->status == PFD_OK)
        space->status = status;
}

void pfd_space_renew(struct pfd_space *space)
{
    if (!space->core)
        fail(space, pfd_memory_refresh(space->memory, space->err));
}

uint64_t pfd_space_size(const struct pfd_space *space)
{
    struct pfd_memory_region r;
    uint64_t n = 0;
    if (space->core)
        return pfd_core_info(space->core)->n_present;
    for (size_t i = 0; pfd_memory_region(space->memory, i, &r) == PFD_OK; i++)
        n += pfd_memory_is_wanted(&r) ? r.present : 0;
    return n;
}

/* ---- walking over a core ---- */

static bool next_segment(const struct pfd_space *space,
                         struct pfd_space_walk *w, struct pfd_stretch *ret)
{
    struct pfd_core_segment segment;
    uint64_t n = 0;
    const void *bytes = NULL;
    while (!bytes) {
        if (pfd_core_segment(space->core, w->next++, &segment) != PFD_OK)
            return false;
        bytes = pfd_core_bytes(space->core, segment.address, &n);
    }
    w->n_before += n;
    *ret = (struct pfd_stretch){
        .bytes = bytes,
        .n = (size_t)n,
        .address = segment.address,
        .to = (size_t)n,
        .n_all = w->n_before,
    };
    return true;
}

/* ---- walking over a process ---- */

/* The first bytes at or behind w->at that are worth reading; *r has them. */
static bool find_data(struct pfd_space *space, struct pfd_space_walk *w,
                      struct pfd_memory_region *r, struct pfd_range *ret)
{
    while (pfd_memory_region(space->memory, w->next, r) == PFD_OK) {
        if (pfd_memory_is_wanted(r) &&
            pfd_memory_stretch(space->memory, r, w->at, UINT64_MAX, ret))
            return true;
        w->n_before += pfd_memory_is_wanted(r) ? r->present : 0;
        w->next++;
        w->at = 0;
    }
    return false;
}

/* Copies what addresses [from, to) have into the window, which begins there. */
static void fill(struct pfd_space *space, struct pfd_space_walk *w,
                 const struct pfd_memory_region *r, uint64_t from, uint64_t to)
{
    struct pfd_range next = { from, from };
    pfd_ranges_free(&w->data);
    /* Zeros again, which take no memory. */
    if (madvise(w->window, w->n_window, MADV_DONTNEED))
        fail(space, PFD_ERR_NOMEM);
    while (space->status == PFD_OK &&
           pfd_memory_stretch(space->memory, r, next.to, to, &next)) {
        fail(space, pfd_memory_read(space->memory, next.from,
                                    w->window + (next.from - from),
                                    (size_t)(next.to - next.from), NULL, NULL,
                                    NULL, space->err));
        pfd_ranges_add(&w->data, next.from - from, next.to - from);
    }
    pfd_ranges_settle(&w->data);
    if (w->data.failed)
        fail(space, PFD_ERR_NOMEM);
}

static bool make_window(struct pfd_space *space, struct pfd_space_walk *w)
{
    void *at = w->window;
    if (!at) {
        w->n_window = (size_t)(space->n_copied_max / 3 / PAGE * PAGE);
        at = mmap(NULL, w->n_window, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (at == MAP_FAILED) {
        fail(space, PFD_ERR_NOMEM);
        return false;
    }
    w->window = at;
    return true;
}

static bool next_window(struct pfd_space *space, struct pfd_space_walk *w,
                        struct pfd_stretch *ret)
{
    struct pfd_memory_region r;
    struct pfd_range data;
    if (space->status != PFD_OK || !make_window(space, w) ||
        !find_data(space, w, &r, &data))
        return false;
    uint64_t end = r.address + r.present;
    uint64_t ahead = w->n_window / AHEAD_PART;
    uint64_t most = w->n_window - BACK - ahead;
    uint64_t from = data.from - r.address > BACK ? data.from - BACK : r.address;
    uint64_t to = end - data.from > most ? data.from + most : end;
    uint64_t last = end - to > ahead ? to + ahead : end;
    fill(space, w, &r, from, last);
    *ret = (struct pfd_stretch){
        .bytes = w->window,
        .n = (size_t)(last - from),
        .address = from,
        .from = (size_t)(data.from - from),
        .to = (size_t)(to - from),
        .goes_on = w->at != 0,
        .n_all = w->n_before + (to - r.address),
    };
    w->at = to;
    return space->status == PFD_OK;
}

/* ---- walking ---- */

bool pfd_space_next(struct pfd_space *space, struct pfd_space_walk *walk,
                    struct pfd_stretch *ret)
{
    return space->core ? next_segment(space, walk, ret)
                       : next_window(space, walk, ret);
}

void pfd_space_walk_end(struct pfd_space_walk *walk)
{
    if (walk->window)
        munmap(walk->window, walk->n_window);
    pfd_ranges_free(&walk->data);
    *walk = (struct pfd_space_walk){ 0 };
}

/* A core's ranges as parts of a stretch. */
struct parting {
    uint64_t address;
    bool (*fn)(void *user, size_t from, size_t to);
    void *user;
};

static bool part(void *user, uint64_t from, uint64_t to)
{
    struct parting *p = user;
    return p->fn(p->user, (size_t)(from - p->address),
                 (size_t)(to - p->address));
}

void pfd_space_data(const struct pfd_space *space,
                    const struct pfd_space_walk *walk,
                    const struct pfd_stretch *s,
                    bool (*fn)(void *user, size_t from, size_t to), void *user)
{
    struct parting p = { s->address, fn, user };
    if (space->core) {
        pfd_core_data(space->core, s->address, s->n, part, &p);
        return;
    }
    for (size_t i = 0; i < walk->data.n; i++) {
        size_t from = (size_t)walk->data.at[i].from;
        size_t to = (size_t)walk->data.at[i].to;
        from = from > s->from ? from : s->from;
        to = to < s->to ? to : s->to;
        if (from < to && !fn(user, from, to))
            return;
    }
}

/* ---- by address ---- */

/* The region that has an address, if it is to be read; false: none. */
static bool find_region(const struct pfd_space *space, uint64_t address,
                        struct pfd_memory_region *ret)
{
    return pfd_memory_find(space->memory, address, ret) == PFD_OK &&
           ret->address <= address && pfd_memory_is_wanted(ret);
}

uint64_t pfd_space_room(const struct pfd_space *space, uint64_t address)
{
    struct pfd_memory_region r;
    uint64_t n = 0;
    if (space->core)
        return pfd_core_bytes(space->core, address, &n) ? n : 0;
    return find_region(space, address, &r) ? r.address + r.present - address
                                           : 0;
}

uint64_t pfd_space_measure(const struct pfd_space *space, uint64_t address,
                           uint64_t n_wanted)
{
    uint64_t n = 0;
    while (n < n_wanted && n <= UINT64_MAX - address) {
        uint64_t left = pfd_space_room(space, address + n);
        if (!left)
            break;
        n += left;
    }
    return n < n_wanted ? n : n_wanted;
}

/* The first byte that is absent. */
static void take_absent(void *user, const struct pfd_range *range,
                        const char *why)
{
    uint64_t *first = user;
    (void)why;
    if (range->from < *first)
        *first = range->from;
}

size_t pfd_space_read(struct pfd_space *space, uint64_t address, void *ret,
                      size_t n)
{
    if (space->core)
        return pfd_core_read(space->core, address, ret, n);
    n = (size_t)pfd_space_measure(space, address, n);
    uint64_t first = address + n;
    if (n && space->status == PFD_OK) {
        fail(space, pfd_memory_read(space->memory, address, ret, n, take_absent,
                                    &first, NULL, space->err));
    }
    return space->status == PFD_OK ? (size_t)(first - address) : 0;
}

void pfd_space_ranges(struct pfd_space *space, uint64_t address, uint64_t n,
                      bool (*fn)(void *user, uint64_t from, uint64_t to),
                      void *user)
{
    struct pfd_memory_region r;
    uint64_t end = address + n;
    struct pfd_range next = { address, address };
    if (space->core) {
        pfd_core_data(space->core, address, n, fn, user);
        return;
    }
    while (next.to < end && find_region(space, next.to, &r)) {
        while (pfd_memory_stretch(space->memory, &r, next.to, end, &next)) {
            if (!fn(user, next.from, next.to))
                return;
        }
        next.to = r.address + r.present;
    }
}
