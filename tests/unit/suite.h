/* SPDX-License-Identifier: MIT */
/* Runs one test case with the given tests, each between setup and teardown
 * (which may be NULL); what main() of a test returns. */
#ifndef SUITE_H
#define SUITE_H

#include <stdlib.h>

#include <check.h>

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
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
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
