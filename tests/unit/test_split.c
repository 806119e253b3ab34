/* SPDX-License-Identifier: MIT */
/*
 * A walk by several threads at once, and over parts that are read: whatever is
 * in a buffer, they give what one gives, with its findings. Buffers are long
 * enough for many stretches, and full of what looks like entries and is none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "suite.h"

enum {
    N_BYTES = 1600 * 1024, /* 25 stretches */
    N_STRINGS = 24,        /* of struct dump */
    LONG_WORDS = 60,
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    N_SEEDS = 8, /* slow with these */
#else
    N_SEEDS = 40,
#endif
#else
    N_SEEDS = 40,
#endif
};

#define LONG_ID UINT64_C(0xfeedfacecafe)

static bool take(void *user, const void *bytes, size_t n)
{
    build_bytes(user, bytes, n);
    return true;
}

static void hear(void *user, const struct pfd_finding *f)
{
    char line[1200];
    int n = snprintf(line, sizeof line, "%s %" PRIu64 " %" PRIu64 " %s\n",
                     pfd_finding_name(f->kind), f->index, f->offset, f->text);
    build_bytes(user, line, (size_t)n);
}

/* Text that is given, findings that are told, and what is counted. */
struct said {
    struct build text;
    struct build findings;
    struct pfd_summary summary;
    uint64_t entries[N_STRINGS + 1];
    uint64_t bytes[N_STRINGS + 1];
};

static void said_free(struct said *said)
{
    build_free(&said->text);
    build_free(&said->findings);
}

/* A file from which not all can be read; called by several threads. */
struct file {
    const struct dump *of;
    uint64_t bad; /* every so many blocks one cannot be read; 0: none */
};

static long read_at(void *user, uint64_t offset, void *bytes, size_t n)
{
    enum {
        BLOCK = 64 * 1024
    };
    const struct file *file = user;
    ck_assert_uint_le(offset + n, file->of->bytes.n);
    if (file->bad && offset / BLOCK % file->bad == 0)
        return offset / BLOCK % 2 ? -EIO : (long)n / 2;
    memcpy(bytes, file->of->bytes.bytes + offset, n);
    return (long)n;
}

struct how {
    const char *output;
    unsigned threads;
    struct file *file; /* NULL: the bytes are in memory */
    uint64_t limit;    /* 0: none */
    bool has_gaps;     /* some bytes are not known */
};

static void say(const struct dump *d, const struct how *how, struct said *ret)
{
    static const struct pfd_range gaps[] = { { 1000, 1016 }, { 70000, 70400 } };
    *ret = (struct said){ 0 };
    struct pfd_convert convert = {
        .strings = d->strings,
        .format = "llpc",
        .missing = gaps,
        .n_missing = how->has_gaps ? sizeof gaps / sizeof *gaps : 0,
        .output = how->output,
        .threads = how->threads,
        .read_at = how->file ? read_at : NULL,
        .read_at_user = how->file,
        .notes = true,
        .limit = how->limit,
        .write = take,
        .write_user = &ret->text,
        .finding = hear,
        .finding_user = &ret->findings,
        .string_entries = ret->entries,
        .string_bytes = ret->bytes,
    };
    ck_assert_int_eq(pfd_convert_bytes(&convert, d->bytes.bytes, d->bytes.n,
                                       &ret->summary, NULL),
                     PFD_OK);
}

static bool equal(const struct build *a, const struct build *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->bytes, b->bytes, a->n));
}

/* However many records stand between them, entries are numbered one by one. */
static void check_indexes(const struct said *said, int seed)
{
    static const char key[] = "\"index\":";
    const char *at = (const char *)said->text.bytes;
    const char *end = at + said->text.n;
    uint64_t n = 0;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        ck_assert_ptr_nonnull(line_end);
        const char *found =
            memmem(at, (size_t)(line_end - at), key, sizeof key - 1);
        bool is_entry = !strncmp(at, "{\"type\":\"entry\"", 15);
        if (is_entry) {
            ck_assert_ptr_nonnull(found);
            uint64_t index = strtoull(found + sizeof key - 1, NULL, 10);
            ck_assert_msg(index == n, "seed %d: entry %llu", seed,
                          (unsigned long long)n);
        }
        n += is_entry;
        at = line_end + 1;
    }
    ck_assert_uint_eq(n, said->summary.entries);
}

/* In all ways, it is what it was when it was told in this one. */
static void compare(const struct dump *d, const struct how *how, int seed)
{
    static const struct way {
        unsigned threads;
        bool is_read;
    } ways[] = { { 1, true }, { 2, false }, { 5, true }, { 1, false } };
    struct file file = { d, (uint64_t)seed % 5 };
    struct said one;
    say(d, how, &one);
    if (how->output && !strcmp(how->output, "json"))
        check_indexes(&one, seed);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct how other = { .output = how->output,
                             .threads = ways[i].threads,
                             .file = ways[i].is_read ? &file : NULL,
                             .has_gaps = how->has_gaps };
        struct said said;
        say(d, &other, &said);
        ck_assert_msg(equal(&one.text, &said.text), "seed %d: text", seed);
        ck_assert_msg(equal(&one.findings, &said.findings), "seed %d: findings",
                      seed);
        ck_assert(!memcmp(&one.summary, &said.summary, sizeof one.summary));
        ck_assert(!memcmp(one.entries, said.entries, sizeof one.entries));
        ck_assert(!memcmp(one.bytes, said.bytes, sizeof one.bytes));
        said_free(&said);
    }
    said_free(&one);
}

/* ---- buffers ---- */

/* A payload that entries fill, from one of its first words on: a search that
 * begins in it finds them. */
static void add_trap(struct dump *d, struct build *body)
{
    struct build inside = { 0 };
    uint32_t payload[LONG_WORDS] = { 0 };
    uint32_t from = dump_below(&d->rng, 8);
    while (inside.n < sizeof payload) {
        uint32_t i = dump_below(&d->rng, N_STRINGS);
        static const uint32_t zeros[128];
        dump_entry(&inside, d->ids[i], d->n_words[i] + 2, zeros, d->n_words[i]);
    }
    memcpy(payload + from, inside.bytes, sizeof payload - 4 * (size_t)from);
    dump_entry(body, LONG_ID, LONG_WORDS + 2, payload, LONG_WORDS);
    build_free(&inside);
}

static void add_entry(struct dump *d, struct build *body, bool is_small)
{
    uint32_t payload[128];
    uint32_t i = dump_below(&d->rng, N_STRINGS);
    for (uint32_t k = 0; is_small && k < N_STRINGS && d->n_words[i] > 1; k++)
        i = (i + 1) % N_STRINGS;
    for (uint32_t k = 0; k < d->n_words[i]; k++)
        payload[k] = (uint32_t)dump_random(&d->rng);
    dump_entry(body, d->ids[i], d->n_words[i] + 2, payload, d->n_words[i]);
}

/* Bytes of several kinds at random places: how many in a stretch. */
static void damage(struct dump *d, struct build *body, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t at =
            4 * (size_t)dump_below(&d->rng, (uint32_t)body->n / 4 - 200);
        size_t from =
            4 * (size_t)dump_below(&d->rng, (uint32_t)body->n / 4 - 200);
        size_t n_bytes = 4 * (size_t)dump_below(&d->rng, 100);
        uint32_t word = (uint32_t)dump_random(&d->rng);
        switch (dump_below(&d->rng, 4)) {
        case 0:
            memmove(body->bytes + at, body->bytes + from, n_bytes);
            break;
        case 1:
            memset(body->bytes + at, 0, n_bytes);
            break;
        case 2:
            word &= 0x3ffff; /* a size */
            memcpy(body->bytes + at, &word, sizeof word);
            break;
        default:
            memcpy(body->bytes + at, &word, sizeof word);
            break;
        }
    }
}

static void make(struct dump *d, uint64_t seed)
{
    static const uint32_t n_damaged[] = { 0, 0, 3, 60, 3000 };
    struct build body = { 0 };
    dump_init(d, seed, 0);
    build_free(&d->bytes);
    dump_add_words(d->strings, LONG_ID, "%x ", LONG_WORDS);
    uint32_t one_in = 1u << dump_below(&d->rng, 7);
    bool is_small = dump_below(&d->rng, 4) == 0;
    while (body.n < N_BYTES) {
        if (seed % 2 && dump_below(&d->rng, one_in) == 0) {
            add_trap(d, &body);
        } else {
            add_entry(d, &body, is_small);
        }
    }
    damage(d, &body, n_damaged[seed % 5]);
    if (seed % 7 == 6) /* a hole of several stretches */
        memset(body.bytes + body.n / 3, 0, body.n / 5);
    dump_header(&d->bytes, body.n / 4 + (seed % 3 ? 0 : 100));
    build_bytes(&d->bytes, body.bytes, body.n);
    build_free(&body);
}

START_TEST(many_give_what_one_gives)
{
    static const char *const outputs[] = { "raw", "json", NULL, "text" };
    for (int seed = 0; seed < suite_turns(N_SEEDS, 8); seed++) {
        struct dump d;
        make(&d, (uint64_t)seed);
        compare(&d, &(struct how){ outputs[seed % 4], .threads = 1 }, seed);
        dump_deinit(&d);
    }
}
END_TEST

/* Where nothing else is wanted, entries are counted and have no records: the
 * same comes out when a limit, which is beyond all of them, has all looked at. */
START_TEST(counting_needs_no_records)
{
    for (int seed = 0; seed < suite_turns(N_SEEDS / 2, 5); seed++) {
        struct how how = { .threads = 1,
                           .limit = UINT64_MAX - 1,
                           .has_gaps = seed % 3 == 1 };
        struct dump d;
        make(&d, (uint64_t)seed);
        compare(&d, &how, seed);
        dump_deinit(&d);
    }
}
END_TEST

int main(void)
{
    return suite_run("split",
                     TESTS(many_give_what_one_gives, counting_needs_no_records),
                     280);
}
