/* SPDX-License-Identifier: MIT */
/*
 * The notes of a core. Sources: elf(5), Linux' fs/binfmt_elf.c (NT_FILE) and
 * linux/elfcore.h (NT_PRSTATUS, NT_PRPSINFO; the same on x86-64 and arm64);
 * "Core Files" in LLVM's AMDGPUUsage and ROCm's amd_core_dump.cpp for AMD's
 * note, whose entries are structs of Linux' kfd_ioctl.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/space/core.h"

enum {
    NOTE_HEADER = 12,
    NT_PRSTATUS = 1,
    NT_PRPSINFO = 3,
    NT_AUXV = 6,
    NT_FILE = 0x46494c45,
    NT_AMDGPU_KFD_CORE_STATE = 33,

    PRSTATUS_SIGNAL = 12, /* pr_cursig */
    PRPSINFO_PID = 24,
    PRPSINFO_NAME = 40,
    PRPSINFO_PID_32 = 12, /* user ids of x86 and ARM have 16 bits */
    PRPSINFO_NAME_32 = 28,
    NAME_MAX_BYTES = 16,

    FILE_ROW = 3, /* words: start, end, offset in pages */
    KFD_VERSION = 1,
    RUNTIME_MIN = 16,
    AGENT_MIN = 56, /* up to its ids */
    QUEUE_MIN = 56, /* up to its type */
    /* struct kfd_context_save_area_header */
    SAVE_HEADER = 16,
};

struct note {
    const char *owner; /* [n_owner], without its NUL */
    size_t n_owner;
    uint32_t type;
    uint64_t offset; /* of its bytes in the file */
    struct pfd_byte_reader bytes;
};

typedef bool (*note_fn)(struct pfd_core *core, const struct note *note,
                        struct pfd_report *report);

static void skip_padding(struct pfd_byte_reader *c)
{
    size_t n = (4 - c->at % 4) % 4;
    pfd_byte_reader_skip(
        c, n < pfd_byte_reader_left(c) ? n : pfd_byte_reader_left(c));
}

/* The next note; false: there is none, or it is truncated. */
static bool next_note(struct pfd_byte_reader *c, uint64_t base,
                      struct note *ret)
{
    uint32_t n_owner = pfd_byte_reader_u32(c);
    uint32_t n = pfd_byte_reader_u32(c);
    ret->type = pfd_byte_reader_u32(c);
    ret->owner = (const char *)pfd_byte_reader_bytes(c, n_owner);
    skip_padding(c);
    ret->offset = base + c->at;
    ret->bytes = pfd_byte_reader_sub(c, n);
    if (!pfd_byte_reader_ok(c))
        return false;
    skip_padding(c);
    ret->n_owner = strnlen(ret->owner, n_owner);
    return true;
}

static void cut_note(const struct note *note, const char *what,
                     struct pfd_report *report)
{
    pfd_report_add(report, PFD_FINDING_bad_core, note->offset,
                   "the note with %s is %zu bytes, which is too short", what,
                   note->bytes.n);
}

/* ---- the process ---- */

static bool read_thread(struct pfd_core *core, const struct note *note,
                        struct pfd_report *report)
{
    struct pfd_byte_reader c = note->bytes;
    (void)report;
    pfd_byte_reader_skip(&c, PRSTATUS_SIGNAL);
    uint16_t number = pfd_byte_reader_u16(&c);
    /* The first thread is the one that received the signal. */
    if (core->info.n_threads++ == 0 && pfd_byte_reader_ok(&c))
        core->info.signal = number;
    return true;
}

static bool read_process(struct pfd_core *core, const struct note *note,
                         struct pfd_report *report)
{
    bool is_32 = core->info.is_32;
    struct pfd_byte_reader c = note->bytes;
    pfd_byte_reader_skip(&c, is_32 ? PRPSINFO_PID_32 : PRPSINFO_PID);
    uint32_t pid = pfd_byte_reader_u32(&c);
    pfd_byte_reader_skip(&c, (is_32 ? PRPSINFO_NAME_32 - PRPSINFO_PID_32
                                    : PRPSINFO_NAME - PRPSINFO_PID) -
                                 4);
    const uint8_t *name = pfd_byte_reader_bytes(&c, NAME_MAX_BYTES);
    if (!name) {
        cut_note(note, "the process' name", report);
        return true;
    }
    memcpy(core->command, name, NAME_MAX_BYTES);
    core->info.command = core->command;
    core->info.pid = pid <= INT32_MAX ? pid : 0;
    return true;
}

static bool read_auxiliary(struct pfd_core *core, const struct note *note,
                           struct pfd_report *report)
{
    struct pfd_byte_reader c = note->bytes;
    size_t n = pfd_byte_reader_left(&c) / sizeof(uint32_t);
    (void)report;
    core->auxiliary = note->bytes;
    if (!core->info.is_32 || !n)
        return true;
    free(core->wide);
    core->wide = calloc(n, sizeof *core->wide);
    for (size_t i = 0; core->wide && i < n; i++)
        core->wide[i] = pfd_byte_reader_u32(&c);
    core->auxiliary = pfd_byte_reader(core->wide, core->wide ? n * 8 : 0);
    return core->wide != NULL;
}

/* ---- mapped files ---- */

static int compare_files(const void *a, const void *b)
{
    const struct pfd_core_file *x = a;
    const struct pfd_core_file *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The next name of the table's end; NULL: there is none with a NUL. */
static const char *next_name(struct pfd_byte_reader *names)
{
    size_t left = pfd_byte_reader_left(names);
    const char *name = (const char *)names->base + names->at;
    size_t n = strnlen(name, left);
    if (n == left)
        return NULL;
    pfd_byte_reader_skip(names, n + 1);
    return name;
}

static bool read_files(struct pfd_core *core, const struct note *note,
                       struct pfd_report *report)
{
    struct pfd_byte_reader rows = note->bytes;
    uint64_t n = pfd_core_word(core, &rows);
    uint64_t page = pfd_core_word(core, &rows);
    size_t row = FILE_ROW * (core->info.is_32 ? 4 : 8);
    if (core->files)
        return true; /* the first table counts */
    if (!pfd_byte_reader_ok(&rows) || n > pfd_byte_reader_left(&rows) / row) {
        cut_note(note, "the mapped files", report);
        return true;
    }
    struct pfd_byte_reader names = rows;
    pfd_byte_reader_skip(&names, (size_t)n * row);
    core->files = calloc((size_t)n + 1, sizeof *core->files);
    if (!core->files)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        struct pfd_core_file f = { .from = pfd_core_word(core, &rows) };
        f.to = pfd_core_word(core, &rows);
        uint64_t pages = pfd_core_word(core, &rows);
        f.name = next_name(&names);
        if (!f.name || f.to <= f.from || (page && pages > UINT64_MAX / page)) {
            pfd_report_add(report, PFD_FINDING_bad_core, note->offset,
                           "row %llu of the mapped files makes no sense: the "
                           "rest is left out",
                           (unsigned long long)i);
            break;
        }
        f.offset = pages * page;
        core->files[core->info.n_files++] = f;
    }
    qsort(core->files, core->info.n_files, sizeof *core->files, compare_files);
    return true;
}

/* ---- GPUs ---- */

/* Reads rows of one size, at least n_least bytes each; NULL: out of memory, or
 * they are absent (a finding), with *n at 0. */
static void *make_rows(const struct note *note, struct pfd_byte_reader *c,
                       uint32_t n_rows, uint32_t n_each, uint32_t n_least,
                       size_t n_ours, struct pfd_byte_reader *rows,
                       struct pfd_report *report)
{
    uint64_t n = (uint64_t)n_rows * n_each;
    *rows = pfd_byte_reader(c->base, 0);
    if ((n_rows && n_each < n_least) || n > pfd_byte_reader_left(c)) {
        cut_note(note, "the GPUs' state", report);
    } else {
        *rows = pfd_byte_reader_sub(c, (size_t)n);
    }
    return calloc(rows->n ? (size_t)n_rows + 1 : 1, n_ours);
}

static void read_agent(struct pfd_byte_reader c, struct pfd_core_agent *ret)
{
    ret->exception_status = pfd_byte_reader_u64(&c);
    pfd_byte_reader_skip(&c, 6 * 8); /* apertures */
    ret->gpu_id = pfd_byte_reader_u32(&c);
    ret->location_id = pfd_byte_reader_u32(&c);
    ret->vendor_id = pfd_byte_reader_u32(&c);
    ret->device_id = pfd_byte_reader_u32(&c);
    pfd_byte_reader_skip(&c, 4 * 4); /* revision, subsystem's ids, firmware */
    uint32_t target = pfd_byte_reader_u32(&c);
    ret->simd_count = pfd_byte_reader_u32(&c);
    ret->max_waves_per_simd = pfd_byte_reader_u32(&c);
    if (target) {
        snprintf(ret->target, sizeof ret->target, "gfx%u%x%x", target / 10000,
                 target / 100 % 100, target % 100);
    }
}

static void read_queue(struct pfd_byte_reader c, struct pfd_core_queue *ret)
{
    ret->exception_status = pfd_byte_reader_u64(&c);
    ret->ring_address = pfd_byte_reader_u64(&c);
    ret->write_pointer_address = pfd_byte_reader_u64(&c);
    ret->read_pointer_address = pfd_byte_reader_u64(&c);
    ret->save_address = pfd_byte_reader_u64(&c);
    ret->queue_id = pfd_byte_reader_u32(&c);
    ret->gpu_id = pfd_byte_reader_u32(&c);
    ret->ring_size = pfd_byte_reader_u32(&c);
    ret->type = pfd_byte_reader_u32(&c);
    ret->save_size = pfd_byte_reader_u32(&c);
}

/* Agents, then queues; the note has the number and the size of each. */
static bool read_rows(struct pfd_core *core, const struct note *note,
                      struct pfd_byte_reader *c, const uint32_t counts[4],
                      struct pfd_report *report)
{
    struct pfd_byte_reader rows;
    core->agents = make_rows(note, c, counts[0], counts[1], AGENT_MIN,
                             sizeof *core->agents, &rows, report);
    if (!core->agents)
        return false;
    for (; pfd_byte_reader_left(&rows); core->info.n_agents++) {
        read_agent(pfd_byte_reader_sub(&rows, counts[1]),
                   &core->agents[core->info.n_agents]);
    }
    core->queues = make_rows(note, c, counts[2], counts[3], QUEUE_MIN,
                             sizeof *core->queues, &rows, report);
    if (!core->queues)
        return false;
    for (; pfd_byte_reader_left(&rows); core->info.n_queues++) {
        read_queue(pfd_byte_reader_sub(&rows, counts[3]),
                   &core->queues[core->info.n_queues]);
    }
    return true;
}

static bool read_gpus(struct pfd_core *core, const struct note *note,
                      struct pfd_report *report)
{
    struct pfd_core_info *info = &core->info;
    struct pfd_byte_reader c = note->bytes;
    uint32_t counts[4];
    uint64_t version = pfd_byte_reader_u64(&c);
    uint32_t major = pfd_byte_reader_u32(&c);
    uint32_t minor = pfd_byte_reader_u32(&c);
    uint64_t n_runtime = pfd_byte_reader_u64(&c);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        counts[i] = pfd_byte_reader_u32(&c);
    if (info->has_gpus)
        return true; /* the first note counts */
    if (!pfd_byte_reader_ok(&c) || n_runtime > pfd_byte_reader_left(&c)) {
        cut_note(note, "the GPUs' state", report);
        return true;
    }
    if (version != KFD_VERSION) {
        pfd_report_add(report, PFD_FINDING_version, note->offset,
                       "the note with the GPUs' state has version %llu, known "
                       "is %d: not read",
                       (unsigned long long)version, KFD_VERSION);
        return true;
    }
    info->has_gpus = true;
    info->kfd_major = major;
    info->kfd_minor = minor;
    struct pfd_byte_reader runtime = pfd_byte_reader_sub(&c, (size_t)n_runtime);
    if (n_runtime >= RUNTIME_MIN)
        info->r_debug = pfd_byte_reader_u64(&runtime);
    return read_rows(core, note, &c, counts, report);
}

void pfd_core_exceptions(uint64_t status, char *ret, size_t n)
{
    static const char *const names[64] = {
        [1] = "wave: abort",
        [2] = "wave: trap",
        [3] = "wave: math error",
        [4] = "wave: illegal instruction",
        [5] = "wave: memory violation",
        [6] = "wave: aperture violation",
        [16] = "packet: invalid dimensions",
        [17] = "packet: invalid group segment size",
        [18] = "packet: invalid code",
        [19] = "packet: reserved",
        [20] = "packet: unsupported",
        [21] = "packet: invalid workgroup size",
        [22] = "packet: invalid register",
        [23] = "packet: unsupported by the vendor",
        [30] = "queue: preemption error",
        [31] = "queue: new",
        [32] = "device: queue deleted",
        [33] = "device: memory violation",
        [34] = "device: RAS error",
        [35] = "device: fatal halt",
        [36] = "device: new",
        [48] = "process: runtime",
        [49] = "process: device removed",
    };
    size_t at = 0;
    if (n)
        *ret = '\0';
    for (unsigned code = 1; code <= 64 && at < n; code++) {
        const char *name = code < 64 ? names[code] : NULL;
        if (!(status >> (code - 1) & 1))
            continue;
        const char *comma = at ? ", " : "";
        int k = name ? snprintf(ret + at, n - at, "%s%s", comma, name)
                     : snprintf(ret + at, n - at, "%scode %u", comma, code);
        at += k > 0 ? (size_t)k : 0;
    }
}

/* ---- all of them ---- */

static const struct {
    const char *owner;
    uint32_t type;
    note_fn read;
} readers[] = {
    { "CORE", NT_PRSTATUS, read_thread },
    { "CORE", NT_PRPSINFO, read_process },
    { "CORE", NT_AUXV, read_auxiliary },
    { "CORE", NT_FILE, read_files },
    { "AMDGPU", NT_AMDGPU_KFD_CORE_STATE, read_gpus },
};

static bool read_note(struct pfd_core *core, const struct note *note,
                      struct pfd_report *report)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        size_t n = strlen(readers[i].owner);
        if (note->type == readers[i].type && note->n_owner == n &&
            !memcmp(note->owner, readers[i].owner, n))
            return readers[i].read(core, note, report);
    }
    return true;
}

bool pfd_core_read_notes(struct pfd_core *core, uint64_t offset,
                         struct pfd_byte_reader notes,
                         struct pfd_report *report)
{
    struct note note;
    while (pfd_byte_reader_left(&notes) >= NOTE_HEADER) {
        uint64_t at = offset + notes.at;
        if (!next_note(&notes, offset, &note)) {
            pfd_report_add(report, PFD_FINDING_note_truncated, at,
                           "a note is longer than the notes it is among");
            return true;
        }
        if (!read_note(core, &note, report))
            return false;
    }
    return true;
}

/* Where the kernel saved the waves of a queue that it stopped: sizes of a
 * control stack and of the waves' registers (struct
 * kfd_context_save_area_header). */
void pfd_core_read_waves(struct pfd_core *core)
{
    for (size_t i = 0; i < core->info.n_queues; i++) {
        struct pfd_core_queue *q = &core->queues[i];
        uint8_t header[SAVE_HEADER];
        if (!q->save_address || pfd_core_read(core, q->save_address, header,
                                              sizeof header) != sizeof header)
            continue;
        struct pfd_byte_reader c = pfd_byte_reader(header, sizeof header);
        pfd_byte_reader_skip(&c,
                             12); /* control stack's place and size, place */
        uint32_t n = pfd_byte_reader_u32(&c);
        q->wave_bytes = n <= q->save_size ? n : 0;
    }
}
