/* SPDX-License-Identifier: MIT */
/*
 * Opens a core: its headers, segments and notes.
 *
 * Sources: the ELF-64 object file format and its extended numbering, elf(5) and
 * core(5); LLVM's AMDGPUUsage for the cores of GPUs, whose p_align is a shift
 * and is not read here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/inflate.h"
#include "memory/space/core.h"

enum {
    IDENT = 16,
    CLASS_32 = 1,
    CLASS_64 = 2,
    LITTLE_ENDIAN_DATA = 1,
    ELF_HEADER = 64,
    ET_CORE = 4,
    EM_386 = 3,
    EM_ARM = 40,
    EM_X86_64 = 62,
    EM_AARCH64 = 183,
    EM_AMDGPU = 224,
    PN_XNUM = 0xffff, /* section 0's sh_info has the number */
    PT_LOAD = 1,
    PT_NOTE = 4,
    /* The kernel's default limit is 65530 maps of a process. */
    HEADERS_MAX = 1 << 22,
    /* Some KiB for each thread. */
    NOTES_MAX = 1 << 28,
    BLOCK = 512, /* unit of st_blocks */
};

/* Sizes of an ELF file's parts: of 64 bits and of 32. */
static const struct shape {
    unsigned program_header;
    unsigned section_header;
    unsigned sh_info; /* offset in a section header */
} shapes[] = { { 56, 64, 44 }, { 32, 40, 28 } };

static const uint64_t inflated_max = UINT64_C(256) << 30;

bool pfd_core_recognise(const void *bytes, size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    const uint8_t *ident = pfd_byte_reader_bytes(&c, IDENT);
    return ident && !memcmp(ident, "\177ELF", 4) &&
           pfd_byte_reader_u16(&c) == ET_CORE && pfd_byte_reader_ok(&c);
}

/* ---- program headers ---- */

struct headers {
    struct pfd_core *core;
    struct pfd_report *report;
    struct pfd_byte_reader table; /* [n] headers */
    size_t n;
};

struct program_header {
    uint32_t type;
    uint32_t flags;
    uint64_t offset;
    uint64_t address;
    uint64_t n_file;
    uint64_t n_memory;
};

static const struct shape *shape_of(const struct headers *h)
{
    return &shapes[h->core->info.is_32];
}

static struct program_header read_header(const struct headers *h, size_t i)
{
    bool is_32 = h->core->info.is_32;
    struct pfd_byte_reader c = h->table;
    struct program_header ret = { 0 };
    pfd_byte_reader_seek(&c, i * shape_of(h)->program_header);
    ret.type = pfd_byte_reader_u32(&c);
    if (!is_32)
        ret.flags = pfd_byte_reader_u32(&c);
    ret.offset = pfd_core_word(h->core, &c);
    ret.address = pfd_core_word(h->core, &c);
    pfd_core_word(h->core, &c); /* physical address */
    ret.n_file = pfd_core_word(h->core, &c);
    ret.n_memory = pfd_core_word(h->core, &c);
    if (is_32)
        ret.flags = pfd_byte_reader_u32(&c);
    return ret;
}

/* The number of headers, from section 0 where the ELF header cannot hold it. */
static uint64_t count_headers(const struct headers *h, uint64_t n,
                              uint64_t sections)
{
    struct pfd_byte_reader c =
        pfd_byte_reader(h->core->bytes, (size_t)h->core->n);
    if (n != PN_XNUM)
        return n;
    pfd_byte_reader_seek(&c, sections);
    struct pfd_byte_reader section =
        pfd_byte_reader_sub(&c, shape_of(h)->section_header);
    pfd_byte_reader_skip(&section, shape_of(h)->sh_info);
    uint32_t info = pfd_byte_reader_u32(&section);
    if (sections && pfd_byte_reader_ok(&section) && info)
        return info;
    pfd_report_add(h->report, PFD_FINDING_bad_core, sections,
                   "the number of program headers is said to stand in section "
                   "0, and that is not there");
    return n;
}

static void find_headers(struct headers *h)
{
    struct pfd_byte_reader c =
        pfd_byte_reader(h->core->bytes, (size_t)h->core->n);
    pfd_byte_reader_skip(&c, IDENT + 2);
    h->core->info.machine_number = pfd_byte_reader_u16(&c);
    pfd_byte_reader_skip(&c, 4); /* version */
    pfd_core_word(h->core, &c);  /* entry */
    uint64_t at = pfd_core_word(h->core, &c);
    uint64_t sections = pfd_core_word(h->core, &c);
    pfd_byte_reader_skip(&c, 4 + 2); /* flags, size of this header */
    uint16_t size = pfd_byte_reader_u16(&c);
    uint64_t n = count_headers(h, pfd_byte_reader_u16(&c), sections);
    unsigned each = shape_of(h)->program_header;
    uint64_t room = at < h->core->n ? (h->core->n - at) / each : 0;
    if (n && size != each) {
        pfd_report_add(
            h->report, PFD_FINDING_bad_core, h->core->info.is_32 ? 42 : 54,
            "program headers of %u bytes, expected %u: not read", size, each);
        return;
    }
    if (n > room) {
        pfd_report_add(h->report, PFD_FINDING_bad_core, at,
                       "%llu program headers at byte %llu, and the file ends "
                       "after %llu of them",
                       (unsigned long long)n, (unsigned long long)at,
                       (unsigned long long)room);
        n = room;
    }
    if (n > HEADERS_MAX) {
        pfd_report_add(h->report, PFD_FINDING_too_large, at,
                       "%llu program headers, of which the first %d are read",
                       (unsigned long long)n, HEADERS_MAX);
        n = HEADERS_MAX;
    }
    h->n = (size_t)n;
    h->table = pfd_byte_reader(h->core->bytes + (n ? at : 0), (size_t)n * each);
}

/* ---- memory ---- */

static int compare_segments(const void *a, const void *b)
{
    const struct pfd_core_segment *x = a;
    const struct pfd_core_segment *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Limits a header's values to bytes that exist. */
static bool make_segment(const struct headers *h, size_t i,
                         struct pfd_core_segment *ret)
{
    struct program_header p = read_header(h, i);
    uint64_t n = h->core->n;
    uint64_t place = (uint64_t)(h->table.base - h->core->bytes) +
                     i * shape_of(h)->program_header;
    if (p.type != PT_LOAD)
        return false;
    if (p.n_file > p.n_memory)
        p.n_memory = p.n_file;
    if (p.n_memory > UINT64_MAX - p.address) {
        pfd_report_add(h->report, PFD_FINDING_bad_core, place,
                       "memory from address 0x%llx on runs over the end of all "
                       "addresses: cut there",
                       (unsigned long long)p.address);
        p.n_memory = UINT64_MAX - p.address;
        p.n_file = p.n_file < p.n_memory ? p.n_file : p.n_memory;
    }
    uint64_t room = p.offset < n ? n - p.offset : 0;
    if (p.n_file > room) {
        pfd_report_add(h->report, PFD_FINDING_bad_core, place,
                       "%llu bytes of memory at address 0x%llx are said to "
                       "stand at byte %llu, and the file ends after %llu of "
                       "them: cut",
                       (unsigned long long)p.n_file,
                       (unsigned long long)p.address,
                       (unsigned long long)p.offset, (unsigned long long)room);
        p.n_file = room;
    }
    *ret = (struct pfd_core_segment){ p.address, p.n_memory, p.n_file, p.offset,
                                      p.flags };
    return p.n_memory > 0;
}

/* Where two segments overlap, the one that begins first counts. */
static void part_segments(struct headers *h)
{
    struct pfd_core *core = h->core;
    uint64_t end = 0; /* of the segments before */
    size_t n = 0;
    for (size_t i = 0; i < core->info.n_segments; i++) {
        struct pfd_core_segment s = core->segments[i];
        uint64_t overlap = s.address < end ? end - s.address : 0;
        if (overlap) {
            pfd_report_add(h->report, PFD_FINDING_bad_core, s.offset,
                           "memory at address 0x%llx is there twice: the first "
                           "counts",
                           (unsigned long long)s.address);
        }
        if (overlap >= s.n_memory)
            continue;
        uint64_t n_cut = overlap < s.n_file ? overlap : s.n_file;
        s.address += overlap;
        s.n_memory -= overlap;
        s.offset += n_cut;
        s.n_file -= n_cut;
        end = s.address + s.n_memory;
        core->info.n_memory += s.n_memory;
        core->info.n_present += s.n_file;
        core->segments[n++] = s;
    }
    core->info.n_segments = n;
    core->present[n] = n;
    for (size_t i = n; i-- > 0;)
        core->present[i] = core->segments[i].n_file ? i : core->present[i + 1];
}

static bool read_segments(struct headers *h)
{
    struct pfd_core *core = h->core;
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += read_header(h, i).type == PT_LOAD;
    core->segments = calloc(n + 1, sizeof *core->segments);
    core->present = calloc(n + 1, sizeof *core->present);
    if (!core->segments || !core->present)
        return false;
    for (size_t i = 0; i < h->n; i++) {
        struct pfd_core_segment *s = &core->segments[core->info.n_segments];
        core->info.n_segments += make_segment(h, i, s);
    }
    qsort(core->segments, core->info.n_segments, sizeof *core->segments,
          compare_segments);
    part_segments(h);
    return true;
}

static bool read_notes(struct headers *h)
{
    struct pfd_core *core = h->core;
    uint64_t left = NOTES_MAX;
    for (size_t i = 0; i < h->n; i++) {
        struct program_header p = read_header(h, i);
        uint64_t room = p.offset < core->n ? core->n - p.offset : 0;
        if (p.type != PT_NOTE)
            continue;
        if (p.n_file > room) {
            pfd_report_add(h->report, PFD_FINDING_bad_core, p.offset,
                           "%llu bytes of notes, and the file ends after %llu",
                           (unsigned long long)p.n_file,
                           (unsigned long long)room);
            p.n_file = room;
        }
        if (p.n_file > left) {
            pfd_report_add(h->report, PFD_FINDING_too_large, p.offset,
                           "more than %d bytes of notes, of which the first "
                           "are read",
                           NOTES_MAX);
            p.n_file = left;
        }
        left -= p.n_file;
        struct pfd_byte_reader notes = pfd_byte_reader(
            core->bytes + (p.n_file ? p.offset : 0), (size_t)p.n_file);
        if (!pfd_core_read_notes(core, p.offset, notes, h->report))
            return false;
    }
    return true;
}

/* ---- the file ---- */

static enum pfd_status fail_io(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "%s", strerror(errno));
}

static void unmap(struct pfd_core *core)
{
    if (core->bytes)
        munmap((void *)(uintptr_t)core->bytes, (size_t)core->n);
    if (core->fd >= 0)
        close(core->fd);
    core->bytes = NULL;
    core->fd = -1;
}

static enum pfd_status map(struct pfd_core *core, struct pfd_error *err)
{
    struct stat st;
    if (fstat(core->fd, &st))
        return fail_io(err);
    if (!S_ISREG(st.st_mode)) {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "a core has to be a regular file");
    }
    if (st.st_size < ELF_HEADER) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                        "not a core: shorter than an ELF header");
    }
    void *bytes =
        mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, core->fd, 0);
    if (bytes == MAP_FAILED)
        return fail_io(err);
    core->bytes = bytes;
    core->n = (uint64_t)st.st_size;
    core->is_sparse = (uint64_t)st.st_blocks * BLOCK < core->n;
    return PFD_OK;
}

static enum pfd_status inflate(struct pfd_core *core, uint64_t n_max,
                               struct pfd_report *report, struct pfd_error *err)
{
    int fd = -1;
    enum pfd_status status =
        pfd_core_store(core->bytes, (size_t)core->n,
                       n_max ? n_max : inflated_max, report, &fd, err);
    unmap(core);
    core->fd = fd;
    core->info.is_compressed = true;
    return status == PFD_OK ? map(core, err) : status;
}

static enum pfd_status check(struct pfd_core *core, struct pfd_error *err)
{
    const uint8_t *ident = core->bytes;
    if (!pfd_core_recognise(core->bytes, ELF_HEADER)) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0,
                        "not a core: no ELF file of type ET_CORE");
    }
    core->info.is_32 = ident[4] == CLASS_32;
    if ((ident[4] != CLASS_32 && ident[4] != CLASS_64) ||
        ident[5] != LITTLE_ENDIAN_DATA) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 4,
                        "a core of a big-endian process, or neither of 32 nor "
                        "of 64 bits: it is not read");
    }
    return PFD_OK;
}

static enum pfd_status open_core(struct pfd_core *core, uint64_t max_inflated,
                                 struct pfd_report *report,
                                 struct pfd_error *err)
{
    struct headers h = { .core = core, .report = report };
    enum pfd_status status = map(core, err);
    if (status == PFD_OK && pfd_inflate_recognise(core->bytes, (size_t)core->n))
        status = inflate(core, max_inflated, report, err);
    if (status == PFD_OK)
        status = check(core, err);
    if (status != PFD_OK)
        return status;
    core->info.n_bytes = core->n;
    find_headers(&h);
    if (!read_segments(&h) || !read_notes(&h))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    uint32_t machine = core->info.machine_number;
    core->info.machine = machine == EM_X86_64    ? "x86-64"
                         : machine == EM_386     ? "x86"
                         : machine == EM_ARM     ? "ARM"
                         : machine == EM_AARCH64 ? "AArch64"
                         : machine == EM_AMDGPU  ? "AMDGPU"
                                                 : NULL;
    pfd_core_read_waves(core);
    return PFD_OK;
}

enum pfd_status pfd_core_open(const char *path, uint64_t max_inflated,
                              pfd_finding_fn fn, void *user,
                              struct pfd_core **ret, struct pfd_error *err)
{
    struct pfd_report report = { .fn = fn, .user = user, .source = path };
    struct pfd_core *core = calloc(1, sizeof *core);
    if (!core)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    core->fd = open(path, O_RDONLY | O_CLOEXEC);
    enum pfd_status status = core->fd < 0
                                 ? fail_io(err)
                                 : open_core(core, max_inflated, &report, err);
    if (status != PFD_OK) {
        pfd_core_close(core);
        return status;
    }
    *ret = core;
    return PFD_OK;
}

void pfd_core_close(struct pfd_core *core)
{
    if (!core)
        return;
    unmap(core);
    free(core->segments);
    free(core->present);
    free(core->files);
    free(core->agents);
    free(core->queues);
    free(core->wide);
    free(core);
}
