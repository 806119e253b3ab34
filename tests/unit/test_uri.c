/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "core/base/input.h"
#include "core/base/uri.h"
#include "suite.h"

static const struct {
    const char *text;
    const char *path; /* NULL: a process */
    unsigned long long pid;
    unsigned long long offset;
    unsigned long long size;
    bool has_range;
} good[] = {
    { "file:///a/b.co", "/a/b.co", 0, 0, 0, false },
    { "file://rel/b.co", "rel/b.co", 0, 0, 0, false },
    { "file:///a%20b%23c%3f%25", "/a b#c?%", 0, 0, 0, false },
    { "file:///%c3%A9", "/\xc3\xa9", 0, 0, 0, false },
    { "file:///a#offset=16&size=32", "/a", 0, 16, 32, true },
    { "file:///a?offset=0x10&size=0X2f", "/a", 0, 16, 47, true },
    { "file:///a#offset=020&size=0", "/a", 0, 16, 0, true },
    { "file:///aoffset=1&size=2", "/aoffset=1&size=2", 0, 0, 0, false },
    { "file:///a#offset=0xffffffffffffffff&size=0", "/a", 0, UINT64_MAX, 0,
      true },
    { "memory://1234#offset=0x7f0000001000&size=14472", NULL, 1234,
      0x7f0000001000, 14472, true },
    { "memory://1?offset=1&size=2", NULL, 1, 1, 2, true },
};

START_TEST(test_good)
{
    struct pfd_uri uri;
    ck_assert(pfd_uri_recognise(good[_i].text));
    ck_assert_int_eq(pfd_uri_parse(good[_i].text, &uri, NULL), PFD_OK);
    if (good[_i].path) {
        ck_assert_str_eq(uri.path, good[_i].path);
    } else {
        ck_assert_ptr_null(uri.path);
    }
    ck_assert_uint_eq(uri.pid, good[_i].pid);
    ck_assert_uint_eq(uri.offset, good[_i].offset);
    ck_assert_uint_eq(uri.size, good[_i].size);
    ck_assert_int_eq(uri.has_range, good[_i].has_range);
    pfd_uri_deinit(&uri);
}
END_TEST

static const char *const bad[] = {
    "file://",
    "file://#offset=1&size=2",
    "file:///a%2",
    "file:///a%g0",
    "file:///a%00b",
    "file:///a#",
    "file:///a#offset=1",
    "file:///a#size=1&offset=2",
    "file:///a#offset=&size=2",
    "file:///a#offset=0x&size=2",
    "file:///a#offset=09&size=2",
    "file:///a#offset=1&size=2x",
    "file:///a#offset=-1&size=2",
    "file:///a#offset=18446744073709551616&size=0",
    "file:///a#offset=0xffffffffffffffff&size=1",
    "memory://",
    "memory://0x12#offset=1&size=2",
    "memory://12",
    "memory://0#offset=1&size=2",
    "memory://99999999999#offset=1&size=2",
    "http://a",
};

START_TEST(test_bad)
{
    struct pfd_uri uri;
    struct pfd_error err;
    ck_assert_int_eq(pfd_uri_parse(bad[_i], &uri, &err), PFD_ERR_USAGE);
    ck_assert_ptr_null(uri.path);
}
END_TEST

static char path[] = "/tmp/pfd uri#XXXXXX";

static void write_file(void)
{
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "0123456789", 10), 10);
    close(fd);
}

/* What the file's URI with this range gives; NULL: an error. */
static const char *opened(const char *range)
{
    static char ret[32];
    char uri[128];
    struct pfd_input *input;
    struct pfd_error err;
    size_t n;
    snprintf(uri, sizeof uri, "file:///tmp/pfd%%20uri%%23%s%s",
             strrchr(path, '#') + 1, range);
    if (pfd_input_open(uri, &input, &err) != PFD_OK) {
        ck_assert_int_eq(err.code, PFD_ERR_IO);
        return NULL;
    }
    const char *bytes = pfd_input_bytes(input, &n);
    memcpy(ret, bytes, n);
    ret[n] = '\0';
    pfd_input_close(input);
    return ret;
}

START_TEST(test_file)
{
    write_file();
    ck_assert_str_eq(opened(""), "0123456789");
    ck_assert_str_eq(opened("#offset=2&size=3"), "234");
    ck_assert_str_eq(opened("?offset=0&size=10"), "0123456789");
    ck_assert_str_eq(opened("#offset=10&size=0"), "");
    ck_assert_ptr_null(opened("#offset=11&size=0"));
    ck_assert_ptr_null(opened("#offset=9&size=2"));
    ck_assert_ptr_null(opened("#offset=1&size=0xffffffffffffff00"));
    unlink(path);
    ck_assert_ptr_null(opened(""));
}
END_TEST

/* Copied, and no more than wanted: cutting the file does not matter. */
START_TEST(test_read)
{
    char uri[128];
    struct pfd_input *input;
    struct pfd_error err;
    size_t n;
    write_file();
    snprintf(uri, sizeof uri, "file:///tmp/pfd%%20uri%%23%s#offset=2&size=3",
             strrchr(path, '#') + 1);
    ck_assert_int_eq(pfd_input_read(path, 9, &input, &err), PFD_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "at most 9"));
    ck_assert_int_eq(pfd_input_read(uri, 2, &input, &err), PFD_ERR_IO);
    ck_assert_int_eq(pfd_input_read(uri, 3, &input, &err), PFD_OK);
    ck_assert_mem_eq(pfd_input_bytes(input, &n), "234", 3);
    ck_assert_uint_eq(n, 3);
    pfd_input_close(input);
    ck_assert_int_eq(pfd_input_read(path, 10, &input, &err), PFD_OK);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_mem_eq(pfd_input_bytes(input, &n), "0123456789", 10);
    ck_assert_uint_eq(n, 10);
    pfd_input_close(input);
    ck_assert_int_eq(pfd_input_read(path, 10, &input, &err), PFD_OK);
    pfd_input_bytes(input, &n);
    ck_assert_uint_eq(n, 0);
    pfd_input_close(input);
    unlink(path);
    snprintf(uri, sizeof uri, "memory://%ld#offset=0x%llx&size=4",
             (long)getpid(), (unsigned long long)(uintptr_t)path);
    ck_assert_int_eq(pfd_input_read(uri, 3, &input, &err), PFD_ERR_IO);
    ck_assert_int_eq(pfd_input_read(uri, 4, &input, &err), PFD_OK);
    ck_assert_mem_eq(pfd_input_bytes(input, &n), path, 4);
    pfd_input_close(input);
}
END_TEST

/* What was asked for last, and the file that stands for it. */
static char asked[128];
static const char *stands_for;

static int open_for(void *user, const char *of, uint64_t pid, char *why,
                    size_t n_why)
{
    ck_assert_str_eq(user, "me");
    snprintf(asked, sizeof asked, "%s %llu", of ? of : "memory",
             (unsigned long long)pid);
    int fd = stands_for ? open(stands_for, O_RDONLY) : -1;
    if (fd < 0)
        snprintf(why, n_why, "not for you");
    return fd;
}

static enum pfd_status read_with(const char *uri, size_t n_max,
                                 struct pfd_input **ret, struct pfd_error *err)
{
    char me[] = "me";
    asked[0] = '\0';
    return pfd_input_read_with(uri, n_max, open_for, me, ret, err);
}

/* The caller says what is opened, the URI which part of it is read. */
START_TEST(test_read_with)
{
    struct pfd_input *input;
    struct pfd_error err;
    size_t n;
    write_file();
    stands_for = path;
    ck_assert_int_eq(
        read_with("file:///a%20b#offset=2&size=3", 3, &input, &err), PFD_OK);
    ck_assert_str_eq(asked, "/a b 0");
    ck_assert_mem_eq(pfd_input_bytes(input, &n), "234", 3);
    ck_assert_uint_eq(n, 3);
    pfd_input_close(input);
    ck_assert_int_eq(read_with("memory://7#offset=1&size=2", 2, &input, &err),
                     PFD_OK);
    ck_assert_str_eq(asked, "memory 7");
    ck_assert_mem_eq(pfd_input_bytes(input, &n), "12", 2);
    pfd_input_close(input);
    ck_assert_int_eq(read_with("memory://7#offset=1&size=2", 1, &input, &err),
                     PFD_ERR_IO);
    ck_assert_str_eq(asked, ""); /* it would be too large anyway */
    ck_assert_int_eq(read_with(path, 10, &input, &err), PFD_ERR_USAGE);
    stands_for = NULL;
    ck_assert_int_eq(read_with("file:///a", 10, &input, &err), PFD_ERR_IO);
    ck_assert_str_eq(err.text, "not for you");
    ck_assert_int_eq(read_with("file:///a", 10, &input, NULL), PFD_ERR_IO);
    unlink(path);
}
END_TEST

/* It must not wait for somebody who writes. */
START_TEST(test_pipe)
{
    char fifo[] = "/tmp/pfd-fifo-XXXXXX";
    struct pfd_input *input;
    struct pfd_error err;
    close(mkstemp(fifo));
    unlink(fifo);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(pfd_input_open(fifo, &input, &err), PFD_ERR_IO);
    ck_assert_str_eq(err.text, "not a file");
    unlink(fifo);
}
END_TEST

static enum pfd_status open_memory(long pid, unsigned long long at,
                                   unsigned long long n, struct pfd_input **ret,
                                   struct pfd_error *err)
{
    char uri[128];
    snprintf(uri, sizeof uri, "memory://%ld#offset=0x%llx&size=%llu", pid, at,
             n);
    return pfd_input_open(uri, ret, err);
}

START_TEST(test_memory)
{
    static const char text[] = "in this process";
    struct pfd_input *input;
    struct pfd_error err;
    size_t n;
    ck_assert_int_eq(
        open_memory((long)getpid(), (uintptr_t)text, sizeof text, &input, &err),
        PFD_OK);
    ck_assert_str_eq(pfd_input_bytes(input, &n), text);
    ck_assert_uint_eq(n, sizeof text);
    pfd_input_close(input);
    ck_assert_int_eq(open_memory((long)getpid(), 0, 16, &input, &err),
                     PFD_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "nothing is mapped there"));
    ck_assert_int_eq(
        open_memory((long)getpid(), UINT64_C(1) << 63, 16, &input, &err),
        PFD_ERR_IO);
    /* More than there is takes no more memory than there is. */
    ck_assert_int_eq(open_memory((long)getpid(), (uintptr_t)text,
                                 UINT64_C(1) << 62, &input, &err),
                     PFD_ERR_IO);
}
END_TEST

START_TEST(test_dead_process)
{
    struct pfd_input *input;
    struct pfd_error err;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_int_eq(open_memory((long)pid, 4096, 16, &input, &err),
                     PFD_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "there is no such process"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("uri");
    TCase *tcase = tcase_create("uri");
    tcase_add_loop_test(tcase, test_good, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(tcase, test_bad, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tcase, test_file);
    tcase_add_test(tcase, test_read);
    tcase_add_test(tcase, test_read_with);
    tcase_add_test(tcase, test_pipe);
    tcase_add_test(tcase, test_memory);
    tcase_add_test(tcase, test_dead_process);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
