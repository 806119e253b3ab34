/* SPDX-License-Identifier: MIT */
/* Findings counted by kind and id, and entries of unknown ids left out. */
#include <string.h>

#include "core/output/finding_counts.h"
#include "suite.h"

static void add(struct pfd_finding_counts *t, enum pfd_finding_kind kind,
                uint64_t id, uint64_t index)
{
    struct pfd_finding_counts_row *row =
        pfd_finding_counts_row(t, kind, id, UINT64_MAX);
    ck_assert_ptr_nonnull(row);
    if (!row->has_text && row->kind == kind)
        pfd_finding_counts_set_text(t, row, "it is");
    pfd_finding_counts_count(row, 1, 4 * index, index);
}

START_TEST(first_and_count)
{
    struct pfd_finding_counts t = { 0 };
    struct pfd_text text = { 0 };
    struct pfd_finding f;
    for (uint64_t i = 0; i < 1000; i++)
        add(&t, PFD_FINDING_unknown_id, i % 100, i);
    add(&t, PFD_FINDING_ambiguous, 7, 1000);
    for (size_t i = 0; i < 100; i++) {
        ck_assert(pfd_finding_counts_finding(&t, i, "b", &text, &f));
        ck_assert_uint_eq(f.id, i);
        ck_assert_uint_eq(f.count, 10);
        ck_assert_uint_eq(f.index, i);
        ck_assert_uint_eq(f.offset, 4 * i);
        ck_assert(f.has_id);
        ck_assert_str_eq(f.text, "it is; the first of 10 such entries");
    }
    ck_assert(pfd_finding_counts_finding(&t, 100, "b", &text, &f));
    ck_assert_int_eq(f.kind, PFD_FINDING_ambiguous);
    ck_assert_str_eq(f.text, "it is");
    ck_assert(!pfd_finding_counts_finding(&t, 101, "b", &text, &f));
    pfd_finding_counts_clear(&t);
    ck_assert(!pfd_finding_counts_finding(&t, 0, "b", &text, &f));
    pfd_text_free(&text);
    pfd_finding_counts_free(&t);
}
END_TEST

/* In pieces or at once, in whatever pieces. */
START_TEST(merged_with_a_cap)
{
    for (uint64_t piece = 1; piece < 60; piece += 7) {
        struct pfd_finding_counts sum = { .max = 20 };
        struct pfd_finding_counts part = { 0 };
        struct pfd_text text = { 0 };
        struct pfd_finding f;
        for (uint64_t i = 0; i < 600; i++) {
            add(&part, PFD_FINDING_unknown_id, i % 30, i);
            if (i % piece == piece - 1 || i == 599) {
                pfd_finding_counts_merge(&sum, &part);
                pfd_finding_counts_clear(&part);
            }
        }
        uint64_t n = 0;
        for (size_t i = 0; i < 20; i++) {
            ck_assert(pfd_finding_counts_finding(&sum, i, "b", &text, &f));
            ck_assert_uint_eq(f.id, i);
            ck_assert_uint_eq(f.index, i);
            n += f.count;
        }
        ck_assert(pfd_finding_counts_finding(&sum, 20, "b", &text, &f));
        ck_assert(!f.has_id);
        ck_assert_uint_eq(f.index, 20);
        ck_assert_uint_eq(n + f.count, 600);
        ck_assert(!pfd_finding_counts_finding(&sum, 21, "b", &text, &f));
        pfd_text_free(&text);
        pfd_finding_counts_free(&sum);
        pfd_finding_counts_free(&part);
    }
}
END_TEST

/* What is shown does not depend on where a stretch ends. */
START_TEST(shown_in_pieces)
{
    struct pfd_text first = { 0 };
    for (uint64_t piece = 1; piece < 400; piece += 13) {
        struct pfd_unknown_limit unknown_limit = { 0 };
        struct pfd_unknown_parts unsure = { 0 };
        struct pfd_text all = { 0 };
        struct pfd_text out = { 0 };
        uint64_t n_hidden = 0;
        uint64_t n_shown = 0;
        for (uint64_t i = 0; i < 400; i++) {
            if (pfd_unsure_begin(&unsure, i % 3 ? i % 7 : i, out.n)) {
                pfd_text_printf(&out, "%u,", (unsigned)i);
                pfd_unsure_end(&unsure, out.n);
            }
            pfd_text_puts(&out, ";");
            if (i % piece == piece - 1 || i == 399) {
                n_shown += unsure.n;
                uint64_t n =
                    pfd_unknown_limit_cut(&unknown_limit, &unsure, &out);
                n_hidden += n + unsure.n_hidden;
                n_shown -= n;
                pfd_text_add(&all, out.data, out.n);
                out.n = 0;
                pfd_unsure_clear(&unsure);
            }
        }
        ck_assert_uint_eq(n_shown, PFD_UNKNOWN_LIMIT_MAX);
        ck_assert_uint_eq(n_hidden + n_shown, 400);
        if (!first.n)
            pfd_text_add(&first, all.data, all.n);
        ck_assert_uint_eq(first.n, all.n);
        ck_assert(!memcmp(first.data, all.data, all.n));
        pfd_unsure_free(&unsure);
        pfd_text_free(&all);
        pfd_text_free(&out);
    }
    pfd_text_free(&first);
}
END_TEST

int main(void)
{
    return suite_run("tally",
                     TESTS(first_and_count, merged_with_a_cap, shown_in_pieces),
                     60);
}
