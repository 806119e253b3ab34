/* SPDX-License-Identifier: MIT */
/* A buffer's first bytes, while others write the file, cut it and let it grow
 * again: nothing of that may end us. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "../../unit/suite.h"
#include "base/change_probe.h"

static int new_file(off_t n)
{
    int fd = memfd_create("head", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, n), 0);
    return fd;
}

static void put(int fd, off_t at, char byte)
{
    ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
}

START_TEST(test_changes)
{
    struct pfdd_change_probe change_probe;
    int fd = new_file(4096);
    pfdd_change_probe_init(&change_probe, fd);
    ck_assert_ptr_nonnull(change_probe.page);
    ck_assert(pfdd_change_probe_has_changed(&change_probe));
    ck_assert(!pfdd_change_probe_has_changed(&change_probe));
    put(fd, PFDD_CHANGE_PROBE - 1, 1);
    ck_assert(pfdd_change_probe_has_changed(&change_probe));
    ck_assert(!pfdd_change_probe_has_changed(&change_probe));
    put(fd, PFDD_CHANGE_PROBE, 1);
    ck_assert(!pfdd_change_probe_has_changed(&change_probe));
    pfdd_change_probe_forget(&change_probe);
    ck_assert(pfdd_change_probe_has_changed(&change_probe));
    pfdd_change_probe_deinit(&change_probe);
    close(fd);
}
END_TEST

START_TEST(test_cut)
{
    struct pfdd_change_probe change_probe;
    int fd = new_file(4096);
    put(fd, 0, 1);
    pfdd_change_probe_init(&change_probe, fd);
    ck_assert(pfdd_change_probe_has_changed(&change_probe));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ftruncate(fd, 0), 0);
        ck_assert(pfdd_change_probe_has_changed(&change_probe));
        ck_assert_int_eq(change_probe.n, 0);
        ck_assert(!pfdd_change_probe_has_changed(&change_probe));
        ck_assert_ptr_null(change_probe.page); /* no fault each time */
        ck_assert_int_eq(ftruncate(fd, 4096), 0);
        put(fd, 0, (char)i);
        ck_assert(pfdd_change_probe_has_changed(&change_probe));
        ck_assert_int_eq(change_probe.n, PFDD_CHANGE_PROBE);
        ck_assert_int_eq(change_probe.bytes[0], i);
        ck_assert_ptr_nonnull(change_probe.page);
    }
    pfdd_change_probe_deinit(&change_probe);
    close(fd);
}
END_TEST

/* Pages that cannot be had are read. */
START_TEST(test_no_page)
{
    char path[] = "/proc/self/statm";
    struct pfdd_change_probe change_probe;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    pfdd_change_probe_init(&change_probe, fd);
    ck_assert_ptr_null(change_probe.page);
    ck_assert(pfdd_change_probe_has_changed(&change_probe));
    ck_assert_int_gt(change_probe.n, 0);
    pfdd_change_probe_deinit(&change_probe);
    close(fd);
}
END_TEST

/* A fault that is not ours ends the process, as it would without us. */
START_TEST(test_other_fault)
{
    struct pfdd_change_probe change_probe;
    int fd = new_file(4096);
    pfdd_change_probe_init(&change_probe, fd);
    ck_assert(pfdd_change_probe_has_changed(&change_probe));
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne((void *)(uintptr_t)page, MAP_FAILED);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = page[0];
        _exit(byte);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGBUS);
    pfdd_change_probe_deinit(&change_probe);
    close(fd);
}
END_TEST

int main(void)
{
    return suite_run(
        "head", TESTS(test_changes, test_cut, test_no_page, test_other_fault),
        10);
}
