/* SPDX-License-Identifier: MIT */
/* Coordinates to cells, values into them, numbers to colours. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plot/colour_scale.h"
#include "analysis/plot/colours.h"
#include "suite.h"

static struct pfd_double_double d(double number)
{
    return pfd_double_double_round(number);
}

START_TEST(numbers_are_exact)
{
    static const char *const texts[] = { "18446744073709551615",
                                         "-9223372036854775808",
                                         "9007199254740993",
                                         "0",
                                         "1.5",
                                         "-0.001",
                                         "5e-324",
                                         "1.7976931348623157e+308" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pfd_double_double w;
        const char *end;
        char text[PFD_DOUBLE_DOUBLE_TEXT];
        ck_assert(pfd_double_double_read(texts[i], &w, &end));
        ck_assert_str_eq(end, "");
        pfd_double_double_print(text, w);
        ck_assert_str_eq(text, texts[i]);
    }
    struct pfd_double_double w;
    const char *end;
    ck_assert(!pfd_double_double_read("nan", &w, &end));
    ck_assert(!pfd_double_double_read("1e999", &w, &end));
    ck_assert(!pfd_double_double_read("", &w, &end));
    struct pfd_double_double sum = { 0, 0 };
    for (int i = 0; i < 1000; i++)
        sum = pfd_double_double_add(
            sum, pfd_double_double_unsigned((UINT64_C(1) << 60) + 1));
    for (int i = 0; i < 1000; i++)
        sum = pfd_double_double_add(sum,
                                    pfd_double_double_int(-(INT64_C(1) << 60)));
    ck_assert_double_eq(sum.hi + sum.lo, 1000);
}
END_TEST

/* Each value is in the cell that begins at it or below, whatever is added. */
START_TEST(cells_hold_their_values)
{
    static const double values[] = {
        0,       1,      -1,    0.1,      -0.1,    1e9,    -1e9,   1e-300,
        -1e-300, 5e-324, 1e300, -DBL_MAX, DBL_MAX, 0x1p52, -0x1p53
    };
    enum {
        N = sizeof values / sizeof *values
    };
    for (size_t n = 1; n <= N; n++) {
        struct pfd_grid g;
        pfd_grid_init(&g, PFD_REDUCE_COUNT);
        pfd_axis_init(&g.x, 100, false);
        ck_assert(pfd_grid_add_panel(&g));
        for (size_t i = 0; i < n; i++)
            pfd_grid_add(&g, 0, d(values[i]), d(0), d(0), i);
        struct pfd_grid_sums sums;
        pfd_grid_sum(&g, &sums);
        ck_assert_uint_eq(g.n_points, n);
        ck_assert_uint_le(pfd_axis_used(&g.x), 100);
        for (size_t i = 0; i < n; i++) {
            size_t at = pfd_axis_cell(&g.x, d(values[i]));
            ck_assert_uint_lt(at, g.x.n);
            pfd_place place = g.x.from + (pfd_place)at;
            ck_assert(pfd_axis_start(&g.x, place).hi <= values[i]);
            ck_assert(pfd_axis_start(&g.x, place + 1).hi > values[i] ||
                      values[i] == DBL_MAX);
            ck_assert_uint_gt(pfd_grid_at(&g, 0, place, 0)->n, 0);
        }
        pfd_grid_deinit(&g);
    }
}
END_TEST

/* The same points in any order, one by one or many at once. */
START_TEST(order_does_not_matter)
{
    enum {
        N = 5000
    };
    static double values[3 * N];
    uint64_t sums[4][3];
    srand(3);
    for (size_t i = 0; i < N; i++) {
        values[3 * i] = rand() % 3000 - 1000;
        values[3 * i + 1] = rand() % 500;
        values[3 * i + 2] = (double)i;
    }
    for (int way = 0; way < 4; way++) {
        struct pfd_grid g;
        const struct pfd_grid_doubles all = { values, N, 3, 0, 1, 2 };
        pfd_grid_init(&g, PFD_REDUCE_MAX);
        pfd_axis_init(&g.x, 64, true);
        pfd_axis_init(&g.y, 64, true);
        ck_assert(pfd_grid_add_panel(&g));
        for (size_t i = 0; i < N && way < 3; i++) {
            size_t k = way == 0 ? i : way == 1 ? N - 1 - i : i * 7 % N;
            pfd_grid_add(&g, 0, d(values[3 * k]), d(values[3 * k + 1]),
                         d(values[3 * k + 2]), i);
        }
        if (way == 3)
            pfd_grid_add_doubles(&g, 0, &all, 0);
        struct pfd_grid_sums s;
        pfd_grid_sum(&g, &s);
        ck_assert_uint_eq(g.n_points, N);
        ck_assert_int_eq(g.x.k, 6);
        ck_assert_int_eq(g.y.k, 3);
        uint64_t hash = 0;
        for (pfd_place y = g.y.seen[0]; y <= g.y.seen[1]; y++) {
            for (pfd_place x = g.x.seen[0]; x <= g.x.seen[1]; x++)
                hash = hash * 31 + (uint64_t)pfd_grid_at(&g, 0, x, y)->value.hi;
        }
        sums[way][0] = hash;
        sums[way][1] = s.n[PFD_GRID_EMPTY];
        sums[way][2] = s.n_several;
        ck_assert_mem_eq(sums[way], sums[0], sizeof sums[0]);
        pfd_grid_deinit(&g);
    }
}
END_TEST

/* Column by column, row by row, either way, the grid is laid out anew, or gets
 * rows behind the others: every cell has its value and sum, and nothing is
 * where no point was. More cells than what comes from malloc(). */
START_TEST(growing_keeps_cells)
{
    enum {
        W = 700,
        H = 400
    };
    for (int way = 0; way < 8; way++) {
        struct pfd_grid g;
        enum pfd_reducer reducer = way & 4 ? PFD_REDUCE_SUM : PFD_REDUCE_LAST;
        pfd_grid_init(&g, reducer);
        ck_assert(pfd_grid_add_panel(&g));
        for (uint64_t i = 0; i < W * H; i++) {
            int x = (int)(way & 1 ? i / H : i % W);
            int y = (int)(way & 1 ? i % H : i / W);
            int turn = way & 2 ? -1 : 1;
            if ((x ^ y) % 16) {
                pfd_grid_add(&g, 0, d(turn * x), d(turn * y), d(x * 1000 + y),
                             i);
            }
        }
        struct pfd_grid_sums s;
        pfd_grid_sum(&g, &s);
        ck_assert(!g.failed && g.x.k == 0 && g.y.k == 0);
        ck_assert_uint_lt(g.x.n * g.y.n, 4 * W * H);
        uint64_t n_empty = 0;
        uint64_t n_wrong = 0;
        for (int y = 0; y < H; y++) {
            for (int x = 0; x < W; x++) {
                int turn = way & 2 ? -1 : 1;
                const struct pfd_grid_cell *c =
                    pfd_grid_at(&g, 0, turn * x, turn * y);
                bool is_there = (x ^ y) % 16 != 0;
                n_empty += !is_there;
                n_wrong += (c && c->n ? c->n : 0) != is_there;
                n_wrong += is_there && c && c->value.hi != x * 1000 + y;
            }
        }
        ck_assert_uint_eq(n_wrong, 0);
        ck_assert_uint_eq(s.n[PFD_GRID_EMPTY], n_empty);
        pfd_grid_deinit(&g);
    }
}
END_TEST

/* A grid has no more cells than it may, whatever comes. */
START_TEST(memory_is_bounded)
{
    struct pfd_grid g;
    pfd_grid_init(&g, PFD_REDUCE_LAST);
    pfd_axis_init(&g.x, 1 << 16, true);
    pfd_axis_init(&g.y, 1 << 16, true);
    for (int i = 0; i < 16; i++)
        ck_assert(pfd_grid_add_panel(&g));
    for (int i = 0; i < 30; i++) {
        double far = pow(1.4, i % 15 * 60);
        pfd_grid_add(&g, (size_t)i % 16, d(i % 2 ? far : -far),
                     d(i % 3 ? -far : far), d(i), (uint64_t)i);
        ck_assert_uint_le(g.x.n * g.y.n * 16, PFD_GRID_CELLS_MAX);
    }
    ck_assert_uint_eq(g.n_points, 30);
    pfd_grid_deinit(&g);
}
END_TEST

START_TEST(scales)
{
    struct pfd_grid g;
    struct pfd_grid_sums sums;
    struct pfd_colour_scale s;
    static const double values[] = { 1, 10, 100, 1000, 1000, -5 };
    pfd_grid_init(&g, PFD_REDUCE_LAST);
    ck_assert(pfd_grid_add_panel(&g));
    for (size_t i = 0; i < 5; i++)
        pfd_grid_add(&g, 0, d((double)i), d(0), d(values[i]), i);
    pfd_grid_sum(&g, &sums);
    ck_assert(pfd_colour_scale_init(&s, PFD_SCALE_LOG, &g, &sums, NULL, NULL));
    ck_assert_double_eq_tol(pfd_colour_scale_share(&s, d(10)), 1.0 / 3, 1e-12);
    ck_assert_double_eq(pfd_colour_scale_share(&s, d(-1)), 0);
    pfd_colour_scale_deinit(&s);
    ck_assert(
        pfd_colour_scale_init(&s, PFD_SCALE_EQUAL, &g, &sums, NULL, NULL));
    ck_assert_double_eq_tol(pfd_colour_scale_share(&s, d(10)), 0.3, 1e-12);
    ck_assert_double_eq(pfd_colour_scale_share(&s, d(1)), 0);
    ck_assert_double_eq(pfd_colour_scale_share(&s, d(1000)), 1);
    pfd_colour_scale_deinit(&s);
    pfd_grid_add(&g, 0, d(0), d(0), d(-DBL_MAX), 9);
    pfd_grid_add(&g, 0, d(1), d(0), d(DBL_MAX), 10);
    pfd_grid_sum(&g, &sums);
    ck_assert(
        pfd_colour_scale_init(&s, PFD_SCALE_LINEAR, &g, &sums, NULL, NULL));
    ck_assert_double_eq(pfd_colour_scale_share(&s, d(0)), 0.5);
    ck_assert_double_eq(pfd_colour_scale_share(&s, d(DBL_MAX)), 1);
    pfd_colour_scale_deinit(&s);
    pfd_grid_deinit(&g);
}
END_TEST

static double distance(struct pfd_colour a, struct pfd_colour b)
{
    double x[3];
    double y[3];
    pfd_colour_to_lab(a, x);
    pfd_colour_to_lab(b, y);
    return sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                (x[2] - y[2]) * (x[2] - y[2]));
}

/* Ten steps of a map look equal, wherever; lightness alone tells numbers apart,
 * but where a map has two ends; and no number looks like none. */
START_TEST(maps_are_even)
{
    const char *name;
    for (size_t i = 0; (name = pfd_colours_name(i)); i++) {
        struct pfd_colours c;
        double least = 9;
        double most = 0;
        for (int dark = 0; dark < 2; dark++) {
            ck_assert(pfd_colours_init(&c, name, dark));
            const struct pfd_colour others[] = { c.nan, c.plus_inf, c.minus_inf,
                                                 c.empty };
            for (size_t k = 0; k < 4; k++) {
                for (size_t m = 0; m < PFD_COLOURS; m++)
                    ck_assert_double_gt(distance(others[k], c.map[m]), 0.06);
                for (size_t m = 0; m < k; m++)
                    ck_assert_double_gt(distance(others[k], others[m]), 0.06);
            }
        }
        for (size_t k = 0; k + 10 < PFD_COLOURS; k++) {
            double step = distance(c.map[k], c.map[k + 10]);
            double a[3];
            double b[3];
            least = step < least ? step : least;
            most = step > most ? step : most;
            pfd_colour_to_lab(c.map[k], a);
            pfd_colour_to_lab(c.map[k + 10], b);
            if (strcmp(name, "balance") != 0)
                ck_assert_double_gt(b[0], a[0]);
        }
        /* A map with two ends turns in its middle. */
        if (strcmp(name, "balance") != 0)
            ck_assert_double_lt(most, 1.5 * least);
    }
    struct pfd_colours c;
    ck_assert(!pfd_colours_init(&c, "none such", false));
}
END_TEST

int main(void)
{
    return suite_run("plot",
                     TESTS(numbers_are_exact, cells_hold_their_values,
                           order_does_not_matter, growing_keeps_cells,
                           memory_is_bounded, scales, maps_are_even),
                     240);
}
