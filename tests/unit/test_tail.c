/* SPDX-License-Identifier: MIT */
/* Buffers that are written while they are followed, with a clock of our own;
 * and snapshots that were taken while real shaders wrote. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <check.h>

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>
#include <printfdecode/tail.h>

#include "build.h"
#include "core/base/text.h"
#include "core/decode/entry_run.h"
#include "dump.h"
#include "stream/capture/chunk.h"
#include "stream/live/tail_control.h"
#include "suite.h"

#define MS UINT64_C(1000000)

enum {
    ID = 0x123456,
    ID_TEXT = 0x234567,
    ID_LONG = 0x345678, /* of LONG_ARGUMENTS */
    LONG_ARGUMENTS = 100,
    N_BUFFER = 1 << 16,
};

/* A buffer, its tail, and what has come out; made anew for each test. */
static struct world {
    uint8_t *bytes; /* [n], owned */
    size_t n;
    struct pfd_strings *strings;
    struct pfd_tail *tail;
    uint64_t now;
    struct pfd_text out; /* messages */
    bool apart;          /* stale ones go elsewhere: */
    struct pfd_text stale;
    struct pfd_text notes; /* "kind " for each finding */
    int fail;              /* errno of reads */
    size_t n_read;         /* bytes */
    size_t n_in_runs;      /* entries */
    /* Chunks of the same entries, made of runs and one by one. */
    struct pfd_chunk_writer *of_runs;
    struct pfd_chunk_writer *of_entries;
    size_t n_chunks;
    void (*meanwhile)(void); /* between a look's first two reads, once */
} w;

static long read_bytes(void *user, uint64_t offset, void *bytes, size_t n)
{
    if (w.fail)
        return -w.fail;
    if (w.meanwhile && offset) {
        w.meanwhile();
        w.meanwhile = NULL;
    }
    if (offset >= w.n)
        return 0;
    if (n > w.n - offset)
        n = w.n - (size_t)offset;
    /* In two pieces now and then. */
    if (n > 1000 && w.now % 3 == 0)
        n = 1000;
    memcpy(bytes, w.bytes + offset, n);
    w.n_read += n;
    return (long)n;
}

static void take(void *user, const struct pfd_tail_item *item)
{
    if (!item->is_entry) {
        pfd_text_printf(&w.notes, "%s ", pfd_finding_name(item->finding->kind));
        return;
    }
    size_t n = 0;
    const char *message = pfd_entry_message(item->entry, &n);
    bool stale = item->entry->findings >> PFD_FINDING_stale & 1;
    struct pfd_text *out = stale && w.apart ? &w.stale : &w.out;
    if (!message) {
        pfd_text_puts(out, "(unknown)\n");
    } else {
        pfd_text_add(out, message, n);
    }
    for (unsigned k = 0; k < PFD_ENTRY_FINDING_KINDS; k++) {
        if (item->entry->findings >> k & 1) {
            pfd_text_printf(&w.notes, "+%s ",
                            pfd_finding_name((enum pfd_finding_kind)k));
        }
    }
}

/* What comes in runs is what would have come one by one. */
static bool in_runs;

static void compare_chunks(void)
{
    size_t n = 0;
    size_t n_one_by_one = 0;
    const void *a = pfd_chunk_finish(w.of_runs, &n);
    const void *b = pfd_chunk_finish(w.of_entries, &n_one_by_one);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(n, n_one_by_one);
    ck_assert_mem_eq(a, b, n);
    w.n_chunks++;
}

static void add_to_chunks(const struct pfd_entry_run *entry_run)
{
    for (size_t i = 0; i < pfd_entry_run_count(entry_run);) {
        /* Of all sizes, and of less than an entry. */
        size_t full = 10 + w.n_chunks * 7919 % 5000;
        size_t from = i;
        ck_assert_int_eq(
            pfd_chunk_add_run(w.of_runs, entry_run, &i, full, NULL), PFD_OK);
        ck_assert_uint_gt(i, from);
        for (; from < i; from++) {
            struct pfd_entry entry;
            ck_assert(from + 1 == i || pfd_chunk_size(w.of_entries) <= full);
            pfd_entry_run_entry(entry_run, from, &entry);
            ck_assert_int_eq(pfd_chunk_add_entry(w.of_entries, &entry, NULL),
                             PFD_OK);
        }
        ck_assert_uint_eq(pfd_chunk_size(w.of_runs),
                          pfd_chunk_size(w.of_entries));
        if (i < pfd_entry_run_count(entry_run))
            compare_chunks();
    }
}

static void take_run(void *user, const struct pfd_entry_run *entry_run,
                     uint64_t generation)
{
    uint64_t n_bytes = 0;
    if (w.of_runs)
        add_to_chunks(entry_run);
    for (size_t i = 0; i < pfd_entry_run_count(entry_run); i++) {
        struct pfd_entry entry;
        const struct pfd_tail_item item = {
            .is_entry = true,
            .entry = &entry,
            .generation = generation,
        };
        pfd_entry_run_entry(entry_run, i, &entry);
        ck_assert_uint_eq(entry.findings, 0);
        n_bytes += entry.n_bytes;
        take(user, &item);
    }
    ck_assert_uint_eq(pfd_entry_run_bytes(entry_run), n_bytes);
    w.n_in_runs += pfd_entry_run_count(entry_run);
}

/* give: bytes that come out in one call, 0: all. */
static void world_of(size_t n, struct pfd_tail_options o)
{
    struct pfd_error err;
    w = (struct world){ .n = n, .now = 12345 * MS };
    w.bytes = calloc(1, n);
    w.strings = pfd_strings_new();
    char text[4 * LONG_ARGUMENTS + 1] = "";
    char sizes[LONG_ARGUMENTS + 1] = "";
    for (size_t i = 0; i < LONG_ARGUMENTS; i++) {
        memcpy(text + 4 * i, ",%u", 4);
        text[4 * i + 3] = ';';
        sizes[i] = '4';
    }
    dump_add_string(w.strings, ID_LONG, text, sizes);
    dump_add_string(w.strings, ID, "%u\n", "4");
    dump_add_string(w.strings, ID_TEXT, "a=%u b=%u\n", "44");
    o.strings = w.strings;
    o.read = read_bytes;
    o.item = take;
    ck_assert_int_eq(pfd_tail_new(&o, &w.tail, &err), PFD_OK);
    pfd_tail_take_runs(w.tail, &(struct pfd_tail_runs){
                                   in_runs ? take_run : NULL, NULL, NULL });
}

static void world_init(size_t n, size_t window, size_t give)
{
    world_of(n,
             (struct pfd_tail_options){ .window = window, .emit_max = give });
}

static void setup(void)
{
    world_init(N_BUFFER, 0, 0);
}

static void teardown(void)
{
    pfd_tail_free(w.tail);
    pfd_strings_free(w.strings);
    free(w.bytes);
    pfd_text_free(&w.out);
    pfd_text_free(&w.stale);
    pfd_text_free(&w.notes);
}

static void look(uint64_t after_ns)
{
    struct pfd_error err;
    w.now += after_ns;
    enum pfd_status status = pfd_tail_poll(w.tail, w.n, w.now, &err);
    ck_assert_msg(status >= 0, "%s", err.text);
}

static void looks(unsigned n)
{
    while (n--)
        look(MS);
}

static void finish(void)
{
    struct pfd_error err;
    ck_assert_int_eq(pfd_tail_finish(w.tail, w.n, &err), PFD_OK);
}

static struct pfd_summary said(void)
{
    return *pfd_tail_summary(w.tail);
}

/* What came out since the last time; told by the first line that differs. */
static void expect(const char *out, const char *notes)
{
    size_t at = 0;
    size_t line = 0;
    pfd_text_add(&w.out, "", 1);
    pfd_text_add(&w.notes, "", 1);
    for (; w.out.data[at] == out[at] && out[at]; at++)
        line = out[at] == '\n' ? at + 1 : line;
    ck_assert_msg(w.out.data[at] == out[at],
                  "from byte %zu on: \"%.40s\", and not \"%.40s\"", line,
                  w.out.data + line, out + line);
    ck_assert_str_eq(w.notes.data, notes);
    w.out.n = 0;
    w.notes.n = 0;
}

static uint64_t used(void)
{
    uint64_t dwords;
    memcpy(&dwords, w.bytes, 8);
    return 16 + 4 * dwords;
}

static void set_used(uint64_t bytes)
{
    uint64_t dwords = (bytes - 16) / 4;
    memcpy(w.bytes, &dwords, 8);
}

/* Reserves an entry of one argument; where it is. */
static uint64_t reserve(void)
{
    uint64_t at = used();
    set_used(at + 12);
    return at;
}

static void fill(uint64_t at, uint32_t value)
{
    uint64_t header = (uint64_t)ID << 16 | 3;
    memcpy(w.bytes + at + 8, &value, 4);
    memcpy(w.bytes + at, &header, 8);
}

static void print(uint32_t value)
{
    fill(reserve(), value);
}

static void print_from(uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        print(first + i);
}

START_TEST(test_two_looks)
{
    ck_assert_uint_eq(pfd_tail_due(w.tail), 0);
    look(MS);
    print(1);
    look(MS);
    expect("", "");
    print(2);
    look(MS);
    expect("1\n", "");
    ck_assert_uint_eq(pfd_tail_due(w.tail), w.now + MS);
    look(MS / 2); /* too soon */
    ck_assert_uint_eq(pfd_tail_due(w.tail), w.now + MS / 2);
    look(MS / 2 - 1);
    expect("", "");
    look(1);
    expect("2\n", "");
    print(3);
    look(MS);
    expect("", "");
    ck_assert_uint_eq(pfd_tail_pending(w.tail), 12);
    look(MS);
    expect("3\n", "");
    ck_assert_uint_eq(pfd_tail_pending(w.tail), 0);
    look(1000 * MS);
    finish();
    expect("", "");
}
END_TEST

START_TEST(test_hole_is_filled)
{
    print(1);
    uint64_t hole = reserve();
    print(3);
    looks(90);
    expect("1\n", "");
    fill(hole, 2);
    look(MS);
    expect("", "");
    look(MS);
    expect("2\n3\n", "");
}
END_TEST

START_TEST(test_hole_expires)
{
    print(1);
    uint64_t hole = reserve();
    uint64_t second = reserve();
    print(4);
    look(MS);
    look(9 * MS);
    uint64_t young = reserve();
    print(6);
    looks(90);
    expect("1\n", "");
    looks(4);
    expect("4\n", "unwritten ");
    look(20 * MS);
    look(MS);
    expect("6\n", "unwritten ");
    fill(second, 3);
    looks(60);
    expect("3\n", "+late ");
    fill(young, 5);
    looks(60);
    expect("5\n", "+late ");
    fill(hole, 2);
    finish();
    expect("2\n", "+late ");
    ck_assert_uint_eq(said().entries, 6);
    ck_assert_uint_eq(said().skipped_bytes, 0);
}
END_TEST

/* A payload that comes later than its header, but before the second look. */
START_TEST(test_torn_payload)
{
    uint64_t at = reserve();
    fill(at, 0);
    look(MS);
    fill(at, 77);
    look(MS);
    expect("", "");
    look(MS);
    expect("77\n", "");
    /* Too late: said, and no reset. */
    fill(at = reserve(), 0);
    looks(2);
    fill(at, 78);
    looks(2);
    expect("0\n", "changed ");
    ck_assert_uint_eq(pfd_tail_generation(w.tail), 0);
}
END_TEST

START_TEST(test_torn_header)
{
    uint64_t at = reserve();
    fill(at, 5);
    memset(w.bytes + at + 4, 0, 4);
    looks(3);
    expect("", "");
    fill(at, 5);
    looks(2);
    expect("5\n", "");
}
END_TEST

START_TEST(test_unknown_id)
{
    uint64_t header = UINT64_C(0x999999) << 16 | 2;
    uint64_t at = used();
    memcpy(w.bytes + at, &header, 8);
    set_used(at + 8);
    print(9);
    looks(50);
    expect("", "");
    looks(60);
    expect("(unknown)\n9\n", "+unknown_id ");
}
END_TEST

START_TEST(test_reset)
{
    print_from(0, 4);
    looks(2);
    expect("0\n1\n2\n3\n", "");
    set_used(16);
    print(10);
    uint64_t hole = reserve(); /* an old entry stands there */
    print(12);
    looks(3);
    expect("10\n", "reset ");
    ck_assert_uint_eq(pfd_tail_generation(w.tail), 1);
    fill(hole, 11);
    looks(2);
    expect("11\n12\n", "");
    reserve(); /* the old entry 3, which is never written over */
    print(14);
    looks(120);
    expect("3\n14\n", "+stale ");
}
END_TEST

/* Cleared and used beyond the old cursor between two looks. */
START_TEST(test_reset_unseen)
{
    print(1);
    print(2);
    looks(2);
    expect("1\n2\n", "");
    set_used(16);
    print_from(100, 3);
    looks(3);
    expect("100\n101\n102\n", "reset ");
    /* The same number of entries again, one of them another. */
    set_used(16);
    print_from(200, 3);
    looks(3);
    expect("200\n201\n202\n", "reset ");
}
END_TEST

/* What had not come out when the buffer began anew comes out of what is left
 * of it. */
START_TEST(test_reset_rest)
{
    look(MS);
    print_from(0, 5);
    look(MS);
    expect("", "");
    set_used(16);
    print(10);
    look(MS);
    expect("1\n2\n3\n4\n", "reset unwritten ");
    look(MS);
    expect("10\n", "");
    print(11);
    pfd_tail_restart(w.tail);
    set_used(16);
    print_from(20, 3);
    looks(2);
    expect("20\n21\n22\n", "reset ");
}
END_TEST

/* Attached to a buffer with leftovers behind its used part. */
START_TEST(test_attach)
{
    print_from(0, 5);
    set_used(16);
    print(10);
    uint64_t hole = reserve();
    looks(2);
    expect("", "");
    fill(hole, 11);
    print(12);
    looks(110);
    expect("10\n11\n12\n", "");
}
END_TEST

static void print_five(void)
{
    print_from(20, 5);
}

/* Attached while a device begins: what it has written is no leftover. */
START_TEST(test_attach_meanwhile)
{
    w.meanwhile = print_five;
    w.bytes[40] = 1; /* or nobody looks: of an entry to be */
    looks(2);
    expect("", "");
    looks(110);
    expect("20\n21\n22\n23\n24\n", "");
}
END_TEST

/* The same with leftovers behind that. */
START_TEST(test_attach_meanwhile_behind)
{
    print_from(0, 9);
    set_used(16);
    w.meanwhile = print_five;
    looks(112);
    expect("20\n21\n22\n23\n24\n", "");
    print_from(30, 4);
    looks(112);
    expect("30\n31\n32\n33\n", "");
}
END_TEST

START_TEST(test_overflow)
{
    world_init(16 + 4 * 12 + 7, 0, 0);
    print_from(0, 4);
    set_used(16 + 10 * 12);
    looks(2);
    expect("0\n1\n2\n3\n", "");
    finish();
    ck_assert_uint_eq(said().entries, 4);
    ck_assert_uint_eq(said().lost_bytes, 6 * 12 - 4);
    expect("", "stray_dword overflow ");
}
END_TEST

/* A generation's loss is told when the next one begins, and once. */
START_TEST(test_overflow_reset)
{
    world_init(16 + 4 * 12, 0, 0);
    print_from(0, 4);
    set_used(16 + 10 * 12);
    looks(2);
    expect("0\n1\n2\n3\n", "");
    set_used(16);
    print_from(20, 2);
    looks(2);
    expect("20\n21\n", "reset overflow ");
    ck_assert_uint_eq(said().lost_bytes, 6 * 12);
    set_used(16 + 7 * 12);
    finish();
    ck_assert_uint_eq(said().lost_bytes, 9 * 12);
    pfd_tail_restart(w.tail);
    set_used(16);
    looks(2);
    ck_assert_uint_eq(said().lost_bytes, 9 * 12);
}
END_TEST

/* Bytes come, cut anywhere, with pauses that are longer than anything is waited
 * for: nothing is given up because it is on its way. */
START_TEST(test_arriving)
{
    static const struct pfd_tail_options arrives = { .arrives = true };
    static const size_t steps[] = { 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 41, 1000 };
    size_t step = steps[_i];
    size_t n = 16 + 20 * 12;
    world_of(n, arrives);
    print_from(100, 20);
    for (w.n = 0; w.n < n; w.n += step)
        looks(150);
    w.n = n;
    looks(2);
    expect("100\n101\n102\n103\n104\n105\n106\n107\n108\n109\n"
           "110\n111\n112\n113\n114\n115\n116\n117\n118\n119\n",
           "");
    finish();
    expect("", "");
    ck_assert_uint_eq(said().entries, 20);
    ck_assert_uint_eq(said().skipped_bytes, 0);
}
END_TEST

/* What has not come by the end is lost, and said to be. */
START_TEST(test_arrived_in_part)
{
    world_of(16 + 3 * 12 + 8, (struct pfd_tail_options){ .arrives = true });
    print_from(0, 3);
    set_used(16 + 10 * 12);
    uint64_t header = (uint64_t)ID << 16 | 3;
    memcpy(w.bytes + 16 + 3 * 12, &header, 8);
    looks(500);
    expect("0\n1\n2\n", "");
    finish();
    expect("", "truncated_entry overflow ");
    ck_assert_uint_eq(said().lost_bytes, 7 * 12 - 8);
}
END_TEST

START_TEST(test_shrunk)
{
    print_from(0, 4);
    looks(2);
    expect("0\n1\n2\n3\n", "");
    w.n = 20;
    looks(2);
    w.n = 0;
    look(MS);
    expect("", "shrunk shrunk ");
    w.n = N_BUFFER;
    print(4);
    looks(2);
    expect("4\n", "");
    w.fail = EIO;
    struct pfd_error err;
    w.now += MS;
    ck_assert_int_eq(pfd_tail_poll(w.tail, w.n, w.now, &err), PFD_ERR_IO);
    w.fail = 0;
    finish();
    expect("", "");
}
END_TEST

/* More than a look takes; and garbage of that size. */
START_TEST(test_burst)
{
    enum {
        N = 300000
    };
    struct pfd_text wanted = { 0 };
    world_init(16 + 12 * N + (2 << 20), 1, 0);
    for (uint32_t i = 0; i < N; i++) {
        print(i);
        pfd_text_printf(&wanted, "%u\n", i);
    }
    pfd_text_add(&wanted, "", 1);
    looks(40);
    expect(wanted.data, "");
    ck_assert_uint_ge(w.n_in_runs, in_runs ? N / 10 * 9 : 0);
    set_used(w.n);
    for (int i = 0; i < 400 && pfd_tail_pending(w.tail); i++)
        look(MS);
    ck_assert_uint_eq(pfd_tail_pending(w.tail), 0);
    pfd_text_free(&wanted);
}
END_TEST

/* A run makes the chunk that its entries make. */
START_TEST(test_runs_in_chunks)
{
    static const uint32_t sizes[][2] = { { ID, 1 },
                                         { ID_TEXT, 2 },
                                         { ID_LONG, LONG_ARGUMENTS } };
    enum {
        N = 50000
    };
    world_init(16 + 4 * N, 0, 0);
    ck_assert_int_eq(pfd_chunk_writer_new(&w.of_runs, NULL), PFD_OK);
    ck_assert_int_eq(pfd_chunk_writer_new(&w.of_entries, NULL), PFD_OK);
    set_used(16);
    for (uint32_t seed = 1; used() + 1000 < w.n;) {
        seed = seed * 1664525 + 1013904223;
        /* Long ones are rare, and side by side. */
        const uint32_t *kind = sizes[seed >> 22 & 3   ? seed >> 30 & 1
                                     : seed >> 20 & 1 ? 2
                                                      : 1];
        uint64_t header = (uint64_t)kind[0] << 16 | (kind[1] + 2);
        uint64_t at = used();
        for (uint32_t i = 0; i < kind[1]; i++) {
            uint32_t value = seed ^ (i * 2654435761U);
            memcpy(w.bytes + at + 8 + 4 * i, &value, 4);
        }
        memcpy(w.bytes + at, &header, 8);
        set_used(at + 8 + 4 * kind[1]);
    }
    looks(20);
    finish();
    if (in_runs) {
        ck_assert_uint_gt(w.n_chunks, 20);
        compare_chunks();
    }
    pfd_chunk_writer_free(w.of_runs);
    pfd_chunk_writer_free(w.of_entries);
}
END_TEST

/* What two looks have seen comes out piece by piece, without another look;
 * a buffer that begins anew meanwhile takes none of it away. */
START_TEST(test_pieces)
{
    enum {
        WINDOW = 1 << 19,
        GIVE = 1 << 16,
        N = WINDOW / 12 * 3 / 2 - 100, /* two looks reach the end */
    };
    world_init(16 + 12 * N, WINDOW, GIVE);
    print_from(0, N);
    look(MS);
    ck_assert_uint_eq(said().entries, 0);
    look(MS);
    for (uint64_t i = 1; i <= 4; i++) {
        ck_assert_uint_le(said().bytes, i * GIVE);
        ck_assert_uint_gt(said().bytes, (i - 1) * GIVE);
        look(0);
    }
    ck_assert_uint_le(said().bytes, WINDOW / 2); /* not without another look */
    uint64_t before = said().bytes;
    look(MS);
    ck_assert_uint_gt(said().bytes, before); /* this half was seen twice, too */
    set_used(16);
    for (int i = 0; i < 3; i++)
        look(0);
    ck_assert_uint_gt(said().bytes, before + WINDOW / 2 - GIVE);
    ck_assert_uint_eq(pfd_tail_generation(w.tail), 0);
    look(MS);
    ck_assert_uint_eq(pfd_tail_generation(w.tail), 1);
    /* The rest had been seen once, and still stands there. */
    ck_assert_uint_eq(said().entries, N);
}
END_TEST

/* What two looks have seen behind something doubtful is not lost when the
 * buffer begins anew before the doubt is over. */
START_TEST(test_reset_behind_doubt)
{
    print_from(1, 2);
    looks(2);
    expect("1\n2\n", "");
    set_used(16);
    look(MS);
    print(1); /* as it stood there before */
    print_from(4, 2);
    looks(2);
    expect("", "reset ");
    print(6); /* seen once only */
    look(MS);
    set_used(16);
    print_from(10, 3);
    look(MS);
    expect("1\n4\n5\n6\n", "+stale reset ");
    look(MS);
    expect("10\n11\n12\n", "");
}
END_TEST

/* The same farther than a look reaches that goes on. */
START_TEST(test_reset_far_behind_doubt)
{
    enum {
        WINDOW = 1 << 19,
        N = 2 * WINDOW / 12,
    };
    world_init(16 + 12 * N + 12, WINDOW, 0);
    print(1);
    looks(2);
    set_used(16);
    look(MS);
    expect("1\n", "reset ");
    print(1);
    print_from(2, N);
    looks(4);
    expect("", "");
    set_used(16);
    memset(w.bytes + 16, 0, w.n - 16);
    look(MS);
    ck_assert_uint_eq(said().entries, 1 + 1 + N);
}
END_TEST

enum {
    PER_MS = 400 /* entries in a millisecond: 4800 bytes */
};

static void fill_header(uint64_t at)
{
    uint64_t header = (uint64_t)ID << 16 | 3;
    memcpy(w.bytes + at, &header, 8);
}

/* A device that prints faster than its stores get through: payloads come long
 * after their headers. While that goes on, zeros are not believed. */
START_TEST(test_saturated)
{
    enum {
        ROUNDS = 60,
        LAG = 20 * PER_MS, /* entries until a payload comes */
        N = ROUNDS * PER_MS,
    };
    struct pfd_text wanted = { 0 };
    world_init(16 + 12 * N, 0, 0);
    for (uint32_t i = 0; i < N + LAG; i++) {
        if (i < N) {
            fill_header(reserve());
            pfd_text_printf(&wanted, "%u\n", i + 1);
        }
        if (i >= LAG)
            fill(16 + 12 * (i - LAG), i - LAG + 1);
        if (i % PER_MS == PER_MS - 1 && i < N)
            look(MS);
    }
    ck_assert_uint_gt(said().entries, N - LAG - 3 * PER_MS);
    looks(2);
    pfd_text_add(&wanted, "", 1);
    expect(wanted.data, "");
    pfd_text_free(&wanted);
}
END_TEST

/* The same where the header comes when nobody waits for it any more. */
START_TEST(test_saturated_late)
{
    world_init(4 << 20, 0, 0);
    uint64_t hole = reserve();
    for (uint32_t i = 0; i < 400; i++) {
        print_from(i * PER_MS + 1, PER_MS);
        if (i == 150)
            fill_header(hole);
        if (i == 250)
            fill(hole, 77777777);
        look(MS);
    }
    looks(60);
    pfd_text_add(&w.out, "", 1);
    pfd_text_add(&w.notes, "", 1);
    ck_assert_ptr_nonnull(strstr(w.out.data, "\n77777777\n"));
    ck_assert_ptr_null(strstr(w.out.data, "\n0\n"));
    ck_assert_str_eq(w.notes.data, "unwritten +late ");
}
END_TEST

/* Of a buffer of an unknown format nothing but the header is read while that is
 * empty. */
/* A source of this process' memory, where the buffer is followed. */
START_TEST(test_mapped)
{
    struct pfd_source *source = NULL;
    uint64_t size = 0;
    char part[8] = "";
    char *memory = calloc(1, N_BUFFER);
    ck_assert_ptr_nonnull(memory);
    ck_assert_int_eq(pfd_source_open_mapped(memory, N_BUFFER, &source, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_source_size(source, &size, NULL), PFD_OK);
    ck_assert_uint_eq(size, N_BUFFER);
    ck_assert(pfd_source_changed(source));
    ck_assert(!pfd_source_changed(source));
    memcpy(memory + 3, "abcdefgh", 8);
    ck_assert(pfd_source_changed(source));
    ck_assert_int_eq(pfd_source_read(source, 4, part, 5), 5);
    ck_assert_int_eq(memcmp(part, "bcdef\0\0\0", 8), 0);
    memory[N_BUFFER - 1] = 'z';
    ck_assert_int_eq(pfd_source_read(source, N_BUFFER - 1, part, 8), 1);
    ck_assert_int_eq(part[0], 'z');
    ck_assert_int_eq(pfd_source_read(source, N_BUFFER, part, 8), 0);
    ck_assert_int_eq(pfd_source_read(source, UINT64_MAX, part, 8), 0);
    pfd_source_close(source);
    free(memory);
}
END_TEST

START_TEST(test_empty)
{
    struct pfd_error err;
    struct pfd_strings *none = pfd_strings_new();
    struct pfd_tail_options o = {
        .strings = none,
        .read = read_bytes,
        .item = take,
    };
    setup();
    pfd_tail_free(w.tail);
    ck_assert_int_eq(pfd_tail_new(&o, &w.tail, &err), PFD_OK);
    looks(10);
    ck_assert_uint_le(w.n_read, 640);
    print_from(0, 100);
    looks(10);
    finish();
    ck_assert_uint_eq(said().entries, 100);
    pfd_strings_free(none);
}
END_TEST

enum {
    STUCK_WINDOW = 1 << 19,
    STUCK_LOOKS = 100, /* fewer than until it is believed all the same */
    /* Entries before the first of those. */
    STUCK_BEFORE = 5 * STUCK_WINDOW / 12,
};

/* Much is printed behind an entry of which a dword may be unwritten: what stands
 * there is read twice, and not again with each look. */
static void get_stuck(struct pfd_text *wanted, uint32_t first)
{
    const size_t beside = 32 << 10; /* of each look: the header, what has come
                                       out, the entry */
    world_init(4 << 20, STUCK_WINDOW, 0);
    fill_header(reserve());
    pfd_text_printf(wanted, "%u\n", first);
    for (uint32_t i = 0; i < STUCK_LOOKS; i++) {
        uint32_t n = i == 0 ? STUCK_BEFORE : PER_MS;
        uint32_t at = i == 0 ? 1 : STUCK_BEFORE + 1 + (i - 1) * PER_MS;
        print_from(at, n);
        for (uint32_t k = 0; k < n; k++)
            pfd_text_printf(wanted, "%u\n", at + k);
        look(MS);
    }
    expect("", "");
    ck_assert_uint_lt(w.n_read,
                      10 * (size_t)STUCK_WINDOW + STUCK_LOOKS * beside);
    pfd_text_add(wanted, "", 1);
}

START_TEST(test_stuck)
{
    struct pfd_text wanted = { 0 };
    get_stuck(&wanted, 0);
    looks(20); /* nothing more is printed */
    expect(wanted.data, "");
    pfd_text_free(&wanted);
}
END_TEST

/* The dword comes, and more is printed. */
START_TEST(test_stuck_until_written)
{
    struct pfd_text wanted = { 0 };
    get_stuck(&wanted, 4711);
    fill(16, 4711);
    wanted.n--;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t at = STUCK_BEFORE + 1 + (STUCK_LOOKS - 1 + i) * PER_MS;
        print_from(at, PER_MS);
        for (uint32_t k = 0; k < PER_MS; k++)
            pfd_text_printf(&wanted, "%u\n", at + k);
        look(MS);
    }
    ck_assert_uint_gt(said().entries, STUCK_BEFORE);
    looks(4);
    pfd_text_add(&wanted, "", 1);
    expect(wanted.data, "");
    pfd_text_free(&wanted);
}
END_TEST

/* The buffer begins anew: what a look could read is there, but for what nobody
 * knows: whether the dword was written at last. */
START_TEST(test_stuck_reset)
{
    struct pfd_text wanted = { 0 };
    get_stuck(&wanted, 0);
    set_used(16);
    if (_i) {
        fill(16, 4711);
    } else {
        memset(w.bytes + 16, 0, w.n - 16);
    }
    look(MS);
    ck_assert_uint_ge(said().entries, 4 * STUCK_WINDOW / 12 - 2);
    ck_assert_uint_ge(said().skipped_bytes, 12);
    w.out.n = strlen("1\n2\n3\n");
    pfd_text_add(&w.out, "", 1);
    ck_assert_str_eq(w.out.data, "1\n2\n3\n");
    pfd_text_free(&wanted);
}
END_TEST

/* It still stands there as it was read. */
START_TEST(test_stuck_reset_as_it_was)
{
    struct pfd_text wanted = { 0 };
    get_stuck(&wanted, 0);
    set_used(16);
    look(MS);
    w.out.n = strlen("0\n1\n2\n");
    pfd_text_add(&w.out, "", 1);
    ck_assert_str_eq(w.out.data, "0\n1\n2\n");
    pfd_text_free(&wanted);
}
END_TEST

/* Zeros that are meant come out at once when little is printed, */
START_TEST(test_zeros)
{
    look(MS);
    print(0);
    looks(2);
    expect("0\n", "");
    print(0);
    print(1);
    looks(2);
    expect("0\n1\n", "");
}
END_TEST

/* and when much is: as soon as that is over, or after a while. */
START_TEST(test_zeros_saturated)
{
    enum {
        BUSY = 200,     /* ms */
        PATIENCE = 400, /* likewise */
    };
    world_init(4 << 20, 0, 0);
    print(0);
    for (uint32_t i = 0; i < BUSY; i++) {
        print_from(i * PER_MS + 1, PER_MS);
        look(MS);
    }
    expect("", "");
    look(MS);
    ck_assert_uint_eq(said().entries, 1 + BUSY * PER_MS);
    w.out.n = 0;
    print(0);
    for (uint32_t i = 0; i < PATIENCE - 10; i++) {
        print_from(i * PER_MS + 1, PER_MS);
        look(MS);
    }
    expect("", "");
    for (uint32_t i = 0; i < 30; i++) {
        print_from(i * PER_MS + 1, PER_MS);
        look(MS);
    }
    ck_assert_uint_gt(said().entries, 2 + BUSY * PER_MS);
}
END_TEST

/* Lanes that reserve and write dword by dword, in any order; each line comes
 * out once. */
START_TEST(test_lanes)
{
    enum {
        LANES = 16,
        EACH = 40
    };
    struct {
        uint64_t at;
        uint32_t words[4];
        uint32_t n_written;
        uint32_t n_done;
    } lanes[LANES] = { 0 };
    static uint8_t seen[LANES * EACH];
    uint64_t rng = (uint64_t)_i;
    bool more = true;
    memset(seen, 0, sizeof seen);
    while (more) {
        more = false;
        for (int step = 0; step < 200; step++) {
            uint32_t k = dump_below(&rng, LANES);
            uint64_t header = (uint64_t)ID_TEXT << 16 | 4;
            if (lanes[k].n_done == EACH)
                continue;
            more = true;
            if (!lanes[k].at) {
                lanes[k].at = used();
                set_used(lanes[k].at + 16);
                memcpy(lanes[k].words, &header, 8);
                lanes[k].words[2] = 1 + k;
                lanes[k].words[3] = 1 + lanes[k].n_done;
                lanes[k].n_written = 0;
                continue;
            }
            /* The payload first, then the header's halves. */
            static const uint32_t order[] = { 2, 3, 0, 1 };
            uint32_t word = order[lanes[k].n_written++];
            memcpy(w.bytes + lanes[k].at + 4 * word, &lanes[k].words[word], 4);
            if (lanes[k].n_written == 4) {
                lanes[k].at = 0;
                lanes[k].n_done++;
            }
        }
        look(MS);
    }
    looks(2);
    finish();
    pfd_text_add(&w.out, "", 1);
    for (char *line = strtok(w.out.data, "\n"); line;
         line = strtok(NULL, "\n")) {
        unsigned a;
        unsigned b;
        ck_assert_int_eq(sscanf(line, "a=%u b=%u", &a, &b), 2);
        ck_assert_uint_eq(seen[(a - 1) * EACH + b - 1]++, 0);
    }
    for (size_t i = 0; i < sizeof seen; i++)
        ck_assert_uint_eq(seen[i], 1);
}
END_TEST

/* ---- snapshots of real shaders ---- */

static size_t load(const char *name, const char *file, uint8_t *ret, size_t max)
{
    char path[512];
    snprintf(path, sizeof path, "%s/llpc/%s/%s", getenv("CASES"), name, file);
    gzFile f = gzopen(path, "rb");
    if (!f) {
        strcat(path, ".gz");
        f = gzopen(path, "rb");
    }
    ck_assert_msg(f != NULL, "%s", path);
    int n = gzread(f, ret, (unsigned)max);
    ck_assert_int_gt(n, 0);
    gzclose(f);
    return (size_t)n;
}

static bool add_text(void *user, const void *bytes, size_t n)
{
    pfd_text_add(user, bytes, n);
    return true;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lines of text, NUL-terminated in place, sorted. */
static size_t lines_of(struct pfd_text *text, const char ***ret)
{
    size_t n = 0;
    pfd_text_add(text, "", 1);
    *ret = calloc(text->n, sizeof **ret);
    for (char *line = strtok(text->data, "\n"); line; line = strtok(NULL, "\n"))
        (*ret)[n++] = line;
    qsort(*ret, n, sizeof **ret, compare);
    return n;
}

/* How many of a are not in b, both sorted. */
static unsigned n_without(const char **a, size_t n_a, const char **b,
                          size_t n_b)
{
    unsigned n = 0;
    for (size_t i = 0, k = 0; i < n_a;) {
        int order = k == n_b ? -1 : strcmp(a[i], b[k]);
        n += order < 0;
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

/* How an earlier run left the buffer of a snapshot: what has been written since
 * (it is the same when all is done) had other arguments then. */
static void unwrite(const uint8_t *live, size_t n_live, const uint8_t *whole)
{
    uint64_t end = 0;
    memcpy(w.bytes, live, n_live);
    memcpy(&end, live, 8);
    end = 16 + 4 * end;
    for (uint64_t at = 16; at < end;) {
        uint64_t n = 4 * (uint64_t)(whole[at] | whole[at + 1] << 8);
        ck_assert_uint_ge(n, 8);
        if (at + n <= end && !memcmp(live + at, whole + at, n)) {
            for (uint64_t i = at + 8; i < at + n; i++)
                w.bytes[i] ^= 0x11;
        }
        at += n;
    }
    uint64_t last = 0;
    for (uint64_t at = 16; at < n_live; at++) {
        if (w.bytes[at])
            last = at;
    }
    set_used(20 + last / 4 * 4);
}

static const struct {
    const char *live[2]; /* cases, earliest first */
    const char *whole;
    unsigned pause_ms; /* each snapshot stays so long */
    bool reset;        /* followed before the driver cleared the header */
    unsigned extra;    /* lines that no rule can keep back or flag */
    unsigned missing;  /* and those that come out torn instead */
} replays[] = {
    { { "vk_midflight_live0", "vk_midflight_live1" },
      "vk_midflight",
      .pause_ms = 5 },
    { { "vk_midflight_live0", "vk_midflight_live1" },
      "vk_midflight",
      .pause_ms = 60 },
    { { "vk_midflight_live0", "vk_midflight_live1" },
      "vk_midflight",
      .pause_ms = 500 },
    { { "vk_torn_live0", "vk_torn_live1" }, "vk_torn", .pause_ms = 1 },
    /* Halves that stand still for longer than the looks are apart. */
    { { "vk_torn_live0", "vk_torn_live1" },
      "vk_torn",
      .pause_ms = 5,
      .extra = 13,
      .missing = 13 },
    { { "vk_stalelive_again_live0", "vk_stalelive_again_live1" },
      "vk_stalelive_again",
      .pause_ms = 5 },
    { { "vk_stalelive_again_live0", "vk_stalelive_again_live1" },
      "vk_stalelive_again",
      .pause_ms = 60 },
    /* Nobody was there to see what the holes are from. */
    { { "vk_stalelive_again_live0", "vk_stalelive_again_live1" },
      "vk_stalelive_again",
      .pause_ms = 500,
      .extra = 18 },
    { { "vk_stalelive_again_live0", "vk_stalelive_again_live1" },
      "vk_stalelive_again",
      .pause_ms = 60,
      .reset = true },
    { { "vk_stalelive_again_live0", "vk_stalelive_again_live1" },
      "vk_stalelive_again",
      .pause_ms = 500,
      .reset = true,
      .extra = 1 },
};

static void replay(int i)
{
    enum {
        MAX = 1 << 20
    };
    static uint8_t live[MAX];
    static uint8_t whole[MAX];
    load(replays[i].whole, "buffer.bin", whole, MAX);
    if (replays[i].reset) {
        unwrite(live, load(replays[i].live[0], "buffer.bin", live, MAX), whole);
        looks(300);
        ck_assert_uint_eq(pfd_tail_generation(w.tail), 0);
        memset(w.bytes, 0, 16);
        look(MS);
        ck_assert_uint_eq(pfd_tail_generation(w.tail), 1);
        w.out.n = 0;
        w.stale.n = 0;
        w.notes.n = 0;
    }
    uint64_t generation = pfd_tail_generation(w.tail);
    for (int k = 0; k < 3; k++) {
        w.n = load(k < 2 ? replays[i].live[k] : replays[i].whole, "buffer.bin",
                   w.bytes, MAX);
        looks(replays[i].pause_ms);
    }
    finish();
    ck_assert_uint_eq(pfd_tail_generation(w.tail), generation);
}

START_TEST(test_replay)
{
    enum {
        MAX = 1 << 20
    };
    struct pfd_text wanted = { 0 };
    struct pfd_text all = { 0 };
    struct pfd_summary summary = { 0 };
    struct pfd_error err;
    const char **want;
    const char **plain;
    const char **got;
    static uint8_t image[MAX];

    world_init(MAX, 0, 0);
    w.apart = true;
    pfd_strings_load(w.strings, image,
                     load(replays[_i].whole, "image.elf", image, MAX), "elf",
                     NULL, NULL, &err);
    replay(_i);
    struct pfd_convert convert = {
        .strings = w.strings,
        .output = "raw",
        .limit = UINT64_MAX,
        .write = add_text,
        .write_user = &wanted,
    };
    ck_assert_int_eq(pfd_convert_bytes(&convert, w.bytes, w.n, &summary, &err),
                     PFD_OK);
    pfd_text_add(&all, w.out.data, w.out.n);
    pfd_text_add(&all, w.stale.data, w.stale.n);
    size_t n_want = lines_of(&wanted, &want);
    size_t n_plain = lines_of(&w.out, &plain);
    size_t n_got = lines_of(&all, &got);
    unsigned extra = n_without(plain, n_plain, want, n_want);
    unsigned missing = n_without(want, n_want, got, n_got);
    printf("%s, %u ms: %zu lines, %u extra, %u missing, %zu as stale; %.*s\n",
           replays[_i].whole, replays[_i].pause_ms, n_want, extra, missing,
           n_got - n_plain, w.notes.n < 200 ? (int)w.notes.n : 200,
           w.notes.data);
    ck_assert_uint_eq(extra, replays[_i].extra);
    ck_assert_uint_eq(missing, replays[_i].missing);
    free(want);
    free(plain);
    free(got);
    pfd_text_free(&wanted);
    pfd_text_free(&all);
}
END_TEST

static int run_all(const char *name)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create("tail");
    TCase *sized = tcase_create("of another size");
    tcase_set_timeout(tcase, 120);
    tcase_set_timeout(sized, 120);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_checked_fixture(sized, NULL, teardown);
    tcase_add_test(tcase, test_two_looks);
    tcase_add_test(tcase, test_hole_is_filled);
    tcase_add_test(tcase, test_hole_expires);
    tcase_add_test(tcase, test_torn_payload);
    tcase_add_test(tcase, test_torn_header);
    tcase_add_test(tcase, test_unknown_id);
    tcase_add_test(tcase, test_reset);
    tcase_add_test(tcase, test_reset_unseen);
    tcase_add_test(tcase, test_reset_rest);
    tcase_add_test(tcase, test_attach);
    tcase_add_test(tcase, test_attach_meanwhile);
    tcase_add_test(tcase, test_attach_meanwhile_behind);
    tcase_add_test(tcase, test_shrunk);
    tcase_add_test(tcase, test_reset_behind_doubt);
    tcase_add_test(tcase, test_zeros);
    tcase_add_loop_test(tcase, test_lanes, 0, 30);
    tcase_add_test(sized, test_overflow);
    tcase_add_test(sized, test_overflow_reset);
    tcase_add_loop_test(sized, test_arriving, 0, 12);
    tcase_add_test(sized, test_arrived_in_part);
    tcase_add_test(sized, test_burst);
    tcase_add_test(sized, test_runs_in_chunks);
    tcase_add_test(sized, test_pieces);
    tcase_add_test(sized, test_reset_far_behind_doubt);
    tcase_add_test(sized, test_saturated);
    tcase_add_test(sized, test_saturated_late);
    tcase_add_test(sized, test_mapped);
    tcase_add_test(sized, test_empty);
    tcase_add_test(sized, test_stuck);
    tcase_add_test(sized, test_stuck_until_written);
    tcase_add_loop_test(sized, test_stuck_reset, 0, 2);
    tcase_add_test(sized, test_stuck_reset_as_it_was);
    tcase_add_test(sized, test_zeros_saturated);
    tcase_add_loop_test(sized, test_replay, 0,
                        sizeof replays / sizeof *replays);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, sized);
    return suite_run_all(suite);
}

int main(void)
{
    int failed = run_all("tail");
    in_runs = true;
    return run_all("tail, in runs") | failed;
}
