/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "stream/capture/wire.h"
#include "suite.h"

static bool to_text(void *user, const void *bytes, size_t n)
{
    pfd_text_add(user, bytes, n);
    return true;
}

static void put(struct pfd_text *out, const struct pfd_wire_frame *frame)
{
    struct pfd_error err;
    ck_assert_int_eq(pfd_wire_write(frame, to_text, out, &err), PFD_OK);
}

/* One stream with all that a frame can say. */
static void make_stream(struct pfd_text *out)
{
    static const struct pfd_wire_label labels[] = {
        { { "team", 4 }, { "render", 6 } },
        { { "empty", 5 }, { NULL, 0 } },
    };
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_BUFFER,
        .buffer = 3,
        .generation = 200,
        .size = UINT64_C(1) << 40,
        .time = UINT64_C(1795205389038881123),
        .name = pfd_wire_text("a name that is longer than 31 bytes, surely"),
        .device = pfd_wire_text("gpu0"),
        .uuid = { "0123456789abcdef", 16 },
        .labels = labels,
        .n_labels = 2,
        .pipeline = UINT64_MAX,
    };
    ck_assert_int_eq(pfd_wire_write_start(to_text, out), PFD_OK);
    put(out, &frame);
    frame = (struct pfd_wire_frame){
        .type = PFD_WIRE_DATA,
        .buffer = 3,
        .generation = 200,
        .offset = 16,
        .bytes = { "payload bytes", 13 },
    };
    put(out, &frame);
    frame = (struct pfd_wire_frame){ .type = PFD_WIRE_GAP, .lost_frames = 2 };
    put(out, &frame);
}

/* What reading gives: each frame's type, and 'E' for an error. */
struct seen {
    char types[64];
    size_t n;
    struct pfd_wire_frame last;
    struct pfd_error err;
    uint64_t skipped;
};

static bool take(struct pfd_wire_reader *reader, struct seen *seen)
{
    struct pfd_wire_frame frame;
    enum pfd_status status = pfd_wire_reader_next(reader, &frame, &seen->err);
    if (status == PFD_MORE || status == PFD_END)
        return false;
    /* Said again at each call. */
    if (status == PFD_ERR_UNSUPPORTED && seen->n &&
        seen->types[seen->n - 1] == 'E')
        return false;
    ck_assert_uint_lt(seen->n, sizeof seen->types - 1);
    seen->types[seen->n++] = 'E';
    if (status == PFD_OK) {
        static const char of[] = { '?', 'S', 'H', 'O', 's', 'B',
                                   'D', 'F', 'G', 'e', 'C', '!' };
        seen->types[seen->n - 1] = of[frame.type];
        seen->last = frame;
    }
    return status != PFD_ERR_UNSUPPORTED;
}

/* Reads bytes [n] in pieces of `piece`. */
static struct seen read_all(const void *bytes, size_t n, size_t piece,
                            size_t max_frame)
{
    struct seen seen = { .n = 0 };
    struct pfd_wire_reader *reader = pfd_wire_reader_new(max_frame);
    size_t at = 0;
    while (at < n) {
        size_t taken = 0;
        size_t k = n - at < piece ? n - at : piece;
        ck_assert_int_eq(pfd_wire_reader_feed(reader, (const char *)bytes + at,
                                              k, &taken, &seen.err),
                         PFD_OK);
        at += taken;
        bool any = taken > 0;
        while (take(reader, &seen))
            any = true;
        ck_assert(any);
    }
    pfd_wire_reader_finish(reader);
    while (take(reader, &seen))
        ;
    seen.skipped = pfd_wire_reader_skipped(reader);
    pfd_wire_reader_free(reader);
    seen.types[seen.n] = '\0';
    return seen;
}

/* Everything that a frame points to is the copy's own. */
START_TEST(test_copy)
{
    char name[] = "name";
    char value[] = "value";
    struct pfd_wire_label labels[] = { { pfd_wire_text(name),
                                         pfd_wire_text(value) },
                                       { pfd_wire_text(value), { NULL, 0 } } };
    struct pfd_wire_frame frame = { .type = PFD_WIRE_BUFFER,
                                    .buffer = 7,
                                    .name = pfd_wire_text(name),
                                    .bytes = pfd_wire_text(value),
                                    .labels = labels,
                                    .n_labels = 2 };
    struct pfd_text before = { 0 };
    struct pfd_text after = { 0 };
    put(&before, &frame);
    struct pfd_wire_frame *copy = pfd_wire_copy(&frame);
    memset(name, 0, sizeof name);
    memset(value, 0, sizeof value);
    memset(labels, 0, sizeof labels);
    put(&after, copy);
    ck_assert_mem_eq(before.data, after.data, before.n);
    ck_assert_uint_eq(before.n, after.n);
    free(copy);
    pfd_text_free(&before);
    pfd_text_free(&after);
}
END_TEST

START_TEST(test_crc)
{
    uint8_t bytes[1000];
    ck_assert_uint_eq(pfd_crc32c(0, "123456789", 9), 0xe3069283);
    ck_assert_uint_eq(pfd_crc32c_tables(0, "123456789", 9), 0xe3069283);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 3);
    for (size_t n = 0; n < 64; n++) {
        uint32_t whole = pfd_crc32c(0, bytes + n, sizeof bytes - n);
        ck_assert_uint_eq(pfd_crc32c_tables(0, bytes + n, sizeof bytes - n),
                          whole);
        uint32_t parts = pfd_crc32c(0, bytes + n, 17);
        ck_assert_uint_eq(
            pfd_crc32c_tables(parts, bytes + n + 17, sizeof bytes - n - 17),
            whole);
    }
}
END_TEST

START_TEST(test_round_trip)
{
    struct pfd_text stream = { 0 };
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    struct pfd_wire_frame f;
    struct pfd_error err;
    size_t taken;
    make_stream(&stream);
    ck_assert(pfd_wire_recognise(stream.data, stream.n));
    pfd_wire_reader_feed(reader, stream.data, stream.n, &taken, &err);
    ck_assert_uint_eq(taken, stream.n);
    ck_assert_int_eq(pfd_wire_reader_next(reader, &f, &err), PFD_OK);
    ck_assert_int_eq(f.type, PFD_WIRE_START);
    ck_assert_int_eq(pfd_wire_reader_next(reader, &f, &err), PFD_OK);
    ck_assert_int_eq(f.type, PFD_WIRE_BUFFER);
    ck_assert_uint_eq(f.at, 16);
    ck_assert_uint_eq(f.buffer, 3);
    ck_assert_uint_eq(f.generation, 200);
    ck_assert_uint_eq(f.size, UINT64_C(1) << 40);
    ck_assert_uint_eq(f.time, UINT64_C(1795205389038881123));
    ck_assert_uint_eq(f.pipeline, UINT64_MAX);
    ck_assert_uint_eq(f.name.n, 43);
    ck_assert_uint_eq(f.uuid.n, 16);
    ck_assert_mem_eq(f.uuid.at, "0123456789abcdef", 16);
    ck_assert_uint_eq(f.n_labels, 2);
    ck_assert_mem_eq(f.labels[0].value.at, "render", 6);
    ck_assert_uint_eq(f.labels[1].value.n, 0);
    ck_assert_uint_eq(f.queue.n, 0);
    ck_assert_int_eq(pfd_wire_reader_next(reader, &f, &err), PFD_OK);
    ck_assert_mem_eq(f.bytes.at, "payload bytes", 13);
    ck_assert_int_eq(pfd_wire_reader_next(reader, &f, &err), PFD_OK);
    ck_assert_int_eq(f.type, PFD_WIRE_GAP);
    ck_assert_int_eq(pfd_wire_reader_next(reader, &f, &err), PFD_MORE);
    pfd_wire_reader_finish(reader);
    ck_assert_int_eq(pfd_wire_reader_next(reader, &f, &err), PFD_END);
    pfd_wire_reader_free(reader);
    pfd_text_free(&stream);
}
END_TEST

START_TEST(test_any_split)
{
    struct pfd_text stream = { 0 };
    make_stream(&stream);
    make_stream(&stream); /* concatenated */
    for (size_t piece = 1; piece <= stream.n; piece++) {
        struct seen seen = read_all(stream.data, stream.n, piece, 0);
        ck_assert_str_eq(seen.types, "SBDGSBDG");
        ck_assert_uint_eq(seen.skipped, 0);
    }
    pfd_text_free(&stream);
}
END_TEST

START_TEST(test_cut_anywhere)
{
    struct pfd_text stream = { 0 };
    make_stream(&stream);
    for (size_t n = 0; n < stream.n; n++) {
        struct seen seen = read_all(stream.data, n, n + 1, 0);
        struct seen slow = read_all(stream.data, n, 1, 0);
        ck_assert_str_eq(seen.types, slow.types);
        /* Of data that is cut, what came follows. */
        if (seen.n > 1 && seen.types[seen.n - 2] == 'E') {
            ck_assert_int_eq(seen.last.type, PFD_WIRE_DATA);
            ck_assert_uint_eq(seen.last.bytes.n + seen.last.missing, 13);
            ck_assert_uint_eq(seen.last.bytes_at + seen.last.bytes.n, n);
            seen.n--;
        }
        ck_assert(strspn(seen.types, "SBDG") + 1 >= seen.n);
        if (strchr(seen.types, 'E'))
            ck_assert_uint_lt(seen.err.offset, n);
    }
    pfd_text_free(&stream);
}
END_TEST

/* A byte is wrong: said, and the frames behind it are read. */
START_TEST(test_damage_anywhere)
{
    struct pfd_text stream = { 0 };
    make_stream(&stream);
    for (size_t i = 0; i < stream.n; i++) {
        stream.data[i] ^= 0x10;
        struct seen seen = read_all(stream.data, stream.n, 7, 0);
        struct seen slow = read_all(stream.data, stream.n, 1, 0);
        ck_assert_str_eq(seen.types, slow.types);
        ck_assert(strchr(seen.types, 'E') || (i >= 12 && i < 16));
        if (i >= 16 && seen.last.at > 0 && i < seen.last.at)
            ck_assert_int_eq(seen.types[seen.n - 1], 'G');
        stream.data[i] ^= 0x10;
    }
    pfd_text_free(&stream);
}
END_TEST

static void frame_of(struct pfd_text *out, const void *map, size_t n)
{
    uint32_t length = (uint32_t)n;
    uint32_t crc = pfd_crc32c(pfd_crc32c(0, &length, 4), map, n);
    pfd_text_add(out, &length, 4);
    pfd_text_add(out, &crc, 4);
    pfd_text_add(out, map, n);
}

/* Sound frames with maps that are not what they should be. */
static const struct {
    const char *map;
    size_t n;
    char type;
} maps[] = {
#define MAP(bytes, type)              \
    {                                 \
        bytes, sizeof bytes - 1, type \
    }
    MAP("\x81\xa4type\xa4"
        "data",
        'D'),
    MAP("\x81\xa4type\xa4"
        "what",
        '?'),
    MAP("\x82\xa4type\xa4"
        "data\xa3new\x93\x01\x81\xa1k\xc0\xcb"
        "12345678",
        'D'),
    MAP("\x82\xa4type\xa4"
        "data\xa4size\xff",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa4size\xd3\x80\0\0\0\0\0\0\0",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa4size\xd1\x01\x02",
        'D'),
    MAP("\x82\xa4type\xa4"
        "data\xa4name\x01",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa4name\xd9\x09short",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa3new\xdd\xff\xff\xff\xff",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa3new\xc1",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data",
        'E'),
    MAP("\x81\xa4type\xa4"
        "data\x01",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\x01\x01",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa6labels\x81\xa1k\x01",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa6labels\xa1k",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa6labels\xde\x00\x41",
        'E'),
    MAP("\xc0", 'E'),
    MAP("", 'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa3new\xc9\xff\xff\xff\xff\x01",
        'E'),
    MAP("\x82\xa4type\xa4"
        "data\xa3new\xc7\x02\x01zz",
        'D'),
};

START_TEST(test_maps)
{
    struct pfd_text stream = { 0 };
    char wanted[] = "S_F";
    pfd_wire_write_start(to_text, &stream);
    frame_of(&stream, maps[_i].map, maps[_i].n);
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DONE });
    struct seen seen = read_all(stream.data, stream.n, 3, 0);
    wanted[1] = maps[_i].type;
    ck_assert_str_eq(seen.types, wanted);
    ck_assert_uint_eq(seen.skipped, 0);
    pfd_text_free(&stream);
}
END_TEST

START_TEST(test_deep)
{
    struct pfd_text stream = { 0 };
    struct pfd_text map = { 0 };
    pfd_text_puts(&map, "\x82\xa4type\xa4"
                        "data\xa3new");
    for (int i = 0; i < 100000; i++)
        pfd_text_add(&map, "\x91", 1);
    pfd_text_add(&map, "\xc0", 1);
    pfd_wire_write_start(to_text, &stream);
    frame_of(&stream, map.data, map.n);
    struct seen seen = read_all(stream.data, stream.n, 4096, 0);
    ck_assert_str_eq(seen.types, "SD");
    pfd_text_free(&map);
    pfd_text_free(&stream);
}
END_TEST

START_TEST(test_limit)
{
    struct pfd_text stream = { 0 };
    char bytes[300] = { 0 };
    make_stream(&stream);
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DATA,
                                           .bytes = { bytes, 300 } });
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DONE });
    struct seen seen = read_all(stream.data, stream.n, 50, 256);
    ck_assert_str_eq(seen.types, "SBDGEF");
    ck_assert_ptr_nonnull(strstr(seen.err.text, "at most 256"));
    ck_assert_uint_gt(seen.skipped, 300);
    pfd_text_free(&stream);
}
END_TEST

/* What a reader says that it will hold is what it holds then, in any split;
 * behind a large frame it gives that back. */
START_TEST(test_memory)
{
    enum {
        N = 3 << 20
    };
    static const size_t pieces[] = { 7, 4096, 65536, 1 << 20, N };
    struct pfd_text stream = { 0 };
    char *bytes = calloc(1, N);
    make_stream(&stream);
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DATA,
                                           .bytes = { bytes, N } });
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DONE });
    struct seen seen = { .n = 0 };
    struct pfd_wire_reader *reader = pfd_wire_reader_new(4 << 20);
    size_t first = pfd_wire_reader_memory(reader, 0);
    size_t most = 0;
    for (size_t at = 0, taken = 0; at < stream.n; at += taken) {
        size_t n = stream.n - at;
        if (n > pieces[_i])
            n = pieces[_i];
        size_t said = pfd_wire_reader_memory(reader, n);
        pfd_wire_reader_feed(reader, stream.data + at, n, &taken, &seen.err);
        size_t now = pfd_wire_reader_memory(reader, 0);
        ck_assert_uint_eq(now, said);
        most = now > most ? now : most;
        while (take(reader, &seen))
            ;
    }
    ck_assert_str_eq(seen.types, "SBDGDF");
    ck_assert_uint_gt(most, N);
    ck_assert_uint_lt(pfd_wire_reader_memory(reader, 0) - first, N / 2);
    pfd_wire_reader_free(reader);
    free(bytes);
    pfd_text_free(&stream);
}
END_TEST

/* A frame that is passed over at any of its bytes: the next one is taken, and
 * nothing in the passed one is looked at. */
START_TEST(test_pass)
{
    struct pfd_text inner = { 0 };
    struct pfd_text stream = { 0 };
    make_stream(&inner);
    make_stream(&stream);
    size_t from = stream.n;
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DATA,
                                           .bytes = { inner.data, inner.n } });
    size_t n = stream.n - from;
    put(&stream, &(struct pfd_wire_frame){ .type = PFD_WIRE_DONE });
    for (size_t cut = 0; cut < n; cut++) {
        struct seen seen = { .n = 0 };
        struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
        size_t first = pfd_wire_reader_memory(reader, 0);
        size_t taken = 0;
        pfd_wire_reader_feed(reader, stream.data, from + cut, &taken, NULL);
        while (take(reader, &seen))
            ;
        bool begun = cut >= 4; /* its length is known */
        ck_assert_uint_eq(pfd_wire_reader_pass(reader), begun ? n : 0);
        if (begun)
            ck_assert_uint_eq(pfd_wire_reader_memory(reader, 0), first);
        for (size_t at = from + cut; at < stream.n; at += taken) {
            pfd_wire_reader_feed(reader, stream.data + at, stream.n - at,
                                 &taken, NULL);
        }
        while (take(reader, &seen))
            ;
        ck_assert_str_eq(seen.types, begun ? "SBDGF" : "SBDGDF");
        ck_assert_uint_eq(seen.last.at, stream.n - seen.last.n_bytes);
        ck_assert_uint_eq(pfd_wire_reader_skipped(reader), 0);
        pfd_wire_reader_free(reader);
    }
    pfd_text_free(&inner);
    pfd_text_free(&stream);
}
END_TEST

/* While it is lost, the bytes that may be a frame are dropped. */
START_TEST(test_pass_lost)
{
    static const uint8_t maybe[] = { 0, 0xff, 0,    0,   1,   2,   3,
                                     4, 0x81, 0xa4, 't', 'y', 'p', 'e' };
    struct pfd_text stream = { 0 };
    struct seen seen = { .n = 0 };
    size_t taken = 0;
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    pfd_text_add(&stream, "none", 4);
    pfd_text_add(&stream, maybe, sizeof maybe);
    pfd_wire_reader_feed(reader, stream.data, stream.n, &taken, NULL);
    while (take(reader, &seen))
        ;
    ck_assert_uint_eq(pfd_wire_reader_pass(reader), sizeof maybe);
    pfd_text_free(&stream);
    make_stream(&stream);
    pfd_wire_reader_feed(reader, stream.data, stream.n, &taken, NULL);
    while (take(reader, &seen))
        ;
    ck_assert_str_eq(seen.types, "ESBDG");
    ck_assert_uint_eq(pfd_wire_reader_skipped(reader), 4 + sizeof maybe);
    pfd_wire_reader_free(reader);
    pfd_text_free(&stream);
}
END_TEST

START_TEST(test_version)
{
    struct pfd_text stream = { 0 };
    make_stream(&stream);
    stream.data[8] = 2;
    struct seen seen = read_all(stream.data, stream.n, stream.n, 0);
    ck_assert_str_eq(seen.types, "E");
    ck_assert_ptr_nonnull(strstr(seen.err.text, "unknown version"));
    pfd_text_free(&stream);
}
END_TEST

/* Frames one in another, each with a wrong CRC: the search must end soon. */
START_TEST(test_hostile_search)
{
    enum {
        N = 4 << 20
    };
    struct pfd_text stream = { 0 };
    uint8_t one[16] = {
        0, 0, 8, 0, 1, 2, 3, 4, 0x81, 0xa4, 't', 'y', 'p', 'e'
    };
    for (size_t i = 0; i < N; i += 16)
        pfd_text_add(&stream, one, sizeof one);
    struct seen seen = read_all(stream.data, stream.n, 65536, 1 << 20);
    ck_assert_int_eq(seen.types[0], 'E');
    pfd_text_free(&stream);
}
END_TEST

START_TEST(test_usage)
{
    struct pfd_text out = { 0 };
    struct pfd_error err;
    struct pfd_wire_frame f = { .type = PFD_WIRE_START };
    ck_assert_int_eq(pfd_wire_write(&f, to_text, &out, &err), PFD_ERR_USAGE);
    f = (struct pfd_wire_frame){ .type = PFD_WIRE_DONE, .n_labels = 65 };
    ck_assert_int_eq(pfd_wire_write(&f, to_text, &out, &err), PFD_ERR_USAGE);
    ck_assert_uint_eq(out.n, 0);
    ck_assert_str_eq(pfd_wire_type_name(PFD_WIRE_CODE_OBJECT), "code_object");
    ck_assert_str_eq(pfd_wire_type_name(PFD_WIRE_START), "?");
    pfd_text_free(&out);
}
END_TEST

/* The stream that wire.README.md shows. */
START_TEST(test_readme)
{
    static const struct pfd_wire_frame frames[] = {
        { .type = PFD_WIRE_BUFFER,
          .buffer = 1,
          .size = 12,
          .name = { "b", 1 } },
        { .type = PFD_WIRE_DATA,
          .buffer = 1,
          .bytes = { "\1\2\3\4\5\6\7\10", 8 } },
        { .type = PFD_WIRE_DATA, .buffer = 1, .offset = 8, .zeros = 4 },
        { .type = PFD_WIRE_DONE, .buffer = 1 },
    };
    struct pfd_text out = { 0 };
    struct pfd_wire_writer *w = pfd_wire_writer_new(to_text, &out);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        ck_assert_int_eq(pfd_wire_writer_put(w, &frames[i], NULL), PFD_OK);
    ck_assert_int_eq(pfd_wire_writer_finish(w, NULL), PFD_OK);
    pfd_wire_writer_free(w);
    char *readme = NULL;
    size_t n = 0;
    FILE *f = fopen(getenv("WIRE_README"), "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_gt(getdelim(&readme, &n, '\0', f), 0);
    fclose(f);
    for (size_t i = 0; i < out.n; i += 16) {
        char line[64];
        size_t length = 0;
        for (size_t k = i; k < out.n && k < i + 16; k++)
            length +=
                (size_t)sprintf(line + length, "%02x ", (uint8_t)out.data[k]);
        line[length - 1] = '\0';
        ck_assert_msg(strstr(readme, line) != NULL, "not in the README: %s",
                      line);
    }
    free(readme);
    pfd_text_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *tcase = tcase_create("wire");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, test_copy);
    tcase_add_test(tcase, test_crc);
    tcase_add_test(tcase, test_round_trip);
    tcase_add_test(tcase, test_any_split);
    tcase_add_test(tcase, test_cut_anywhere);
    tcase_add_test(tcase, test_damage_anywhere);
    tcase_add_loop_test(tcase, test_maps, 0, sizeof maps / sizeof *maps);
    tcase_add_test(tcase, test_deep);
    tcase_add_test(tcase, test_limit);
    tcase_add_loop_test(tcase, test_memory, 0, 5);
    tcase_add_test(tcase, test_pass);
    tcase_add_test(tcase, test_pass_lost);
    tcase_add_test(tcase, test_version);
    tcase_add_test(tcase, test_hostile_search);
    tcase_add_test(tcase, test_usage);
    tcase_add_test(tcase, test_readme);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
