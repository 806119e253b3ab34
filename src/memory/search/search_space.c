/* SPDX-License-Identifier: MIT */
#include "memory/search/search_space.h"

#include <string.h>
#include <sys/mman.h>

#include "memory/space/address_space.h"

enum {
    BACK = 1 << 20, /* bytes of a window before the searched part, */
    AHEAD_PART = 8, /* and behind it: this fraction of the window */
    PAGE = 4096,
};

static void fail(struct pfd_search_space *search_space, enum pfd_status status)
{
    if (search_space->status == PFD_OK && status == PFD_ERR_NOMEM)
        pfd_fail(search_space->err, status, PFD_NO_OFFSET, "out of memory");
    if (search_space->status == PFD_OK)
        search_space->status = status;
}

void pfd_search_space_renew(struct pfd_search_space *search_space)
{
    if (!search_space->core) {
        fail(search_space,
             pfd_memory_refresh(search_space->memory, search_space->err));
    }
}

uint64_t pfd_search_space_size(const struct pfd_search_space *search_space)
{
    struct pfd_memory_region r;
    uint64_t n = 0;
    if (search_space->core)
        return pfd_core_info(search_space->core)->n_present;
    for (size_t i = 0; pfd_memory_region(search_space->memory, i, &r) == PFD_OK;
         i++)
        n += pfd_memory_is_wanted(&r) ? r.present : 0;
    return n;
}

/* ---- walking over a core ---- */

static bool next_segment(const struct pfd_search_space *search_space,
                         struct pfd_search_space_walk *w,
                         struct pfd_mapped_range *ret)
{
    struct pfd_core_segment segment;
    uint64_t n = 0;
    const void *bytes = NULL;
    while (!bytes) {
        if (pfd_core_segment(search_space->core, w->next++, &segment) != PFD_OK)
            return false;
        bytes = pfd_core_bytes(search_space->core, segment.address, &n);
    }
    w->n_before += n;
    *ret = (struct pfd_mapped_range){
        .bytes = bytes,
        .n = (size_t)n,
        .address = segment.address,
        .to = (size_t)n,
        .n_all = w->n_before,
    };
    return true;
}

/* ---- walking over a process ---- */

/* The first bytes from w->at on that are worth reading; *r: their region. */
static bool find_data(struct pfd_search_space *search_space,
                      struct pfd_search_space_walk *w,
                      struct pfd_memory_region *r, struct pfd_range *ret)
{
    while (pfd_memory_region(search_space->memory, w->next, r) == PFD_OK) {
        if (pfd_memory_is_wanted(r) &&
            pfd_memory_mapped_range(search_space->memory, r, w->at, UINT64_MAX,
                                    ret))
            return true;
        w->n_before += pfd_memory_is_wanted(r) ? r->present : 0;
        w->next++;
        w->at = 0;
    }
    return false;
}

/* Copies addresses [from, to) into the window, which begins at `from`. */
static void fill(struct pfd_search_space *search_space,
                 struct pfd_search_space_walk *w,
                 const struct pfd_memory_region *r, uint64_t from, uint64_t to)
{
    struct pfd_range next = { from, from };
    pfd_ranges_free(&w->data);
    /* Zeros again, without memory. */
    if (madvise(w->window, w->n_window, MADV_DONTNEED))
        fail(search_space, PFD_ERR_NOMEM);
    while (
        search_space->status == PFD_OK &&
        pfd_memory_mapped_range(search_space->memory, r, next.to, to, &next)) {
        fail(search_space, pfd_memory_read(search_space->memory, next.from,
                                           w->window + (next.from - from),
                                           (size_t)(next.to - next.from), NULL,
                                           NULL, NULL, search_space->err));
        pfd_ranges_add(&w->data, next.from - from, next.to - from);
    }
    pfd_ranges_settle(&w->data);
    if (w->data.failed)
        fail(search_space, PFD_ERR_NOMEM);
}

static bool make_window(struct pfd_search_space *search_space,
                        struct pfd_search_space_walk *w)
{
    void *at = w->window;
    if (!at) {
        w->n_window = (size_t)(search_space->n_copied_max / 3 / PAGE * PAGE);
        at = mmap(NULL, w->n_window, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (at == MAP_FAILED) {
        fail(search_space, PFD_ERR_NOMEM);
        return false;
    }
    w->window = at;
    return true;
}

static bool next_window(struct pfd_search_space *search_space,
                        struct pfd_search_space_walk *w,
                        struct pfd_mapped_range *ret)
{
    struct pfd_memory_region r;
    struct pfd_range data;
    if (search_space->status != PFD_OK || !make_window(search_space, w) ||
        !find_data(search_space, w, &r, &data))
        return false;
    uint64_t end = r.address + r.present;
    uint64_t ahead = w->n_window / AHEAD_PART;
    uint64_t most = w->n_window - BACK - ahead;
    uint64_t from = data.from - r.address > BACK ? data.from - BACK : r.address;
    uint64_t to = end - data.from > most ? data.from + most : end;
    uint64_t last = end - to > ahead ? to + ahead : end;
    fill(search_space, w, &r, from, last);
    *ret = (struct pfd_mapped_range){
        .bytes = w->window,
        .n = (size_t)(last - from),
        .address = from,
        .from = (size_t)(data.from - from),
        .to = (size_t)(to - from),
        .goes_on = w->at != 0,
        .n_all = w->n_before + (to - r.address),
    };
    w->at = to;
    return search_space->status == PFD_OK;
}

/* ---- walking ---- */

bool pfd_search_space_next(struct pfd_search_space *search_space,
                           struct pfd_search_space_walk *walk,
                           struct pfd_mapped_range *ret)
{
    return search_space->core ? next_segment(search_space, walk, ret)
                              : next_window(search_space, walk, ret);
}

void pfd_search_space_walk_end(struct pfd_search_space_walk *walk)
{
    if (walk->window)
        munmap(walk->window, walk->n_window);
    pfd_ranges_free(&walk->data);
    *walk = (struct pfd_search_space_walk){ 0 };
}

/* Gives a core's ranges as offsets in a mapped range. */
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

void pfd_search_space_data(const struct pfd_search_space *search_space,
                           const struct pfd_search_space_walk *walk,
                           const struct pfd_mapped_range *s,
                           bool (*fn)(void *user, size_t from, size_t to),
                           void *user)
{
    struct parting p = { s->address, fn, user };
    if (search_space->core) {
        pfd_core_data(search_space->core, s->address, s->n, part, &p);
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

/* The region of an address, if it may be read; false: none. */
static bool find_region(const struct pfd_search_space *search_space,
                        uint64_t address, struct pfd_memory_region *ret)
{
    return pfd_memory_find(search_space->memory, address, ret) == PFD_OK &&
           ret->address <= address && pfd_memory_is_wanted(ret);
}

uint64_t pfd_search_space_region_left(
    const struct pfd_search_space *search_space, uint64_t address)
{
    struct pfd_memory_region r;
    uint64_t n = 0;
    if (search_space->core)
        return pfd_core_bytes(search_space->core, address, &n) ? n : 0;
    return find_region(search_space, address, &r)
               ? r.address + r.present - address
               : 0;
}

uint64_t pfd_search_space_measure(const struct pfd_search_space *search_space,
                                  uint64_t address, uint64_t n_wanted)
{
    uint64_t n = 0;
    while (n < n_wanted && n <= UINT64_MAX - address) {
        uint64_t left = pfd_search_space_region_left(search_space, address + n);
        if (!left)
            break;
        n += left;
    }
    return n < n_wanted ? n : n_wanted;
}

/* Keeps the first absent address. */
static void take_absent(void *user, const struct pfd_range *range,
                        const char *why)
{
    uint64_t *first = user;
    (void)why;
    if (range->from < *first)
        *first = range->from;
}

size_t pfd_search_space_read(struct pfd_search_space *search_space,
                             uint64_t address, void *ret, size_t n)
{
    if (search_space->core)
        return pfd_core_read(search_space->core, address, ret, n);
    n = (size_t)pfd_search_space_measure(search_space, address, n);
    uint64_t first = address + n;
    if (n && search_space->status == PFD_OK) {
        fail(search_space,
             pfd_memory_read(search_space->memory, address, ret, n, take_absent,
                             &first, NULL, search_space->err));
    }
    return search_space->status == PFD_OK ? (size_t)(first - address) : 0;
}

/* Calls fn with the ranges of addresses [address, address + n) that are no
 * holes; n: a result of pfd_search_space_measure(). */
static void search_space_ranges(
    struct pfd_search_space *search_space, uint64_t address, uint64_t n,
    bool (*fn)(void *user, uint64_t from, uint64_t to), void *user)
{
    struct pfd_memory_region r;
    uint64_t end = address + n;
    struct pfd_range next = { address, address };
    if (search_space->core) {
        pfd_core_data(search_space->core, address, n, fn, user);
        return;
    }
    while (next.to < end && find_region(search_space, next.to, &r)) {
        while (pfd_memory_mapped_range(search_space->memory, &r, next.to, end,
                                       &next)) {
            if (!fn(user, next.from, next.to))
                return;
        }
        next.to = r.address + r.present;
    }
}

struct taking {
    struct pfd_search_space *search_space;
    struct pfd_memory_view *memory_view;
    struct pfd_ranges data; /* of the view */
    uint64_t address;
    uint64_t n_most;
};

/* Adds the pages that are not zero: a page may be present and zero. */
static void look_at_data(struct taking *t, uint64_t from, uint64_t to)
{
    const uint8_t *bytes = t->memory_view->bytes;
    uint64_t next = 0;
    for (uint64_t at = from; bytes && at < to; at = next) {
        uint64_t in_page = (t->address + at) % PAGE;
        next = at + (PAGE - in_page);
        next = next < to ? next : to;
        if (!pfd_is_zero(bytes + at, (size_t)(next - at)))
            pfd_ranges_add(&t->data, at, next);
    }
}

static bool take_data(void *user, uint64_t from, uint64_t to)
{
    struct taking *t = user;
    struct pfd_memory_view *p = t->memory_view;
    uint64_t at = from - t->address;
    uint64_t end = to - t->address;
    bool is_last = end - at > t->n_most - p->n_data;
    if (is_last) {
        end = at + (t->n_most - p->n_data);
        p->n = (size_t)end;
    }
    p->n_data += end - at;
    if (p->copy) {
        pfd_search_space_read(t->search_space, from, p->copy + at,
                              (size_t)(end - at));
    }
    look_at_data(t, at, end);
    return !is_last && !t->data.failed;
}

/* A new mapping: zeros take no memory until they are written. */
static void make_copy(struct pfd_memory_view *memory_view)
{
    void *at = mmap(NULL, memory_view->n, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_view->failed = at == MAP_FAILED;
    if (memory_view->failed)
        return;
    memory_view->bytes = memory_view->copy = at;
    memory_view->n_copy = memory_view->n;
}

void pfd_memory_view_take(struct pfd_search_space *search_space,
                          uint64_t address, uint64_t n_wanted, uint64_t n_most,
                          struct pfd_memory_view *ret)
{
    struct taking t = { search_space, ret, { 0 }, address, n_most };
    uint64_t left = 0;
    *ret = (struct pfd_memory_view){ 0 };
    ret->n = (size_t)pfd_search_space_measure(search_space, address, n_wanted);
    if (!ret->n)
        return;
    if (search_space->core)
        ret->bytes = pfd_core_bytes(search_space->core, address, &left);
    /* Two views exist at a time, where buffers are compared. */
    if (!search_space->core && n_most > search_space->n_copied_max / 3)
        t.n_most = search_space->n_copied_max / 3;
    if (ret->n > left)
        make_copy(ret);
    if (ret->failed)
        return;
    search_space_ranges(search_space, address, ret->n, take_data, &t);
    pfd_ranges_settle(&t.data);
    pfd_ranges_gaps(&t.data, ret->n, PAGE, &ret->holes);
    ret->failed = t.data.failed || ret->holes.failed;
    pfd_ranges_free(&t.data);
}

void pfd_memory_view_free(struct pfd_memory_view *memory_view)
{
    if (memory_view->copy)
        munmap(memory_view->copy, memory_view->n_copy);
    pfd_ranges_free(&memory_view->holes);
}
