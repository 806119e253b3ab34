/* SPDX-License-Identifier: MIT */
/* Sums are exact: whatever comes first, in however many threads. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plot/plot.h"
#include "analysis/plot/plot_state.h"
#include "dump.h"
#include "suite.h"

/* Adds a number to a sum that grows as it has to. */
static void add(struct pfd_cell_sums *s, double number)
{
    ck_assert_int_eq(pfd_cell_sums_add(s, 0, 0, pfd_units_of(number)),
                     PFD_CELL_SUMS_OK);
}

static double sum_of(const double *numbers, size_t n)
{
    struct pfd_cell_sums s = { 0 };
    ck_assert_int_eq(pfd_cell_sums_add_panel(&s, 1), PFD_CELL_SUMS_OK);
    for (size_t i = 0; i < n; i++)
        add(&s, numbers[i]);
    struct pfd_double_double w = pfd_cell_sums_round(&s, 0, 0);
    pfd_cell_sums_deinit(&s);
    return w.hi + w.lo;
}

START_TEST(nothing_is_lost)
{
    const double far[] = { 1e300, 5e-324, 1, -1e300, -1 };
    const double huge[] = { DBL_MAX, DBL_MAX, -DBL_MAX };
    const double small[] = { 5e-324, 5e-324, -5e-324 };
    const double none[] = { 0, -0.0 };
    const double below[] = { -0.5, -0x1p-80, -3e20 };
    const double tenths[] = { 0.1, 0.2, -0.3 };
    ck_assert_double_eq(sum_of(far, 5), 5e-324);
    ck_assert_double_eq(sum_of(huge, 3), DBL_MAX);
    ck_assert_double_eq(sum_of(huge, 2), INFINITY);
    ck_assert_double_eq(sum_of(small, 3), 5e-324);
    ck_assert_double_eq(sum_of(none, 2), 0);
    ck_assert_double_eq(sum_of(below, 3), -3e20);
    ck_assert_double_eq(sum_of(tenths, 3), 0x1p-55);
    ck_assert_double_eq(sum_of(NULL, 0), 0);
}
END_TEST

/* Numbers below 2^62 in units, against integers. */
START_TEST(as_integers_have_it)
{
    uint64_t seed = 11;
    for (int turn = 0; turn < 2000; turn++) {
        struct pfd_cell_sums s = { 0 };
        __int128 wanted = 0;
        ck_assert_int_eq(pfd_cell_sums_add_panel(&s, 1), PFD_CELL_SUMS_OK);
        for (uint32_t n = dump_below(&seed, 30); n > 0; n--) {
            int64_t units =
                (int64_t)dump_random(&seed) >> dump_below(&seed, 63);
            int at = (int)dump_below(&seed, 3) * 20;
            struct pfd_units part = { units, at - 70 };
            ck_assert_int_eq(pfd_cell_sums_add(&s, 0, 0, part),
                             PFD_CELL_SUMS_OK);
            wanted += (__int128)units * ((__int128)1 << at);
        }
        struct pfd_double_double w = pfd_cell_sums_round(&s, 0, 0);
        __int128 got = (__int128)ldexp(w.hi, 70) + (__int128)ldexp(w.lo, 70);
        __int128 off = got > wanted ? got - wanted : wanted - got;
        /* Twice the places of a double are 2^106. */
        ck_assert(off <= (wanted > 0 ? wanted : -wanted) >> 104);
        pfd_cell_sums_deinit(&s);
    }
}
END_TEST

/* Any order, and any grouping, gives the same words. */
START_TEST(any_order)
{
    enum {
        N = 400
    };
    static double numbers[N];
    uint64_t seed = 12;
    for (int turn = 0; turn < 50; turn++) {
        for (size_t i = 0; i < N; i++) {
            uint64_t bits = dump_random(&seed);
            memcpy(&numbers[i], &bits, sizeof bits);
            if (!isfinite(numbers[i]))
                numbers[i] = 1;
        }
        double forth = sum_of(numbers, N);
        for (size_t i = N - 1; i > 0; i--) {
            size_t k = dump_below(&seed, (uint32_t)i + 1);
            double other = numbers[i];
            numbers[i] = numbers[k];
            numbers[k] = other;
        }
        double back = sum_of(numbers, N);
        ck_assert_mem_eq(&forth, &back, sizeof forth);
    }
}
END_TEST

START_TEST(memory_is_bounded)
{
    struct pfd_cell_sums s = { 0 };
    ck_assert_int_eq(pfd_cell_sums_add_panel(&s, 1 << 23), PFD_CELL_SUMS_OK);
    ck_assert_int_eq(pfd_cell_sums_add(&s, 0, 5, pfd_units_of(1)),
                     PFD_CELL_SUMS_OK);
    ck_assert_int_eq(pfd_cell_sums_add(&s, 0, 6, pfd_units_of(1e300)),
                     PFD_CELL_SUMS_TOO_WIDE);
    ck_assert_double_eq(pfd_cell_sums_round(&s, 0, 5).hi, 1);
    ck_assert_double_eq(pfd_cell_sums_round(&s, 0, 6).hi, 0);
    pfd_cell_sums_deinit(&s);
}
END_TEST

/* ---- of a plot ---- */

enum {
    N_ENTRIES = 120000,
    SIDE = 90,
    PIXEL = 0x1234,
    WIDE = 0x1235,
};

/* Of all sizes: most are near each other, some are not, few are no numbers. */
static float any_value(uint64_t *seed)
{
    uint32_t bits = (uint32_t)dump_random(seed);
    float f = (float)((double)dump_random(seed) * 0x1p-64 - 0.5);
    if (dump_below(seed, 100) == 0) {
        memcpy(&f, &bits, sizeof f);
    } else if (dump_below(seed, 30) == 0) {
        f *= 1e-25F;
    }
    return f;
}

static void make_dump(struct dump *d)
{
    struct build body = { 0 };
    *d = (struct dump){ .rng = 5, .strings = pfd_strings_new() };
    dump_add_string(d->strings, PIXEL, "at %u,%u: %f", "444");
    dump_add_string(d->strings, WIDE, "at %u,%u: %f", "448");
    for (int i = 0; i < N_ENTRIES; i++) {
        uint32_t words[4] = { dump_below(&d->rng, SIDE + (uint32_t)i / 4000),
                              dump_below(&d->rng, SIDE) };
        float f = any_value(&d->rng);
        double wide = (double)f * 1.1;
        bool is_wide = dump_below(&d->rng, 5000) < 2000 && i > N_ENTRIES / 2;
        if (is_wide) {
            memcpy(words + 2, &wide, sizeof wide);
        } else {
            memcpy(words + 2, &f, sizeof f);
        }
        dump_entry(&body, is_wide ? WIDE : PIXEL, is_wide ? 6 : 5, words,
                   is_wide ? 4 : 3);
    }
    dump_header(&d->bytes, body.n / 4);
    build_bytes(&d->bytes, body.bytes, body.n);
    build_free(&body);
}

static struct pfd_plot *plot_of(const struct dump *d, enum pfd_reducer reducer,
                                unsigned threads)
{
    const struct pfd_plot_spec spec = {
        .strings = d->strings,
        .kind = PFD_PLOT_HEAT,
        .x = "0",
        .y = "1",
        .value = "2",
        .reducer = reducer,
    };
    struct pfd_plot *plot = NULL;
    struct pfd_summary summary = { 0 };
    ck_assert_int_eq(pfd_plot_new(&spec, &plot, NULL), PFD_OK);
    struct pfd_convert convert = {
        .strings = d->strings,
        .source = "buffer",
        .consumer = pfd_plot_consumer(plot),
        .threads = threads,
    };
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, d->bytes.bytes, d->bytes.n, &summary, NULL),
        PFD_OK);
    return plot;
}

static void expect_same(struct pfd_plot *a, struct pfd_plot *b)
{
    struct pfd_grid_sums sums[2];
    struct pfd_grid *g[2] = { &a->grids[0], &b->grids[0] };
    pfd_plot_begin(a);
    pfd_plot_begin(b);
    for (int i = 0; i < 2; i++)
        pfd_grid_sum(g[i], &sums[i]);
    ck_assert_uint_eq(g[0]->n_points, N_ENTRIES);
    ck_assert_uint_eq(g[1]->n_points, N_ENTRIES);
    ck_assert_mem_eq(sums[0].n, sums[1].n, sizeof sums[0].n);
    if (g[0]->reducer == PFD_REDUCE_SUM)
        ck_assert_uint_gt(sums[0].n[PFD_GRID_NAN], 3);
    for (pfd_place y = g[0]->y.seen[0]; y <= g[0]->y.seen[1]; y++) {
        for (pfd_place x = g[0]->x.seen[0]; x <= g[0]->x.seen[1]; x++) {
            struct pfd_double_double v[2] = { { 0, 0 } };
            const struct pfd_grid_cell *c[2] = { pfd_grid_at(g[0], 0, x, y),
                                                 pfd_grid_at(g[1], 0, x, y) };
            enum pfd_grid_kind kind =
                pfd_grid_read_cell(c[0], g[0]->reducer, &v[0]);
            ck_assert_int_eq(pfd_grid_read_cell(c[1], g[1]->reducer, &v[1]),
                             kind);
            ck_assert_uint_eq(c[0]->n, c[1]->n);
            if (kind == PFD_GRID_NUMBER)
                ck_assert_mem_eq(&v[0], &v[1], sizeof v[0]);
        }
    }
}

START_TEST(any_number_of_threads)
{
    static const enum pfd_reducer reducers[] = {
        PFD_REDUCE_SUM, PFD_REDUCE_MEAN,  PFD_REDUCE_LAST, PFD_REDUCE_FIRST,
        PFD_REDUCE_MIN, PFD_REDUCE_COUNT, PFD_REDUCE_NAN
    };
    struct dump d;
    make_dump(&d);
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++) {
        struct pfd_plot *one = plot_of(&d, reducers[i], 1);
        for (unsigned threads = 2; threads <= 7; threads++) {
            struct pfd_plot *many = plot_of(&d, reducers[i], threads);
            expect_same(one, many);
            pfd_plot_free(many);
        }
        pfd_plot_free(one);
    }
    dump_deinit(&d);
}
END_TEST

int main(void)
{
    return suite_run("sums",
                     TESTS(nothing_is_lost, as_integers_have_it, any_order,
                           memory_is_bounded, any_number_of_threads),
                     240);
}
