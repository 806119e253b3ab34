/* SPDX-License-Identifier: MIT */
/* The list of a runtime, which this program has itself, read from outside. */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>

#include "memory/space/process_code.h"
#include "suite.h"

enum {
    ENTRIES = 8,
    PAGE = 4096,
    VERSION = 10,
};

/* As the runtime exports it. */
extern struct r_debug _amdgpu_r_debug;
__attribute__((visibility("default"))) struct r_debug _amdgpu_r_debug;

static struct link_map entries[ENTRIES];
static char names[ENTRIES][256];
static struct pfd_memory *memory;
static struct pfd_process_code *process_code;
static struct pfd_error err;

/* What was given, and what was found. */
static struct {
    char sources[ENTRIES + 8][256];
    uint64_t addresses[ENTRIES + 8];
    unsigned char first[ENTRIES + 8]; /* byte; 0: none */
    size_t n_bytes[ENTRIES + 8];
    size_t n;
    unsigned kinds[PFD_N_FINDING_KINDS];
    char text[256];
} got;

static enum pfd_status take(void *user,
                            const struct pfd_process_code_object *object)
{
    (void)user;
    ck_assert_uint_lt(got.n, ENTRIES + 8);
    snprintf(got.sources[got.n], sizeof got.sources[0], "%s", object->source);
    got.addresses[got.n] = object->load_address;
    got.first[got.n] =
        object->bytes ? *(const unsigned char *)object->bytes : 0;
    got.n_bytes[got.n++] = object->n;
    return PFD_OK;
}

static void hear(void *user, const struct pfd_finding *finding)
{
    (void)user;
    got.kinds[finding->kind]++;
    snprintf(got.text, sizeof got.text, "%s", finding->text);
}

/* Entries 0 to n - 1, one after another. */
static void link_up(int n)
{
    for (int i = 0; i < n; i++) {
        entries[i] = (struct link_map){
            .l_addr = 0x1000u * (unsigned)(i + 1),
            .l_name = names[i],
            .l_next = i + 1 < n ? &entries[i + 1] : NULL,
        };
    }
    _amdgpu_r_debug = (struct r_debug){
        .r_version = VERSION,
        .r_map = n ? entries : NULL,
    };
}

static void name_memory(int i, const void *bytes, size_t n)
{
    snprintf(names[i], sizeof names[i], "memory://%d#offset=0x%llx&size=%zu",
             (int)getpid(), (unsigned long long)(uintptr_t)bytes, n);
}

static void setup(void)
{
    memset(&got, 0, sizeof got);
    ck_assert_int_eq(pfd_memory_open_process((uint64_t)getpid(), &memory, &err),
                     PFD_OK);
    ck_assert_int_eq(pfd_process_code_open(memory, &process_code, &err),
                     PFD_OK);
}

static void teardown(void)
{
    pfd_process_code_close(process_code);
    pfd_memory_close(memory);
}

static size_t read_lists(void)
{
    size_t n = 0;
    got.n = 0;
    memset(got.kinds, 0, sizeof got.kinds);
    ck_assert_int_eq(
        pfd_process_code_read(process_code, take, NULL, hear, NULL, &n, &err),
        PFD_OK);
    return n;
}

START_TEST(test_list)
{
    static const char bytes[] = "Abcdefgh";
    char path[] = "/tmp/test_loadedXXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_eq(pwrite(fd, "0123456789", 10, 0), 10);
    name_memory(0, bytes, 8);
    snprintf(names[1], sizeof names[1], "file://%s#offset=3&size=4", path);
    snprintf(names[2], sizeof names[2], "file://%s", path);
    name_memory(3, bytes + 1, 1);
    link_up(3);
    ck_assert(pfd_process_code_changed(process_code));
    ck_assert_uint_eq(read_lists(), 1);
    ck_assert_uint_eq(got.n, 3);
    ck_assert_str_eq(got.sources[0], names[0]);
    ck_assert_uint_eq(got.addresses[2], 0x3000);
    ck_assert_int_eq(got.first[0], 'A');
    ck_assert_int_eq(got.first[1], '3');
    ck_assert_int_eq(got.first[2], '0');
    ck_assert_uint_eq(got.n_bytes[0], 8);
    ck_assert_uint_eq(got.n_bytes[1], 4);
    ck_assert_uint_eq(got.n_bytes[2], 10);
    ck_assert(!pfd_process_code_changed(process_code));
    /* One goes, and another one comes. */
    entries[0].l_next = &entries[2];
    entries[2].l_next = &entries[3];
    entries[3] = (struct link_map){ .l_addr = 0x4000, .l_name = names[3] };
    ck_assert(pfd_process_code_changed(process_code));
    read_lists();
    ck_assert_uint_eq(got.n, 1);
    ck_assert_str_eq(got.sources[0], names[3]);
    ck_assert_int_eq(got.first[0], 'b');
    /* What has gone is new when it comes again. */
    link_up(3);
    read_lists();
    ck_assert_uint_eq(got.n, 1);
    ck_assert_str_eq(got.sources[0], names[1]);
    close(fd);
    unlink(path);
}
END_TEST

START_TEST(test_empty)
{
    link_up(0);
    ck_assert_uint_eq(read_lists(), 1);
    ck_assert_uint_eq(got.n, 0);
    ck_assert(!pfd_process_code_changed(process_code));
}
END_TEST

START_TEST(test_cycle)
{
    static const char bytes[] = "abcdefgh";
    for (int i = 0; i < ENTRIES; i++)
        name_memory(i, bytes + i, 1);
    for (int back = 0; back < ENTRIES; back++) {
        teardown();
        setup();
        link_up(ENTRIES);
        entries[ENTRIES - 1].l_next = &entries[back];
        read_lists();
        ck_assert_uint_eq(got.n, ENTRIES);
        ck_assert_uint_eq(got.kinds[PFD_FINDING_bad_list], 1);
        ck_assert_msg(strstr(got.text, "comes back"), "%s", got.text);
    }
}
END_TEST

/* Names and entries where nothing is, or that never end. */
START_TEST(test_unreadable)
{
    static const char bytes[] = "abc";
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + PAGE, PAGE);
    memset(pages + PAGE - 100, 'x', 100);
    name_memory(0, bytes, 1);
    name_memory(1, pages + PAGE - 1, 2);
    name_memory(2, bytes, 1);
    name_memory(4, bytes, 0);
    snprintf(names[3], sizeof names[3], "file:///nothing/is/here");
    link_up(6);
    entries[5].l_name = pages + PAGE - 100;
    entries[5].l_next = (struct link_map *)(void *)(pages + PAGE - 8);
    read_lists();
    ck_assert_uint_eq(got.n, 5);
    ck_assert_int_eq(got.first[0], 'a');
    ck_assert_int_eq(got.first[1], 0);
    ck_assert_int_eq(got.first[2], 'a');
    ck_assert_int_eq(got.first[3], 0);
    ck_assert_int_eq(got.first[4], 0);
    /* The second, the third, and where the list goes on. */
    ck_assert_uint_eq(got.kinds[PFD_FINDING_unreadable], 3);
    /* No bytes, and no name. */
    ck_assert_uint_eq(got.kinds[PFD_FINDING_bad_list], 2);
    /* A name right before the end of all. */
    snprintf(pages + PAGE - 20, 20, "file:///nothing");
    entries[5].l_name = pages + PAGE - 20;
    entries[5].l_next = NULL;
    read_lists();
    ck_assert_uint_eq(got.n, 1);
    ck_assert_str_eq(got.sources[0], "file:///nothing");
    munmap(pages, PAGE);
}
END_TEST

START_TEST(test_no_uris)
{
    snprintf(names[0], sizeof names[0], "/lib/libc.so.6");
    snprintf(names[1], sizeof names[1], "memory://%d#offset=1", (int)getpid());
    snprintf(names[2], sizeof names[2], "memory://1#offset=%p&size=1",
             (void *)names);
    names[3][0] = '\0';
    link_up(4);
    read_lists();
    ck_assert_uint_eq(got.kinds[PFD_FINDING_bad_list], 4);
    for (size_t i = 0; i < got.n; i++)
        ck_assert_int_eq(got.first[i], 0);
}
END_TEST

START_TEST(test_versions)
{
    static const int versions[] = { 7, 8, 9, 10, 11, 0, -1, 1 << 30 };
    static const char bytes[] = "abc";
    name_memory(0, bytes, 1);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        bool known = versions[i] >= 8 && versions[i] <= 10;
        teardown();
        setup();
        link_up(1);
        _amdgpu_r_debug.r_version = versions[i];
        read_lists();
        ck_assert_uint_eq(got.n, known);
        ck_assert_uint_eq(got.kinds[PFD_FINDING_version], !known);
    }
}
END_TEST

START_TEST(test_never_still)
{
    static const char bytes[] = "abc";
    name_memory(0, bytes, 1);
    link_up(1);
    _amdgpu_r_debug.r_state = RT_ADD;
    read_lists();
    ck_assert_uint_eq(got.n, 1);
    ck_assert_uint_eq(got.kinds[PFD_FINDING_bad_list], 1);
    ck_assert_msg(strstr(got.text, "r_state 1"), "%s", got.text);
    ck_assert(pfd_process_code_changed(process_code));
    _amdgpu_r_debug.r_state = RT_CONSISTENT;
    read_lists();
    ck_assert_uint_eq(got.n, 0);
    ck_assert_uint_eq(got.kinds[PFD_FINDING_bad_list], 0);
}
END_TEST

/* ---- what stands anywhere ---- */

static size_t slurp(const char *path, unsigned char *ret, size_t n_max)
{
    int fd = open(path, O_RDONLY);
    ck_assert_msg(fd >= 0, "%s", path);
    ssize_t n = read(fd, ret, n_max);
    close(fd);
    ck_assert_int_gt(n, 0);
    return (size_t)n;
}

static struct {
    uint64_t from;
    uint64_t to;
    size_t n;
    size_t bytes[16];
    uint64_t at[16];
} within;

static enum pfd_status take_within(void *user,
                                   const struct pfd_process_code_object *object)
{
    (void)user;
    ck_assert(object->is_found);
    if (object->load_address < within.from || object->load_address >= within.to)
        return PFD_OK;
    ck_assert_uint_lt(within.n, 16);
    ck_assert_int_eq(memcmp(object->bytes,
                            (void *)(uintptr_t)object->load_address, object->n),
                     0);
    within.at[within.n] = object->load_address;
    within.bytes[within.n++] = object->n;
    return PFD_OK;
}

#define SPARSE ((size_t)64 << 30)

/* No page is there; mincore() says that of files only. */
static bool is_untouched(const unsigned char *at)
{
    uint64_t word = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    ck_assert_int_eq(
        pread(fd, &word, sizeof word,
              (off_t)((uintptr_t)at / (size_t)sysconf(_SC_PAGESIZE) * 8)),
        8);
    close(fd);
    return word >> 62 == 0;
}

/* One maps terabytes for itself. */
static bool has_sanitizer(void)
{
    struct pfd_memory_region r;
    for (size_t i = 0; pfd_memory_region(memory, i, &r) == PFD_OK; i++) {
        if (r.size >> 40 && r.permissions & PFD_MEMORY_READ)
            return true;
    }
    return false;
}

START_TEST(test_scan)
{
    enum {
        ROOM = 9 << 20 /* more than a window */
    };
    static unsigned char module[1 << 20];
    static unsigned char elf[1 << 20];
    char path[512];
    if (has_sanitizer()) {
        printf("left out: a sanitizer's terabytes take a minute\n");
        return;
    }
    snprintf(path, sizeof path, "%s/../fuzz/corpus/spirv/calls",
             getenv("CASES"));
    size_t n_module = slurp(path, module, sizeof module);
    snprintf(path, sizeof path, "%s/../../examples/data/app.elf",
             getenv("CASES"));
    size_t n_elf = slurp(path, elf, sizeof elf);
    unsigned char *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    within.from = (uintptr_t)room;
    within.to = within.from + ROOM;
    /* Changed, so that the files' own copies here are others. */
    module[8] ^= 1;
    elf[48] ^= 1;
    memcpy(room + 4, module, n_module);
    memcpy(room + 100000, elf, n_elf);
    memcpy(room + 200000, module, n_module); /* the same again */
    /* Over the end of a window, and one that is cut by the end of the room. */
    module[8] ^= 2;
    memcpy(room + (4 << 20) - 8, module, n_module);
    memcpy(room + ROOM - 40, module, 40);
    memcpy(room + ROOM - 1000, elf, 900);
    memset(module, 0, sizeof module);
    memset(elf, 0, sizeof elf);
    /* Much that nobody has written, and that is not looked at. */
    unsigned char *sparse =
        mmap(NULL, SPARSE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(sparse, MAP_FAILED);
    ck_assert_int_eq(pfd_process_code_scan(memory, take_within, NULL, &err),
                     PFD_OK);
    ck_assert(is_untouched(sparse + SPARSE / 2));
    munmap(sparse, SPARSE);
    ck_assert_uint_eq(within.n, 3);
    ck_assert_uint_eq(within.at[0] - within.from, 4);
    ck_assert_uint_eq(within.bytes[0], n_module);
    ck_assert_uint_eq(within.at[1] - within.from, 100000);
    ck_assert_uint_eq(within.bytes[1], n_elf);
    ck_assert_uint_eq(within.at[2] - within.from, (4 << 20) - 8);
    ck_assert_uint_eq(within.bytes[2], n_module);
    munmap(room, ROOM);
}
END_TEST

int main(void)
{
    return suite_run_with("loaded", setup, teardown,
                          TESTS(test_list, test_empty, test_cycle,
                                test_unreadable, test_no_uris, test_versions,
                                test_never_still, test_scan),
                          120);
}
