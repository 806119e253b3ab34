/* SPDX-License-Identifier: MIT */
/* Runs tests; what main() of a test returns. */
#ifndef SUITE_H
#define SUITE_H

#include <stdlib.h>

#include <check.h>

/* libcheck's own tells its runner of each assertion that holds, by a pipe, which takes
 * longer than most of what tests look at. A test that crashes is named without the
 * line that it reached. */
#undef ck_assert_msg
#define ck_assert_msg(condition, ...)                                     \
    ((condition) ? (void)0                                                \
                 : _ck_assert_failed(__FILE__, __LINE__,                  \
                                     "Assertion '" #condition "' failed", \
                                     ##__VA_ARGS__))

/* The turns of a loop: [whole] where $TEST_WHOLE is set, as it is by meson's set-up
 * `full`; else [few]. */
static inline int suite_turns(int whole, int few)
{
    return getenv("TEST_WHOLE") || whole < few ? whole : few;
}

/* All that the suite has, which is freed. */
static inline int suite_run_all(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* One test case with these tests, each between setup and teardown (which may be
 * NULL). */
static inline int suite_run_with(const char *name, SFun setup, SFun teardown,
                                 const TTest *const *tests, double timeout_s)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, timeout_s);
    for (; *tests; tests++)
        tcase_add_test(tcase, *tests);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}

static inline int suite_run(const char *name, const TTest *const *tests,
                            double timeout_s)
{
    return suite_run_with(name, NULL, NULL, tests, timeout_s);
}

/* TESTS(one, two, ...): the list for suite_run(). */
#define TESTS(...)         \
    (const TTest *const[]) \
    {                      \
        __VA_ARGS__, NULL  \
    }

#endif
