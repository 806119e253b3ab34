/* SPDX-License-Identifier: MIT */
/*
 * Captures as a whole: whatever is cut off or changed is told, and what came
 * is decoded as a dump of those bytes would be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>

#include "build.h"
#include "core/base/text.h"
#include "dump.h"
#include "stream/capture/capture.h"
#include "stream/capture/wire.h"
#include "suite.h"

enum {
    N_MESSAGES = 20,
    ID = 0x1234,
    ENTRY = 16, /* bytes: a header and two dwords */
    HEADER = 16,
};

static bool to_text(void *user, const void *bytes, size_t n)
{
    pfd_text_add(user, bytes, n);
    return true;
}

/* ---- what is captured ---- */

/* A code object with "message %u of %u\n". */
static void make_object(struct build *ret)
{
    struct build doc = { 0 };
    struct build notes = { 0 };
    build_map(&doc, 1);
    build_text(&doc, "amdpal.format_strings");
    build_map(&doc, 2);
    build_text(&doc, ".strings");
    build_array(&doc, 1);
    build_map(&doc, 4);
    build_text(&doc, ".index");
    build_uint(&doc, ID);
    build_text(&doc, ".string");
    build_text(&doc, "message %u of %u\n");
    build_text(&doc, ".argument_count");
    build_uint(&doc, 2);
    build_text(&doc, ".64bit_arguments");
    build_array(&doc, 1);
    build_uint(&doc, 0);
    build_text(&doc, ".version");
    build_uint(&doc, 1);
    build_note(&notes, "AMDGPU", 32, &doc);
    build_elf(ret, &(struct build_elf){ .notes = &notes, .section = ".note" });
    build_free(&doc);
    build_free(&notes);
}

static void make_dump(struct build *ret, uint32_t n_messages)
{
    dump_header(ret, (uint64_t)n_messages * ENTRY / 4);
    for (uint32_t i = 0; i < n_messages; i++) {
        uint32_t payload[2] = { i, n_messages };
        dump_entry(ret, ID, ENTRY / 4, payload, 2);
    }
}

enum kind {
    WITH_END,
    WITHOUT_END /* as all were once */
};

/* One frame through the writer, or, without an end, by itself. */
static void put(struct pfd_wire_writer *writer, struct pfd_text *out,
                const struct pfd_wire_frame *frame)
{
    enum pfd_status status = writer ? pfd_wire_writer_put(writer, frame, NULL)
                                    : pfd_wire_write(frame, to_text, out, NULL);
    ck_assert_int_eq(status, PFD_OK);
}

/* A capture of a dump, and of zeros [n_zeros] behind it. */
static void make_capture(struct pfd_text *out, enum kind kind,
                         const struct build *dump, uint64_t n_zeros)
{
    struct build object = { 0 };
    struct pfd_wire_writer *w =
        kind == WITH_END ? pfd_wire_writer_new(to_text, out) : NULL;
    struct pfd_wire_frame hello = { .type = PFD_WIRE_HELLO,
                                    .process = pfd_wire_text("test") };
    struct pfd_wire_frame code = { .type = PFD_WIRE_CODE_OBJECT,
                                   .code_object = 1,
                                   .name = pfd_wire_text("a.elf") };
    struct pfd_wire_frame buffer = { .type = PFD_WIRE_BUFFER,
                                     .buffer = 1,
                                     .name = pfd_wire_text("b"),
                                     .size = dump->n + n_zeros };
    struct pfd_wire_frame data = {
        .type = PFD_WIRE_DATA,
        .buffer = 1,
        .bytes = { (const char *)dump->bytes, dump->n },
    };
    struct pfd_wire_frame zeros = {
        .type = PFD_WIRE_DATA, .buffer = 1, .offset = dump->n, .zeros = n_zeros
    };
    struct pfd_wire_frame done = { .type = PFD_WIRE_DONE, .buffer = 1 };
    make_object(&object);
    code.bytes =
        (struct pfd_wire_bytes){ (const char *)object.bytes, object.n };
    if (!w)
        ck_assert_int_eq(pfd_wire_write_start(to_text, out), PFD_OK);
    put(w, out, &hello);
    put(w, out, &code);
    put(w, out, &buffer);
    put(w, out, &data);
    if (n_zeros && w)
        put(w, out, &zeros);
    put(w, out, &done);
    if (w)
        ck_assert_int_eq(pfd_wire_writer_finish(w, NULL), PFD_OK);
    pfd_wire_writer_free(w);
    build_free(&object);
}

/* ---- what is read ---- */

struct seen {
    int n_findings[PFD_N_FINDING_KINDS];
    int n_all;
    struct pfd_text findings;
    enum pfd_status status; /* of opening it */
    size_t n_buffers;
    size_t n_strings;
    size_t n;             /* bytes of the first buffer */
    struct pfd_text text; /* that it decodes to */
    struct pfd_summary summary;
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct seen *seen = user;
    seen->n_all++;
    seen->n_findings[finding->kind]++;
    pfd_text_puts(&seen->findings, finding->text);
    pfd_text_puts(&seen->findings, "\n");
}

static void decode(const struct pfd_strings *strings, const void *bytes,
                   const struct pfd_capture_buffer *b, struct seen *ret)
{
    struct pfd_convert convert = {
        .strings = strings,
        .format = "llpc",
        .output = "text",
        .threads = 1,
        .holes = b->holes,
        .n_holes = b->n_holes,
        .missing = b->missing,
        .n_missing = b->n_missing,
        .finding = hear,
        .finding_user = ret,
        .limit = UINT64_MAX,
        .write = to_text,
        .write_user = &ret->text,
    };
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, bytes, b->n, &ret->summary, NULL), PFD_OK);
}

static bool says(const struct seen *seen, const char *text)
{
    return seen->findings.n &&
           memmem(seen->findings.data, seen->findings.n, text, strlen(text));
}

static void drop(struct seen *seen)
{
    pfd_text_free(&seen->text);
    pfd_text_free(&seen->findings);
}

static void read_capture(const void *bytes, size_t n, struct seen *ret)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_capture *capture = NULL;
    const struct pfd_capture_buffer *b;
    const void *map = NULL;
    *ret = (struct seen){ 0 };
    ret->status =
        pfd_capture_open(bytes, n, "test", strings, hear, ret, &capture, NULL);
    if (ret->status == PFD_OK) {
        while (pfd_capture_get(capture, ret->n_buffers))
            ret->n_buffers++;
        ret->n_strings = pfd_strings_count(strings);
        if ((b = pfd_capture_get(capture, ret->n_buffers - 1))) {
            ck_assert_int_eq(
                pfd_capture_map(capture, ret->n_buffers - 1, &map, NULL),
                PFD_OK);
            ret->n = b->n;
            decode(strings, map, b, ret);
            pfd_capture_unmap(capture, ret->n_buffers - 1, map);
        }
        pfd_capture_free(capture);
    }
    pfd_strings_free(strings);
}

/* Where the data of the only buffer is. */
static uint64_t find_data(const struct pfd_text *capture)
{
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    struct pfd_wire_frame f = { 0 };
    size_t taken = 0;
    pfd_wire_reader_feed(reader, capture->data, capture->n, &taken, NULL);
    ck_assert_uint_eq(taken, capture->n);
    while (f.type != PFD_WIRE_DATA)
        ck_assert_int_eq(pfd_wire_reader_next(reader, &f, NULL), PFD_OK);
    pfd_wire_reader_free(reader);
    return f.bytes_at;
}

/* What a dump of these bytes says. */
static void expect(const void *bytes, size_t n, struct seen *ret)
{
    struct build object = { 0 };
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_capture_buffer b = { .n = n };
    *ret = (struct seen){ 0 };
    make_object(&object);
    ck_assert_int_eq(pfd_strings_load(strings, object.bytes, object.n, "a",
                                      NULL, NULL, NULL),
                     PFD_OK);
    decode(strings, bytes, &b, ret);
    pfd_strings_free(strings);
    build_free(&object);
}

static void assert_text(const struct seen *a, const struct seen *b)
{
    ck_assert_uint_eq(a->text.n, b->text.n);
    ck_assert(!a->text.n || !memcmp(a->text.data, b->text.data, a->text.n));
}

/* ---- tests ---- */

static void check_sound(enum kind kind, uint64_t n_zeros)
{
    struct pfd_text capture = { 0 };
    struct build dump = { 0 };
    struct seen seen;
    struct seen wanted;
    make_dump(&dump, N_MESSAGES);
    make_capture(&capture, kind, &dump, n_zeros);
    read_capture(capture.data, capture.n, &seen);
    ck_assert_msg(!seen.n_all, "%.*s", (int)seen.findings.n,
                  seen.findings.data);
    ck_assert_uint_eq(seen.n, dump.n + n_zeros);
    ck_assert_uint_eq(seen.summary.entries, N_MESSAGES);
    expect(dump.bytes, dump.n, &wanted);
    assert_text(&seen, &wanted);
    drop(&seen);
    drop(&wanted);
    pfd_text_free(&capture);
    build_free(&dump);
}

START_TEST(test_sound)
{
    check_sound(WITH_END, 0);
    check_sound(WITH_END, 100);
    check_sound(WITH_END, UINT64_C(3) << 30);
    check_sound(WITHOUT_END, 0);
    check_sound(WITHOUT_END, UINT64_C(3) << 30);
}
END_TEST

/* Cut anywhere: told, and as many bytes are decoded as came. */
static void check_cuts(enum kind kind, uint64_t n_zeros)
{
    struct pfd_text capture = { 0 };
    struct build dump = { 0 };
    make_dump(&dump, N_MESSAGES);
    make_capture(&capture, kind, &dump, n_zeros);
    uint64_t data = find_data(&capture);
    for (size_t n = PFD_WIRE_MAGIC_BYTES; n < capture.n; n++) {
        struct seen seen;
        struct seen wanted;
        size_t came = n > data ? n - (size_t)data : 0;
        came = came < dump.n ? came : dump.n;
        read_capture(capture.data, n, &seen);
        ck_assert_int_eq(seen.status, PFD_OK);
        /* A start alone, or strings alone, was a capture once. */
        ck_assert(seen.n_all > 0 || (kind == WITHOUT_END && !seen.n_buffers));
        ck_assert(seen.n_buffers || !came);
        if (came < dump.n)
            ck_assert_uint_eq(seen.n, came);
        if (came && came < dump.n) {
            char text[64];
            snprintf(text, sizeof text, "%llu of %llu bytes did not come",
                     (unsigned long long)(dump.n + n_zeros - came),
                     (unsigned long long)(dump.n + n_zeros));
            ck_assert(says(&seen, text));
        }
        if (seen.n_buffers) {
            expect(dump.bytes, came, &wanted);
            assert_text(&seen, &wanted);
            drop(&wanted);
        }
        drop(&seen);
    }
    pfd_text_free(&capture);
    build_free(&dump);
}

START_TEST(test_cut_anywhere)
{
    check_cuts(WITH_END, 0);
    check_cuts(WITH_END, 1000);
    check_cuts(WITHOUT_END, 0);
    check_cuts(WITHOUT_END, 1000);
}
END_TEST

/* Any bit of a capture with an end is covered by something. */
START_TEST(test_flips)
{
    struct pfd_text capture = { 0 };
    struct build dump = { 0 };
    struct seen wanted;
    make_dump(&dump, 3);
    make_capture(&capture, WITH_END, &dump, 50);
    expect(dump.bytes, dump.n, &wanted);
    for (size_t bit = 0; bit < capture.n * 8; bit++) {
        struct seen seen;
        capture.data[bit / 8] ^= (char)(1 << bit % 8);
        read_capture(capture.data, capture.n, &seen);
        ck_assert(seen.status != PFD_OK || seen.n_all > 0);
        if (seen.n == dump.n + 50 && seen.n_strings &&
            !seen.n_findings[PFD_FINDING_missing_data])
            assert_text(&seen, &wanted);
        drop(&seen);
        capture.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    drop(&wanted);
    pfd_text_free(&capture);
    build_free(&dump);
}
END_TEST

/* One large frame, as they were once, cut in the middle; and that no frame is
 * so large any more. */
START_TEST(test_large)
{
    struct build dump = { 0 };
    struct seen seen;
    make_dump(&dump, 300000);
    for (enum kind kind = WITH_END; kind <= WITHOUT_END; kind++) {
        struct pfd_text capture = { 0 };
        make_capture(&capture, kind, &dump, 0);
        uint64_t data = find_data(&capture);
        read_capture(capture.data, (size_t)data + 3 * dump.n / 5, &seen);
        ck_assert_int_gt(seen.n_findings[PFD_FINDING_bad_frame], 0);
        ck_assert_int_eq(seen.n_findings[PFD_FINDING_missing_data], 1);
        ck_assert_uint_gt(seen.summary.entries, 3 * 300000 / 5 - 50);
        ck_assert_uint_le(seen.summary.entries, 3 * 300000 / 5);
        drop(&seen);
        pfd_text_free(&capture);
    }
    struct pfd_text capture = { 0 };
    make_capture(&capture, WITH_END, &dump, 0);
    struct pfd_wire_reader *reader = pfd_wire_reader_new(PFD_WIRE_PIECE + 1024);
    struct pfd_wire_frame f = { 0 };
    for (size_t at = 0; f.type != PFD_WIRE_END;) {
        size_t taken = 0;
        enum pfd_status status = pfd_wire_reader_next(reader, &f, NULL);
        ck_assert(status == PFD_OK || status == PFD_MORE);
        if (status == PFD_MORE) {
            pfd_wire_reader_feed(reader, capture.data + at, capture.n - at,
                                 &taken, NULL);
        }
        at += taken;
    }
    pfd_wire_reader_free(reader);
    pfd_text_free(&capture);
    build_free(&dump);
}
END_TEST

/* A frame is lost in the middle: the bytes on both sides are decoded. */
START_TEST(test_lost_frame)
{
    struct pfd_text capture = { 0 };
    struct build dump = { 0 };
    struct seen seen;
    make_dump(&dump, 300000);
    make_capture(&capture, WITH_END, &dump, 0);
    capture.data[find_data(&capture) + PFD_WIRE_PIECE + 5000] ^= 1;
    read_capture(capture.data, capture.n, &seen);
    ck_assert_int_gt(seen.n_findings[PFD_FINDING_bad_frame], 0);
    ck_assert_int_eq(seen.n_findings[PFD_FINDING_missing_data], 1);
    ck_assert(says(&seen, "1048576 of 4800016 bytes did not come: "
                          "1048576 to 2097151"));
    ck_assert_uint_eq(seen.n, dump.n);
    ck_assert_uint_ge(seen.summary.entries,
                      (dump.n - PFD_WIRE_PIECE) / ENTRY - 3);
    drop(&seen);
    pfd_text_free(&capture);
    build_free(&dump);
}
END_TEST

/* Four bytes of the first message never came: it says so, and no other. */
START_TEST(test_marked)
{
    struct pfd_text capture = { 0 };
    struct pfd_wire_writer *w = pfd_wire_writer_new(to_text, &capture);
    struct pfd_wire_frame data = { .type = PFD_WIRE_DATA, .buffer = 1 };
    struct build dump = { 0 };
    struct seen seen;
    size_t from = HEADER + 8;
    make_dump(&dump, 3);
    put(w, NULL,
        &(struct pfd_wire_frame){
            .type = PFD_WIRE_BUFFER, .buffer = 1, .size = dump.n });
    data.bytes = (struct pfd_wire_bytes){ (const char *)dump.bytes, from };
    put(w, NULL, &data);
    data.offset = from + 4;
    data.bytes =
        (struct pfd_wire_bytes){ (const char *)dump.bytes + data.offset,
                                 dump.n - data.offset };
    put(w, NULL, &data);
    pfd_wire_writer_finish(w, NULL);
    read_capture(capture.data, capture.n, &seen);
    ck_assert_int_eq(seen.n_findings[PFD_FINDING_missing_data], 1);
    ck_assert_int_eq(seen.n_findings[PFD_FINDING_incomplete], 1);
    ck_assert_uint_eq(seen.summary.entries, 3);
    drop(&seen);
    pfd_wire_writer_free(w);
    pfd_text_free(&capture);
    build_free(&dump);
}
END_TEST

/* One capture behind another: each has its own end. */
START_TEST(test_joined)
{
    struct pfd_text one = { 0 };
    struct pfd_text two = { 0 };
    struct build dump = { 0 };
    struct seen seen;
    make_dump(&dump, N_MESSAGES);
    make_capture(&one, WITH_END, &dump, 0);
    pfd_text_add(&two, one.data, one.n);
    pfd_text_add(&two, one.data, one.n);
    read_capture(two.data, two.n, &seen);
    ck_assert_int_eq(seen.n_all, 0);
    ck_assert_uint_eq(seen.n_buffers, 2);
    drop(&seen);
    /* The first has no end, or is cut. */
    for (size_t cut = 1; cut < one.n; cut++) {
        two.n = 0;
        pfd_text_add(&two, one.data, one.n - cut);
        pfd_text_add(&two, one.data, one.n);
        read_capture(two.data, two.n, &seen);
        if (one.n - cut >= PFD_WIRE_START_BYTES) {
            ck_assert_int_gt(seen.n_all, 0);
            ck_assert_uint_ge(seen.n_buffers, 1);
            ck_assert_uint_eq(seen.summary.entries, N_MESSAGES);
        }
        drop(&seen);
    }
    /* Something goes on behind an end. */
    two.n = 0;
    pfd_text_add(&two, one.data, one.n);
    pfd_wire_write(&(struct pfd_wire_frame){ .type = PFD_WIRE_HELLO }, to_text,
                   &two, NULL);
    read_capture(two.data, two.n, &seen);
    ck_assert_int_eq(seen.n_findings[PFD_FINDING_bad_frame], 1);
    drop(&seen);
    pfd_text_free(&one);
    pfd_text_free(&two);
    build_free(&dump);
}
END_TEST

/* Objects without their bytes, or with some of them. */
START_TEST(test_objects)
{
    static const struct {
        uint64_t total;
        size_t n;
    } rows[] = { { 0, 0 }, { 100, 0 }, { 100, 40 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pfd_text capture = { 0 };
        struct seen seen;
        char bytes[100] = "\177ELF";
        struct pfd_wire_frame object = { .type = PFD_WIRE_CODE_OBJECT,
                                         .code_object = 1,
                                         .total = rows[i].total,
                                         .bytes = { bytes, rows[i].n } };
        pfd_wire_write_start(to_text, &capture);
        put(NULL, &capture, &object);
        read_capture(capture.data, capture.n, &seen);
        ck_assert_int_eq(seen.n_findings[PFD_FINDING_missing_data], 1);
        drop(&seen);
        pfd_text_free(&capture);
    }
}
END_TEST

/* Data may come in any order, and again. */
START_TEST(test_order)
{
    struct pfd_text capture = { 0 };
    struct pfd_wire_writer *w = pfd_wire_writer_new(to_text, &capture);
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_capture *c = NULL;
    const struct pfd_capture_buffer *b;
    struct findings findings;
    const void *map = NULL;
    static const struct {
        uint64_t offset;
        const char *bytes;
        uint64_t zeros;
    } rows[] = {
        { 5000, "late", 0 }, { 2, "cdef", 0 },  { 0, "ab", 0 },
        { 4, "EF", 0 },      { 6, NULL, 4994 }, { 5004, "r", 0 },
    };
    put(w, NULL,
        &(struct pfd_wire_frame){
            .type = PFD_WIRE_BUFFER, .buffer = 1, .size = 5005 });
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put(w, NULL,
            &(struct pfd_wire_frame){ .type = PFD_WIRE_DATA,
                                      .buffer = 1,
                                      .offset = rows[i].offset,
                                      .bytes = pfd_wire_text(rows[i].bytes),
                                      .zeros = rows[i].zeros });
    }
    pfd_wire_writer_finish(w, NULL);
    findings_init(&findings);
    ck_assert_int_eq(pfd_capture_open(capture.data, capture.n, "test", strings,
                                      findings.report.fn, findings.report.user,
                                      &c, NULL),
                     PFD_OK);
    ck_assert_int_eq(findings.n_all, 0);
    b = pfd_capture_get(c, 0);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->n, 5005);
    ck_assert_uint_eq(b->n_holes, 1);
    ck_assert_uint_eq(b->holes[0].from, 6);
    ck_assert_uint_eq(b->holes[0].to, 5000);
    ck_assert_int_eq(pfd_capture_map(c, 0, &map, NULL), PFD_OK);
    ck_assert_int_eq(memcmp(map, "abcdEF\0\0", 8), 0);
    ck_assert_int_eq(memcmp((const char *)map + 4999, "\0later", 6), 0);
    pfd_capture_unmap(c, 0, map);
    ck_assert_ptr_null(pfd_capture_get(c, 1));
    pfd_capture_free(c);
    pfd_strings_free(strings);
    pfd_wire_writer_free(w);
    pfd_text_free(&capture);
}
END_TEST

int main(void)
{
    return suite_run("capture",
                     TESTS(test_sound, test_cut_anywhere, test_flips,
                           test_large, test_lost_frame, test_marked,
                           test_joined, test_objects, test_order),
                     120);
}
