/* SPDX-License-Identifier: MIT */
/* Chunks: what goes in comes out again, whatever lies between, and any bytes
 * are safe. */
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>

#include "core/base/text.h"
#include "dump.h"
#include "guard.h"
#include "stream/capture/chunk.h"
#include "stream/capture/chunk_layout.h"
#include "suite.h"

#define ONE UINT64_C(0x0123456789ab)
#define TWO UINT64_C(0x0fedcba98765)

/* A chunk of the test's own. */
struct kept {
    void *bytes;
    size_t n;
};

static struct kept keep(struct pfd_chunk_writer *writer)
{
    struct kept ret = { NULL, 0 };
    const void *bytes = pfd_chunk_finish(writer, &ret.n);
    ck_assert_ptr_nonnull(bytes);
    ret.bytes = malloc(ret.n);
    memcpy(ret.bytes, bytes, ret.n);
    return ret;
}

static struct pfd_chunk_writer *new_writer(void)
{
    struct pfd_chunk_writer *writer = NULL;
    ck_assert_int_eq(pfd_chunk_writer_new(&writer, NULL), PFD_OK);
    return writer;
}

static struct pfd_chunk_reader *new_reader(const struct pfd_strings *strings)
{
    struct pfd_chunk_reader *reader = NULL;
    ck_assert_int_eq(pfd_chunk_reader_new(strings, "test", NULL, &reader, NULL),
                     PFD_OK);
    return reader;
}

static void describe(struct build *out, struct pfd_chunk_item *item)
{
    struct pfd_item plain = { .is_entry = item->type == PFD_CHUNK_ENTRY };
    ck_assert_int_ne(item->type, PFD_CHUNK_GAP);
    if (plain.is_entry) {
        plain.entry = &item->entry;
    } else {
        plain.finding = &item->finding;
    }
    dump_describe(out, &plain);
}

/* ---- parts ---- */

struct parts {
    struct pfd_chunk_reader *reader; /* NULL: they are only counted */
    struct build *out;
    size_t n_max;
    uint64_t n_items;
    uint64_t n_refused;
    uint64_t n;
};

static enum pfd_status read_all(struct pfd_chunk_reader *reader,
                                const void *bytes, size_t n, struct build *out,
                                uint64_t *n_items)
{
    struct pfd_chunk_item item;
    enum pfd_status status = pfd_chunk_reader_open(reader, bytes, n, NULL);
    while (status == PFD_OK) {
        status = pfd_chunk_reader_next(reader, &item, NULL);
        *n_items += status == PFD_OK;
        if (status == PFD_OK)
            describe(out, &item);
    }
    return status;
}

static bool take_part(void *user, const void *bytes, size_t n, uint32_t n_items)
{
    struct parts *p = user;
    uint64_t n_read = 0;
    p->n_items += n_items;
    p->n_refused += !bytes;
    p->n++;
    if (!bytes)
        return true;
    ck_assert_uint_le(n, p->n_max);
    ck_assert_uint_eq(pfd_chunk_item_count(bytes, n), n_items);
    if (!p->reader)
        return true;
    struct guard g = guard_new(bytes, n);
    ck_assert_int_eq(read_all(p->reader, g.bytes, n, p->out, &n_read), PFD_END);
    ck_assert_uint_eq(n_read, n_items);
    guard_free(&g);
    return true;
}

/* Adds what a chunk says. */
static enum pfd_status say(struct pfd_chunk_reader *reader, const void *bytes,
                           size_t n, struct build *out)
{
    struct pfd_chunk_counts counts;
    struct parts parts = { .n_max = n / 2 };
    uint64_t n_items = 0;
    enum pfd_status status = read_all(reader, bytes, n, out, &n_items);
    /* Counting them says the same. */
    enum pfd_status counted = pfd_chunk_count(bytes, n, &counts, NULL);
    ck_assert_int_eq(counted, status == PFD_END ? PFD_OK : status);
    if (status == PFD_END) {
        ck_assert_uint_eq(counts.entries + counts.findings + counts.gaps,
                          n_items);
    }
    /* So does cutting it. */
    ck_assert_int_eq(
        pfd_chunk_cut(bytes, n, 0, parts.n_max, take_part, &parts, NULL),
        counted);
    ck_assert(counted != PFD_OK || parts.n_items == n_items);
    return status;
}

static void say_kept(struct pfd_chunk_reader *reader, const struct kept *kept,
                     struct build *out)
{
    struct guard g = guard_new(kept->bytes, kept->n);
    ck_assert_int_eq(say(reader, g.bytes, kept->n, out), PFD_END);
    guard_free(&g);
}

/* Chunks of some items each, read as soon as they are written. */
static void through_chunks(const struct dump *d, struct build *want,
                           struct build *got)
{
    struct pfd_chunk_writer *writer = new_writer();
    struct pfd_chunk_reader *reader = new_reader(d->strings);
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    uint64_t rng = d->rng;
    uint32_t left = dump_below(&rng, 9);
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, "llpc", "test", &decoder, NULL), PFD_OK);
    ck_assert_int_eq(
        pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL),
        PFD_OK);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        dump_describe(want, item);
        ck_assert_int_eq(
            item->is_entry ? pfd_chunk_add_entry(writer, item->entry, NULL)
                           : pfd_chunk_add_finding(writer, item->finding, NULL),
            PFD_OK);
        if (left--)
            continue;
        struct kept kept = keep(writer);
        say_kept(reader, &kept, got);
        free(kept.bytes);
        left = dump_below(&rng, 9);
    }
    struct kept kept = keep(writer);
    say_kept(reader, &kept, got);
    free(kept.bytes);
    pfd_decoder_free(decoder);
    pfd_chunk_reader_free(reader);
    pfd_chunk_writer_free(writer);
}

START_TEST(same_items)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct dump d;
        struct build want = { 0 };
        struct build got = { 0 };
        dump_init(&d, seed, 60);
        if (seed % 2)
            dump_damage(&d);
        through_chunks(&d, &want, &got);
        ck_assert_uint_eq(want.n, got.n);
        ck_assert(!want.n || !memcmp(want.bytes, got.bytes, want.n));
        build_free(&want);
        build_free(&got);
        dump_deinit(&d);
    }
}
END_TEST

/* Cut in two or more, behind none or some items, a chunk says the same. */
static void check_parts(struct pfd_chunk_reader *reader,
                        const struct kept *kept, size_t n_max, uint64_t *n_cut)
{
    struct build whole = { 0 };
    struct build behind = { 0 };
    struct build got = { 0 };
    uint64_t n_items = 0;
    struct parts parts = { reader, &got, n_max, 0, 0, 0 };
    struct parts rest = { reader, &behind, SIZE_MAX, 0, 0, 0 };
    read_all(reader, kept->bytes, kept->n, &whole, &n_items);
    ck_assert_int_eq(
        pfd_chunk_cut(kept->bytes, kept->n, 0, n_max, take_part, &parts, NULL),
        PFD_OK);
    ck_assert_uint_eq(parts.n_items, n_items);
    ck_assert_int_eq(pfd_chunk_cut(kept->bytes, kept->n, n_items / 2, SIZE_MAX,
                                   take_part, &rest, NULL),
                     PFD_OK);
    ck_assert_uint_eq(rest.n_items, n_items - n_items / 2);
    ck_assert(behind.n <= whole.n &&
              (!behind.n || !memcmp(whole.bytes + whole.n - behind.n,
                                    behind.bytes, behind.n)));
    if (!parts.n_refused) {
        ck_assert_uint_eq(whole.n, got.n);
        ck_assert(!got.n || !memcmp(whole.bytes, got.bytes, got.n));
        *n_cut += parts.n > 1;
    }
    build_free(&whole);
    build_free(&behind);
    build_free(&got);
}

static struct kept write_all(const struct dump *d)
{
    struct pfd_chunk_writer *writer = new_writer();
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, "llpc", "test", &decoder, NULL), PFD_OK);
    pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        ck_assert_int_eq(
            item->is_entry ? pfd_chunk_add_entry(writer, item->entry, NULL)
                           : pfd_chunk_add_finding(writer, item->finding, NULL),
            PFD_OK);
    }
    struct kept kept = keep(writer);
    pfd_decoder_free(decoder);
    pfd_chunk_writer_free(writer);
    return kept;
}

START_TEST(same_in_parts)
{
    uint64_t n_cut = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct dump d;
        dump_init(&d, seed, 60);
        if (seed % 2)
            dump_damage(&d);
        struct pfd_chunk_reader *reader = new_reader(d.strings);
        struct kept kept = write_all(&d);
        for (size_t n_max = 200; n_max < kept.n; n_max += n_max / 2)
            check_parts(reader, &kept, n_max, &n_cut);
        free(kept.bytes);
        pfd_chunk_reader_free(reader);
        dump_deinit(&d);
    }
    ck_assert_uint_gt(n_cut, 100);
}
END_TEST

/* ---- a chunk by hand ---- */

static struct pfd_strings *strings;
static struct kept chunk; /* "one 7", "one 8", a finding, "two 9 a", a gap */

static void add_entries(struct pfd_chunk_writer *writer,
                        const struct pfd_strings *with)
{
    const uint32_t one[] = { 7, 8 };
    const uint32_t two[] = { 9, 10, 0 };
    struct build b = { 0 };
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    dump_header(&b, 3 + 3 + 5);
    dump_entry(&b, ONE, 3, &one[0], 1);
    dump_entry(&b, ONE, 3, &one[1], 1);
    dump_entry(&b, TWO, 5, two, 3);
    ck_assert_int_eq(pfd_decoder_new(with, "llpc", "test", &decoder, NULL),
                     PFD_OK);
    pfd_decoder_view(decoder, b.bytes, b.n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        ck_assert(item->is_entry);
        ck_assert_int_eq(pfd_chunk_add_entry(writer, item->entry, NULL),
                         PFD_OK);
        if (item->entry->index == 1) {
            struct pfd_finding f = { .kind = PFD_FINDING_bad_size,
                                     .offset = 40,
                                     .text = "a \x1b[31m finding\n" };
            ck_assert_int_eq(pfd_chunk_add_finding(writer, &f, NULL), PFD_OK);
        }
    }
    pfd_decoder_free(decoder);
    build_free(&b);
}

static void setup(void)
{
    struct pfd_chunk_writer *writer = new_writer();
    struct pfd_gap gap = { .missed = 5, .reason = "no room" };
    strings = pfd_strings_new();
    dump_add_string(strings, ONE, "one %d\n", "4");
    dump_add_string(strings, TWO, "two %d %llx\n", "48");
    ck_assert_uint_eq(pfd_chunk_size(writer), 0);
    add_entries(writer, strings);
    ck_assert_int_eq(pfd_chunk_add_gap(writer, &gap, NULL), PFD_OK);
    pfd_chunk_add_loss(writer, UINT64_MAX, 3);
    pfd_chunk_add_loss(writer, 1, 4);
    size_t most = pfd_chunk_size(writer);
    chunk = keep(writer);
    ck_assert_uint_ge(most, chunk.n);
    ck_assert_uint_eq(pfd_chunk_size(writer), 0);
    pfd_chunk_writer_free(writer);
}

static void teardown(void)
{
    pfd_strings_free(strings);
    free(chunk.bytes);
}

static void next(struct pfd_chunk_reader *reader, enum pfd_chunk_item_type type,
                 struct pfd_chunk_item *item)
{
    ck_assert_int_eq(pfd_chunk_reader_next(reader, item, NULL), PFD_OK);
    ck_assert_int_eq(item->type, type);
}

static void next_says(struct pfd_chunk_reader *reader, uint64_t index,
                      uint64_t offset, const char *message)
{
    struct pfd_chunk_item item;
    size_t n = 0;
    next(reader, PFD_CHUNK_ENTRY, &item);
    ck_assert_uint_eq(item.entry.index, index);
    ck_assert_uint_eq(item.entry.offset, offset);
    const char *said = pfd_entry_message(&item.entry, &n);
    ck_assert_uint_eq(n, message ? strlen(message) : 0);
    ck_assert(!message || !memcmp(said, message, n));
    uint64_t unknown = PFD_FINDING_BIT(unknown_id);
    ck_assert_int_eq(!message, (item.entry.findings & unknown) != 0);
}

START_TEST(all_kinds)
{
    struct pfd_chunk_reader *reader = new_reader(strings);
    struct pfd_chunk_item item;
    uint64_t lost = 0;
    uint64_t skipped = 0;
    ck_assert_int_eq(pfd_chunk_reader_open(reader, chunk.bytes, chunk.n, NULL),
                     PFD_OK);
    pfd_chunk_reader_loss(reader, &lost, &skipped);
    ck_assert_uint_eq(lost, UINT64_MAX);
    ck_assert_uint_eq(skipped, 7);
    next_says(reader, 0, 16, "one 7\n");
    next_says(reader, 1, 28, "one 8\n");
    next(reader, PFD_CHUNK_FINDING, &item);
    ck_assert_int_eq(item.finding.kind, PFD_FINDING_bad_size);
    ck_assert_uint_eq(item.finding.offset, 40);
    /* Whoever wrote the chunk may not drive a terminal. */
    ck_assert_str_eq(item.finding.text, "a \\x1b[31m finding ");
    next_says(reader, 2, 40, "two 9 a\n");
    next(reader, PFD_CHUNK_GAP, &item);
    ck_assert_uint_eq(item.gap.missed, 5);
    ck_assert_str_eq(item.gap.reason, "no room");
    ck_assert_int_eq(pfd_chunk_reader_next(reader, &item, NULL), PFD_END);
    ck_assert_int_eq(pfd_chunk_reader_next(reader, &item, NULL), PFD_END);
    pfd_chunk_reader_free(reader);
}
END_TEST

/* ---- strings ---- */

START_TEST(string_that_is_gone)
{
    struct pfd_strings *few = pfd_strings_new();
    dump_add_string(few, ONE, "one %u\n", "4"); /* another text */
    struct pfd_chunk_reader *reader = new_reader(few);
    struct pfd_chunk_item item;
    ck_assert_int_eq(pfd_chunk_reader_open(reader, chunk.bytes, chunk.n, NULL),
                     PFD_OK);
    next_says(reader, 0, 16, NULL);
    next_says(reader, 1, 28, NULL);
    next(reader, PFD_CHUNK_FINDING, &item);
    next(reader, PFD_CHUNK_ENTRY, &item);
    ck_assert_uint_eq(item.entry.id, TWO);
    ck_assert_ptr_null(item.entry.string);
    ck_assert_uint_eq(item.entry.n_payload, 12);
    pfd_chunk_reader_free(reader);
    pfd_strings_free(few);
}
END_TEST

START_TEST(string_that_comes_late)
{
    struct pfd_strings *few = pfd_strings_new();
    struct pfd_chunk_writer *writer = new_writer();
    struct pfd_chunk_reader *reader = new_reader(strings);
    struct pfd_chunk_item item;
    dump_add_string(few, TWO, "two %d %llx\n", "48");
    add_entries(writer, few);
    struct kept kept = keep(writer);
    ck_assert_int_eq(pfd_chunk_reader_open(reader, kept.bytes, kept.n, NULL),
                     PFD_OK);
    next_says(reader, 0, 16, "one 7\n");
    next_says(reader, 1, 28, "one 8\n");
    next(reader, PFD_CHUNK_FINDING, &item);
    next_says(reader, 2, 40, "two 9 a\n");
    free(kept.bytes);
    pfd_chunk_reader_free(reader);
    pfd_chunk_writer_free(writer);
    pfd_strings_free(few);
}
END_TEST

/* ---- any bytes ---- */

START_TEST(cut_anywhere)
{
    struct pfd_chunk_reader *reader = new_reader(strings);
    unsigned n_whole = 0;
    for (size_t n = 0; n < chunk.n; n++) {
        struct guard g = guard_new(chunk.bytes, n);
        struct pfd_chunk_item item;
        enum pfd_status status =
            pfd_chunk_reader_open(reader, g.bytes, n, NULL);
        for (unsigned i = 0; status == PFD_OK; i++) {
            status = pfd_chunk_reader_next(reader, &item, NULL);
            ck_assert_uint_lt(i, 6);
        }
        /* Records end where records end. */
        n_whole += status == PFD_END;
        ck_assert(status == PFD_END || status == PFD_ERR_CORRUPT);
        guard_free(&g);
    }
    ck_assert_uint_eq(n_whole, 5);
    pfd_chunk_reader_free(reader);
}
END_TEST

START_TEST(flipped_anywhere)
{
    struct pfd_chunk_reader *reader = new_reader(strings);
    uint8_t *bytes = chunk.bytes;
    for (size_t i = 0; i < 8 * chunk.n; i++) {
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        struct guard g = guard_new(bytes, chunk.n);
        struct pfd_chunk_item item;
        struct build out = { 0 };
        struct pfd_error err;
        enum pfd_status status =
            pfd_chunk_reader_open(reader, g.bytes, chunk.n, &err);
        while (status == PFD_OK) {
            status = pfd_chunk_reader_next(reader, &item, &err);
            if (status == PFD_OK && item.type != PFD_CHUNK_GAP)
                describe(&out, &item);
        }
        ck_assert(status == PFD_END || status == PFD_ERR_CORRUPT ||
                  status == PFD_ERR_UNSUPPORTED);
        build_free(&out);
        guard_free(&g);
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    pfd_chunk_reader_free(reader);
}
END_TEST

/* ---- converted ---- */

struct gathered {
    struct pfd_chunk_bytes chunks[256];
    size_t n;
};

static bool gather(void *user, const void *bytes, size_t n, uint64_t n_items)
{
    struct gathered *g = user;
    void *copy = malloc(n);
    ck_assert_uint_lt(g->n, 256);
    memcpy(copy, bytes, n);
    (void)n_items;
    g->chunks[g->n++] = (struct pfd_chunk_bytes){ .bytes = copy, .n = n };
    return true;
}

static bool to_text(void *user, const void *bytes, size_t n)
{
    pfd_text_add(user, bytes, n);
    return true;
}

static void check_converted(const struct dump *d, unsigned threads)
{
    struct gathered g = { .n = 0 };
    struct pfd_text want = { 0 };
    struct pfd_text got = { 0 };
    struct pfd_summary sum = { 0 };
    struct pfd_convert convert = {
        .strings = d->strings,
        .format = "llpc",
        .source = "test",
        .limit = UINT64_MAX,
        .threads = threads,
        .write_chunk = gather,
        .write_user = &g,
    };
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, d->bytes.bytes, d->bytes.n, &sum, NULL),
        PFD_OK);
    convert.write_chunk = NULL;
    convert.write = to_text;
    convert.output = "json";
    convert.write_user = &want;
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, d->bytes.bytes, d->bytes.n, &sum, NULL),
        PFD_OK);
    convert.write_user = &got;
    convert.format = NULL;
    ck_assert_int_eq(pfd_convert_chunks(&convert, g.chunks, g.n, &sum, NULL),
                     PFD_OK);
    ck_assert_uint_eq(want.n, got.n);
    ck_assert(!memcmp(want.data, got.data, want.n));
    for (size_t i = 0; i < g.n; i++)
        free((void *)(uintptr_t)g.chunks[i].bytes);
    pfd_text_free(&want);
    pfd_text_free(&got);
}

/* Summaries are part of it: what was lost and skipped is the same. */
START_TEST(converted)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct dump d;
        dump_init(&d, seed, 30000);
        if (seed % 2)
            dump_damage(&d);
        check_converted(&d, 1);
        check_converted(&d, 4);
        dump_deinit(&d);
    }
}
END_TEST

int main(void)
{
    int failed = suite_run_with("chunk", setup, teardown,
                                TESTS(all_kinds, string_that_is_gone,
                                      string_that_comes_late, cut_anywhere,
                                      flipped_anywhere),
                                300);
    return failed ||
           suite_run("chunks", TESTS(same_items, same_in_parts, converted),
                     300);
}
