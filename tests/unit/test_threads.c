/* SPDX-License-Identifier: MIT */
/* Any number of threads, any filter: the output is that of a plain loop. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "dump.h"
#include "suite.h"

enum {
    N_ENTRIES = 60000, /* several batches for each worker */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    FILTER_STEP = 9, /* slow enough with these */
#else
    FILTER_STEP = 1,
#endif
#else
    FILTER_STEP = 1,
#endif
};

struct sink {
    struct build bytes;
    struct build findings;
    size_t n_writes;
    size_t stop_after;
    bool is_slow; /* all wait for it */
    atomic_bool is_busy;
};

/* One at a time. */
static void enter(struct sink *s)
{
    ck_assert(!atomic_exchange(&s->is_busy, true));
    if (s->is_slow)
        usleep(200);
}

static bool take(void *user, const void *bytes, size_t n)
{
    struct sink *s = user;
    enter(s);
    build_bytes(&s->bytes, bytes, n);
    atomic_store(&s->is_busy, false);
    return !s->stop_after || ++s->n_writes < s->stop_after;
}

static void hear(void *user, const struct pfd_finding *f)
{
    struct sink *s = user;
    char line[1200];
    enter(s);
    int n = snprintf(line, sizeof line, "%s %" PRIu64 " %" PRIu64 " %s\n",
                     pfd_finding_name(f->kind), f->index, f->offset, f->text);
    build_bytes(&s->findings, line, (size_t)n);
    atomic_store(&s->is_busy, false);
}

static void sink_free(struct sink *s)
{
    build_free(&s->bytes);
    build_free(&s->findings);
}

static const char *const seven[] = { "7" };

static struct pfd_filter *filter_of(const struct pfd_filter_spec *spec)
{
    struct pfd_filter *filter = NULL;
    ck_assert_int_eq(pfd_filter_new(spec, &filter, NULL), PFD_OK);
    return filter;
}

static enum pfd_status run(const struct dump *d,
                           const struct pfd_convert *wanted, struct sink *sink,
                           struct pfd_summary *summary)
{
    struct pfd_convert convert = *wanted;
    convert.strings = d->strings;
    convert.source = "buffer";
    convert.write = take;
    convert.write_user = sink;
    convert.finding = hear;
    convert.finding_user = sink;
    return pfd_convert_bytes(&convert, d->bytes.bytes, d->bytes.n, summary,
                             NULL);
}

static bool equal(const struct build *a, const struct build *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->bytes, b->bytes, a->n));
}

static void compare_threads(const struct dump *d, struct pfd_convert convert)
{
    static const unsigned threads[] = { 1, 2, 3, 8, 8, 64 };
    struct sink first = { 0 };
    struct pfd_summary summary[2] = { { 0 } };
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct sink sink = { .is_slow = i > 3 };
        convert.threads = threads[i];
        ck_assert_int_eq(run(d, &convert, i ? &sink : &first, &summary[!!i]),
                         PFD_OK);
        if (i == 0)
            continue;
        ck_assert(equal(&first.bytes, &sink.bytes));
        ck_assert(equal(&first.findings, &sink.findings));
        ck_assert(!memcmp(&summary[0], &summary[1], sizeof summary[0]));
        sink_free(&sink);
    }
    sink_free(&first);
}

static void make(struct dump *d, uint64_t seed, bool damaged)
{
    dump_init(d, seed, N_ENTRIES);
    for (int i = 0; damaged && i < 30; i++) {
        size_t n = d->bytes.n;
        dump_damage(d);
        if (d->bytes.n < n) { /* cut: most of it is wanted here */
            dump_deinit(d);
            dump_init(d, ++seed, N_ENTRIES);
        }
    }
}

START_TEST(same_output)
{
    static const char *const outputs[] = { "text", "raw", "json" };
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct dump d;
        make(&d, seed, seed == 2);
        for (size_t i = 0; i < 3; i++) {
            compare_threads(&d, (struct pfd_convert){ .output = outputs[i],
                                                      .notes = true,
                                                      .limit = UINT64_MAX });
        }
        dump_deinit(&d);
    }
}
END_TEST

/* What a loop over pfd_decoder_next() says with the same filter. */
static uint64_t naive(const struct dump *d, const struct pfd_convert *c,
                      const struct pfd_filter_spec *spec, struct build *out)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    uint64_t wanted = 0;
    uint64_t n_given = 0;
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, NULL, "buffer", &decoder, NULL), PFD_OK);
    pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        size_t n = 0;
        bool is_wanted = spec->n_ids == 0;
        if (!item->is_entry)
            continue;
        for (size_t i = 0; i < spec->n_ids; i++)
            is_wanted |= spec->ids[i] == item->entry->id;
        const char *message = pfd_entry_message(item->entry, &n);
        if (spec->n_patterns && !(message && memchr(message, '7', n)))
            is_wanted = false;
        if (!is_wanted)
            continue;
        uint64_t number = wanted++;
        if (number < c->skip)
            continue;
        if (c->no_entries || (c->limit && number - c->skip >= c->limit))
            break;
        build_bytes(out, message, n);
        n_given++;
    }
    pfd_decoder_free(decoder);
    return n_given;
}

START_TEST(filters)
{
    struct dump d;
    uint64_t ids[3];
    static const uint64_t skips[] = { 0, 1, 1000, 50000, 1000000 };
    static const uint64_t limits[] = { 0, 1, 777, 40000, 0 };
    make(&d, 3, true);
    for (size_t i = 0; i < 3; i++) {
        struct pfd_string_info info;
        pfd_strings_get(d.strings, 2 * i, &info);
        ids[i] = info.id;
    }
    unsigned step = (unsigned)suite_turns(4 * 25 / FILTER_STEP, 11);
    step = 4 * 25 / step;
    for (unsigned k = 0; k < 4 * 25; k += step) {
        struct pfd_filter_spec spec = {
            .ids = ids,
            .n_ids = k & 1 ? 3 : 0,
            .patterns = seven,
            .n_patterns = k & 2 ? 1 : 0,
            .jit = k & 4,
        };
        struct pfd_filter *filter = filter_of(&spec);
        uint64_t n_given = 0;
        struct pfd_convert c = {
            .output = "raw",
            .filter = filter,
            .n_emitted = &n_given,
            .skip = skips[k / 4 % 5],
            .limit = limits[k / 20], /* the last one: all */
            .no_entries = k / 20 == 0,
            .threads = 1 + k % 3,
        };
        struct build want = { 0 };
        struct sink sink = { 0 };
        struct pfd_summary summary = { 0 };
        uint64_t n_wanted = naive(&d, &c, &spec, &want);
        ck_assert_int_eq(run(&d, &c, &sink, &summary), PFD_OK);
        ck_assert_msg(equal(&want, &sink.bytes),
                      "filter %u: %zu bytes expected, %zu given", k, want.n,
                      sink.bytes.n);
        ck_assert_uint_eq(n_given, n_wanted);
        build_free(&want);
        sink_free(&sink);
        pfd_filter_free(filter);
    }
    dump_deinit(&d);
}
END_TEST

START_TEST(filters_on_threads)
{
    struct dump d;
    struct pfd_string_info info;
    make(&d, 4, true);
    pfd_strings_get(d.strings, 1, &info);
    const struct pfd_filter_spec specs[] = {
        { .patterns = seven, .n_patterns = 1 },
        { .ids = &info.id, .n_ids = 1 },
        { .where = "a0 > 1000 || isnan(a1)" },
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct pfd_filter *filter = filter_of(&specs[i]);
        compare_threads(&d, (struct pfd_convert){ .output = "json",
                                                  .filter = filter,
                                                  .limit = UINT64_MAX });
        compare_threads(&d, (struct pfd_convert){ .output = "json",
                                                  .filter = filter,
                                                  .skip = 500,
                                                  .limit = 900 });
        pfd_filter_free(filter);
    }
    compare_threads(&d, (struct pfd_convert){
                            .output = "text", .skip = 30000, .limit = 20000 });
    dump_deinit(&d);
}
END_TEST

START_TEST(stopping)
{
    struct dump d;
    make(&d, 5, false);
    for (unsigned threads = 1; threads <= 8; threads += 7) {
        for (size_t after = 1; after < 8; after++) {
            struct sink sink = { .stop_after = after };
            struct pfd_summary summary = { 0 };
            struct pfd_convert c = { .output = "json",
                                     .threads = threads,
                                     .limit = UINT64_MAX };
            ck_assert_int_eq(run(&d, &c, &sink, &summary), PFD_ERR_STOPPED);
            ck_assert_uint_eq(sink.n_writes, after);
            sink_free(&sink);
        }
    }
    dump_deinit(&d);
}
END_TEST

/* Counting without output, and the counts for each string. */
START_TEST(counting)
{
    struct dump d;
    uint64_t entries[2][64] = { { 0 } };
    uint64_t bytes[2][64] = { { 0 } };
    make(&d, 6, true);
    for (unsigned i = 0; i < 2; i++) {
        struct pfd_summary summary = { 0 };
        struct sink sink = { 0 };
        struct pfd_convert c = { .threads = 1 + 7 * i,
                                 .limit = UINT64_MAX,
                                 .string_entries = entries[i],
                                 .string_bytes = bytes[i] };
        uint64_t sum[2] = { 0 };
        ck_assert_int_eq(run(&d, &c, &sink, &summary), PFD_OK);
        for (size_t k = 0; k < pfd_strings_count(d.strings); k++) {
            sum[0] += entries[i][k];
            sum[1] += bytes[i][k];
        }
        ck_assert_uint_eq(sum[0], summary.entries - summary.unknown);
        ck_assert_uint_le(sum[1], summary.bytes);
        ck_assert_uint_eq(sink.bytes.n, 0);
        sink_free(&sink);
    }
    ck_assert(!memcmp(entries[0], entries[1], sizeof entries[0]));
    ck_assert(!memcmp(bytes[0], bytes[1], sizeof bytes[0]));
    dump_deinit(&d);
}
END_TEST

START_TEST(wrong_names)
{
    struct dump d;
    struct sink sink = { 0 };
    struct pfd_summary summary = { 0 };
    make(&d, 7, false);
    ck_assert_int_eq(
        run(&d, &(struct pfd_convert){ .output = "xml" }, &sink, &summary),
        PFD_ERR_USAGE);
    ck_assert_int_eq(
        run(&d, &(struct pfd_convert){ .format = "xyz" }, &sink, &summary),
        PFD_ERR_USAGE);
    dump_deinit(&d);
}
END_TEST

/* What a C library gives differs by far: 8 MiB, 128 KiB. */
static void *measure_stack(void *size)
{
    pthread_attr_t attr;
    ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attr), 0);
    ck_assert_int_eq(pthread_attr_getstacksize(&attr, size), 0);
    pthread_attr_destroy(&attr);
    return NULL;
}

START_TEST(stack_size)
{
    pthread_t thread;
    size_t size = 0;
    ck_assert(pfd_thread_start(&thread, measure_stack, &size));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_gt(size, 900 << 10);
    ck_assert_uint_lt(size, 1100 << 10);
}
END_TEST

int main(void)
{
    return suite_run("threads",
                     TESTS(same_output, filters, filters_on_threads, stopping,
                           counting, wrong_names, stack_size),
                     280);
}
