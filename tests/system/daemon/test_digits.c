/* SPDX-License-Identifier: MIT */
/* Numbers and times in text are what the C library's are. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <check.h>

#include "../../unit/suite.h"
#include "base/digits.h"
#include "base/timestamp.h"
#include "core/base/text.h"

static void check_number(uint64_t value)
{
    char text[PFDD_DIGITS + 1];
    char theirs[64];
    text[pfdd_decimal(text, value)] = '\0';
    snprintf(theirs, sizeof theirs, "%" PRIu64, value);
    ck_assert_str_eq(text, theirs);
    for (unsigned n = 0; n <= 16; n++) {
        text[pfdd_hex(text, value, n)] = '\0';
        snprintf(theirs, sizeof theirs, "0x%0*" PRIx64, (int)n, value);
        ck_assert_str_eq(text, theirs);
    }
}

START_TEST(test_numbers)
{
    check_number(0);
    check_number(UINT64_MAX);
    for (unsigned bit = 0; bit < 64; bit++) {
        check_number((UINT64_C(1) << bit) - 1);
        check_number(UINT64_C(1) << bit);
    }
    for (uint64_t ten = 10; ten <= UINT64_MAX / 10; ten *= 10) {
        check_number(ten - 1);
        check_number(ten);
    }
}
END_TEST

static void check_moment(uint64_t ns, unsigned first)
{
    char text[PFDD_TIMESTAMP + 1];
    char theirs[64];
    char digits[16];
    time_t second = (time_t)(ns / 1000000000);
    struct tm tm;
    ck_assert(gmtime_r(&second, &tm));
    size_t n = strftime(theirs, sizeof theirs, "%Y-%m-%dT%H:%M:%S.", &tm);
    snprintf(digits, sizeof digits, "%09" PRIu64, ns % 1000000000);
    for (unsigned i = first; i <= 9; i++) {
        snprintf(theirs + n, sizeof theirs - n, "%.*sZ", (int)i, digits);
        text[pfdd_timestamp(text, ns, i)] = '\0';
        ck_assert_str_eq(text, theirs);
    }
}

/* Each day that 64 bits of nanoseconds have, up to 2554. */
START_TEST(test_moments)
{
    const uint64_t day = UINT64_C(86400) * 1000000000;
    for (uint64_t ns = 0; ns <= UINT64_MAX - day; ns += day) {
        check_moment(ns, 9);
        check_moment(ns + day - 1, 9);
    }
    check_moment(UINT64_MAX, 1);
    check_moment(UINT64_C(1123456789987654321), 1);
}
END_TEST

/* What is reserved for bytes that are kept is their number. */
START_TEST(test_taken_bytes)
{
    struct pfd_text bytes = { 0 };
    size_t n = 1;
    ck_assert_ptr_null(pfd_text_take(&bytes, &n));
    ck_assert_uint_eq(n, 0);
    while (bytes.n < 100000)
        pfd_text_puts(&bytes, "0123456789");
    ck_assert_uint_gt(bytes.room, 110000);
    char *taken = pfd_text_take(&bytes, &n);
    ck_assert_uint_eq(n, 100000);
    ck_assert_mem_eq(taken + n - 10, "0123456789", 10);
    ck_assert_uint_lt(malloc_usable_size(taken), n + 4096);
    ck_assert_ptr_null(bytes.data);
    free(taken);
}
END_TEST

int main(void)
{
    return suite_run("digits",
                     TESTS(test_numbers, test_moments, test_taken_bytes), 60);
}
