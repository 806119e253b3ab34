/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded when they are needed, and one that is not there. */
#include <pthread.h>
#include <string.h>

#include <check.h>

#include "core/base/dynamic_library.h"
#include "suite.h"

static struct {
    unsigned long (*crc)(unsigned long, const unsigned char *, unsigned);
} zlib;

static struct pfd_dynamic_library of_zlib(const char *names)
{
    return (struct pfd_dynamic_library){
        .soname = "libz.so.1",
        .names = names,
        .calls = &zlib,
    };
}

START_TEST(test_all)
{
    struct pfd_error err;
    for (size_t i = 0; pfd_libraries[i]; i++) {
        ck_assert_msg(pfd_dynamic_library_load(pfd_libraries[i], &err) ==
                          PFD_OK,
                      "%s", err.text);
        ck_assert(pfd_libraries[i]->is_loaded);
    }
}
END_TEST

START_TEST(test_no_library)
{
    struct pfd_dynamic_library none = {
        .soname = "libpfd-none.so.1",
        .names = "a\0",
        .calls = &zlib,
    };
    struct pfd_error err;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pfd_dynamic_library_load(&none, &err),
                         PFD_ERR_UNSUPPORTED);
        ck_assert_ptr_nonnull(
            strstr(err.text, "libpfd-none.so.1 cannot be loaded: "));
        ck_assert_ptr_nonnull(strstr(err.text, "No such file"));
    }
}
END_TEST

START_TEST(test_no_call)
{
    struct pfd_dynamic_library older = of_zlib("crc32\0crc32_of_the_future\0");
    struct pfd_error err;
    void *calls[2];
    older.calls = calls;
    ck_assert_int_eq(pfd_dynamic_library_load(&older, &err),
                     PFD_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "crc32_of_the_future"));
    ck_assert(!older.is_loaded);
}
END_TEST

static struct pfd_dynamic_library shared;

static void *load_and_call(void *user)
{
    struct pfd_error err;
    pthread_barrier_wait(user);
    if (pfd_dynamic_library_load(&shared, &err) != PFD_OK)
        return NULL;
    return zlib.crc(0, (const unsigned char *)"a", 1) == 0xe8b7be43 ? &shared
                                                                    : NULL;
}

/* All of them at once, for the first time. */
START_TEST(test_threads)
{
    enum {
        THREADS = 8
    };
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    shared = of_zlib("crc32\0");
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, load_and_call, &start);
    for (int i = 0; i < THREADS; i++) {
        void *ok = NULL;
        pthread_join(threads[i], &ok);
        ck_assert_ptr_nonnull(ok);
    }
    pthread_barrier_destroy(&start);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("library");
    TCase *tcase = tcase_create("library");
    tcase_add_test(tcase, test_all);
    tcase_add_test(tcase, test_no_library);
    tcase_add_test(tcase, test_no_call);
    tcase_add_test(tcase, test_threads);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
