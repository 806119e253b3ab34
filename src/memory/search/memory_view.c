/* SPDX-License-Identifier: MIT */
#include "memory/search/memory_view.h"

#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
};

bool pfd_is_zero(const uint8_t *p, size_t n)
{
    return p[0] == 0 && !memcmp(p, p + 1, n - 1);
}

struct taking {
    struct pfd_search_space *search_space;
    struct pfd_code_piece *memory_view;
    struct pfd_ranges data; /* of the view */
    uint64_t address;
    uint64_t n_most;
};

/* Adds the pages that are not zero: a page may be present and zero. */
static void look_at_data(struct taking *t, uint64_t from, uint64_t to)
{
    const uint8_t *bytes = t->memory_view->bytes;
    uint64_t next = 0;
    for (uint64_t at = from; at < to; at = next) {
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
    struct pfd_code_piece *p = t->memory_view;
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
static void make_copy(struct pfd_code_piece *memory_view)
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
                          struct pfd_code_piece *ret)
{
    struct taking t = { search_space, ret, { 0 }, address, n_most };
    uint64_t left = 0;
    *ret = (struct pfd_code_piece){ 0 };
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
    pfd_search_space_ranges(search_space, address, ret->n, take_data, &t);
    pfd_ranges_settle(&t.data);
    pfd_ranges_gaps(&t.data, ret->n, PAGE, &ret->holes);
    ret->failed = t.data.failed || ret->holes.failed;
    pfd_ranges_free(&t.data);
}

void pfd_memory_view_free(struct pfd_code_piece *memory_view)
{
    if (memory_view->copy)
        munmap(memory_view->copy, memory_view->n_copy);
    pfd_ranges_free(&memory_view->holes);
}
