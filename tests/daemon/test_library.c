/* SPDX-License-Identifier: MIT */
/* The code objects of the library, looked at while a worker makes sets of
 * them. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "../unit/suite.h"
#include "bricks.h"
#include "sources/library.h"

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
static void add_object(struct pfdd_scope *scope)
{
    char *bytes = malloc(n_elf + sizeof n_made);
    memcpy(bytes, elf, n_elf);
    memcpy(bytes + n_elf, &n_made, sizeof n_made);
    n_made++;
    struct pfdd_object object = { .name = "object",
                                  .scope = scope,
                                  .bytes = bytes,
                                  .n = n_elf + sizeof n_made };
    pfdd_library_add(d.library, &object);
}

static void see(void *user, const struct pfdd_object *object)
{
    size_t *n = user;
    ck_assert(!memcmp(object->bytes, elf, n_elf));
    ++*n;
}

static size_t walk(const struct pfdd_scope *scope)
{
    size_t n = 0;
    pfdd_library_each(d.library, scope, see, &n);
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
    while (pfdd_library_is_busy(d.library) && !is_late(began)) {
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
        ck_assert(pfdd_library_is_busy(d.library));
        ck_assert_uint_eq(walk_while_busy(), MANY + i);
    }
    stop();
}
END_TEST

/* Scopes come, are used and go while sets are made. */
START_TEST(scopes_go_when_they_may)
{
    struct pfdd_scope *scopes[8] = { NULL };
    struct pfdd_strings *strings = NULL;
    uint64_t began = uv_hrtime();
    start(yaml);
    add_object(NULL);
    for (int i = 0; i < 100; i++) {
        struct pfdd_scope **scope = &scopes[i % 8];
        pfdd_scope_unref(*scope);
        *scope = pfdd_scope_new(d.library);
        add_object(*scope);
        turn();
        ck_assert_uint_le(walk(*scope), 2);
        pfdd_strings_unref(strings);
        strings =
            pfdd_strings_ref(pfdd_library_bind(d.library, *scope)->strings);
    }
    for (int i = 0; i < 8; i++)
        pfdd_scope_unref(scopes[i]);
    pfdd_strings_unref(strings);
    while (pfdd_library_is_busy(d.library) && !is_late(began))
        turn();
    ck_assert_uint_eq(walk(NULL), 1);
    ck_assert_uint_lt(pfdd_library_memory(d.library), 3 * n_elf + 65536);
    stop();
}
END_TEST

int main(int argc, char **argv)
{
    elf_path = argv[2];
    return suite_run_with("library", setup, teardown,
                          TESTS(walks_see_all, scopes_go_when_they_may),
                          TEST_S);
}
