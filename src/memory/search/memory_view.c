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
    struct pfd_space *space;
    struct pfd_piece *piece;
    struct pfd_ranges data; /* of the piece */
    uint64_t address;
    uint64_t n_most;
};

/* Pages that somebody wrote and that are zero all the same. */
static void look_at_data(struct taking *t, uint64_t from, uint64_t to)
{
    const uint8_t *bytes = t->piece->bytes;
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
    struct pfd_piece *p = t->piece;
    uint64_t at = from - t->address;
    uint64_t end = to - t->address;
    bool is_last = end - at > t->n_most - p->n_data;
    if (is_last) {
        end = at + (t->n_most - p->n_data);
        p->n = (size_t)end;
    }
    p->n_data += end - at;
    if (p->copy)
        pfd_space_read(t->space, from, p->copy + at, (size_t)(end - at));
    look_at_data(t, at, end);
    return !is_last && !t->data.failed;
}

/* Zeros, which take no memory yet. */
static void make_copy(struct pfd_piece *piece)
{
    void *at = mmap(NULL, piece->n, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    piece->failed = at == MAP_FAILED;
    if (piece->failed)
        return;
    piece->bytes = piece->copy = at;
    piece->n_copy = piece->n;
}

void pfd_piece_take(struct pfd_space *space, uint64_t address,
                    uint64_t n_wanted, uint64_t n_most, struct pfd_piece *ret)
{
    struct taking t = { space, ret, { 0 }, address, n_most };
    uint64_t left = 0;
    *ret = (struct pfd_piece){ 0 };
    ret->n = (size_t)pfd_space_measure(space, address, n_wanted);
    if (!ret->n)
        return;
    if (space->core)
        ret->bytes = pfd_core_bytes(space->core, address, &left);
    /* Two are compared at a time. */
    if (!space->core && n_most > space->n_copied_max / 3)
        t.n_most = space->n_copied_max / 3;
    if (ret->n > left)
        make_copy(ret);
    if (ret->failed)
        return;
    pfd_space_ranges(space, address, ret->n, take_data, &t);
    pfd_ranges_settle(&t.data);
    pfd_ranges_gaps(&t.data, ret->n, PAGE, &ret->holes);
    ret->failed = t.data.failed || ret->holes.failed;
    pfd_ranges_free(&t.data);
}

void pfd_piece_free(struct pfd_piece *piece)
{
    if (piece->copy)
        munmap(piece->copy, piece->n_copy);
    pfd_ranges_free(&piece->holes);
}
