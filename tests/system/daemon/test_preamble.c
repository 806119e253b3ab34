/* SPDX-License-Identifier: MIT */
/* Readers of entries: what they get is a stream that a subscriber can read, with
 * what it needs before it needs it, each thing once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include <printfdecode/strings.h>
#include <printfdecode/subscriber.h>

#include "../../unit/suite.h"
#include "core/decode/string_loader.h"
#include "core/spirv/spirv.h"
#include "made.h"
#include "ring/cursor.h"

enum {
    OBJECTS_MAX = 16,
    BIG = 700 * 1024, /* bytes: several pieces */
};

static const char *elf_path;
static const char *dump_path;
static struct made made;
static struct pfdd_ring ring;
static struct pfdd_render_cache render_cache;
static struct pfdd_cursor cursor;
static struct pfd_subscriber *subscriber;

/* The code objects that there are. */
static struct pfdd_code_object objects[OBJECTS_MAX];
static size_t n_objects;
static uint64_t changes;
static int n_open; /* lists */
static char *elf;
static size_t n_elf;
static char big[BIG];

static const void *open_objects(void *user, size_t *n, uint64_t *ret)
{
    (void)user;
    *n = n_objects;
    *ret = changes;
    n_open++;
    return objects;
}

static void get_object(const void *list, size_t i, struct pfdd_code_object *ret)
{
    const struct pfdd_code_object *first = list;
    *ret = first[i];
}

static void close_objects(void *user, const void *list)
{
    const struct pfdd_code_object *first = list;
    (void)user;
    ck_assert(first >= objects && first < objects + OBJECTS_MAX);
    n_open--;
}

static void add_object(const char *name, const void *bytes, size_t n)
{
    ck_assert_uint_lt(n_objects, OBJECTS_MAX);
    objects[n_objects++] = (struct pfdd_code_object){
        .name = name, .bytes = bytes, .n = n, .since = ++changes
    };
}

/* Strings with a module of a scope's own, which nobody else knows any more. */
static struct pfdd_binding *bind_shader(struct pfdd_code_object *shader)
{
    struct pfdd_strings *strings = pfdd_strings_new(pfd_strings_new());
    strings->own = shader;
    strings->n_own = 1;
    strings->close_own = close_objects;
    n_open++;
    struct pfdd_binding *ret = pfdd_binding_new(strings);
    pfdd_strings_unref(strings);
    return ret;
}

static void subscribe(const char *text)
{
    struct pfdd_request request = { 0 };
    char err[256];
    ck_assert(
        pfdd_request_read(&request, text, strlen(text), err, sizeof err) &&
        pfdd_request_finish(&request, err, sizeof err));
    ck_assert(pfdd_cursor_init(&cursor, &render_cache, &request));
    pfdd_request_deinit(&request);
    ck_assert_int_eq(pfd_subscriber_new(NULL, &subscriber, NULL), PFD_OK);
}

static void setup(void)
{
    FILE *f = fopen(elf_path, "rb");
    ck_assert(made_init(&made, elf_path, dump_path, "some\athing"));
    elf = malloc(1 << 20);
    n_elf = fread(elf, 1, 1 << 20, f);
    fclose(f);
    n_objects = 0;
    changes = 0;
    pfdd_ring_init(&ring, 4 << 20, 1);
    pfdd_render_cache_init(&render_cache, &ring, NULL, NULL, 1, 4 << 20);
    render_cache.objects = (struct pfdd_object_lists){ open_objects, get_object,
                                                       close_objects, NULL };
}

static void teardown(void)
{
    pfdd_cursor_deinit(&cursor);
    pfd_subscriber_free(subscriber);
    pfdd_render_cache_deinit(&render_cache);
    pfdd_ring_deinit(&ring);
    made_deinit(&made);
    ck_assert_int_eq(n_open, 0);
    free(elf);
}

static void append_of(struct pfdd_buffer *buffer, uint64_t generation)
{
    struct pfdd_stamp stamp = { .time = 7, .buffer = buffer };
    made.contents.generation = generation;
    pfdd_ring_append(&ring, &stamp, made_chunk(&made));
}

static void append(unsigned n)
{
    made_entries(&made, n);
    append_of(made.buffer, 0);
}

/* What a subscriber has had. */
struct had {
    uint64_t n_batches;
    uint64_t n_entries;
    uint64_t n_unknown;
    uint64_t n_others; /* findings and gaps */
    uint64_t n_missed;
    uint64_t next; /* sequence number */
    uint64_t n_bytes;
    char source[64];
    struct pfd_batch last;
};

static void take_items(struct had *had)
{
    struct pfd_chunk_item *item;
    uint64_t sequence = 0;
    enum pfd_status status = PFD_OK;
    while ((status = pfd_subscriber_item(subscriber, &item, &sequence, NULL)) ==
           PFD_OK) {
        ck_assert_uint_ge(sequence, had->next);
        had->next = sequence + 1;
        if (item->type != PFD_CHUNK_ENTRY) {
            had->n_others++;
            continue;
        }
        had->n_entries++;
        had->n_unknown += item->entry.string == NULL;
    }
    ck_assert_int_eq(status, PFD_END);
}

static void take_batches(struct had *had)
{
    const struct pfd_batch *batch;
    struct pfd_error err;
    enum pfd_status status = PFD_OK;
    while ((status = pfd_subscriber_next(subscriber, &batch, &err)) == PFD_OK) {
        had->n_batches++;
        had->n_missed += batch->missed;
        had->last = *batch;
        if (batch->type == PFD_BATCH_ENTRIES) {
            snprintf(had->source, sizeof had->source, "%s", batch->source);
            take_items(had);
        }
    }
    ck_assert_msg(status == PFD_MORE, "%s", err.text);
}

/* All there is, handed over in pieces. */
static struct had read_all(size_t piece)
{
    const char *bytes = NULL;
    struct had had = { 0 };
    for (size_t n = 0; pfdd_cursor_peek(&cursor, &bytes, &n);) {
        size_t taken = 0;
        n = n < piece ? n : piece;
        ck_assert_int_eq(
            pfd_subscriber_feed(subscriber, bytes, n, &taken, NULL), PFD_OK);
        ck_assert_uint_gt(taken, 0);
        had.n_bytes += taken;
        pfdd_cursor_consume(&cursor, taken);
        take_batches(&had);
    }
    ck_assert(pfdd_cursor_is_done(&cursor));
    return had;
}

START_TEST(entries_have_their_strings)
{
    static const size_t pieces[] = { SIZE_MAX, 1, 7, 4096 };
    add_object("elf", elf, n_elf);
    subscribe("{\"output\":\"entries\"}");
    for (unsigned i = 0; i < 4; i++) {
        append(50);
        append(1);
        struct had had = read_all(pieces[i]);
        ck_assert_uint_eq(had.n_entries, 51);
        ck_assert_uint_eq(had.n_unknown, 0);
        ck_assert_uint_eq(had.next, ring.next_seq);
        ck_assert_str_eq(had.source, "some\athing");
        ck_assert_uint_eq(had.last.time, 7);
    }
}
END_TEST

START_TEST(what_comes_late_is_told_once)
{
    subscribe("{\"output\":\"entries\"}");
    append(10);
    ck_assert_uint_eq(read_all(SIZE_MAX).n_unknown, 10);
    memset(big, 'x', sizeof big);
    add_object("big", big, sizeof big);
    add_object("elf", elf, n_elf);
    append(10);
    struct had had = read_all(SIZE_MAX);
    ck_assert_uint_eq(had.n_unknown, 0);
    ck_assert_uint_gt(had.n_bytes, sizeof big + n_elf);
    append(10);
    had = read_all(SIZE_MAX);
    ck_assert_uint_eq(had.n_unknown, 0);
    ck_assert_uint_lt(had.n_bytes, n_elf);
}
END_TEST

/* Two processes have a shader 7 each, and neither has the other's. */
START_TEST(scopes_are_told_apart)
{
    static const uint32_t modules[2][5] = {
        { 0x07230203, 0x00010000, 1, 10, 0 },
        { 0x07230203, 0x00010300, 2, 20, 0 },
    };
    struct pfdd_buffer *buffers[2];
    subscribe("{\"output\":\"entries\"}");
    for (unsigned i = 0; i < 2; i++) {
        objects[i] = (struct pfdd_code_object){
            .name = i ? "of b" : "of a",
            .bytes = modules[i],
            .n = sizeof modules[i],
            .scope = i + 1,
            .since = ++changes,
            .is_shader = true,
            .shader = 7,
        };
        struct pfdd_buffer_options options = { .name = i ? "b" : "a",
                                               .binding =
                                                   bind_shader(&objects[i]),
                                               .scope = i + 1 };
        buffers[i] = pfdd_buffer_new(&options);
        pfdd_binding_unref(options.binding);
    }
    for (unsigned i = 0; i < 4; i++) {
        const char *source = NULL;
        const struct pfd_spirv *module = NULL;
        uint32_t id = 0;
        made_entries(&made, 1);
        append_of(buffers[i % 2], 0);
        struct had had = read_all(SIZE_MAX);
        ck_assert_str_eq(had.source, i % 2 ? "b" : "a");
        ck_assert_int_eq(
            pfd_strings_shader(had.last.strings, 0, &id, &source, &module),
            PFD_OK);
        ck_assert_uint_eq(id, 7);
        ck_assert_str_eq(source, i % 2 ? "of b" : "of a");
        ck_assert_int_eq(
            pfd_strings_shader(had.last.strings, 1, &id, &source, &module),
            PFD_END);
    }
    pfdd_buffer_unref(buffers[0]);
    pfdd_buffer_unref(buffers[1]);
}
END_TEST

START_TEST(generations_and_gaps)
{
    add_object("elf", elf, n_elf);
    subscribe("{\"output\":\"entries\"}");
    for (uint64_t generation = 0; generation < 3; generation++) {
        made_gap(&made, 5, "lost");
        made_entries(&made, 3);
        append_of(made.buffer, generation);
        struct had had = read_all(SIZE_MAX);
        ck_assert_uint_eq(had.last.generation, generation);
        ck_assert_uint_eq(had.n_entries, 3);
        ck_assert_uint_eq(had.n_others, 1);
    }
    /* More than the ring has. */
    for (unsigned i = 0; i < 4000; i++)
        append(50);
    struct had had = read_all(SIZE_MAX);
    ck_assert_uint_gt(had.n_missed, 0);
    ck_assert_uint_eq(had.n_missed + had.n_entries, 200000);
    ck_assert_uint_eq(had.n_unknown, 0);
    ck_assert_uint_eq(had.next, ring.next_seq);
}
END_TEST

/* So many that what was told is forgotten: a new stream begins. */
START_TEST(very_many_buffers)
{
    enum {
        MANY = 5000
    };
    add_object("elf", elf, n_elf);
    subscribe("{\"output\":\"entries\"}");
    for (unsigned i = 0; i < MANY; i++) {
        made_entries(&made, 1);
        append_of(made.buffer, i);
        if (i % 500 == 499) {
            struct had had = read_all(SIZE_MAX);
            ck_assert_uint_eq(had.n_entries, 500);
            ck_assert_uint_eq(had.n_unknown, 0);
            ck_assert_uint_eq(had.last.generation, i);
            ck_assert_uint_lt(pfdd_preamble_memory(&cursor.preamble),
                              128 * 1024);
        }
    }
}
END_TEST

/* Code objects come and go: whoever listens need not keep all of them. */
START_TEST(what_has_gone_is_not_kept)
{
    uint64_t n_most = 0;
    subscribe("{\"output\":\"entries\"}");
    for (uint64_t i = 0; i < 200; i++) {
        n_objects = 0;
        add_object("elf", elf, n_elf);
        add_object("big", big, sizeof big);
        made_entries(&made, 1);
        append_of(made.buffer, i);
        struct had had = read_all(SIZE_MAX);
        ck_assert_uint_eq(had.n_unknown, 0);
        n_most =
            cursor.preamble.n_bytes > n_most ? cursor.preamble.n_bytes : n_most;
    }
    ck_assert_uint_ge(cursor.preamble.n_streams, 1);
    ck_assert_uint_lt(n_most, 70 << 20);
}
END_TEST

/* Only what is wanted comes, with the numbers that it has. */
START_TEST(chosen_entries_keep_their_numbers)
{
    struct had had[2];
    add_object("elf", elf, n_elf);
    for (unsigned i = 0; i < 2; i++) {
        subscribe(i ? "{\"output\":\"entries\",\"from\":\"oldest\","
                      "\"where\":\"a0 % 2 == 0\",\"findings\":false}"
                    : "{\"output\":\"entries\",\"from\":\"oldest\","
                      "\"where\":\"a0 % 2 != 0\",\"findings\":false}");
        if (i == 0) {
            for (unsigned k = 0; k < 100; k++)
                append(13);
        }
        had[i] = read_all(i ? SIZE_MAX : 100);
        ck_assert_uint_gt(had[i].n_entries, 100);
        ck_assert_uint_eq(had[i].n_unknown, 0);
        if (i == 0) {
            pfdd_cursor_deinit(&cursor);
            pfd_subscriber_free(subscriber);
        }
    }
    ck_assert_uint_le(had[0].n_entries + had[1].n_entries, 1300);
}
END_TEST

/* Who cannot be told everything gets no half of a stream. */
START_TEST(costly_choices_end_with_an_error)
{
    const struct pfd_batch *batch;
    struct pfd_error err;
    const char *bytes = NULL;
    size_t n = 0;
    size_t taken = 0;
    subscribe("{\"output\":\"entries\",\"match\":\"nothing\"}");
    cursor.render_choice->debt_ns = INT64_C(1) << 40;
    append(5);
    while (pfdd_cursor_peek(&cursor, &bytes, &n)) {
        pfd_subscriber_feed(subscriber, bytes, n, &taken, NULL);
        pfdd_cursor_consume(&cursor, taken);
    }
    ck_assert(cursor.is_over && cursor.is_costly);
    ck_assert_int_eq(pfd_subscriber_next(subscriber, &batch, &err),
                     PFD_ERR_STOPPED);
    ck_assert_ptr_nonnull(strstr(err.text, "costs more"));
}
END_TEST

int main(int argc, char **argv)
{
    dump_path = argv[1];
    elf_path = argv[2];
    return suite_run_with(
        "told", setup, teardown,
        TESTS(entries_have_their_strings, what_comes_late_is_told_once,
              scopes_are_told_apart, generations_and_gaps, very_many_buffers,
              what_has_gone_is_not_kept, chosen_entries_keep_their_numbers,
              costly_choices_end_with_an_error),
        60);
}
