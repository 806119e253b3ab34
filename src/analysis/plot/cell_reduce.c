/* SPDX-License-Identifier: MIT */
#include "analysis/plot/cell_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/large_pages.h"

enum {
    /* Bits of a sum above its unit: of the first number, and of any. A float,
     * and 128 times as much, fits a word. */
    SUM_FIRST = 75,
    SUM_FIRST_FLOAT = 56,
    SUM_MOST = 94,
    MANTISSA = 53,
    /* Of a flat sum: its unit above the other's, its bits above its unit, and
     * the bits of its count, which are the lowest. */
    FLAT_UNIT = 12,
    FLAT_BITS = 53,
    FLAT_COUNT = 10,
    FLAT_COUNT_MAX = (1 << FLAT_COUNT) - 1,
    /* Bits of `blocks`: where a block has points. */
    IN_ALL = 1,
    IN_FLAT = 2,
};

/* A cell for words of 32 bits. */
struct narrow {
    uint32_t word; /* the value; of nan: their number */
    uint32_t rest; /* 0: the cell is empty; of first and last: 1 more than
                      the order behind the share's, and SEVERAL; of others:
                      points */
};

#define SEVERAL (UINT32_C(1) << 31)

struct wide {
    union {
        double number;
        int64_t sum;  /* of integers of 32 bits; of nan, their number */
        uint64_t low; /* of other sums, in units */
    };
    union {
        uint32_t order; /* relative to the share's */
        int32_t high;   /* of a sum, likewise */
    };
    uint32_t n; /* points */
};

static bool is_sum(enum pfd_reducer reducer)
{
    return reducer == PFD_REDUCE_SUM || reducer == PFD_REDUCE_MEAN;
}

static bool is_word(const struct pfd_cell_value *s)
{
    return s->of >= 0 && (s->load == PFD_LOAD_U32 || s->load == PFD_LOAD_I32 ||
                          s->load == PFD_LOAD_F32);
}

/* Prefetches a cell to the second cache only: more fetches can be in flight
 * there. */
static inline void bring(const void *cell)
{
    __builtin_prefetch(cell, 1, 2);
}

/* ---- allocation ---- */

/* Counts have no value. */
static bool can_be_narrow(enum pfd_reducer reducer,
                          const struct pfd_cell_value *value)
{
    return reducer == PFD_REDUCE_COUNT || (!is_sum(reducer) && is_word(value));
}

/* Sums of words are added in 8 bytes as long as they fit. */
static bool can_be_flat(enum pfd_reducer reducer,
                        const struct pfd_cell_value *value)
{
    return is_sum(reducer) && is_word(value);
}

static size_t size_of(enum pfd_reducer reducer,
                      const struct pfd_cell_value *value)
{
    return can_be_narrow(reducer, value) ? sizeof(struct narrow)
                                         : sizeof(struct wide);
}

size_t pfd_cells_size(enum pfd_reducer reducer,
                      const struct pfd_cell_value *value)
{
    return size_of(reducer, value) +
           (can_be_flat(reducer, value) ? sizeof(uint64_t) : 0);
}

static void *make(size_t n_bytes)
{
    void *cells = pfd_zeroed_new(n_bytes);
    pfd_zeroed_whole(cells, n_bytes);
    return cells;
}

bool pfd_cells_init(struct pfd_cells *ret, enum pfd_reducer reducer,
                    const struct pfd_cell_value *value, size_t n)
{
    bool is_flat = can_be_flat(reducer, value);
    size_t n_bytes = n * size_of(reducer, value);
    *ret = (struct pfd_cells){
        .reducer = reducer,
        .is_narrow = can_be_narrow(reducer, value),
        .load = value->load,
        .n = n,
        .size = size_of(reducer, value),
        .all = is_flat ? pfd_zeroed_new(n_bytes) : make(n_bytes),
        .flat = is_flat ? make(n * sizeof(uint64_t)) : NULL,
        .blocks = calloc(n / PFD_GRID_BLOCK + 1, 1),
    };
    return ret->all && ret->blocks && (ret->flat || !is_flat);
}

void pfd_cells_deinit(struct pfd_cells *cells)
{
    pfd_zeroed_free(cells->all, cells->n * cells->size);
    pfd_zeroed_free(cells->flat, cells->n * sizeof(uint64_t));
    free(cells->blocks);
    *cells = (struct pfd_cells){ 0 };
}

bool pfd_cells_fit(const struct pfd_cells *cells,
                   const struct pfd_cell_value *value)
{
    return !cells->is_narrow || cells->reducer == PFD_REDUCE_COUNT ||
           (is_word(value) && value->load == cells->load);
}

/* ---- numbers ---- */

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Does the new one of two numbers win? */
static inline bool wins(double old, double new, bool least)
{
    if (__builtin_expect(old < new || old > new, 1))
        return (new < old) == least;
    struct pfd_double_double w = pfd_double_double_choose(
        pfd_double_double_round(old), pfd_double_double_round(new), least);
    return bits_of(w.hi) == bits_of(new);
}

static inline double number_of(enum pfd_point_load load, uint32_t word)
{
    const uint64_t bits = word;
    return pfd_point_double(load, (const uint8_t *)&bits, 0);
}

static inline void reduce_word(struct narrow *cell, enum pfd_reducer reducer,
                               enum pfd_point_load load, uint32_t word,
                               uint32_t order)
{
    bool is_first = !cell->rest;
    switch (reducer) {
    case PFD_REDUCE_LAST:
        cell->word = word;
        cell->rest = (order + 1) | (is_first ? 0 : SEVERAL);
        break;
    case PFD_REDUCE_FIRST:
        cell->word = is_first ? word : cell->word;
        cell->rest = is_first ? order + 1 : cell->rest | SEVERAL;
        break;
    case PFD_REDUCE_MIN:
    case PFD_REDUCE_MAX:
        if (is_first || wins(number_of(load, cell->word), number_of(load, word),
                             reducer == PFD_REDUCE_MIN))
            cell->word = word;
        cell->rest++;
        break;
    case PFD_REDUCE_NAN:
        cell->word += isnan(number_of(load, word)) ? 1 : 0;
        cell->rest++;
        break;
    case PFD_REDUCE_COUNT:
    case PFD_REDUCE_SUM:
    case PFD_REDUCE_MEAN:
        cell->rest++;
        break;
    }
}

/* The next two are instantiated for each reducer, so no loop tests it. */
static inline __attribute__((always_inline)) void reduce_words(
    const struct pfd_cells *cells, enum pfd_reducer reducer,
    const struct pfd_cell_points *p)
{
    struct narrow *all = cells->all;
    uint8_t *blocks = cells->blocks;
    uint32_t of = p->value->at;
    for (size_t i = 0; i < p->n; i++) {
        struct narrow *cell = &all[p->at[i]];
        uint32_t word = 0;
        bring(&all[p->at[i + PFD_CELLS_AHEAD]]);
        if (!cell->rest)
            blocks[p->at[i] / PFD_GRID_BLOCK] = IN_ALL;
        if (reducer != PFD_REDUCE_COUNT)
            memcpy(&word, p->payloads[i] + of, sizeof word);
        reduce_word(cell, reducer, cells->load, word, p->behind + (uint32_t)i);
    }
}

static void reduce_narrow(const struct pfd_cells *cells,
                          const struct pfd_cell_points *p)
{
    switch (cells->reducer) {
    case PFD_REDUCE_LAST:
        reduce_words(cells, PFD_REDUCE_LAST, p);
        break;
    case PFD_REDUCE_FIRST:
        reduce_words(cells, PFD_REDUCE_FIRST, p);
        break;
    case PFD_REDUCE_MIN:
        reduce_words(cells, PFD_REDUCE_MIN, p);
        break;
    case PFD_REDUCE_MAX:
        reduce_words(cells, PFD_REDUCE_MAX, p);
        break;
    case PFD_REDUCE_NAN:
        reduce_words(cells, PFD_REDUCE_NAN, p);
        break;
    case PFD_REDUCE_COUNT:
    case PFD_REDUCE_SUM:
    case PFD_REDUCE_MEAN:
        reduce_words(cells, PFD_REDUCE_COUNT, p);
        break;
    }
}

/* The cell of point i; prefetches the cells of later points. */
static inline struct wide *wide_at(const struct pfd_cells *cells,
                                   const struct pfd_cell_points *p, size_t i)
{
    struct wide *all = cells->all;
    struct wide *cell = &all[p->at[i]];
    bring(&all[p->at[i + PFD_CELLS_AHEAD]]);
    if (!cell->n)
        cells->blocks[p->at[i] / PFD_GRID_BLOCK] |= IN_ALL;
    return cell;
}

/* Reduces a point's value into its cell. */
static void reduce(struct wide *cell, enum pfd_reducer reducer, double value,
                   uint32_t order)
{
    bool is_first = !cell->n++;
    switch (reducer) {
    case PFD_REDUCE_FIRST:
    case PFD_REDUCE_LAST:
        if (is_first || reducer == PFD_REDUCE_LAST) {
            cell->number = value;
            cell->order = order;
        }
        break;
    case PFD_REDUCE_MIN:
    case PFD_REDUCE_MAX:
        if (is_first || wins(cell->number, value, reducer == PFD_REDUCE_MIN))
            cell->number = value;
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

static void reduce_wide(const struct pfd_cells *cells,
                        const struct pfd_cell_points *p)
{
    const struct pfd_cell_value *s = p->value;
    for (size_t i = 0; i < p->n; i++) {
        reduce(wide_at(cells, p, i), cells->reducer,
               pfd_cell_value_load(s, s->load, p->payloads[i], p->order + i),
               p->behind + (uint32_t)i);
    }
}

/* ---- sums of other numbers than integers ---- */

/* A number in these units; false: it is no multiple of the unit, or too
 * large. */
static inline bool in_units(double value, int unit, __int128 *ret)
{
    uint64_t bits = bits_of(value);
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

/* Adds n numbers; false: the sum would overflow. */
static inline bool add_units(struct wide *cell, __int128 units, uint32_t n)
{
    uint64_t low = 0;
    int32_t high = 0;
    bool carry = __builtin_add_overflow(cell->low, (uint64_t)units, &low);
    if (__builtin_add_overflow(cell->high, (int32_t)(units >> 64) + carry,
                               &high))
        return false;
    cell->low = low;
    cell->high = high;
    cell->n += n;
    return true;
}

enum {
    FLOAT_BITS = 24,
    FLOAT_BIAS = 126,
    FLOAT_ODD = 0xff, /* the exponent of NaN and infinities */
};

/* The range of exponents of floats that a flat sum takes in these units. */
struct floats {
    int zero; /* the exponent that needs no shift */
    unsigned least;
    unsigned n; /* from the least on; 0: none */
};

static struct floats floats_of(int unit)
{
    int zero = unit + FLOAT_BIAS + FLOAT_BITS;
    int least = zero > 1 ? zero : 1;
    int end = zero + FLAT_BITS - FLOAT_BITS;
    end = end < FLOAT_ODD ? end : FLOAT_ODD;
    return (struct floats){ zero, (unsigned)least,
                            end > least ? (unsigned)(end - least) : 0 };
}

/* False: the sum or its count would overflow. */
static inline bool add_flat(uint64_t *flat, int64_t units)
{
    int64_t sum = 0;
    uint64_t more = ((uint64_t)units << FLAT_COUNT) + 1;
    if ((*flat & FLAT_COUNT_MAX) == FLAT_COUNT_MAX ||
        __builtin_add_overflow((int64_t)*flat, (int64_t)more, &sum))
        return false;
    *flat = (uint64_t)sum;
    return true;
}

static int64_t flat_sum(uint64_t flat)
{
    return (int64_t)flat >> FLAT_COUNT;
}

/* Moves a flat sum to the wide cell; false: it does not fit there, either. */
static bool spill(const struct pfd_cells *cells, size_t at)
{
    struct wide *cell = &((struct wide *)cells->all)[at];
    uint64_t *flat = &cells->flat[at];
    uint32_t n = *flat & FLAT_COUNT_MAX;
    if (!cells->has_unit) {
        cell->sum += flat_sum(*flat);
        cell->n += n;
    } else if (!add_units(cell, (__int128)flat_sum(*flat) * (1 << FLAT_UNIT),
                          n)) {
        return false;
    }
    *flat = 0;
    cells->blocks[at / PFD_GRID_BLOCK] |= IN_ALL;
    return true;
}

/* Adds an integer after a flat sum had to be moved. */
static bool add_behind(struct pfd_cells *cells, size_t at, int64_t units)
{
    cells->n_spilt++;
    return spill(cells, at) && add_flat(&cells->flat[at], units);
}

/* Adds a float outside of the usual exponents, or for which the flat sum has no
 * space. */
static bool add_odd_float(struct pfd_cells *cells, size_t at, float value)
{
    __int128 units;
    const __int128 most = (__int128)1 << FLAT_BITS;
    if (in_units((double)value, cells->unit + FLAT_UNIT, &units) &&
        units < most && units > -most) {
        return add_flat(&cells->flat[at], (int64_t)units) ||
               add_behind(cells, at, (int64_t)units);
    }
    cells->n_spilt++;
    if (!in_units((double)value, cells->unit, &units) ||
        !add_units(&((struct wide *)cells->all)[at], units, 1))
        return false;
    cells->blocks[at / PFD_GRID_BLOCK] |= IN_ALL;
    return true;
}

/* Adds a float of the usual exponents, without a branch: signs cannot be
 * predicted. */
static inline bool add_float(uint64_t *flat, float value,
                             const struct floats *floats)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned exponent = bits >> (FLOAT_BITS - 1) & 0xff;
    if (exponent - floats->least >= floats->n)
        return false;
    uint64_t m =
        (bits & ((1U << (FLOAT_BITS - 1)) - 1)) | 1U << (FLOAT_BITS - 1);
    uint64_t is_less = bits >> 31; /* negative: all bits are inverted, and 1 is
                                      added */
    int shift = (int)exponent - floats->zero;
    return add_flat(flat, (int64_t)(((m ^ -is_less) + is_less) << shift));
}

/* Chooses a unit such that the first points fit, and also much smaller
 * numbers. */
static void choose_unit(struct pfd_cells *cells,
                        const struct pfd_cell_points *p)
{
    const struct pfd_cell_value *s = p->value;
    double most = 0;
    int exponent = 0;
    for (size_t i = 0; i < p->n; i++) {
        double size =
            fabs(pfd_cell_value_load(s, s->load, p->payloads[i], p->order + i));
        most = isfinite(size) && size > most ? size : most;
    }
    (void)frexp(most, &exponent);
    cells->unit =
        exponent - (s->load == PFD_LOAD_F32 ? SUM_FIRST_FLOAT : SUM_FIRST);
    cells->has_unit = true;
}

/* Prefetches the wide cells, too, if many of the last points needed them. */
static void begin_flat(struct pfd_cells *cells, const struct pfd_cell_points *p)
{
    const struct wide *all = cells->all;
    for (size_t i = 0; i < p->n && cells->n_spilt > p->n / 16; i++)
        bring(&all[p->at[i]]);
    cells->n_spilt = 0;
}

static size_t add_floats(struct pfd_cells *cells,
                         const struct pfd_cell_points *p)
{
    const struct pfd_cell_points points = *p;
    const struct floats floats = floats_of(cells->unit + FLAT_UNIT);
    uint64_t *all = cells->flat;
    uint8_t *blocks = cells->blocks;
    uint32_t of = points.value->at;
    begin_flat(cells, p);
    for (size_t i = 0; i < points.n; i++) {
        uint32_t at = points.at[i];
        uint64_t *flat = &all[at];
        float value;
        bring(&all[points.at[i + PFD_CELLS_AHEAD]]);
        memcpy(&value, points.payloads[i] + of, sizeof value);
        if (!*flat)
            blocks[at / PFD_GRID_BLOCK] |= IN_FLAT;
        if (!add_float(flat, value, &floats) &&
            !add_odd_float(cells, at, value))
            return i;
    }
    return points.n;
}

static void add_integers(struct pfd_cells *cells,
                         const struct pfd_cell_points *p)
{
    const struct pfd_cell_points points = *p;
    uint64_t *all = cells->flat;
    uint8_t *blocks = cells->blocks;
    uint32_t of = points.value->at;
    bool is_signed = points.value->load == PFD_LOAD_I32;
    begin_flat(cells, p);
    for (size_t i = 0; i < points.n; i++) {
        uint32_t at = points.at[i];
        uint64_t *flat = &all[at];
        uint32_t word;
        bring(&all[points.at[i + PFD_CELLS_AHEAD]]);
        memcpy(&word, points.payloads[i] + of, sizeof word);
        if (!*flat)
            blocks[at / PFD_GRID_BLOCK] |= IN_FLAT;
        int64_t units = is_signed ? (int32_t)word : (int64_t)word;
        if (!add_flat(flat, units))
            (void)add_behind(cells, at, units);
    }
}

/* Adds points up to the first that does not fit; returns their number. */
static size_t add_numbers(struct pfd_cells *cells,
                          const struct pfd_cell_points *p)
{
    const struct pfd_cell_value *s = p->value;
    size_t i = 0;
    if (!cells->has_unit && p->n)
        choose_unit(cells, p);
    if (cells->flat && s->of >= 0 && s->load == PFD_LOAD_F32)
        return add_floats(cells, p);
    for (; i < p->n; i++) {
        __int128 units;
        double value =
            pfd_cell_value_load(s, s->load, p->payloads[i], p->order + i);
        if (!in_units(value, cells->unit, &units) ||
            !add_units(wide_at(cells, p, i), units, 1))
            break;
    }
    return i;
}

/* ---- all kinds ---- */

/* Integers are added as they are, unless other numbers came first. */
static bool needs_units(const struct pfd_cells *cells,
                        const struct pfd_cell_value *value)
{
    return is_sum(cells->reducer) &&
           (cells->has_unit ||
            (value->load != PFD_LOAD_U32 && value->load != PFD_LOAD_I32));
}

void pfd_cells_prefetch(const struct pfd_cells *cells, const uint32_t *at)
{
    size_t size = cells->flat        ? sizeof(uint64_t)
                  : cells->is_narrow ? sizeof(struct narrow)
                                     : sizeof(struct wide);
    const char *first = cells->flat ? (const char *)cells->flat : cells->all;
    for (size_t i = 0; i < PFD_CELLS_AHEAD; i++)
        bring(first + at[i] * size);
}

size_t pfd_cells_add(struct pfd_cells *cells,
                     const struct pfd_cell_points *points)
{
    if (needs_units(cells, points->value))
        return cells->has_sums ? 0 : add_numbers(cells, points);
    cells->has_sums = is_sum(cells->reducer);
    if (cells->is_narrow) {
        reduce_narrow(cells, points);
    } else if (cells->flat && points->value->of >= 0) {
        add_integers(cells, points);
    } else {
        reduce_wide(cells, points);
    }
    return points->n;
}

static bool get_narrow(const struct pfd_cells *cells, size_t i, uint64_t order,
                       struct pfd_grid_part *ret)
{
    const struct narrow *cell = &((const struct narrow *)cells->all)[i];
    ret->cell.n = cell->rest;
    if (cells->reducer == PFD_REDUCE_NAN) {
        ret->cell.value = pfd_double_double_unsigned(cell->word);
    } else {
        ret->cell.value =
            pfd_double_double_round(number_of(cells->load, cell->word));
    }
    if (cells->reducer == PFD_REDUCE_LAST ||
        cells->reducer == PFD_REDUCE_FIRST) {
        ret->cell.n = cell->rest & SEVERAL ? PFD_GRID_SEVERAL : 1;
        ret->cell.order = order + (cell->rest & ~SEVERAL) - 1;
    }
    return cell->rest != 0;
}

/* A flat sum, plus the part that was moved to the wide cell. */
static bool get_flat(const struct pfd_cells *cells, size_t i,
                     struct pfd_grid_part *ret)
{
    const struct wide *cell = &((const struct wide *)cells->all)[i];
    uint64_t flat = cells->flat[i];
    __int128 sum = flat_sum(flat);
    int unit = cells->has_unit ? cells->unit + FLAT_UNIT : 0;
    ret->cell.n = flat & FLAT_COUNT_MAX;
    if (cells->blocks[i / PFD_GRID_BLOCK] & IN_ALL && cell->n) {
        ret->cell.n += cell->n;
        if (cells->has_unit) {
            unit = cells->unit;
            sum = sum * (1 << FLAT_UNIT) +
                  (__int128)cell->high * ((__int128)1 << 64) + cell->low;
        } else {
            sum += cell->sum;
        }
    }
    ret->sum = (struct pfd_units){ sum, unit };
    return ret->cell.n != 0;
}

bool pfd_cells_get(const struct pfd_cells *cells, size_t i, uint64_t order,
                   struct pfd_grid_part *ret)
{
    const struct wide *cell = &((const struct wide *)cells->all)[i];
    if (cells->is_narrow)
        return get_narrow(cells, i, order, ret);
    if (cells->flat)
        return get_flat(cells, i, ret);
    ret->cell.n = cell->n;
    if (cells->has_unit) {
        __int128 high = cell->high;
        ret->sum = (struct pfd_units){ high * ((__int128)1 << 64) + cell->low,
                                       cells->unit };
    } else if (is_sum(cells->reducer)) {
        ret->sum = (struct pfd_units){ cell->sum, 0 };
    } else if (cells->reducer == PFD_REDUCE_NAN) {
        ret->cell.value = pfd_double_double_int(cell->sum);
    } else {
        ret->cell.value = pfd_double_double_round(cell->number);
        ret->cell.order = order + cell->order;
    }
    return cell->n != 0;
}
