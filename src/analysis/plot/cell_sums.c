/* SPDX-License-Identifier: MIT */
#include "analysis/plot/cell_sums.h"

#include "analysis/plot/zeroed_memory.h"

static size_t bytes_of(const struct pfd_cell_sums *cell_sums, size_t n)
{
    return n * cell_sums->exact_sum.words * sizeof(uint64_t);
}

void pfd_cell_sums_deinit(struct pfd_cell_sums *cell_sums)
{
    for (size_t i = 0; i < cell_sums->n_panels; i++) {
        pfd_zeroed_free(cell_sums->panels[i],
                        bytes_of(cell_sums, cell_sums->n));
    }
    *cell_sums = (struct pfd_cell_sums){ 0 };
}

/* Allocates panels without sums. */
static enum pfd_cell_sums_room make(struct pfd_exact_sum exact_sum,
                                    size_t n_panels, size_t n, bool is_whole,
                                    struct pfd_cell_sums *ret)
{
    *ret = (struct pfd_cell_sums){ .exact_sum = exact_sum,
                                   .n = n,
                                   .is_whole = is_whole };
    if (exact_sum.words &&
        n * n_panels > PFD_CELL_SUMS_WORDS_MAX / exact_sum.words)
        return PFD_CELL_SUMS_TOO_WIDE;
    for (; ret->n_panels < n_panels; ret->n_panels++) {
        uint64_t *panel =
            exact_sum.words ? pfd_zeroed_new(bytes_of(ret, n)) : NULL;
        if (exact_sum.words && !panel) {
            pfd_cell_sums_deinit(ret);
            return PFD_CELL_SUMS_NO_MEMORY;
        }
        if (is_whole)
            pfd_zeroed_whole(panel, bytes_of(ret, n));
        ret->panels[ret->n_panels] = panel;
    }
    return PFD_CELL_SUMS_OK;
}

enum pfd_cell_sums_room pfd_cell_sums_like(
    const struct pfd_cell_sums *cell_sums, size_t n_panels, size_t n,
    bool is_whole, struct pfd_cell_sums *ret)
{
    return make(cell_sums->exact_sum, n_panels, n, is_whole, ret);
}

enum pfd_cell_sums_room pfd_cell_sums_extend(struct pfd_cell_sums *cell_sums,
                                             size_t n)
{
    unsigned words = cell_sums->exact_sum.words;
    if (words && n > PFD_CELL_SUMS_WORDS_MAX / words)
        return PFD_CELL_SUMS_TOO_WIDE;
    if (words) {
        uint64_t *panel = pfd_zeroed_grow(cell_sums->panels[0],
                                          bytes_of(cell_sums, cell_sums->n),
                                          bytes_of(cell_sums, n));
        if (!panel)
            return PFD_CELL_SUMS_NO_MEMORY;
        cell_sums->panels[0] = panel;
        if (cell_sums->is_whole)
            pfd_zeroed_whole(panel, bytes_of(cell_sums, n));
    }
    cell_sums->n = n;
    return PFD_CELL_SUMS_OK;
}

enum pfd_cell_sums_room pfd_cell_sums_add_panel(struct pfd_cell_sums *cell_sums,
                                                size_t n)
{
    struct pfd_cell_sums one;
    size_t n_all = cell_sums->n_panels + 1;
    unsigned words = cell_sums->exact_sum.words;
    if (words && n * n_all > PFD_CELL_SUMS_WORDS_MAX / words)
        return PFD_CELL_SUMS_TOO_WIDE;
    enum pfd_cell_sums_room room =
        make(cell_sums->exact_sum, 1, n, false, &one);
    if (room == PFD_CELL_SUMS_OK)
        cell_sums->panels[cell_sums->n_panels++] = one.panels[0];
    cell_sums->n = n;
    return room;
}

static uint64_t *at(const struct pfd_cell_sums *cell_sums, size_t panel,
                    size_t i)
{
    return cell_sums->panels[panel] + i * cell_sums->exact_sum.words;
}

static bool is_zero(const uint64_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (words[i])
            return false;
    }
    return true;
}

/* Adds words to each sum, so that the part fits. */
static enum pfd_cell_sums_room widen(struct pfd_cell_sums *cell_sums,
                                     struct pfd_units part)
{
    struct pfd_cell_sums wider;
    struct pfd_exact_sum exact_sum =
        pfd_exact_sum_grown(&cell_sums->exact_sum, part);
    enum pfd_cell_sums_room room =
        make(exact_sum, cell_sums->n_panels, cell_sums->n, cell_sums->is_whole,
             &wider);
    if (room != PFD_CELL_SUMS_OK)
        return room;
    for (size_t p = 0; p < cell_sums->n_panels && cell_sums->exact_sum.words;
         p++) {
        for (size_t i = 0; i < cell_sums->n; i++) {
            if (!is_zero(at(cell_sums, p, i), cell_sums->exact_sum.words)) {
                pfd_exact_sum_move(&cell_sums->exact_sum, at(cell_sums, p, i),
                                   &exact_sum, at(&wider, p, i));
            }
        }
    }
    pfd_cell_sums_deinit(cell_sums);
    *cell_sums = wider;
    return PFD_CELL_SUMS_OK;
}

enum pfd_cell_sums_room pfd_cell_sums_add(struct pfd_cell_sums *cell_sums,
                                          size_t panel, size_t i,
                                          struct pfd_units part)
{
    if (!pfd_exact_sum_holds(&cell_sums->exact_sum, part)) {
        enum pfd_cell_sums_room room = widen(cell_sums, part);
        if (room != PFD_CELL_SUMS_OK)
            return room;
    }
    if (part.units)
        pfd_exact_sum_add(&cell_sums->exact_sum, at(cell_sums, panel, i), part);
    return PFD_CELL_SUMS_OK;
}

void pfd_cell_sums_join(struct pfd_cell_sums *cell_sums, size_t panel, size_t i,
                        const struct pfd_cell_sums *other, size_t k)
{
    if (cell_sums->exact_sum.words) {
        pfd_exact_sum_join(&cell_sums->exact_sum, at(cell_sums, panel, i),
                           at(other, panel, k));
    }
}

struct pfd_double_double pfd_cell_sums_round(
    const struct pfd_cell_sums *cell_sums, size_t panel, size_t i)
{
    return cell_sums->exact_sum.words
               ? pfd_exact_sum_round(&cell_sums->exact_sum,
                                     at(cell_sums, panel, i))
               : pfd_double_double_round(0);
}
