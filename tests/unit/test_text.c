/* SPDX-License-Identifier: MIT */
/* Text that grows, and arenas. */
#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "suite.h"

START_TEST(text_grows)
{
    struct pfd_text t = { 0 };
    for (int i = 0; i < 1000; i++)
        pfd_text_printf(&t, "%d,", i);
    ck_assert(!t.failed);
    ck_assert_uint_eq(t.n, 10 * 2 + 90 * 3 + 900 * 4);
    ck_assert(!memcmp(t.data, "0,1,2,", 6));
    ck_assert(!memcmp(t.data + t.n - 8, "998,999,", 8));
    pfd_text_add(&t, NULL, 0);
    pfd_text_puts(&t, "");
    ck_assert_uint_eq(t.n, 3890);
    pfd_text_free(&t);
    ck_assert_ptr_null(t.data);
}
END_TEST

START_TEST(text_remembers_failure)
{
    struct pfd_text t = { 0 };
    pfd_text_puts(&t, "kept");
    ck_assert_ptr_null(pfd_text_reserve(&t, SIZE_MAX - 2));
    ck_assert(t.failed);
    ck_assert_uint_eq(t.n, 4);
    ck_assert_ptr_null(pfd_text_reserve(&t, SIZE_MAX / 2 + 1));
    pfd_text_free(&t);
    ck_assert(!t.failed);
}
END_TEST

START_TEST(arena_gives_aligned_memory)
{
    struct pfd_arena a = { 0 };
    char *all[2000];
    for (size_t i = 0; i < 2000; i++) {
        all[i] = pfd_arena_take(&a, i);
        ck_assert_ptr_nonnull(all[i]);
        ck_assert_uint_eq((uintptr_t)all[i] % 8, 0);
        memset(all[i], (int)(i & 127), i);
    }
    for (size_t i = 1; i < 2000; i++) {
        ck_assert_int_eq(all[i][0], (char)(i & 127));
        ck_assert_int_eq(all[i][i - 1], (char)(i & 127));
    }
    ck_assert_uint_ge(a.n_memory, 1999 * 2000 / 2);
    ck_assert_uint_le(a.n_memory, 1999 * 2000);
    pfd_arena_free(&a);
    ck_assert_uint_eq(a.n_memory, 0);
}
END_TEST

START_TEST(arena_slack_can_be_read)
{
    struct pfd_arena a = { 0 };
    char copy[PFD_ARENA_SLACK];
    for (size_t n = 1; n < 300000; n = n * 3 + 1) {
        char *p = pfd_arena_take(&a, n);
        ck_assert_ptr_nonnull(p);
        memcpy(copy, p + n, sizeof copy);
    }
    pfd_arena_free(&a);
}
END_TEST

START_TEST(arena_refuses_too_much)
{
    struct pfd_arena a = { 0 };
    ck_assert_ptr_null(pfd_arena_take(&a, SIZE_MAX));
    ck_assert_ptr_null(pfd_arena_take(&a, SIZE_MAX - 7));
    ck_assert_ptr_nonnull(pfd_arena_take(&a, 0));
    pfd_arena_free(&a);
}
END_TEST

/* Whatever is taken in whatever order, what was reserved is there. */
START_TEST(arena_keeps_what_is_reserved)
{
    struct pfd_arena a = { 0 };
    static size_t sizes[5000];
    for (size_t i = 0; i < 5000; i++) {
        sizes[i] = i * 7919 % 9 ? i * 131 % 300 : i * 977 % PFD_ARENA_PIECE;
        ck_assert(pfd_arena_reserve(&a, sizes[i]));
    }
    size_t n_memory = a.n_memory;
    for (size_t i = 0; i < 5000; i++) {
        size_t n = sizes[i * 3989 % 5000];
        char *p = pfd_arena_take_reserved(&a, i % 2 ? n : n / 2);
        ck_assert_ptr_nonnull(p);
        memset(p, 1, i % 2 ? n : n / 2);
    }
    ck_assert_uint_eq(a.n_memory, n_memory);
    pfd_arena_free(&a);
}
END_TEST

int main(void)
{
    return suite_run("text",
                     TESTS(text_grows, text_remembers_failure,
                           arena_gives_aligned_memory, arena_slack_can_be_read,
                           arena_refuses_too_much,
                           arena_keeps_what_is_reserved),
                     30);
}
