/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <check.h>

#include "build.h"
#include "memory/space/address_space.h"
#include "memory/space/core.h"
#include "suite.h"

enum {
    PAGE = 4096,
    NT_FILE_NUMBER = 0x46494c45,
    NT_GPUS = 33,
};

static struct findings findings;
static char path[64];
static int fd;

static void setup(void)
{
    findings_init(&findings);
    fd = memfd_create("core", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

static void teardown(void)
{
    close(fd);
}

static void put(uint64_t at, const void *bytes, size_t n)
{
    ck_assert_int_eq(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
}

static void put_header(const Elf64_Ehdr *changed)
{
    Elf64_Ehdr h = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_phoff = sizeof h,
        .e_phentsize = sizeof(Elf64_Phdr),
    };
    h.e_phnum = changed->e_phnum;
    h.e_shoff = changed->e_shoff;
    put(0, &h, sizeof h);
}

/* A core of these program headers [n]. */
static void put_core(const Elf64_Phdr *headers, uint16_t n)
{
    put_header(&(Elf64_Ehdr){ .e_phnum = n });
    put(sizeof(Elf64_Ehdr), headers, n * sizeof *headers);
}

static enum pfd_status open_core(struct pfd_core **ret)
{
    struct pfd_error err;
    *ret = NULL;
    enum pfd_status status = pfd_core_open(path, 0, findings.report.fn,
                                           findings.report.user, ret, &err);
    ck_assert(status == PFD_OK || (err.code == status && err.text[0]));
    return status;
}

static struct pfd_core *opened(void)
{
    struct pfd_core *core;
    ck_assert_int_eq(open_core(&core), PFD_OK);
    return core;
}

START_TEST(test_memory)
{
    const Elf64_Phdr headers[] = {
        { .p_type = PT_LOAD,
          .p_vaddr = 0x3000,
          .p_offset = 3 * PAGE,
          .p_filesz = 0x1000,
          .p_memsz = 0x1000 },
        { .p_type = PT_NULL },
        /* Half of it was not written. */
        { .p_type = PT_LOAD,
          .p_vaddr = 0x1000,
          .p_offset = PAGE,
          .p_filesz = 0x800,
          .p_memsz = 0x1000 },
        { .p_type = PT_LOAD,
          .p_vaddr = 0x2000,
          .p_offset = 2 * PAGE,
          .p_filesz = 0x1000,
          .p_memsz = 0x1000 },
        { .p_type = PT_LOAD, .p_vaddr = 0x8000, .p_memsz = 0x1000 },
        { .p_type = PT_LOAD,
          .p_vaddr = UINT64_MAX - 0xfff,
          .p_offset = 4 * PAGE,
          .p_filesz = 0x1000,
          .p_memsz = 0x1000 },
    };
    char text[16];
    uint64_t n = 0;
    put(2 * PAGE + 0xffc, "abcd", 4);
    put(3 * PAGE, "efgh", 4);
    put(4 * PAGE + 0xfff, "z", 1);
    put_core(headers, 6);
    struct pfd_core *core = opened();
    ck_assert_uint_eq(pfd_core_info(core)->n_segments, 5);
    ck_assert_uint_eq(pfd_core_info(core)->n_present, 0x3800 - 1);
    ck_assert_uint_eq(pfd_core_info(core)->n_memory, 0x5000 - 1);
    ck_assert_str_eq(pfd_core_info(core)->machine, "x86-64");
    /* Over the border of two. */
    ck_assert_uint_eq(pfd_core_read(core, 0x2ffc, text, 8), 8);
    ck_assert_mem_eq(text, "abcdefgh", 8);
    /* Up to what is not there, and how far that goes. */
    ck_assert_uint_eq(pfd_core_read(core, 0x17f8, text, 16), 8);
    ck_assert_ptr_null(pfd_core_bytes(core, 0x1800, &n));
    ck_assert_uint_eq(n, 0x800);
    ck_assert_ptr_null(pfd_core_bytes(core, 0, &n));
    ck_assert_uint_eq(n, 0x1000);
    ck_assert_ptr_null(pfd_core_bytes(core, 0x8000, &n));
    ck_assert_uint_eq(n, UINT64_MAX - 0xfff - 0x8000);
    ck_assert_ptr_null(pfd_core_bytes(core, UINT64_MAX, &n));
    ck_assert_uint_eq(n, UINT64_MAX);
    /* The last address of all is cut off, and said. */
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_core], 1);
    ck_assert_uint_eq(pfd_core_read(core, UINT64_MAX - 1, text, 16), 1);
    pfd_core_close(core);
}
END_TEST

START_TEST(test_lies)
{
    const Elf64_Phdr headers[] = {
        /* Twice the same, beyond the end, and more than there is. */
        { .p_type = PT_LOAD,
          .p_vaddr = 0x1000,
          .p_offset = PAGE,
          .p_filesz = 0x1000,
          .p_memsz = 0x1000 },
        { .p_type = PT_LOAD,
          .p_vaddr = 0x1000,
          .p_offset = 0,
          .p_filesz = 0x1800,
          .p_memsz = 0x1800 },
        { .p_type = PT_LOAD,
          .p_vaddr = 0x10000,
          .p_offset = UINT64_MAX,
          .p_filesz = UINT64_MAX,
          .p_memsz = 8 },
        { .p_type = PT_NOTE, .p_offset = 8 * PAGE, .p_filesz = 100 },
        { .p_type = PT_NOTE, .p_offset = 0, .p_filesz = 100 },
    };
    char text[4];
    put(PAGE, "here", 4);
    put(2 * PAGE - 1, "", 1);
    put_core(headers, 5);
    struct pfd_core *core = opened();
    ck_assert_uint_eq(pfd_core_read(core, 0x1000, text, 4), 4);
    ck_assert_uint_eq(pfd_core_info(core)->n_present, 0x1800);
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_core], 4);
    ck_assert_int_eq(findings.n[PFD_FINDING_note_truncated], 1);
    pfd_core_close(core);
}
END_TEST

START_TEST(test_many_headers)
{
    enum {
        N = 70000
    };
    const Elf64_Shdr section = { .sh_info = N };
    const uint64_t sections = sizeof(Elf64_Ehdr) + N * sizeof(Elf64_Phdr);
    put(sections + sizeof section, "end", 3);
    for (unsigned i = 0; i < N; i++) {
        const Elf64_Phdr h = { .p_type = PT_LOAD,
                               .p_filesz = 1,
                               .p_memsz = 1,
                               .p_vaddr = 16 * (N - i),
                               .p_offset = sections + sizeof section };
        put(sizeof(Elf64_Ehdr) + i * sizeof h, &h, sizeof h);
    }
    put(sections, &section, sizeof section);
    put_header(&(Elf64_Ehdr){ .e_phnum = PN_XNUM, .e_shoff = sections });
    struct pfd_core *core = opened();
    ck_assert_uint_eq(pfd_core_info(core)->n_segments, N);
    ck_assert_int_eq(findings.n_all, 0);
    pfd_core_close(core);
    /* Section 0 is not there. */
    put_header(&(Elf64_Ehdr){ .e_phnum = PN_XNUM });
    core = opened();
    ck_assert_uint_eq(pfd_core_info(core)->n_segments, PN_XNUM);
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_core], 1);
    pfd_core_close(core);
}
END_TEST

START_TEST(test_large)
{
    const uint64_t far = UINT64_C(5) << 30;
    const Elf64_Phdr header = { .p_type = PT_LOAD,
                                .p_vaddr = 0x7f0000000000,
                                .p_offset = PAGE,
                                .p_filesz = far,
                                .p_memsz = far };
    char text[8];
    put(PAGE + far - 8, "far away", 8);
    put_core(&header, 1);
    struct pfd_core *core = opened();
    ck_assert_uint_eq(pfd_core_read(core, 0x7f0000000000 + far - 8, text, 8),
                      8);
    ck_assert_mem_eq(text, "far away", 8);
    pfd_core_close(core);
}
END_TEST

static bool add_range(void *user, uint64_t from, uint64_t to)
{
    char *text = user;
    size_t n = strlen(text);
    snprintf(text + n, 256 - n, "%llx-%llx ", (unsigned long long)from,
             (unsigned long long)to);
    return true;
}

START_TEST(test_holes)
{
    const Elf64_Phdr header = { .p_type = PT_LOAD,
                                .p_vaddr = 0x100000,
                                .p_offset = PAGE,
                                .p_filesz = 64 * PAGE,
                                .p_memsz = 64 * PAGE };
    char text[256] = "";
    put(65 * PAGE - 1, "x", 1);
    put(11 * PAGE, "y", 1);
    put_core(&header, 1);
    struct pfd_core *core = opened();
    struct pfd_core_segment first;
    pfd_core_segment(core, 0, &first);
    pfd_core_data(core, first.address, first.n_memory, add_range, text);
    ck_assert_str_eq(text, "10a000-10b000 13f000-140000 ");
    pfd_core_close(core);
}
END_TEST

static void add_u64(struct build *b, uint64_t value)
{
    build_bytes(b, &value, sizeof value);
}

static void put_notes(const struct build *notes)
{
    const Elf64_Phdr header = { .p_type = PT_NOTE,
                                .p_offset = PAGE,
                                .p_filesz = notes->n };
    put(PAGE, notes->bytes, notes->n);
    put_core(&header, 1);
}

/* AMD's note, with more in each entry than is known, or less. */
static void add_gpus(struct build *notes, uint32_t n_agent, uint32_t n_queue)
{
    struct build b = { 0 };
    uint32_t agent[32] = {
        [14] = 4711,  [15] = 0x300, [16] = 0x1002, [17] = 0x740f,
        [22] = 90010, [23] = 416,   [24] = 8
    };
    uint64_t queue[16] = { 0,
                           0x10000,
                           0x20000,
                           0x20008,
                           0x30000,
                           7 | UINT64_C(4711) << 32,
                           4096 | UINT64_C(2) << 32,
                           0x2000 };
    add_u64(&b, 1);
    build_u32(&b, 1);
    build_u32(&b, 13);
    add_u64(&b, 16);
    build_u32(&b, 1);
    build_u32(&b, n_agent);
    build_u32(&b, 2);
    build_u32(&b, n_queue);
    add_u64(&b, 0x5555);
    add_u64(&b, 1);
    build_bytes(&b, agent, n_agent);
    build_bytes(&b, queue, n_queue);
    build_bytes(&b, queue, n_queue);
    build_note(notes, "AMDGPU", NT_GPUS, &b);
    build_free(&b);
}

START_TEST(test_gpus)
{
    static const uint32_t sizes[][2] = { { 120, 64 }, { 128, 80 }, { 96, 56 } };
    struct pfd_core_agent a;
    struct pfd_core_queue q;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct build notes = { 0 };
        add_gpus(&notes, sizes[i][0], sizes[i][1]);
        put_notes(&notes);
        struct pfd_core *core = opened();
        const struct pfd_core_info *info = pfd_core_info(core);
        ck_assert_int_eq(findings.n_all, 0);
        ck_assert(info->has_gpus);
        ck_assert_uint_eq(info->r_debug, 0x5555);
        ck_assert_uint_eq(info->kfd_minor, 13);
        ck_assert_uint_eq(info->n_agents, 1);
        ck_assert_uint_eq(info->n_queues, 2);
        ck_assert_int_eq(pfd_core_agent(core, 0, &a), PFD_OK);
        ck_assert_uint_eq(a.gpu_id, 4711);
        ck_assert_str_eq(a.target, "gfx90a");
        ck_assert_uint_eq(a.device_id, 0x740f);
        ck_assert_int_eq(pfd_core_queue(core, 1, &q), PFD_OK);
        ck_assert_uint_eq(q.queue_id, 7);
        ck_assert_uint_eq(q.gpu_id, 4711);
        ck_assert_uint_eq(q.ring_address, 0x10000);
        ck_assert_uint_eq(q.ring_size, 4096);
        ck_assert_uint_eq(q.type, 2);
        ck_assert_int_eq(pfd_core_queue(core, 2, &q), PFD_END);
        pfd_core_close(core);
        build_free(&notes);
    }
}
END_TEST

START_TEST(test_gpus_cut)
{
    struct build notes = { 0 };
    add_gpus(&notes, 48, 64); /* without ids */
    put_notes(&notes);
    struct pfd_core *core = opened();
    ck_assert_uint_eq(pfd_core_info(core)->n_agents, 0);
    ck_assert_int_gt(findings.n[PFD_FINDING_bad_core], 0);
    pfd_core_close(core);
    build_free(&notes);
}
END_TEST

START_TEST(test_process)
{
    struct build notes = { 0 };
    struct build b = { 0 };
    struct pfd_core_file f;
    struct pfd_memory *memory = NULL;
    uint64_t value = 0;
    const uint64_t rows[] = { 3,      PAGE, 0x2000, 0x3000, 1, 0x1000,
                              0x2000, 0,    9,      8,      0 };
    uint8_t prpsinfo[136] = { [24] = 0xd2, [25] = 4 };
    uint8_t prstatus[336] = { [12] = 11 };
    memcpy(prpsinfo + 40, "app", 3);
    build_bytes(&b, prpsinfo, sizeof prpsinfo);
    build_note(&notes, "CORE", NT_PRPSINFO, &b);
    b.n = 0;
    build_bytes(&b, prstatus, sizeof prstatus);
    build_note(&notes, "CORE", NT_PRSTATUS, &b);
    build_note(&notes, "CORE", NT_PRSTATUS, &b);
    b.n = 0;
    add_u64(&b, AT_PHDR);
    add_u64(&b, 0x400040);
    add_u64(&b, AT_NULL);
    add_u64(&b, 0);
    build_note(&notes, "CORE", NT_AUXV, &b);
    b.n = 0;
    build_bytes(&b, rows, sizeof rows);
    build_bytes(&b, "/lib/b\0/lib/a", 14);
    build_note(&notes, "CORE", NT_FILE_NUMBER, &b);
    put_notes(&notes);
    struct pfd_core *core = opened();
    const struct pfd_core_info *info = pfd_core_info(core);
    ck_assert_str_eq(info->command, "app");
    ck_assert_uint_eq(info->pid, 1234);
    ck_assert_uint_eq(info->signal, 11);
    ck_assert_uint_eq(info->n_threads, 2);
    ck_assert_int_eq(pfd_memory_open_core(core, &memory, NULL), PFD_OK);
    ck_assert(pfd_memory_auxv(memory, AT_PHDR, &value));
    ck_assert_uint_eq(value, 0x400040);
    ck_assert(!pfd_memory_auxv(memory, AT_ENTRY, &value));
    pfd_memory_close(memory);
    /* The third row ends before it begins. */
    ck_assert_uint_eq(info->n_files, 2);
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_core], 1);
    ck_assert_int_eq(pfd_core_file(core, 1, &f), PFD_OK);
    ck_assert_str_eq(f.name, "/lib/b");
    ck_assert_uint_eq(f.offset, PAGE);
    pfd_core_close(core);
    build_free(&b);
    build_free(&notes);
}
END_TEST

/* A core with the first page of a mapped file of two, and another one's. */
static void put_mapped(const char *name, const char *first)
{
    struct build notes = { 0 };
    struct build b = { 0 };
    const uint64_t rows[] = { 2, PAGE, 0x2000, 0x3000, 0, 0x3000, 0x5000, 1 };
    const Elf64_Phdr headers[] = {
        { .p_type = PT_LOAD,
          .p_vaddr = 0x2000,
          .p_offset = 2 * PAGE,
          .p_filesz = PAGE,
          .p_memsz = PAGE },
        { .p_type = PT_LOAD, .p_vaddr = 0x3000, .p_memsz = PAGE },
        { .p_type = PT_NOTE, .p_offset = PAGE, .p_filesz = 256 },
    };
    build_bytes(&b, rows, sizeof rows);
    build_bytes(&b, name, strlen(name) + 1);
    build_bytes(&b, name, strlen(name) + 1);
    build_note(&notes, "CORE", NT_FILE_NUMBER, &b);
    build_align(&notes, 256);
    ck_assert_uint_eq(notes.n, 256);
    put(PAGE, notes.bytes, notes.n);
    put(3 * PAGE - 1, "", 1);
    put(2 * PAGE, first, strlen(first));
    put_core(headers, 3);
    build_free(&b);
    build_free(&notes);
}

static void hear_absent(void *user, const struct pfd_range *range,
                        const char *why)
{
    char *text = user;
    size_t n = strlen(text);
    snprintf(text + n, 512 - n, "%llx-%llx: %s\n",
             (unsigned long long)range->from, (unsigned long long)range->to,
             why);
}

START_TEST(test_mapped_file)
{
    static const char elf[] = "\177ELF and so on";
    char name[] = "/tmp/test_core-XXXXXX";
    char absent[512] = "";
    char bytes[16];
    size_t n = 0;
    struct pfd_memory *memory = NULL;
    struct pfd_memory_region r;
    int file = mkstemp(name);
    ck_assert_int_eq(pwrite(file, elf, sizeof elf - 1, 0), sizeof elf - 1);
    ck_assert_int_eq(pwrite(file, "in the file", 11, 2 * PAGE - 6), 11);
    put_mapped(name, elf);
    struct pfd_core *core = opened();
    ck_assert_int_eq(pfd_memory_open_core(core, &memory, NULL), PFD_OK);
    ck_assert_int_eq(pfd_memory_region(memory, 2, &r), PFD_OK);
    ck_assert_str_eq(r.name, name);
    ck_assert_uint_eq(r.address, 0x4000);
    ck_assert_uint_eq(r.size, 0x1000);
    ck_assert_uint_eq(r.present, 0);
    ck_assert_uint_eq(r.offset, 2 * PAGE);
    ck_assert_int_eq(pfd_memory_region(memory, 3, &r), PFD_END);
    /* Beyond the file's end there is nothing. */
    ck_assert_int_eq(pfd_memory_read(memory, 0x3ffa, bytes, 16, hear_absent,
                                     absent, &n, NULL),
                     PFD_OK);
    ck_assert_uint_eq(n, 11);
    ck_assert_mem_eq(bytes, "in the file\0\0\0\0\0", 16);
    ck_assert_ptr_nonnull(strstr(absent, "4005-400a: "));
    ck_assert_ptr_nonnull(strstr(absent, "beyond the end"));
    pfd_memory_close(memory);
    /* Another file by now. */
    ck_assert_int_eq(pwrite(file, "N", 1, 5), 1);
    ck_assert_int_eq(pfd_memory_open_core(core, &memory, NULL), PFD_OK);
    absent[0] = '\0';
    ck_assert_int_eq(pfd_memory_read(memory, 0x3ffa, bytes, 16, hear_absent,
                                     absent, &n, NULL),
                     PFD_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_nonnull(strstr(absent, "3ffa-400a: "));
    ck_assert_ptr_nonnull(strstr(absent, "has changed since"));
    pfd_memory_close(memory);
    pfd_core_close(core);
    close(file);
    unlink(name);
}
END_TEST

START_TEST(test_compressed)
{
    enum {
        N = 9 << 20
    };
    const Elf64_Phdr header = { .p_type = PT_LOAD,
                                .p_vaddr = 0x1000,
                                .p_offset = PAGE,
                                .p_filesz = N - PAGE,
                                .p_memsz = N - PAGE };
    char text[8];
    put(N - 8, "the last", 8);
    put_core(&header, 1);
    char *bytes = malloc(N);
    ck_assert_int_eq(pread(fd, bytes, N, 0), N);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    gzFile gz = gzdopen(dup(fd), "wb");
    ck_assert_int_eq(gzwrite(gz, bytes, N), N);
    ck_assert_int_eq(gzclose(gz), Z_OK);
    free(bytes);
    struct pfd_core *core = opened();
    ck_assert(pfd_core_info(core)->is_compressed);
    ck_assert_uint_eq(pfd_core_info(core)->n_bytes, N);
    ck_assert_uint_eq(pfd_core_read(core, N - 8, text, 8), 8);
    ck_assert_mem_eq(text, "the last", 8);
    pfd_core_close(core);
    /* No more than is wanted. */
    ck_assert_int_eq(pfd_core_open(path, 2 * PAGE, findings.report.fn,
                                   findings.report.user, &core, NULL),
                     PFD_OK);
    ck_assert_int_eq(findings.n[PFD_FINDING_too_large], 1);
    ck_assert_uint_eq(pfd_core_info(core)->n_bytes, 2 * PAGE);
    pfd_core_close(core);
    /* Cut: what is left is there. */
    ck_assert_int_eq(ftruncate(fd, 2000), 0);
    core = opened();
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_compressed], 1);
    pfd_core_close(core);
}
END_TEST

START_TEST(test_others)
{
    struct pfd_core *core;
    const uint8_t small[64] = { 0x7f, 'E', 'L', 'F', 3, 1, 1, [16] = 4 };
    ck_assert_int_eq(open_core(&core), PFD_ERR_UNSUPPORTED); /* empty */
    put(0, "no core, but as long as an ELF header would have to be, or more",
        64);
    ck_assert_int_eq(open_core(&core), PFD_ERR_UNSUPPORTED);
    put(0, small, sizeof small);
    ck_assert_int_eq(open_core(&core), PFD_ERR_UNSUPPORTED);
    ck_assert(pfd_core_recognise(small, sizeof small));
    ck_assert(!pfd_core_recognise(small, 17));
    ck_assert_int_eq(pfd_core_open("/nowhere", 0, NULL, NULL, &core, NULL),
                     PFD_ERR_IO);
    ck_assert_int_eq(pfd_core_open("/", 0, NULL, NULL, &core, NULL),
                     PFD_ERR_IO);
    ck_assert_int_eq(pfd_core_open("/dev/null", 0, NULL, NULL, &core, NULL),
                     PFD_ERR_IO);
}
END_TEST

int main(void)
{
    return suite_run_with("core", setup, teardown,
                          TESTS(test_memory, test_lies, test_many_headers,
                                test_large, test_holes, test_gpus,
                                test_gpus_cut, test_process, test_mapped_file,
                                test_compressed, test_others),
                          60);
}
