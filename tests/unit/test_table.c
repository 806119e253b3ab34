/* SPDX-License-Identifier: MIT */
/* What tables are made with: names, floats, words, orders of many numbers,
 * sorted rows and groups in little memory, FlatBuffers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/flatbuffers.h"
#include "analysis/table/group.h"
#include "analysis/table/quantile.h"
#include "analysis/table/sorter.h"
#include "analysis/table/table_title.h"
#include "analysis/table/unique_names.h"
#include "core/base/dictionary.h"
#include "suite.h"

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 11;
}

START_TEST(names_are_unique)
{
    static const struct {
        const char *wanted;
        const char *given;
    } rows[] = {
        { "x", "x" },
        { "X", "X_2" },
        { "x", "x_3" },
        { "", "column" },
        { "\x1b[2J", "_[2J" },
        { "\xff\xfe", "__" },
        { "", "column_2" },
        { "\xc2\x9b", "__"
                      "_2" },
        { "é", "é" },
        { "select", "select" },
    };
    struct pfd_unique_names unique_names = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s", rows[i].wanted);
        ck_assert(pfd_unique_names_give(&unique_names, name, sizeof name));
        ck_assert_str_eq(name, rows[i].given);
    }
    /* So long that a number needs the place of letters. */
    for (int i = 0; i < 5000; i++) {
        char name[16] = "aaaaaaaaaaaaaaa";
        ck_assert(pfd_unique_names_give(&unique_names, name, sizeof name));
    }
    ck_assert_uint_eq(unique_names.given.n, 5010);
    pfd_unique_names_free(&unique_names);
}
END_TEST

START_TEST(floats_widen)
{
    /* Each binary16 becomes a binary64 and is found again. */
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double d = pfd_float_value(bits, 2);
        if (isnan(d)) {
            ck_assert_uint_eq(pfd_widen_float(bits, 2) >> 42 & 0x3ff,
                              bits & 0x3ff);
        } else {
            ck_assert_uint_eq(pfd_half_bits((float)d), bits);
        }
    }
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)next(&state);
        float f;
        memcpy(&f, &bits, sizeof f);
        double d = pfd_float_value(bits, 4);
        if (isnan(f)) {
            uint64_t wide = pfd_widen_float(bits, 4);
            ck_assert_uint_eq(wide >> 29 & 0x7fffff, bits & 0x7fffff);
            ck_assert_uint_eq(wide >> 63, bits >> 31);
        } else {
            double want = (double)f;
            ck_assert(!memcmp(&d, &want, sizeof d));
        }
    }
}
END_TEST

START_TEST(words_are_numbered)
{
    struct pfd_dictionary dictionary = { 0 };
    char text[16];
    for (unsigned i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof text, "%u", i % 5000);
        ck_assert_uint_eq(pfd_dictionary_add(&dictionary, text, (size_t)n),
                          i % 5000);
    }
    ck_assert_uint_eq(dictionary.n, 5000);
    ck_assert_uint_eq(pfd_dictionary_find(&dictionary, "4999", 4), 4999);
    ck_assert_uint_eq(pfd_dictionary_find(&dictionary, "5000", 4), UINT32_MAX);
    ck_assert_uint_eq(pfd_dictionary_add(&dictionary, "", 0), 5000);
    ck_assert_uint_eq(pfd_dictionary_add(&dictionary, "", 0), 5000);
    pfd_dictionary_free(&dictionary);
}
END_TEST

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* An answer's rank is no further off than it says; exact while it fits. */
static void check_order(size_t n, size_t memory, int kind)
{
    struct pfd_quantile q = { 0 };
    uint64_t *all = calloc(n, sizeof *all);
    uint64_t state = n;
    for (size_t i = 0; i < n; i++) {
        all[i] = kind == 0 ? next(&state) : kind == 1 ? i : i % 7;
        ck_assert(pfd_quantile_add(&q, all[i], &memory));
    }
    qsort(all, n, sizeof *all, compare);
    if (n <= PFD_QUANTILE_LEAST)
        ck_assert_uint_eq(q.error, 0);
    for (int i = 1; i <= 100; i += 11) {
        uint64_t value;
        double share = i / 100.0;
        ck_assert_int_eq(pfd_quantile_ask(&q, share, &value), PFD_OK);
        uint64_t rank = (uint64_t)ceil(share * (double)n);
        uint64_t below = 0;
        uint64_t up_to = 0;
        for (size_t k = 0; k < n; k++) {
            below += all[k] < value;
            up_to += all[k] <= value;
        }
        ck_assert_uint_lt(below, rank + q.error + 1);
        ck_assert_uint_ge(up_to + q.error + 1, rank);
        if (!q.error)
            ck_assert_uint_eq(value, all[rank - 1]);
    }
    pfd_quantile_free(&q);
    free(all);
}

START_TEST(orders_say_how_far_off)
{
    static const size_t sizes[] = { 1, 2, 63, 64, 65, 4096, 4097, 50000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < 3; kind++) {
            check_order(sizes[i], 1 << 20, kind);
            check_order(sizes[i], 0, kind);
        }
    }
}
END_TEST

/* ---- rows ---- */

static const struct pfd_table_column columns[] = {
    { .name = "key", .type = PFD_VALUE_FLOAT, .n_bytes = 4 },
    { .name = "text", .type = PFD_VALUE_TEXT },
    { .name = "n", .type = PFD_VALUE_INT, .n_bytes = 8 },
};

/* n is the row's number. */
static void fill(struct pfd_columns *batch, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        char text[16];
        uint64_t r = next(state);
        float f = (float)(int64_t)(r % 200) - 100;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        if (r % 11 == 0) {
            pfd_columns_add_null(batch, 0);
        } else {
            pfd_columns_add(batch, 0, r % 13 == 0 ? 0x7fc00000 : bits);
        }
        int length = snprintf(text, sizeof text, "%u", (unsigned)(r % 50));
        if (r % 17 == 0) {
            pfd_columns_add_null(batch, 1);
        } else {
            pfd_columns_add_text(batch, 1, text, (size_t)length);
        }
        pfd_columns_add(batch, 2, i);
        batch->n_rows++;
    }
}

struct order {
    const struct pfd_columns *rows;
    size_t by;
    bool descending;
    size_t n;
    double last;
    int last_rank;
    int64_t last_n;
    char last_text[16];
    bool *met;
};

static void check_sorted(void *user, const struct pfd_columns *batch)
{
    struct order *o = user;
    for (size_t row = 0; row < batch->n_rows; row++, o->n++) {
        int64_t n = (int64_t)pfd_columns_bits(batch, 2, row);
        ck_assert(!o->met[n]);
        o->met[n] = true;
        double d = pfd_float_value(pfd_columns_bits(batch, 0, row), 4);
        int rank = pfd_columns_is_null(batch, o->by, row) ? 2 : 0;
        char text[16] = "";
        size_t n_text;
        const char *at = pfd_columns_text(batch, 1, row, &n_text);
        memcpy(text, at, n_text);
        if (o->by == 0 && !rank)
            rank = isnan(d);
        int order = o->by == 1 ? strcmp(o->last_text, text)
                               : (o->last > d) - (o->last < d);
        if (o->descending)
            order = -order;
        if (o->n) {
            ck_assert_int_le(o->last_rank, rank);
            if (rank == o->last_rank && rank == 0)
                ck_assert_int_le(order, 0);
            if (rank == o->last_rank && (rank || order == 0))
                ck_assert_int_lt(o->last_n, n);
        }
        o->last = d;
        o->last_rank = rank;
        o->last_n = n;
        memcpy(o->last_text, text, sizeof text);
    }
}

START_TEST(rows_are_sorted)
{
    enum {
        N = 40000
    };
    static const uint64_t tops[] = { 0, 1, 100, N };
    for (int i = 0; i < 32; i++) {
        struct pfd_columns batch;
        uint64_t state = 7;
        struct order order = {
            .by = (size_t)i & 1,
            .descending = i & 2,
            .met = calloc(N, 1),
        };
        uint64_t top = tops[i >> 3];
        ck_assert(pfd_columns_init(&batch, columns, 3));
        fill(&batch, N, &state);
        struct pfd_sorter *s =
            pfd_sorter_new(columns, 3, order.by, order.descending, top,
                           i & 4 ? 100000 : 1 << 26);
        ck_assert_ptr_nonnull(s);
        ck_assert(pfd_sorter_add(s, &batch));
        pfd_columns_clear(&batch);
        ck_assert(pfd_sorter_add(s, &batch));
        ck_assert(pfd_sorter_end(s, check_sorted, &order));
        ck_assert_uint_eq(order.n, top ? top : N);
        pfd_sorter_free(s);
        pfd_columns_deinit(&batch);
        free(order.met);
    }
}
END_TEST

static void add_counts(void *user, const struct pfd_columns *batch)
{
    uint64_t *sum = user;
    for (size_t row = 0; row < batch->n_rows; row++)
        *sum += pfd_columns_bits(batch, 1, row);
}

/* No row is lost without being counted, whatever memory there is. */
START_TEST(groups_are_bounded)
{
    static const char *const what[] = { "count", "p50", "max" };
    static const size_t memory[] = { 1 << 26, 20000, 0 };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        struct pfd_columns batch;
        struct pfd_table_counts counts = { 0 };
        uint64_t state = 3;
        uint64_t sum = 0;
        size_t by = 1;
        ck_assert(pfd_columns_init(&batch, columns, 3));
        fill(&batch, 10000, &state);
        struct pfd_group *g =
            pfd_group_new(columns, 3, &by, 1, what, 3, memory[i]);
        ck_assert_ptr_nonnull(g);
        ck_assert(pfd_group_add(g, &batch));
        ck_assert(pfd_group_end(g, add_counts, &sum, &counts));
        ck_assert_uint_eq(sum + counts.ungrouped, 10000);
        ck_assert_int_eq(counts.ungrouped > 0, i > 0);
        pfd_group_free(g);
        pfd_columns_deinit(&batch);
    }
}
END_TEST

/* Every offset of a table's fields and what they lead to. */
START_TEST(flatbuffers_are_aligned)
{
    struct pfd_text out = { 0 };
    size_t at[4];
    size_t first;
    const struct pfd_flatbuffer_field fields[] = {
        { 1, 7 },
        { 0, 0 },
        { 8, UINT64_C(0x1122334455667788) },
        { 4, 0 },
    };
    pfd_flatbuffer_begin(&out);
    size_t table = pfd_flatbuffer_table(&out, fields, 4, at);
    pfd_flatbuffer_link(&out, 0, table);
    size_t vector = pfd_flatbuffer_vector(&out, 3, 16, &first);
    pfd_flatbuffer_link(&out, at[3], vector);
    size_t string = pfd_flatbuffer_string(&out, "abc", 3);
    int32_t back;
    uint16_t vtable[6];
    uint32_t offset;
    memcpy(&back, out.data + table, sizeof back);
    memcpy(vtable, out.data + table - back, sizeof vtable);
    ck_assert_uint_eq(vtable[0], 4 + 2 * 4);
    ck_assert_uint_eq(vtable[3], 0);
    ck_assert_uint_eq(table + vtable[2], at[0]);
    ck_assert_uint_eq(at[2] % 8, 0);
    ck_assert_uint_eq(first % 8, 0);
    memcpy(&offset, out.data + at[3], sizeof offset);
    ck_assert_uint_eq(at[3] + offset, vector);
    ck_assert_str_eq(out.data + string + 4, "abc");
    pfd_text_free(&out);
}
END_TEST

START_TEST(titles_have_letters_of_all_languages)
{
    static const char *const rows[][2] = {
        { "ray %u hit t=%.3f\n", "ray_hit_t" },
        { "Gr\u00f6\u00dfe %d", "Gr\u00f6\u00dfe" },
        { "\u2192 \u5408\u8a08: %d%%", "\u5408\u8a08" },
        { "b\xff\xfe"
          "d",
          "b_d" },
        { "%d%d", "table" },
        { "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
          "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
          "x\u00e9\u00e9",
          "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
          "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9x" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char title[64];
        pfd_title_make(title, sizeof title, rows[i][0], strlen(rows[i][0]));
        ck_assert_str_eq(title, rows[i][1]);
    }
}
END_TEST

int main(void)
{
    return suite_run(
        "table",
        TESTS(names_are_unique, titles_have_letters_of_all_languages,
              floats_widen, words_are_numbered, orders_say_how_far_off,
              rows_are_sorted, groups_are_bounded, flatbuffers_are_aligned),
        120);
}
