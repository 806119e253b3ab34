/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include <check.h>

#include "core/base/uncached_copy.h"
#include "guard.h"
#include "suite.h"

enum {
    ALIGNS = 72, /* a line has 64 bytes */
    LENGTHS = 300,
    MARGIN = 8,
    MANY = 1 << 20,
    MARK = 0xa5,
};

static uint8_t source[MANY + ALIGNS];
static uint8_t copy[MANY + ALIGNS + 2 * MARGIN];

/* No two places near each other hold the same. */
static void fill_source(void)
{
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (uint8_t)(i * 167 + (i >> 8) * 31 + 1);
}

static void check_copy(size_t from, size_t to, size_t n)
{
    uint8_t *at = copy + MARGIN + to;
    memset(at - MARGIN, MARK, n + 2 * MARGIN);
    pfd_uncached_copy(at, source + from, n);
    ck_assert(!memcmp(at, source + from, n));
    for (size_t i = 1; i <= MARGIN; i++) {
        ck_assert_uint_eq(at[-(ptrdiff_t)i], MARK);
        ck_assert_uint_eq(at[n + i - 1], MARK);
    }
}

START_TEST(test_alignments)
{
    fill_source();
    for (size_t from = 0; from < ALIGNS; from++) {
        for (size_t n = 0; n < LENGTHS; n++)
            check_copy(from, (from * 5 + n * 3) % ALIGNS, n);
    }
    for (size_t to = 0; to < ALIGNS; to++)
        check_copy(0, to, LENGTHS);
}
END_TEST

START_TEST(test_many)
{
    fill_source();
    for (size_t from = 0; from < ALIGNS; from += 7)
        check_copy(from, ALIGNS - 1 - from, MANY - from);
}
END_TEST

/* The byte behind the last one is of a page that is not there. */
START_TEST(test_page_end)
{
    fill_source();
    for (size_t n = 0; n < LENGTHS; n++) {
        struct guard guard = guard_new(source, n);
        pfd_uncached_copy(copy, guard.bytes, n);
        ck_assert(!memcmp(copy, source, n));
        guard_free(&guard);
    }
}
END_TEST

int main(void)
{
    return suite_run("uncached_copy",
                     TESTS(test_alignments, test_many, test_page_end), 60);
}
