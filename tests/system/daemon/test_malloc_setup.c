/* SPDX-License-Identifier: MIT */
/* One heap for all threads, in large pages, of which only what is used takes
 * memory. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "../../unit/suite.h"
#include "base/malloc_setup.h"

enum {
    RESERVE = 64 << 20,
    BLOCK = 16 << 10,
    N_BLOCKS = 1000,
    RSS_MAX = 4 << 20, /* what may come with the first block */
};

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||       \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    !defined(__GLIBC__)
#define IS_GLIBCS false
#else
#define IS_GLIBCS true
#endif

static char *blocks[N_BLOCKS];

static void *fill(void *user)
{
    (void)user;
    for (int i = 0; i < N_BLOCKS; i++) {
        blocks[i] = malloc(BLOCK);
        ck_assert_ptr_nonnull(blocks[i]);
        memset(blocks[i], i, BLOCK);
    }
    return NULL;
}

static void fill_on_a_thread(void)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, fill, NULL), 0);
    pthread_join(thread, NULL);
}

static void free_all(void)
{
    for (int i = 0; i < N_BLOCKS; i++)
        free(blocks[i]);
}

static size_t resident(void)
{
    unsigned long size = 0;
    unsigned long n = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%lu %lu", &size, &n), 2);
    fclose(f);
    return n * (size_t)sysconf(_SC_PAGESIZE);
}

/* Is memory at this place asked to be in large pages? */
static bool is_advised(const void *place)
{
    char line[512];
    bool is_there = false;
    bool ret = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        uintptr_t from = 0;
        uintptr_t to = 0;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_there = (uintptr_t)place >= from && (uintptr_t)place < to;
        if (is_there && !strncmp(line, "VmFlags:", 8))
            ret = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return ret;
}

START_TEST(threads_share_what_was_reserved)
{
    char *begin = sbrk(0);
    pfdd_malloc_setup(RESERVE);
    char *end = sbrk(0);
    fill_on_a_thread();
    if (!IS_GLIBCS) {
        printf("left out: malloc() is not glibc's\n");
    } else {
        ck_assert_int_ge(end - begin, RESERVE);
        ck_assert_ptr_eq(sbrk(0), end);
        for (int i = 0; i < N_BLOCKS; i++)
            ck_assert(blocks[i] < end && blocks[i] > begin - RESERVE);
    }
    free_all();
}
END_TEST

START_TEST(only_what_is_used_takes_memory)
{
    size_t before = resident();
    pfdd_malloc_setup(RESERVE);
    ck_assert_uint_le(resident(), before + RSS_MAX);
}
END_TEST

START_TEST(pages_are_large)
{
    pfdd_malloc_setup(RESERVE);
    fill_on_a_thread();
    if (!IS_GLIBCS) {
        printf("left out: malloc() is not glibc's\n");
    } else if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK)) {
        printf("left out: this kernel has no large pages\n");
    } else {
        ck_assert(is_advised(blocks[N_BLOCKS / 2]));
    }
    free_all();
}
END_TEST

/* Whatever is asked for: malloc() gives what it can. */
START_TEST(much_is_no_error)
{
    pfdd_malloc_setup(SIZE_MAX);
    fill_on_a_thread();
    free_all();
}
END_TEST

int main(void)
{
    return suite_run("heap",
                     TESTS(threads_share_what_was_reserved,
                           only_what_is_used_takes_memory, pages_are_large,
                           much_is_no_error),
                     20);
}
