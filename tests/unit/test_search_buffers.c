/* SPDX-License-Identifier: MIT */
/* The search of a core on several threads: it gives what one thread gives; and
 * of a process, in windows. */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "memory/search/search_buffers.h"
#include "suite.h"

enum {
    PAGE = 4096,
    /* More than is looked at without threads, and than is told of at once. */
    SIZE = 72 << 20,
    STEP = 3 << 20, /* a buffer in each */
    BUFFERS = SIZE / STEP,
    ENTRIES = 40,
    ADDRESS = 0x100000,
};

static const uint64_t id = 0x123456789abc;

static struct pfd_strings *make_strings(void)
{
    const struct pfd_string_info info = {
        .id = id,
        .text = "value %d\n",
        .n_text = 9,
        .argument_count = 1,
        .source = "test",
    };
    const uint64_t mask = 0;
    struct pfd_strings *strings = pfd_strings_new();
    ck_assert_int_eq(
        pfd_strings_add(strings, &info, &mask, 1, NULL, NULL, NULL), PFD_OK);
    return strings;
}

static void put_buffer(int fd, off_t at, uint32_t first)
{
    uint32_t words[4 + 3 * ENTRIES] = { 3 * ENTRIES };
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint64_t header = id << 16 | 3;
        memcpy(&words[4 + 3 * i], &header, sizeof header);
        words[4 + 3 * i + 2] = first + i;
    }
    ck_assert_int_eq(pwrite(fd, words, sizeof words, at), sizeof words);
}

/* Memory of small numbers, with buffers. */
static struct pfd_core *make_core(void)
{
    Elf64_Ehdr header = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_phoff = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
    };
    const Elf64_Phdr segment = { .p_type = PT_LOAD,
                                 .p_vaddr = ADDRESS,
                                 .p_offset = PAGE,
                                 .p_filesz = SIZE,
                                 .p_memsz = SIZE };
    static uint32_t page[PAGE / 4];
    char path[32];
    struct pfd_core *core = NULL;
    int fd = memfd_create("core", MFD_CLOEXEC);
    pwrite(fd, &header, sizeof header, 0);
    pwrite(fd, &segment, sizeof segment, sizeof header);
    for (uint32_t i = 0; i < PAGE / 4; i++)
        page[i] = i * 7 % 97;
    for (off_t at = 0; at < SIZE; at += PAGE)
        ck_assert_int_eq(pwrite(fd, page, PAGE, PAGE + at), PAGE);
    for (uint32_t i = 0; i < BUFFERS; i++) /* one over a border of pieces */
        put_buffer(fd, PAGE + (off_t)i * STEP + (1 << 20) - 256, 100 * i);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ck_assert_int_eq(pfd_core_open(path, 0, NULL, NULL, &core, NULL), PFD_OK);
    close(fd);
    return core;
}

struct progress {
    uint64_t n_done;
    unsigned n_left; /* calls until it is stopped; 0: never */
};

static bool tell(void *user, uint64_t n_done, uint64_t n_all)
{
    struct progress *p = user;
    ck_assert_uint_ge(n_done, p->n_done);
    ck_assert_uint_le(n_done, n_all);
    p->n_done = n_done;
    return !p->n_left || --p->n_left;
}

START_TEST(test_threads)
{
    struct pfd_strings *strings = make_strings();
    struct pfd_core *core = make_core();
    for (unsigned threads = 1; threads < 6; threads++) {
        struct progress progress = { 0 };
        struct pfd_found_buffers *found = NULL;
        const struct pfd_buffer_search how = { .core = core,
                                               .strings = strings,
                                               .threads = threads,
                                               .progress = tell,
                                               .user = &progress };
        ck_assert_int_eq(pfd_search_buffers(&how, &found, NULL), PFD_OK);
        ck_assert_uint_eq(found->n, BUFFERS);
        ck_assert_uint_eq(found->n_searched, SIZE);
        for (size_t i = 0; i < found->n; i++) {
            const struct pfd_found_buffer *f = &found->at[i];
            ck_assert_str_eq(f->format, "llpc");
            ck_assert_uint_eq(f->address, ADDRESS + i * STEP + (1 << 20) - 256);
            ck_assert_uint_eq(f->summary.entries, ENTRIES);
            ck_assert(f->why && !f->is_end_doubtful);
        }
        pfd_found_buffers_free(found);
    }
    pfd_core_close(core);
    pfd_strings_free(strings);
}
END_TEST

/* ---- a process ---- */

enum {
    LARGE_STEP = 1 << 20,
    LARGE_BUFFERS = 300, /* over several windows */
    LARGE = LARGE_STEP * LARGE_BUFFERS,
    BEFORE = 200, /* bytes of each are before a step's border */
};

static void fill_buffer(uint8_t *at, uint32_t first)
{
    uint32_t words[4 + 3 * ENTRIES] = { 3 * ENTRIES };
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint64_t header = id << 16 | 3;
        memcpy(&words[4 + 3 * i], &header, sizeof header);
        words[4 + 3 * i + 2] = first + i;
    }
    memcpy(at, words, sizeof words);
}

/* Starts one that has the region, and waits. */
static pid_t start_process(uint8_t *region)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    munmap(region, LARGE);
    return pid;
}

static bool kill_it(void *user, uint64_t n_done, uint64_t n_all)
{
    const pid_t *pid = user;
    (void)n_done;
    (void)n_all;
    kill(*pid, SIGKILL);
    return true;
}

/* All that there are, each once, with windows of any size. */
static void find_all(const struct pfd_buffer_search *how, uint64_t region)
{
    struct pfd_found_buffers *found = NULL;
    struct pfd_error err;
    ck_assert_int_eq(pfd_search_buffers(how, &found, &err), PFD_OK);
    uint64_t n = 0;
    for (size_t i = 0; i < found->n; i++) {
        const struct pfd_found_buffer *f = &found->at[i];
        uint64_t at = f->address - region;
        if (at >= LARGE)
            continue;
        ck_assert(!at || at % LARGE_STEP == LARGE_STEP - BEFORE);
        ck_assert_uint_eq(f->summary.entries, ENTRIES);
        ck_assert_uint_le(f->used, f->size);
        n++;
    }
    ck_assert_uint_eq(n, LARGE_BUFFERS);
    pfd_found_buffers_free(found);
}

/* A sanitizer's terabytes, which take a minute. */
static bool is_huge(const struct pfd_memory *memory)
{
    struct pfd_memory_region r;
    for (size_t i = 0; pfd_memory_region(memory, i, &r) == PFD_OK; i++) {
        if (r.permissions & PFD_MEMORY_READ && r.size >= UINT64_C(1) << 40)
            return true;
    }
    return false;
}

/* Also one over each border of windows. */
START_TEST(test_process)
{
    struct pfd_strings *strings = make_strings();
    struct pfd_memory *memory = NULL;
    struct pfd_found_buffers *found = NULL;
    struct pfd_error err;
    uint8_t *region = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(region, MAP_FAILED);
    for (uint32_t i = 0; i < LARGE_BUFFERS; i++)
        fill_buffer(region + i * LARGE_STEP - (i ? BEFORE : 0), 100 * i);
    pid_t pid = start_process(region);
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)pid, &memory, &err),
                     PFD_OK);
    struct progress progress = { 0 };
    struct pfd_buffer_search how = { .memory = memory,
                                     .strings = strings,
                                     .threads = 2,
                                     .progress = tell,
                                     .user = &progress };
    if (is_huge(memory)) {
        printf("test_process: left out, a sanitizer's terabytes take a "
               "minute\n");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        pfd_memory_close(memory);
        pfd_strings_free(strings);
        return;
    }
    for (uint64_t most = 24; most < 400; most += 80) {
        progress.n_done = 0;
        how.n_copied_max = most << 20;
        find_all(&how, (uint64_t)(uintptr_t)region);
    }
    how.progress = kill_it;
    how.user = &pid;
    ck_assert_int_eq(pfd_search_buffers(&how, &found, &err), PFD_ERR_IO);
    ck_assert_ptr_null(found);
    ck_assert(strstr(err.text, "has ended"));
    waitpid(pid, NULL, 0);
    pfd_memory_close(memory);
    pfd_strings_free(strings);
}
END_TEST

START_TEST(test_stopped)
{
    struct pfd_strings *strings = make_strings();
    struct pfd_core *core = make_core();
    struct progress progress = { .n_left = 1 };
    struct pfd_found_buffers *found = NULL;
    struct pfd_error err;
    const struct pfd_buffer_search how = { .core = core,
                                           .strings = strings,
                                           .threads = 3,
                                           .progress = tell,
                                           .user = &progress };
    enum pfd_status status = pfd_search_buffers(&how, &found, &err);
    ck_assert_int_eq(status, PFD_ERR_STOPPED);
    ck_assert_uint_gt(progress.n_done, 0);
    ck_assert_ptr_null(found);
    pfd_core_close(core);
    pfd_strings_free(strings);
}
END_TEST

int main(void)
{
    return suite_run("find", TESTS(test_threads, test_process, test_stopped),
                     120);
}
