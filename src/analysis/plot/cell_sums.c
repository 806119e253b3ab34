/* SPDX-License-Identifier: MIT */
#include "analysis/plot/cell_sums.h"

#include "analysis/plot/zeroed_memory.h"

static size_t bytes_of(const struct pfd_sums *sums, size_t n)
{
    return n * sums->exact.words * sizeof(uint64_t);
}

void pfd_sums_deinit(struct pfd_sums *sums)
{
    for (size_t i = 0; i < sums->n_panels; i++)
        pfd_room_free(sums->panels[i], bytes_of(sums, sums->n));
    *sums = (struct pfd_sums){ 0 };
}

/* Panels without sums, with room for them. */
static enum pfd_sums_room make(struct pfd_exact exact, size_t n_panels,
                               size_t n, bool is_whole, struct pfd_sums *ret)
{
    *ret = (struct pfd_sums){ .exact = exact, .n = n, .is_whole = is_whole };
    if (exact.words && n * n_panels > PFD_SUMS_WORDS_MAX / exact.words)
        return PFD_SUMS_TOO_WIDE;
    for (; ret->n_panels < n_panels; ret->n_panels++) {
        uint64_t *panel = exact.words ? pfd_room_new(bytes_of(ret, n)) : NULL;
        if (exact.words && !panel) {
            pfd_sums_deinit(ret);
            return PFD_SUMS_NO_MEMORY;
        }
        if (is_whole)
            pfd_room_whole(panel, bytes_of(ret, n));
        ret->panels[ret->n_panels] = panel;
    }
    return PFD_SUMS_OK;
}

enum pfd_sums_room pfd_sums_like(const struct pfd_sums *sums, size_t n_panels,
                                 size_t n, bool is_whole, struct pfd_sums *ret)
{
    return make(sums->exact, n_panels, n, is_whole, ret);
}

enum pfd_sums_room pfd_sums_extend(struct pfd_sums *sums, size_t n)
{
    unsigned words = sums->exact.words;
    if (words && n > PFD_SUMS_WORDS_MAX / words)
        return PFD_SUMS_TOO_WIDE;
    if (words) {
        uint64_t *panel = pfd_room_grow(
            sums->panels[0], bytes_of(sums, sums->n), bytes_of(sums, n));
        if (!panel)
            return PFD_SUMS_NO_MEMORY;
        sums->panels[0] = panel;
        if (sums->is_whole)
            pfd_room_whole(panel, bytes_of(sums, n));
    }
    sums->n = n;
    return PFD_SUMS_OK;
}

enum pfd_sums_room pfd_sums_add_panel(struct pfd_sums *sums, size_t n)
{
    struct pfd_sums one;
    size_t n_all = sums->n_panels + 1;
    unsigned words = sums->exact.words;
    if (words && n * n_all > PFD_SUMS_WORDS_MAX / words)
        return PFD_SUMS_TOO_WIDE;
    enum pfd_sums_room room = make(sums->exact, 1, n, false, &one);
    if (room == PFD_SUMS_OK)
        sums->panels[sums->n_panels++] = one.panels[0];
    sums->n = n;
    return room;
}

static uint64_t *at(const struct pfd_sums *sums, size_t panel, size_t i)
{
    return sums->panels[panel] + i * sums->exact.words;
}

static bool is_zero(const uint64_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (words[i])
            return false;
    }
    return true;
}

/* More words for each, such that the part fits. */
static enum pfd_sums_room widen(struct pfd_sums *sums, struct pfd_units part)
{
    struct pfd_sums wider;
    struct pfd_exact exact = pfd_exact_grown(&sums->exact, part);
    enum pfd_sums_room room =
        make(exact, sums->n_panels, sums->n, sums->is_whole, &wider);
    if (room != PFD_SUMS_OK)
        return room;
    for (size_t p = 0; p < sums->n_panels && sums->exact.words; p++) {
        for (size_t i = 0; i < sums->n; i++) {
            if (!is_zero(at(sums, p, i), sums->exact.words)) {
                pfd_exact_move(&sums->exact, at(sums, p, i), &exact,
                               at(&wider, p, i));
            }
        }
    }
    pfd_sums_deinit(sums);
    *sums = wider;
    return PFD_SUMS_OK;
}

enum pfd_sums_room pfd_sums_add(struct pfd_sums *sums, size_t panel, size_t i,
                                struct pfd_units part)
{
    if (!pfd_exact_holds(&sums->exact, part)) {
        enum pfd_sums_room room = widen(sums, part);
        if (room != PFD_SUMS_OK)
            return room;
    }
    if (part.units)
        pfd_exact_add(&sums->exact, at(sums, panel, i), part);
    return PFD_SUMS_OK;
}

void pfd_sums_join(struct pfd_sums *sums, size_t panel, size_t i,
                   const struct pfd_sums *other, size_t k)
{
    if (sums->exact.words)
        pfd_exact_join(&sums->exact, at(sums, panel, i), at(other, panel, k));
}

struct pfd_wide pfd_sums_round(const struct pfd_sums *sums, size_t panel,
                               size_t i)
{
    return sums->exact.words ? pfd_exact_round(&sums->exact, at(sums, panel, i))
                             : pfd_wide_double(0);
}
