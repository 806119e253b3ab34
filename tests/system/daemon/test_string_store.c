/* SPDX-License-Identifier: MIT */
/* The code objects of the library, looked at while a worker makes sets of
 * them. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "../../unit/suite.h"
#include "bricks.h"
#include "ingest/string_store.h"

static char *elf;
static size_t n_elf;
static unsigned n_made;

static void setup(void)
{
    make_temp();
    elf = slurp(elf_path, &n_elf);
    n_made = 0;
}

static void teardown(void)
{
    free(elf);
    remove_temp();
}

/* Unlike any other one. */
static void add_object(struct pfdd_producer *producer)
{
    char *bytes = malloc(n_elf + sizeof n_made);
    memcpy(bytes, elf, n_elf);
    memcpy(bytes + n_elf, &n_made, sizeof n_made);
    n_made++;
    struct pfdd_object object = { .name = "object",
                                  .producer = producer,
                                  .bytes = bytes,
                                  .n = n_elf + sizeof n_made };
    pfdd_string_store_add(d.ingest.string_store, &object);
}

static void see(void *user, const struct pfdd_object *object)
{
    size_t *n = user;
    ck_assert(!memcmp(object->bytes, elf, n_elf));
    ++*n;
}

static size_t walk(const struct pfdd_producer *producer)
{
    size_t n = 0;
    pfdd_string_store_each(d.ingest.string_store, producer, see, &n);
    return n;
}

static const char yaml[] = "memory_max: 256MiB\n"
                           "inputs: [{type: buffer, path: $T/none}]\n";

/* Walks until the worker's sets are there; each walk sees all objects of its
 * moment, whatever it does. Returns how many there are then. */
static size_t walk_while_busy(void)
{
    uint64_t began = uv_hrtime();
    size_t n = walk(NULL);
    while (pfdd_string_store_is_busy(d.ingest.string_store) &&
           !is_late(began)) {
        uint64_t turned = uv_hrtime();
        while (uv_hrtime() - turned < 2000000)
            ck_assert_uint_eq(walk(NULL), n);
        uv_run(&loop, UV_RUN_NOWAIT);
        ck_assert_uint_ge(walk(NULL), n);
        n = walk(NULL);
    }
    return n;
}

START_TEST(walks_see_all)
{
    enum {
        MANY = 400 /* so that making a set of them takes a while */
    };
    start(yaml);
    for (unsigned i = 0; i < MANY; i++)
        add_object(NULL);
    ck_assert_uint_eq(walk_while_busy(), MANY);
    for (unsigned i = 1; i <= 10; i++) {
        add_object(NULL);
        ck_assert(pfdd_string_store_is_busy(d.ingest.string_store));
        ck_assert_uint_eq(walk_while_busy(), MANY + i);
    }
    stop();
}
END_TEST

/* Scopes come, are used and go while sets are made. */
START_TEST(scopes_go_when_they_may)
{
    struct pfdd_producer *producers[8] = { NULL };
    struct pfdd_strings *strings = NULL;
    uint64_t began = uv_hrtime();
    start(yaml);
    add_object(NULL);
    for (int i = 0; i < 100; i++) {
        struct pfdd_producer **producer = &producers[i % 8];
        pfdd_producer_unref(*producer);
        *producer = pfdd_producer_new(d.ingest.string_store);
        add_object(*producer);
        turn();
        ck_assert_uint_le(walk(*producer), 2);
        pfdd_strings_unref(strings);
        strings = pfdd_strings_ref(
            pfdd_string_store_bind(d.ingest.string_store, *producer)->strings);
    }
    for (int i = 0; i < 8; i++)
        pfdd_producer_unref(producers[i]);
    pfdd_strings_unref(strings);
    while (pfdd_string_store_is_busy(d.ingest.string_store) && !is_late(began))
        turn();
    ck_assert_uint_eq(walk(NULL), 1);
    ck_assert_uint_lt(pfdd_string_store_memory(d.ingest.string_store),
                      3 * n_elf + 65536);
    stop();
}
END_TEST

/* What is open stays as it was, with its bytes, whatever goes meanwhile; what
 * comes is of a later change. */
START_TEST(lists_stay)
{
    uint64_t began = uv_hrtime();
    size_t n = 0;
    uint64_t changes[2];
    struct pfdd_code_object o;
    start(yaml);
    struct pfdd_object_lists objects = d.render_cache.objects;
    struct pfdd_producer *producer = pfdd_producer_new(d.ingest.string_store);
    add_object(NULL);
    add_object(producer);
    while (pfdd_string_store_is_busy(d.ingest.string_store) && !is_late(began))
        turn();
    const void *old = objects.open(objects.user, &n, &changes[0]);
    ck_assert_uint_eq(n, 2);
    pfdd_producer_unref(producer);
    add_object(NULL);
    while (pfdd_string_store_is_busy(d.ingest.string_store) && !is_late(began))
        turn();
    const void *list = objects.open(objects.user, &n, &changes[1]);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_gt(changes[1], changes[0]);
    objects.get(list, 1, &o);
    ck_assert_uint_gt(o.since, changes[0]);
    objects.get(list, 0, &o);
    ck_assert_uint_le(o.since, changes[0]);
    ck_assert_uint_eq(o.scope, 0);
    objects.close(objects.user, list);
    bool is_scoped[2];
    for (size_t i = 0; i < 2; i++) {
        objects.get(old, i, &o);
        ck_assert(!memcmp(o.bytes, elf, n_elf));
        is_scoped[i] = o.scope != 0;
    }
    ck_assert(is_scoped[0] != is_scoped[1]);
    objects.close(objects.user, old);
    stop();
}
END_TEST

/* One of which a chunk has a reference, too. */
static struct pfdd_binding *held(struct pfdd_strings *strings)
{
    return pfdd_binding_ref(pfdd_binding_new(strings));
}

/* A set counts once, however many were left with it, and not while it is what
 * everybody has; who has lost something goes on with everybody. */
START_TEST(sets_count_once)
{
    struct pfdd_strings *sets[3];
    struct pfdd_bindings left = { 0 };
    for (size_t i = 0; i < 3; i++) {
        sets[i] = pfdd_strings_new(pfd_strings_new());
        sets[i]->n_bytes = 1u << (10 * i);
        sets[i]->n_own_bytes = sets[i]->n_bytes / 2;
    }
    struct pfdd_binding *b[3] = { held(sets[1]), held(sets[1]), held(sets[2]) };
    pfdd_bindings_go_on(&left, sets[1], false);
    for (size_t i = 0; i < 3; i++)
        pfdd_binding_leave(b[i], &left);
    ck_assert_uint_eq(left.n_bytes, 1 << 20);
    pfdd_bindings_go_on(&left, sets[0], false);
    ck_assert_uint_eq(left.n_bytes, (1 << 20) + (1 << 10));
    pfdd_binding_unref(b[0]);
    ck_assert_uint_eq(left.n_bytes, (1 << 20) + (1 << 10));
    ck_assert_uint_eq(left.n_own_bytes, left.n_bytes / 2);
    pfdd_bindings_trim(&left, 1 << 20);
    ck_assert(b[1]->is_trimmed && b[1]->strings == sets[0]);
    ck_assert(!b[2]->is_trimmed);
    ck_assert_uint_eq(left.n_bytes, 1 << 20);
    pfdd_bindings_go_on(&left, sets[1], false);
    ck_assert(b[1]->strings == sets[1]);
    pfdd_bindings_go_on(&left, sets[2], true);
    ck_assert(b[1]->strings == sets[2]);
    ck_assert_uint_eq(left.n_bytes, 0);
    ck_assert_uint_eq(left.n_own_bytes, 0);
    pfdd_binding_unref(b[1]);
    pfdd_binding_unref(b[2]);
    ck_assert(!left.first && !left.last);
    for (size_t i = 0; i < 3; i++)
        pfdd_strings_unref(sets[i]);
}
END_TEST

int main(int argc, char **argv)
{
    elf_path = argv[2];
    return suite_run_with("library", setup, teardown,
                          TESTS(walks_see_all, scopes_go_when_they_may,
                                lists_stay, sets_count_once),
                          TEST_S);
}
