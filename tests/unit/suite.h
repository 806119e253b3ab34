/* SPDX-License-Identifier: MIT */
/* Runs one test case with the given tests; what main() of a test returns. */
#ifndef SUITE_H
#define SUITE_H

#include <stdlib.h>

#include <check.h>

static inline int suite_run(const char *name, const TTest *const *tests,
                            double timeout_s)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
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

/* TESTS(one, two, ...): the list for suite_run(). */
#define TESTS(...)         \
    (const TTest *const[]) \
    {                      \
        __VA_ARGS__, NULL  \
    }

#endif
