/* SPDX-License-Identifier: MIT */
/* The memory of real processes: children of this one. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include <printfdecode/tail.h>

#include "stream/live/live_source.h"
#include "suite.h"

enum {
    PAGE = 4096,
    PAGES = 6
};

struct told {
    struct pfd_range ranges[PAGES];
    size_t n;
};

static void take(void *user, const struct pfd_range *range, const char *why)
{
    struct told *told = user;
    ck_assert_uint_lt(told->n, PAGES);
    ck_assert_uint_gt(strlen(why), 0);
    told->ranges[told->n++] = *range;
}

/* Pages 1 and 3 of them are not there, and each other has its number. */
static uint8_t *map_pages(void)
{
    uint8_t *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    for (int i = 0; i < PAGES; i++)
        memset(pages + (size_t)i * PAGE, i + 1, PAGE);
    munmap(pages + PAGE, PAGE);
    munmap(pages + 3 * (size_t)PAGE, PAGE);
    return pages;
}

static bool become_nobody(void)
{
    return setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
}

static int answers; /* of the child that was started last */

/* A child that waits until `end` is closed, or it is told something: x: be
 * another program; u: be another user, and say so. */
static pid_t start_child(int *end)
{
    int fds[2];
    int back[2];
    char byte;
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(pipe(back), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(fds[1]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (read(fds[0], &byte, 1) == 1) {
            if (byte == 'x' && dup2(fds[0], STDIN_FILENO) == STDIN_FILENO)
                execl("/bin/cat", "cat", (char *)NULL);
            if (byte == 'u' && (!become_nobody() || write(back[1], "u", 1) < 1))
                _exit(1);
        }
        _exit(0);
    }
    close(fds[0]);
    close(back[1]);
    answers = back[0];
    *end = fds[1];
    return pid;
}

static void end_child(pid_t pid, int end)
{
    close(end);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(test_read)
{
    uint8_t *pages = map_pages();
    int end;
    pid_t pid = start_child(&end);
    struct pfd_memory *memory = NULL;
    struct told told = { 0 };
    uint8_t bytes[PAGES * PAGE];
    size_t there = 0;
    uint64_t at = (uintptr_t)pages;
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    memset(bytes, 0xee, sizeof bytes);
    ck_assert_int_eq(pfd_memory_read(memory, at + 7, bytes, sizeof bytes - 10,
                                     take, &told, &there, NULL),
                     PFD_OK);
    ck_assert_uint_eq(there, 4 * PAGE - 10);
    ck_assert_uint_eq(told.n, 2);
    ck_assert_uint_eq(told.ranges[0].from, at + PAGE);
    ck_assert_uint_eq(told.ranges[0].to, at + 2 * PAGE);
    ck_assert_uint_eq(told.ranges[1].from, at + 3 * PAGE);
    ck_assert_uint_eq(told.ranges[1].to, at + 4 * PAGE);
    for (size_t i = 0; i < sizeof bytes - 10; i++) {
        size_t page = (i + 7) / PAGE;
        ck_assert_uint_eq(bytes[i], page == 1 || page == 3 ? 0 : page + 1);
    }
    ck_assert_uint_eq(bytes[sizeof bytes - 10], 0xee);
    ck_assert_int_eq(pfd_memory_read(memory, UINT64_MAX - 3, bytes, 8, NULL,
                                     NULL, NULL, NULL),
                     PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_memory_read(memory, UINT64_MAX - 8, bytes, 8, NULL,
                                     NULL, &there, NULL),
                     PFD_OK);
    ck_assert_uint_eq(there, 0);
    pfd_memory_close(memory);
    end_child(pid, end);
}
END_TEST

START_TEST(test_regions)
{
    uint8_t *pages = map_pages();
    uint64_t at = (uintptr_t)pages;
    int end;
    pid_t pid = start_child(&end);
    struct pfd_memory *memory = NULL;
    struct pfd_memory_region r;
    uint64_t before = 0;
    bool own = false;
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_memory_refresh(memory, NULL), PFD_OK);
    for (size_t i = 0; pfd_memory_region(memory, i, &r) == PFD_OK; i++) {
        ck_assert_uint_ge(r.address, before);
        ck_assert_uint_gt(r.size, 0);
        before = r.address + r.size;
        own |= r.name && strstr(r.name, "/test_process") &&
               r.permissions & PFD_MEMORY_EXECUTE;
    }
    ck_assert(own);
    ck_assert_int_eq(pfd_memory_find(memory, at + 1, &r), PFD_OK);
    ck_assert_uint_le(r.address, at);
    ck_assert_uint_eq(r.address + r.size, at + PAGE);
    ck_assert_uint_eq(r.permissions, PFD_MEMORY_READ | PFD_MEMORY_WRITE);
    ck_assert_int_eq(pfd_memory_find(memory, at + PAGE, &r), PFD_OK);
    ck_assert_uint_eq(r.address, at + 2 * PAGE);
    ck_assert_int_eq(pfd_memory_find(memory, UINT64_MAX, &r), PFD_END);
    pfd_memory_close(memory);
    end_child(pid, end);
}
END_TEST

static void wait_until_ended(pid_t pid)
{
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void expect_gone(struct pfd_memory *memory, const char *why)
{
    struct pfd_error err;
    char byte;
    ck_assert_int_eq(pfd_memory_read(memory, (uintptr_t)&byte, &byte, 1, NULL,
                                     NULL, NULL, &err),
                     PFD_ERR_IO);
    ck_assert_msg(strstr(err.text, why), "%s", err.text);
    ck_assert_int_eq(pfd_memory_check(memory, &err), PFD_ERR_IO);
    ck_assert_int_eq(pfd_memory_refresh(memory, &err), PFD_ERR_IO);
    ck_assert_msg(strstr(err.text, why), "%s", err.text);
}

START_TEST(test_ends)
{
    int end;
    pid_t pid = start_child(&end);
    struct pfd_memory *memory = NULL;
    struct pfd_error err;
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_memory_check(memory, NULL), PFD_OK);
    kill(pid, SIGKILL);
    wait_until_ended(pid);
    expect_gone(memory, "has ended");
    struct pfd_memory *zombie = NULL;
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &zombie, &err),
                     PFD_ERR_IO);
    ck_assert_msg(strstr(err.text, "zombie"), "%s", err.text);
    end_child(pid, end);
    expect_gone(memory, "has ended");
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &zombie, &err),
                     PFD_ERR_IO);
    ck_assert_msg(strstr(err.text, "there is no process"), "%s", err.text);
    pfd_memory_close(memory);
}
END_TEST

/* Another program is not taken for the one that was opened. */
START_TEST(test_executes)
{
    int end;
    pid_t pid = start_child(&end);
    struct pfd_memory *memory = NULL;
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    ck_assert_int_eq(write(end, "x", 1), 1);
    while (pfd_memory_check(memory, NULL) == PFD_OK)
        usleep(1000);
    expect_gone(memory, "another program");
    pfd_memory_close(memory);
    end_child(pid, end);
}
END_TEST

/* Of a user who is nobody; the exit status says what went wrong. */
static int try_as_nobody(pid_t pid, const char *why)
{
    struct pfd_memory *memory = NULL;
    struct pfd_error err;
    if (!become_nobody())
        return 2;
    if (pfd_memory_open_process((uint64_t)pid, &memory, &err) != PFD_ERR_IO)
        return 3;
    return strstr(err.text, why) && strstr(err.text, "CAP_SYS_PTRACE") ? 0 : 4;
}

static void expect_refusal(pid_t pid, const char *why)
{
    int status = 0;
    pid_t nobody = fork();
    if (nobody == 0)
        _exit(try_as_nobody(pid, why));
    ck_assert_int_eq(waitpid(nobody, &status, 0), nobody);
    ck_assert_int_eq(status, 0);
}

START_TEST(test_of_another_user)
{
    int end;
    if (geteuid() != 0) {
        printf("left out: only root has processes that others must not read\n");
        return;
    }
    pid_t pid = start_child(&end);
    expect_refusal(pid, "is of user 0");
    end_child(pid, end);
}
END_TEST

/* Who has changed its user is protected from its new one. */
START_TEST(test_protected)
{
    int end;
    char byte = 0;
    if (geteuid() != 0) {
        printf("left out: only root can become another user\n");
        return;
    }
    pid_t pid = start_child(&end);
    ck_assert_int_eq(write(end, "u", 1), 1);
    ck_assert_int_eq(read(answers, &byte, 1), 1);
    expect_refusal(pid, "is protected");
    end_child(pid, end);
}
END_TEST

/* ---- copies ---- */

struct heard {
    unsigned unreadable;
    unsigned torn;
    char text[256];
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct heard *heard = user;
    heard->unreadable += finding->kind == PFD_FINDING_unreadable;
    heard->torn += finding->kind == PFD_FINDING_torn;
    ck_assert(finding->in_buffer);
    ck_assert_str_eq(finding->source, "buffer");
    snprintf(heard->text, sizeof heard->text, "%s", finding->text);
}

START_TEST(test_copy)
{
    uint8_t *pages = map_pages();
    uint64_t at = (uintptr_t)pages;
    char where[64];
    int end;
    pid_t pid = start_child(&end);
    struct pfd_memory *memory = NULL;
    struct pfd_memory_copy copy = { 0 };
    struct heard heard = { 0 };
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_memory_copy(memory, at + 2 * (size_t)PAGE, 3 * PAGE,
                                     "buffer", hear, &heard, &copy, NULL),
                     PFD_OK);
    ck_assert_uint_eq(copy.n, 3 * PAGE);
    ck_assert_uint_eq(copy.n_missing, 1);
    ck_assert_uint_eq(copy.missing[0].from, PAGE);
    ck_assert_uint_eq(copy.missing[0].to, 2 * PAGE);
    ck_assert_uint_eq(heard.unreadable, 1);
    ck_assert_uint_eq(heard.torn, 0);
    snprintf(where, sizeof where, "0x%llx to 0x%llx",
             (unsigned long long)at + 3 * PAGE,
             (unsigned long long)at + 4 * PAGE - 1);
    ck_assert_msg(strstr(heard.text, where), "%s", heard.text);
    for (size_t i = 0; i < copy.n; i++) {
        ck_assert_uint_eq(((uint8_t *)copy.bytes)[i],
                          i / PAGE == 1 ? 0 : i / PAGE + 3);
    }
    pfd_memory_copy_free(&copy);
    ck_assert_int_eq(pfd_memory_copy(memory, at, SIZE_MAX / 2, "buffer", NULL,
                                     NULL, &copy, NULL),
                     PFD_ERR_USAGE);
    pfd_memory_close(memory);
    end_child(pid, end);
}
END_TEST

/* A child that never stops writing all over it. */
START_TEST(test_torn)
{
    enum {
        N = 64 * PAGE
    };
    volatile uint64_t *words = mmap(NULL, N, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct pfd_memory *memory = NULL;
    struct pfd_memory_copy copy = { 0 };
    struct heard heard = { 0 };
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ++*words;
    }
    while (!*words)
        usleep(100);
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    /* It may not run between two reads of a busy machine. */
    while (!heard.torn) {
        pfd_memory_copy_free(&copy);
        ck_assert_int_eq(pfd_memory_copy(memory, (uintptr_t)words, N, "buffer",
                                         hear, &heard, &copy, NULL),
                         PFD_OK);
    }
    ck_assert_uint_eq(heard.torn, 1);
    ck_assert_uint_eq(heard.unreadable, 0);
    ck_assert_uint_eq(copy.n_missing, 0);
    ck_assert_msg(strstr(heard.text, "(4096 bytes) changed"), "%s", heard.text);
    pfd_memory_copy_free(&copy);
    pfd_memory_close(memory);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* ---- sources ---- */

START_TEST(test_source_of_memory)
{
    uint8_t *pages = map_pages();
    uint64_t at = (uintptr_t)pages + 4 * (size_t)PAGE;
    int end;
    pid_t pid = start_child(&end);
    struct pfd_memory *memory = NULL;
    struct pfd_source *source = NULL;
    struct pfd_source_identity one;
    struct pfd_source_identity other;
    uint8_t bytes[2 * PAGE];
    uint64_t n = 0;
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, NULL),
                     PFD_OK);
    ck_assert_int_eq(
        pfd_source_open_memory(memory, at, UINT64_MAX, &source, NULL),
        PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_source_open_memory(memory, at - 2 * (uint64_t)PAGE,
                                            3 * PAGE, &source, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_source_size(source, &n, NULL), PFD_OK);
    ck_assert_uint_eq(n, 3 * PAGE);
    ck_assert_int_eq(pfd_source_read(source, 5, bytes, sizeof bytes), PAGE - 5);
    ck_assert_uint_eq(bytes[0], 3);
    ck_assert_int_eq(pfd_source_read(source, PAGE, bytes, 8), -EFAULT);
    ck_assert_int_eq(pfd_source_read(source, 3 * PAGE - 4, bytes, 8), 4);
    ck_assert_int_eq(pfd_source_read(source, 3 * PAGE, bytes, 8), 0);
    ck_assert(pfd_source_changed(source));
    ck_assert(!pfd_source_changed(source));
    ck_assert_int_eq(pfd_source_identify(source, &one, NULL), PFD_OK);
    pfd_source_close(source);
    ck_assert_int_eq(pfd_source_open_memory(memory, at, PAGE, &source, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_source_identify(source, &other, NULL), PFD_OK);
    ck_assert_uint_eq(one.place, (uint64_t)pid);
    ck_assert_uint_gt(one.number, 0);
    ck_assert_uint_ne(one.offset, other.offset);
    end_child(pid, end);
    ck_assert_int_eq(pfd_source_read(source, 0, bytes, 8), -ESRCH);
    ck_assert_int_eq(pfd_source_size(source, &n, NULL), PFD_ERR_IO);
    ck_assert(pfd_source_changed(source));
    pfd_source_close(source);
    pfd_memory_close(memory);
}
END_TEST

START_TEST(test_source_of_file)
{
    struct pfd_source *source = NULL;
    struct pfd_source_identity identity;
    struct stat st;
    char bytes[8];
    uint64_t n = 0;
    int fds[2];
    int fd = memfd_create("buffer", MFD_CLOEXEC);
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(pfd_source_open_file(fds[0], &source, NULL), PFD_ERR_IO);
    ck_assert_int_eq(pfd_source_open_file(fd, &source, NULL), PFD_OK);
    ck_assert(pfd_source_changed(source));
    ck_assert(!pfd_source_changed(source));
    ck_assert_int_eq(pwrite(fd, "four", 4, 100), 4);
    ck_assert(pfd_source_changed(source));
    ck_assert_int_eq(pfd_source_size(source, &n, NULL), PFD_OK);
    ck_assert_uint_eq(n, 104);
    ck_assert_int_eq(pfd_source_read(source, 100, bytes, sizeof bytes), 4);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(pfd_source_identify(source, &identity, NULL), PFD_OK);
    ck_assert_uint_eq(identity.number, st.st_ino);
    pfd_source_close(source);
    pfd_source_close(NULL);
    close(fd);
}
END_TEST

START_TEST(test_pause)
{
    static const uint64_t ms = 1000000;
    ck_assert_uint_eq(pfd_source_pause(0), ms);
    ck_assert_uint_eq(pfd_source_pause(100 * ms - 1), ms);
    ck_assert_uint_eq(pfd_source_pause(100 * ms), 5 * ms);
    ck_assert_uint_eq(pfd_source_pause(1000 * ms), 20 * ms);
    ck_assert_uint_eq(pfd_source_pause(UINT64_MAX), 50 * ms);
}
END_TEST

START_TEST(test_no_process)
{
    struct pfd_memory *memory = NULL;
    struct pfd_error err;
    ck_assert_int_eq(pfd_memory_open_process(0, &memory, &err), PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_memory_open_process(UINT64_MAX, &memory, &err),
                     PFD_ERR_USAGE);
    pfd_memory_close(NULL);
}
END_TEST

int main(void)
{
    return suite_run("process",
                     TESTS(test_read, test_regions, test_ends, test_executes,
                           test_of_another_user, test_protected, test_copy,
                           test_torn, test_source_of_memory,
                           test_source_of_file, test_pause, test_no_process),
                     60);
}
