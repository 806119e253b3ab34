/* SPDX-License-Identifier: MIT */
/* However a buffer arrives, what is said about it is the same. */
#include <string.h>

#include "core/decode/inspect.h"
#include "dump.h"
#include "suite.h"

enum {
    SEEDS = 60
};

/* How a view grows and slides. */
enum how {
    BYTE_BY_BYTE,
    RANDOM_GROWTH,
    SLIDING,
    HOW_N
};

static void finish(struct pfd_decoder *decoder, struct build *out)
{
    struct pfd_summary summary = *pfd_decoder_summary(decoder);
    dump_describe_summary(out, &summary);
    pfd_decoder_free(decoder);
}

static void in_one_view(const struct dump *d, struct build *out)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, "llpc", "buffer", &decoder, NULL), PFD_OK);
    ck_assert_int_eq(
        pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL),
        PFD_OK);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK)
        dump_describe(out, item);
    finish(decoder, out);
}

/* Each view is a block of its own, as long as it is in use. */
static void in_pieces(const struct dump *d, enum how how, uint64_t *rng,
                      struct build *out)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    uint8_t *view = NULL;
    uint64_t base = 0;
    uint64_t end = 0;
    enum pfd_status status;
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, "llpc", "buffer", &decoder, NULL), PFD_OK);
    for (;;) {
        status = pfd_decoder_next(decoder, &item, NULL);
        if (status == PFD_OK)
            dump_describe(out, item);
        /* A view may also change while items wait. */
        if (status == PFD_OK && (how != SLIDING || dump_below(rng, 4)))
            continue;
        if (status == PFD_END)
            break;
        uint64_t left = d->bytes.n - end;
        uint64_t more = how == BYTE_BY_BYTE ? 1 : dump_below(rng, 60);
        end += more < left ? more : left;
        if (how == SLIDING)
            base = pfd_decoder_position(decoder);
        ck_assert_uint_le(base, end);
        uint8_t *next = malloc(end - base + !(end - base));
        ck_assert_ptr_nonnull(next);
        if (end > base)
            memcpy(next, d->bytes.bytes + base, end - base);
        bool last = end == d->bytes.n &&
                    (more == 0 || more > left || how == BYTE_BY_BYTE);
        ck_assert_int_eq(
            pfd_decoder_view(decoder, next, end - base, base, last, NULL),
            PFD_OK);
        free(view);
        view = next;
    }
    finish(decoder, out);
    free(view);
}

static void check_same(const struct build *a, const struct build *b,
                       uint64_t seed, const char *what)
{
    size_t i = 0;
    while (i < a->n && i < b->n && a->bytes[i] == b->bytes[i])
        i++;
    size_t from = i > 200 ? i - 200 : 0;
    ck_assert_msg(a->n == b->n && i == a->n,
                  "seed %llu, %s: differs at %zu of %zu, %zu\n%.*s\n---\n%.*s",
                  (unsigned long long)seed, what, i, a->n, b->n,
                  (int)(a->n - from < 500 ? a->n - from : 500),
                  (const char *)a->bytes + from,
                  (int)(b->n - from < 500 ? b->n - from : 500),
                  (const char *)b->bytes + from);
}

static void make(struct dump *d, uint64_t seed)
{
    dump_init(d, seed, 1 + seed % 60);
    for (uint64_t i = seed % 4; i; i--)
        dump_damage(d);
}

/* Entries that end at or before `to` are left out: by skipping them, or by
 * looking at each. */
static void in_part(const struct dump *d, uint64_t to, uint64_t index,
                    bool skips, struct build *out)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, "llpc", "buffer", &decoder, NULL), PFD_OK);
    ck_assert_int_eq(
        pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL),
        PFD_OK);
    uint64_t end = 0;
    uint64_t last = 0;
    for (;;) {
        if (skips && pfd_decoder_skip(decoder, to, index, &end, NULL) != PFD_OK)
            break;
        if (pfd_decoder_next(decoder, &item, NULL) != PFD_OK)
            break;
        uint64_t ends = item->entry->offset + item->entry->n_bytes;
        if (!item->is_entry || ends > to || item->entry->index >= index) {
            dump_describe(out, item);
        } else {
            ck_assert(!skips);
            last = ends;
        }
        if (!skips)
            end = last;
    }
    build_u32(out, (uint32_t)end);
    struct pfd_summary summary = *pfd_decoder_summary(decoder);
    build_u32(out, (uint32_t)summary.entries);
    build_u32(out, (uint32_t)summary.bytes);
    build_u32(out, (uint32_t)summary.unknown);
    pfd_decoder_free(decoder);
}

START_TEST(skipping)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct dump d;
        make(&d, seed);
        for (unsigned i = 0; i < 4; i++) {
            struct build next = { 0 };
            struct build skip = { 0 };
            uint64_t to = dump_below(&d.rng, (uint32_t)d.bytes.n + 64);
            uint64_t index = i % 2 ? dump_below(&d.rng, 60) : UINT64_MAX;
            in_part(&d, to, index, false, &next);
            in_part(&d, to, index, true, &skip);
            check_same(&next, &skip, seed, "skipping");
            build_free(&next);
            build_free(&skip);
        }
        dump_deinit(&d);
    }
}
END_TEST

START_TEST(views)
{
    static const char *const names[] = { "byte by byte", "random growth",
                                         "sliding" };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct dump d;
        struct build whole = { 0 };
        make(&d, seed);
        in_one_view(&d, &whole);
        for (unsigned how = 0; how < HOW_N; how++) {
            struct build pieces = { 0 };
            in_pieces(&d, (enum how)how, &d.rng, &pieces);
            check_same(&whole, &pieces, seed, names[how]);
            build_free(&pieces);
        }
        build_free(&whole);
        dump_deinit(&d);
    }
}
END_TEST

/* ---- pfd_convert_stream() ---- */

struct reader {
    const struct build *bytes;
    size_t at;
    bool by_one;
    uint64_t rng;
};

static long read_some(void *user, void *ret, size_t n)
{
    struct reader *r = user;
    size_t left = r->bytes->n - r->at;
    size_t k = r->by_one ? 1 : 1 + dump_below(&r->rng, 5000);
    k = k < n ? k : n;
    k = k < left ? k : left;
    if (k)
        memcpy(ret, r->bytes->bytes + r->at, k);
    r->at += k;
    return (long)k;
}

static bool take(void *user, const void *bytes, size_t n)
{
    build_bytes(user, bytes, n);
    return true;
}

static void check_convert(const struct dump *d, const char *output,
                          uint64_t seed, unsigned threads)
{
    struct build whole = { 0 };
    struct pfd_summary summary = { 0 };
    struct pfd_convert convert = {
        .strings = d->strings,
        .output = output,
        .source = "buffer",
        .threads = threads,
        .notes = true,
        .write = take,
        .write_user = &whole,
    };
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, d->bytes.bytes, d->bytes.n, &summary, NULL),
        PFD_OK);
    for (int by_one = 0; by_one < 2; by_one++) {
        struct reader reader = { &d->bytes, 0, by_one, seed };
        struct build pieces = { 0 };
        convert.write_user = &pieces;
        ck_assert_int_eq(
            pfd_convert_stream(&convert, read_some, &reader, &summary, NULL),
            PFD_OK);
        check_same(&whole, &pieces, seed, output);
        build_free(&pieces);
    }
    build_free(&whole);
}

START_TEST(convert_streams)
{
    static const char *const outputs[] = { "text", "raw", "json" };
    for (uint64_t seed = 0; seed < SEEDS / 3; seed++) {
        struct dump d;
        make(&d, seed);
        for (size_t i = 0; i < 3; i++)
            check_convert(&d, outputs[i], seed, 1);
        dump_deinit(&d);
    }
}
END_TEST

/* More than one window, damaged at every place that can matter. */
START_TEST(convert_long_streams)
{
    for (uint64_t seed = 1000; seed < 1002; seed++) {
        struct dump d;
        dump_init(&d, seed, 90000);
        ck_assert_uint_gt(d.bytes.n, 1 << 20);
        for (uint64_t i = seed % 3 * 20; i; i--)
            dump_damage(&d);
        if (d.bytes.n < 1 << 20) {
            dump_deinit(&d);
            dump_init(&d, seed, 90000);
        }
        check_convert(&d, "json", seed, 1 + (unsigned)(seed % 2) * 2);
        dump_deinit(&d);
    }
}
END_TEST

static long fail_later(void *user, void *ret, size_t n)
{
    struct reader *r = user;
    if (r->at > 100)
        return -5; /* EIO */
    return read_some(user, ret, n);
}

START_TEST(read_errors)
{
    struct dump d;
    struct pfd_error err;
    struct pfd_summary summary = { 0 };
    dump_init(&d, 7, 100);
    struct reader reader = { &d.bytes, 0, true, 7 };
    struct pfd_convert convert = { .strings = d.strings, .output = "raw" };
    ck_assert_int_eq(
        pfd_convert_stream(&convert, fail_later, &reader, &summary, &err),
        PFD_ERR_IO);
    ck_assert_int_eq(err.code, PFD_ERR_IO);
    dump_deinit(&d);
}
END_TEST

int main(void)
{
    return suite_run("stream",
                     TESTS(skipping, views, convert_streams,
                           convert_long_streams, read_errors),
                     280);
}
