/* SPDX-License-Identifier: MIT */
/* A press: whatever the chunks, the threads and the haste of who writes, the
 * lines are those that one thread makes, in order. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/tail.h>

#include "core/decode/entry_run.h"
#include "dump.h"
#include "stream/capture/chunk.h"
#include "stream/live/tail_control.h"
#include "stream/live/walk_pool.h"
#include "stream/pipeline/ordered_render.h"
#include "suite.h"

enum {
    N_ENTRIES = 20000,
};

struct sink {
    const char *form;
    struct build bytes;
    size_t n_writes;
    size_t stop_after;
    bool is_slow;
    atomic_bool is_busy;
};

static bool take(void *user, const void *bytes, size_t n)
{
    struct sink *s = user;
    ck_assert(!atomic_exchange(&s->is_busy, true));
    if (s->is_slow)
        usleep(300);
    build_bytes(&s->bytes, bytes, n);
    bool ok = !s->stop_after || ++s->n_writes < s->stop_after;
    atomic_store(&s->is_busy, false);
    return ok;
}

static struct pfd_lines *make_lines(void *user)
{
    const struct sink *s = user;
    struct pfd_lines *lines = NULL;
    ck_assert_int_eq(pfd_lines_new(s->form, false, true, &lines, NULL), PFD_OK);
    return lines;
}

static struct pfd_ordered_render *new_press(struct sink *s, unsigned threads)
{
    struct pfd_ordered_render_options options = {
        .threads = threads,
        .lines = make_lines,
        .write = take,
        .user = s,
    };
    struct pfd_ordered_render *ordered_render = NULL;
    ck_assert_int_eq(pfd_ordered_render_new(&options, &ordered_render, NULL),
                     PFD_OK);
    return ordered_render;
}

/* Each entry is in a generation that grows now and then. */
static struct pfd_ordered_render_place place_of(const struct dump *d,
                                                uint64_t i)
{
    return (struct pfd_ordered_render_place){
        .strings = d->strings,
        .source = "buffer",
        .generation = i / 700,
        .time = 1700000000000000000 + i / 300,
    };
}

/* Entries go to the press, in chunks of that many, or to lines. */
static void give(const struct dump *d,
                 struct pfd_ordered_render *ordered_render, uint64_t each,
                 struct pfd_lines *lines)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    uint64_t n = 0;
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, NULL, "buffer", &decoder, NULL), PFD_OK);
    pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        if (!item->is_entry)
            continue;
        struct pfd_ordered_render_place place = place_of(d, n / each * each);
        if (lines) {
            pfd_lines_set_time(lines, place.time);
            pfd_lines_set_place(lines, place.generation, UINT64_MAX);
            pfd_lines_entry(lines, item->entry);
        } else {
            ck_assert_int_eq(
                pfd_chunk_add_entry(pfd_ordered_render_chunk(ordered_render),
                                    item->entry, NULL),
                PFD_OK);
        }
        if (++n % each == 0 && ordered_render)
            pfd_ordered_render_submit(ordered_render, &place);
        if (n % (8 * each) == 0 && ordered_render && each > 100)
            pfd_ordered_render_drain(ordered_render);
    }
    struct pfd_ordered_render_place place = place_of(d, n / each * each);
    if (ordered_render) {
        pfd_ordered_render_submit(ordered_render, &place);
        pfd_ordered_render_submit(ordered_render, &place); /* nothing */
    }
    pfd_decoder_free(decoder);
}

static void compare(const struct dump *d, const char *form, unsigned threads,
                    uint64_t each, bool is_slow)
{
    struct sink sink = { .form = form, .is_slow = is_slow };
    struct pfd_lines *lines = make_lines(&sink);
    struct pfd_ordered_render *ordered_render = new_press(&sink, threads);
    size_t n = 0;
    give(d, NULL, each, lines);
    give(d, ordered_render, each, NULL);
    ck_assert_int_eq(pfd_ordered_render_drain(ordered_render), PFD_OK);
    ck_assert_int_eq(pfd_ordered_render_status(ordered_render), PFD_OK);
    const char *bytes = pfd_lines_bytes(lines, &n);
    ck_assert_uint_eq(n, sink.bytes.n);
    ck_assert(!memcmp(bytes, sink.bytes.bytes, n));
    pfd_ordered_render_free(ordered_render);
    pfd_lines_free(lines);
    build_free(&sink.bytes);
}

START_TEST(lines_of_one)
{
    static const char *const forms[] = { "raw", "text", "json" };
    static const unsigned threads[] = { 0, 1, 2, 7 };
    struct dump d;
    dump_init(&d, 3, N_ENTRIES);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 3; k++)
            compare(&d, forms[k], threads[i], k ? 97 : 10, false);
        compare(&d, "json", threads[i], 500, true);
    }
    dump_deinit(&d);
}
END_TEST

/* ---- runs ---- */

/* Where what a tail gives goes: the press, or lines without one. */
struct taking {
    struct build *bytes; /* of the buffer */
    struct pfd_ordered_render *ordered_render;
    struct pfd_lines *lines;
    struct pfd_ordered_render_place place;
    struct pfd_walk_pool *walk_pool; /* NULL: runs come one by one */
    struct pfd_tail *tail;
    size_t n_runs;
    size_t n_large; /* runs that are more than a sheet */
    size_t n_most;  /* that came together */
};

static long read_bytes(void *user, uint64_t offset, void *bytes, size_t n)
{
    const struct taking *t = user;
    size_t left = offset < t->bytes->n ? t->bytes->n - (size_t)offset : 0;
    n = n < left ? n : left;
    if (n)
        memcpy(bytes, t->bytes->bytes + offset, n);
    return (long)n;
}

static void take_item(void *user, const struct pfd_tail_item *item)
{
    const struct taking *t = user;
    if (!item->is_entry)
        return;
    if (t->lines) {
        pfd_lines_entry(t->lines, item->entry);
        return;
    }
    struct pfd_chunk_writer *chunk =
        pfd_ordered_render_chunk(t->ordered_render);
    ck_assert_int_eq(pfd_chunk_add_entry(chunk, item->entry, NULL), PFD_OK);
}

/* Each third goes by chunks, which the next one then finds half full. */
static void take_run(void *user, const struct pfd_entry_run *entry_run,
                     uint64_t generation)
{
    struct taking *t = user;
    size_t n = pfd_entry_run_count(entry_run);
    ck_assert_uint_eq(generation, 0);
    t->n_large += pfd_entry_run_bytes(entry_run) > 40000;
    if (++t->n_runs % 3) {
        pfd_ordered_render_run(t->ordered_render, entry_run, &t->place);
        return;
    }
    for (size_t i = 0; i < n;) {
        struct pfd_chunk_writer *chunk =
            pfd_ordered_render_chunk(t->ordered_render);
        ck_assert_int_eq(pfd_chunk_add_run(chunk, entry_run, &i, 999, NULL),
                         PFD_OK);
        if (i < n)
            pfd_ordered_render_submit(t->ordered_render, &t->place);
    }
}

static void take_runs(void *user, const struct pfd_entry_run *const *entry_runs,
                      size_t n, uint64_t generation)
{
    struct taking *t = user;
    ck_assert_uint_eq(generation, 0);
    t->n_most = n > t->n_most ? n : t->n_most;
    pfd_ordered_render_runs(t->ordered_render, entry_runs, n, &t->place,
                            pfd_tail_share, t->tail);
}

static void follow(const struct dump *d, struct taking *t)
{
    struct pfd_tail_options options = {
        .strings = d->strings,
        .format = "llpc",
        .source = "buffer",
        .read = read_bytes,
        .read_user = t,
        .item = take_item,
        .item_user = t,
    };
    ck_assert_int_eq(pfd_tail_new(&options, &t->tail, NULL), PFD_OK);
    pfd_tail_take_runs(
        t->tail, &(struct pfd_tail_runs){ t->ordered_render ? take_run : NULL,
                                          take_runs, t->walk_pool });
    ck_assert_int_eq(pfd_tail_finish(t->tail, t->bytes->n, NULL), PFD_OK);
    pfd_tail_free(t->tail);
}

static void compare_runs(struct dump *d, const char *form, unsigned threads,
                         struct pfd_walk_pool *walk_pool)
{
    struct sink sink = { .form = form };
    struct taking one = { .bytes = &d->bytes, .lines = make_lines(&sink) };
    struct taking many = {
        .bytes = &d->bytes,
        .ordered_render = new_press(&sink, threads),
        .place = place_of(d, 0),
        .walk_pool = walk_pool,
    };
    size_t n = 0;
    pfd_lines_set_time(one.lines, many.place.time);
    pfd_lines_set_place(one.lines, 0, UINT64_MAX);
    follow(d, &one);
    follow(d, &many);
    pfd_ordered_render_submit(many.ordered_render, &many.place);
    ck_assert_int_eq(pfd_ordered_render_drain(many.ordered_render), PFD_OK);
    ck_assert_uint_gt(walk_pool ? many.n_most : many.n_runs, 10);
    ck_assert(walk_pool || many.n_large > 2);
    const char *bytes = pfd_lines_bytes(one.lines, &n);
    ck_assert_uint_eq(n, sink.bytes.n);
    ck_assert(!memcmp(bytes, sink.bytes.bytes, n));
    pfd_ordered_render_free(many.ordered_render);
    pfd_lines_free(one.lines);
    build_free(&sink.bytes);
}

#define LONG_ID UINT64_C(0x123456789abc)

/* Entries of 60 numbers behind the others. */
static void add_long(struct dump *d)
{
    enum {
        N_NUMBERS = 60,
        N_LONG = 2500,
    };
    uint32_t numbers[N_NUMBERS];
    dump_add_words(d->strings, LONG_ID, "%u,", N_NUMBERS);
    for (uint32_t i = 0; i < N_LONG; i++) {
        for (uint32_t k = 0; k < N_NUMBERS; k++)
            numbers[k] = i * 1000 + k;
        dump_entry(&d->bytes, LONG_ID, N_NUMBERS + 2, numbers, N_NUMBERS);
    }
    uint64_t used = (d->bytes.n - 16) / 4;
    memcpy(d->bytes.bytes, &used, sizeof used);
}

/* Whatever its way is, and however large a run. */
START_TEST(runs)
{
    static const char *const forms[] = { "raw", "text", "json" };
    struct dump d;
    struct pfd_walk_pool *walk_pool = NULL;
    dump_init(&d, 6, N_ENTRIES);
    add_long(&d);
    ck_assert_int_eq(pfd_walk_pool_new(3, &walk_pool, NULL), PFD_OK);
    for (size_t k = 0; k < 3; k++) {
        for (unsigned threads = 1; threads < 5; threads += 3) {
            compare_runs(&d, forms[k], threads, NULL);
            compare_runs(&d, forms[k], threads, walk_pool);
        }
    }
    pfd_walk_pool_free(walk_pool);
    dump_deinit(&d);
}
END_TEST

/* Nothing more is written, and nobody waits for ever. */
START_TEST(stopping)
{
    struct dump d;
    dump_init(&d, 4, N_ENTRIES);
    for (size_t after = 1; after < 40; after += 6) {
        struct sink sink = { .form = "raw", .stop_after = after };
        struct pfd_ordered_render *ordered_render = new_press(&sink, 3);
        give(&d, ordered_render, 90, NULL);
        ck_assert_int_eq(pfd_ordered_render_drain(ordered_render),
                         PFD_ERR_STOPPED);
        ck_assert_uint_eq(sink.n_writes, after);
        pfd_ordered_render_free(ordered_render);
        build_free(&sink.bytes);
    }
    dump_deinit(&d);
}
END_TEST

/* What waits is dropped. */
START_TEST(leaving)
{
    struct dump d;
    dump_init(&d, 5, N_ENTRIES);
    for (unsigned threads = 1; threads < 4; threads++) {
        struct sink sink = { .form = "json", .is_slow = true };
        struct pfd_ordered_render *ordered_render = new_press(&sink, threads);
        give(&d, ordered_render, 90, NULL);
        pfd_ordered_render_free(ordered_render);
        build_free(&sink.bytes);
    }
    pfd_ordered_render_free(NULL);
    dump_deinit(&d);
}
END_TEST

int main(void)
{
    return suite_run("press", TESTS(lines_of_one, runs, stopping, leaving),
                     200);
}
