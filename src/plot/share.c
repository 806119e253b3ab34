/* SPDX-License-Identifier: MIT */
#include "plot/share.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plot/quick.h"
#include "plot/state.h"

enum {
    CELLS_MAX = 1 << 22,     /* of one share */
    CELLS_ALL_MAX = 1 << 25, /* of all */
    /* From its first point to its last: sums are below 2^63. */
    ORDERS_MAX = 1 << 30,
    HUGE_PAGES = 1 << 22, /* bytes of cells from which on they are worth it */
    /* Bits of a sum above its unit: of what comes first, and of anything. */
    SUM_FIRST = 75,
    SUM_MOST = 94,
    MANTISSA = 53,
};

/* Half as large as a plot's cell, as most pictures are larger than caches. */
struct share_cell {
    union {
        double number;
        int64_t sum;  /* of integers of 32 bits; of NaN */
        uint64_t low; /* of a sum of others, in the share's units */
    };
    union {
        uint32_t order; /* behind the share's */
        int32_t high;   /* of a sum, likewise */
    };
    uint32_t n; /* points */
};

/* Where a value is in a payload; `of` -1: it is 0. */
struct source {
    int of;
    enum pfd_point_load load;
    uint32_t at;
};

struct pfd_share {
    struct pfd_plot *plot;
    struct share_cell *cells[PFD_PLOT_GRIDS]; /* [n_cells]; owned */
    uint8_t *blocks; /* which PFD_GRID_BLOCK of them may have points; owned */
    size_t n_cells;  /* 0: it has none now */
    struct pfd_quick x;
    struct pfd_quick y;
    int k_x;
    int k_y;
    uint64_t order;     /* of its first point; UINT64_MAX: none came */
    uint64_t end;       /* behind that of its last one */
    uint64_t n_refused; /* points that had no cell */
    uint64_t patience;  /* so many, before cells are made anew */
    bool is_full;       /* orders are too far apart: to be given first */
    bool has_sums;      /* of integers */
    bool has_unit;      /* sums are of others: */
    int unit;           /* counted in 2^unit */
    const struct pfd_point_plan *plan;
    struct source source[PFD_ROLE_BY];
};

void pfd_shares_begin(const struct pfd_points *points)
{
    if (points->plot)
        points->plot->before = points->plot->order;
}

struct pfd_share *pfd_share_new(const struct pfd_points *points)
{
    struct pfd_share *share = calloc(1, sizeof *share);
    if (share) {
        share->plot = points->plot;
        share->order = UINT64_MAX;
        share->patience = PFD_SHARE_POINTS;
    }
    return share;
}

/* ---- cells ---- */

static size_t n_blocks(const struct pfd_share *share)
{
    return share->n_cells / PFD_GRID_BLOCK + 1;
}

static bool is_sum(enum pfd_reducer reducer)
{
    return reducer == PFD_REDUCE_SUM || reducer == PFD_REDUCE_MEAN;
}

static void set_value(const struct pfd_share *share,
                      const struct share_cell *cell, enum pfd_reducer reducer,
                      struct pfd_grid_part *part)
{
    if (share->has_unit) {
        __int128 high = cell->high;
        part->sum = (struct pfd_units){ high * ((__int128)1 << 64) + cell->low,
                                        share->unit };
    } else if (is_sum(reducer)) {
        part->sum = (struct pfd_units){ cell->sum, 0 };
    } else if (reducer == PFD_REDUCE_NAN) {
        part->cell.value = pfd_wide_int(cell->sum);
    } else {
        part->cell.value = pfd_wide_double(cell->number);
        part->cell.order = share->plot->before + share->order + cell->order;
    }
}

static void give_cell(const struct pfd_share *share, size_t i)
{
    struct pfd_plot *plot = share->plot;
    for (size_t g = 0; g < plot->n_grids; g++) {
        const struct share_cell *cell = &share->cells[g][i];
        struct pfd_grid_part part = {
            .x = share->x.from + (pfd_place)(i % share->x.n),
            .y = share->y.from + (pfd_place)(i / share->x.n),
            .k_x = share->k_x,
            .k_y = share->k_y,
            .cell = { .n = cell->n },
        };
        if (!cell->n)
            continue;
        set_value(share, cell, plot->grids[g].reducer, &part);
        pfd_grid_merge(&plot->grids[g], 0, &part);
    }
}

static void drop(struct pfd_share *share)
{
    for (size_t g = 0; g < PFD_PLOT_GRIDS; g++) {
        free(share->cells[g]);
        share->cells[g] = NULL;
    }
    free(share->blocks);
    share->blocks = NULL;
    share->plot->n_shared -= share->n_cells * share->plot->n_grids;
    share->n_cells = 0;
    share->order = UINT64_MAX;
    share->is_full = false;
    share->has_sums = false;
    share->has_unit = false;
}

/* All that it has becomes the plot's, and it has no cells any more. Without any
 * the plot is left alone, as others may be changing it. */
static void give(struct pfd_share *share)
{
    if (!share->n_cells)
        return;
    for (size_t b = 0; b < n_blocks(share); b++) {
        size_t end = (b + 1) * PFD_GRID_BLOCK;
        end = end < share->n_cells ? end : share->n_cells;
        for (size_t i = b * PFD_GRID_BLOCK; share->blocks[b] && i < end; i++)
            give_cell(share, i);
    }
    uint64_t end = share->plot->before + share->end;
    share->plot->order = end > share->plot->order ? end : share->plot->order;
    drop(share);
}

/* Cells that are met in any order are seldom in what a processor knows of small
 * pages. Whether there are large ones does not matter. */
static struct share_cell *make_cells(size_t n)
{
    struct share_cell *cells = calloc(n, sizeof *cells);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)cells + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)cells + n * sizeof *cells) / page * page;
    if (cells && n >= HUGE_PAGES / sizeof *cells)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    return cells;
}

/* Cells where the plot's are now; without memory, or where there would be too
 * many, it has none. */
static void make(struct pfd_share *share)
{
    struct pfd_plot *plot = share->plot;
    struct pfd_grid *grid = &plot->grids[0];
    pfd_grid_refresh(grid);
    size_t n = pfd_axis_used(&grid->x) * pfd_axis_used(&grid->y);
    if (!n || n > CELLS_MAX / plot->n_grids ||
        plot->n_shared + n * plot->n_grids > CELLS_ALL_MAX)
        return;
    struct pfd_axis x = grid->x;
    struct pfd_axis y = grid->y;
    x.from = x.seen[0];
    x.n = pfd_axis_used(&x);
    y.from = y.seen[0];
    y.n = pfd_axis_used(&y);
    share->x = pfd_quick_of(&x);
    share->y = pfd_quick_of(&y);
    if (!share->x.is_possible || !share->y.is_possible)
        return;
    share->k_x = x.k;
    share->k_y = y.k;
    share->n_cells = n;
    plot->n_shared += n * plot->n_grids;
    bool ok = (share->blocks = calloc(n_blocks(share), 1)) != NULL;
    for (size_t g = 0; g < plot->n_grids && ok; g++)
        ok = (share->cells[g] = make_cells(n)) != NULL;
    if (!ok)
        drop(share);
}

void pfd_share_end(struct pfd_share *share)
{
    if (!share)
        return;
    give(share);
    free(share);
}

void pfd_share_turn(struct pfd_share *share)
{
    struct pfd_plot *plot = share->plot;
    bool is_wrong = share->n_refused >= share->patience;
    if (!plot->is_begun || (!share->is_full && !is_wrong))
        return;
    share->patience *= is_wrong ? 2 : 1;
    share->n_refused = 0;
    give(share);
    make(share);
}

/* ---- points ---- */

static struct source source_of(const struct pfd_share *share,
                               const struct pfd_point_plan *plan, int role)
{
    int of = share->plot->role[role];
    return of < 0 ? (struct source){ -1, PFD_LOAD_U32, 0 }
                  : (struct source){ of, (enum pfd_point_load)plan->load[of],
                                     plan->at[of] };
}

static bool is_possible(const struct pfd_share *share,
                        const struct pfd_point_plan *plan)
{
    const struct pfd_plot *plot = share->plot;
    if (plot->role[PFD_ROLE_BY] >= 0)
        return false;
    for (size_t i = 0; i < plot->points.n; i++) {
        if (plan->type[i] != PFD_POINT_DOUBLE)
            return false;
    }
    return true;
}

bool pfd_share_opens(struct pfd_share *share, const struct pfd_point_plan *plan)
{
    bool is_line = share->plot->spec.kind == PFD_PLOT_LINE;
    if (share->plan != plan) {
        if (!is_possible(share, plan))
            return false;
        share->plan = plan;
        share->source[PFD_ROLE_X] = source_of(share, plan, PFD_ROLE_X);
        share->source[PFD_ROLE_Y] = source_of(share, plan, PFD_ROLE_Y);
        share->source[PFD_ROLE_VALUE] =
            source_of(share, plan, is_line ? PFD_ROLE_Y : PFD_ROLE_VALUE);
        if (is_line)
            share->source[PFD_ROLE_Y].of = -1;
    }
    share->n_refused += share->n_cells ? 0 : PFD_SHARE_POINTS;
    return share->n_cells > 0;
}

static inline double load(const struct source *s, enum pfd_point_load load,
                          const uint8_t *payload, uint64_t order)
{
    return s->of < 0 ? 0 : pfd_point_double(load, payload + s->at, order);
}

/* Adds the cells of points [n] in this direction, each as many cells apart as
 * `stride` says; up to the first that has none. The next three are the same for
 * what is read in one way. */
static size_t place_any(const struct pfd_quick *q, const struct source *s,
                        const uint8_t *const *payloads, size_t n,
                        uint64_t order, size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = pfd_quick_cell(q, load(s, s->load, payloads[i], order + i));
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_floats(const struct pfd_quick *q, const struct source *s,
                           const uint8_t *const *payloads, size_t n,
                           size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, payloads[i] + s->at, sizeof f);
        size_t at = pfd_quick_cell(q, (double)f);
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_signed(const struct pfd_quick *q, const struct source *s,
                           const uint8_t *const *payloads, size_t n,
                           size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        int32_t word;
        memcpy(&word, payloads[i] + s->at, sizeof word);
        size_t at = pfd_quick_shift(q, word);
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_unsigned(const struct pfd_quick *q, const struct source *s,
                             const uint8_t *const *payloads, size_t n,
                             size_t stride, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, payloads[i] + s->at, sizeof word);
        size_t at = pfd_quick_shift(q, word);
        if (at >= q->n)
            return i;
        to[i] += (uint32_t)(at * stride);
    }
    return n;
}

static size_t place_all(const struct pfd_quick *q, const struct source *s,
                        const uint8_t *const *payloads, size_t n,
                        uint64_t order, size_t stride, uint32_t *to)
{
    if (s->of >= 0 && s->load == PFD_LOAD_U32 && q->is_shift)
        return place_unsigned(q, s, payloads, n, stride, to);
    if (s->of >= 0 && s->load == PFD_LOAD_I32 && q->is_shift)
        return place_signed(q, s, payloads, n, stride, to);
    if (s->of >= 0 && s->load == PFD_LOAD_F32)
        return place_floats(q, s, payloads, n, stride, to);
    return place_any(q, s, payloads, n, order, stride, to);
}

static double choose(double a, double b, bool least)
{
    return pfd_wide_choose(pfd_wide_double(a), pfd_wide_double(b), least).hi;
}

/* The value of a point comes to its cell. */
static inline void reduce(struct share_cell *cell, enum pfd_reducer reducer,
                          double value, uint32_t order)
{
    bool is_first = !cell->n++;
    switch (reducer) {
    case PFD_REDUCE_LAST:
        cell->number = value;
        cell->order = order;
        break;
    case PFD_REDUCE_FIRST:
        cell->number = is_first ? value : cell->number;
        cell->order = is_first ? order : cell->order;
        break;
    case PFD_REDUCE_MIN:
    case PFD_REDUCE_MAX:
        cell->number =
            is_first ? value
                     : choose(cell->number, value, reducer == PFD_REDUCE_MIN);
        break;
    case PFD_REDUCE_SUM:
    case PFD_REDUCE_MEAN:
        cell->sum += (int64_t)value;
        break;
    case PFD_REDUCE_NAN:
        cell->sum += isnan(value);
        break;
    case PFD_REDUCE_COUNT:
        break;
    }
}

/* ---- sums of others than integers ---- */

/* A number in these units; false: it is not one of so many of them. */
static inline bool in_units(double value, int unit, __int128 *ret)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> (MANTISSA - 1)) & 0x7ff;
    uint64_t m = bits & ((UINT64_C(1) << (MANTISSA - 1)) - 1);
    int shift = exponent - 1022 - MANTISSA - unit;
    m |= exponent ? UINT64_C(1) << (MANTISSA - 1) : 0;
    if (shift < 0) {
        uint64_t rest = shift > -64 ? m & ((UINT64_C(1) << -shift) - 1) : m;
        if (rest || !exponent) {
            *ret = 0;
            return !m;
        }
        m = shift > -64 ? m >> -shift : 0;
        shift = 0;
    }
    if (shift > SUM_MOST - MANTISSA || exponent == 0x7ff)
        return false;
    unsigned __int128 size = (unsigned __int128)m << shift;
    *ret = bits >> 63 ? -(__int128)size : (__int128)size;
    return true;
}

/* False: it would be more than it has room for. */
static inline bool add_units(struct share_cell *cell, __int128 units)
{
    uint64_t low = 0;
    int32_t high = 0;
    bool carry = __builtin_add_overflow(cell->low, (uint64_t)units, &low);
    if (__builtin_add_overflow(cell->high, (int32_t)(units >> 64) + carry,
                               &high))
        return false;
    cell->low = low;
    cell->high = high;
    cell->n++;
    return true;
}

/* Both of what has fewer bits, which mostly are all there: then without a
 * branch, as nobody can tell the next one's sign. */
static inline bool add_float(struct share_cell *cell, float value, int unit)
{
    enum {
        BITS = 24,
        BIAS = 126
    };
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned exponent = bits >> (BITS - 1) & 0xff;
    int shift = (int)exponent - BIAS - BITS - unit;
    if (!exponent || exponent == 0xff || shift < 0 || shift > 63) {
        __int128 units;
        return in_units((double)value, unit, &units) && add_units(cell, units);
    }
    uint64_t m = (bits & ((1U << (BITS - 1)) - 1)) | 1U << (BITS - 1);
    uint64_t is_less = bits >> 31; /* than 0: all bits turned, and 1 more */
    uint64_t low = (m << shift) ^ -is_less;
    int32_t high = (int32_t)(m >> 1 >> (63 - shift)) ^ -(int32_t)is_less;
    high += __builtin_add_overflow(low, is_less, &low);
    high += __builtin_add_overflow(cell->low, low, &low);
    if (__builtin_add_overflow(cell->high, high, &high))
        return false;
    cell->low = low;
    cell->high = high;
    cell->n++;
    return true;
}

/* Such that what comes now fits, and much that is smaller. */
static void choose_unit(struct pfd_share *share, const uint8_t *const *payloads,
                        size_t n, uint64_t order)
{
    const struct source *s = &share->source[PFD_ROLE_VALUE];
    double most = 0;
    int exponent = 0;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(load(s, s->load, payloads[i], order + i));
        most = isfinite(size) && size > most ? size : most;
    }
    (void)frexp(most, &exponent);
    share->unit = exponent - SUM_FIRST;
    share->has_unit = true;
}

static size_t add_floats(const struct pfd_share *share,
                         const uint8_t *const *payloads, size_t n,
                         const uint32_t *at)
{
    size_t of = share->source[PFD_ROLE_VALUE].at;
    struct share_cell *cells = share->cells[0];
    int unit = share->unit;
    for (size_t i = 0; i < n; i++) {
        float value;
        memcpy(&value, payloads[i] + of, sizeof value);
        if (!add_float(&cells[at[i]], value, unit))
            return i;
    }
    return n;
}

/* Up to the first that does not fit; how many. */
static size_t add_all(struct pfd_share *share, const uint8_t *const *payloads,
                      size_t n, uint64_t order, const uint32_t *at)
{
    const struct source *s = &share->source[PFD_ROLE_VALUE];
    struct share_cell *cells = share->cells[0];
    size_t i = 0;
    if (!share->has_unit && n)
        choose_unit(share, payloads, n, order);
    if (s->of >= 0 && s->load == PFD_LOAD_F32)
        return add_floats(share, payloads, n, at);
    for (; i < n; i++) {
        __int128 units;
        if (!in_units(load(s, s->load, payloads[i], order + i), share->unit,
                      &units) ||
            !add_units(&cells[at[i]], units))
            break;
    }
    return i;
}

/* ---- all ---- */

/* Integers are added up as they are, unless others came first. */
static bool needs_units(const struct pfd_share *share)
{
    enum pfd_point_load load = share->source[PFD_ROLE_VALUE].load;
    return share->has_unit || (load != PFD_LOAD_U32 && load != PFD_LOAD_I32);
}

static void reduce_all(const struct pfd_share *share, size_t grid,
                       const uint8_t *const *payloads, size_t n, uint64_t order,
                       const uint32_t *at)
{
    enum pfd_reducer reducer = share->plot->grids[grid].reducer;
    const struct source *s = &share->source[PFD_ROLE_VALUE];
    struct share_cell *cells = share->cells[grid];
    uint32_t behind = (uint32_t)(order - share->order);
    if (reducer == PFD_REDUCE_LAST && s->load == PFD_LOAD_F32) {
        for (size_t i = 0; i < n; i++) {
            reduce(&cells[at[i]], PFD_REDUCE_LAST,
                   load(s, PFD_LOAD_F32, payloads[i], order + i),
                   behind + (uint32_t)i);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        reduce(&cells[at[i]], reducer, load(s, s->load, payloads[i], order + i),
               behind + (uint32_t)i);
    }
}

/* How many of them it has taken. */
static size_t reduce_grids(struct pfd_share *share,
                           const uint8_t *const *payloads, size_t n,
                           uint64_t order, const uint32_t *at)
{
    bool adds = is_sum(share->plot->grids[0].reducer);
    if (adds && needs_units(share))
        return share->has_sums ? 0 : add_all(share, payloads, n, order, at);
    share->has_sums = adds;
    for (size_t g = 0; g < share->plot->n_grids; g++)
        reduce_all(share, g, payloads, n, order, at);
    return n;
}

size_t pfd_share_take(struct pfd_share *share, const uint8_t *const *payloads,
                      size_t n, uint64_t order)
{
    uint32_t at[PFD_SHARE_POINTS] = { 0 };
    share->order = share->order == UINT64_MAX ? order : share->order;
    share->is_full |= order + n - share->order > ORDERS_MAX;
    size_t found = share->is_full ? 0 : n;
    found = place_all(&share->x, &share->source[PFD_ROLE_X], payloads, found,
                      order, 1, at);
    found = place_all(&share->y, &share->source[PFD_ROLE_Y], payloads, found,
                      order, share->x.n, at);
    const struct share_cell *cells = share->cells[0];
    uint8_t *blocks = share->blocks;
    for (size_t i = 0; i < found; i++) {
        __builtin_prefetch(&cells[at[i]], 1);
        blocks[at[i] / PFD_GRID_BLOCK] = 1;
    }
    found = reduce_grids(share, payloads, found, order, at);
    share->n_refused += n - found;
    share->end = order + found;
    return found;
}
