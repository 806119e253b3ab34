/* SPDX-License-Identifier: MIT */
/* Sets of format strings, through the public interface. */
#include <stdio.h>
#include <string.h>

#include "core/decode/string_loader.h"
#include "core/strings/strings.h"
#include "dump.h"
#include "suite.h"

struct heard {
    int n;
    enum pfd_finding_kind kind;
    char text[400];
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct heard *h = user;
    h->n++;
    h->kind = finding->kind;
    snprintf(h->text, sizeof h->text, "%s", finding->text);
}

static struct pfd_strings *strings;
static struct heard heard;

static void setup(void)
{
    strings = pfd_strings_new();
    ck_assert_ptr_nonnull(strings);
    heard = (struct heard){ 0 };
}

static void teardown(void)
{
    pfd_strings_free(strings);
}

static enum pfd_status add(uint64_t id, const char *source, const char *text,
                           uint64_t n_arguments, uint64_t mask)
{
    struct pfd_string_info info = {
        .source = source,
        .text = text,
        .n_text = strlen(text),
        .id = id,
        .argument_count = n_arguments,
    };
    return pfd_strings_add(strings, &info, &mask, 1, hear, &heard, NULL);
}

START_TEST(empty)
{
    struct pfd_string_info info;
    uint8_t widths[4];
    setup();
    ck_assert_uint_eq(pfd_strings_count(strings), 0);
    ck_assert_int_eq(pfd_strings_get(strings, 0, &info), PFD_END);
    ck_assert_uint_eq(pfd_strings_widths(strings, 0, widths, 4), 0);
    ck_assert_uint_gt(pfd_strings_memory(strings), 0);
    pfd_strings_free(NULL);
    teardown();
}
END_TEST

START_TEST(listing)
{
    struct pfd_string_info info;
    uint8_t widths[4] = { 9, 9, 9, 9 };
    setup();
    ck_assert_int_eq(add(0xabc, "one", "a %d %f", 2, 2), PFD_OK);
    ck_assert_int_eq(add(0, "two", "", 0, 0), PFD_OK);
    ck_assert_int_eq(add((UINT64_C(1) << 48) - 1, NULL, "z", 0, 0), PFD_OK);
    ck_assert_uint_eq(pfd_strings_count(strings), 3);
    ck_assert_int_eq(pfd_strings_get(strings, 0, &info), PFD_OK);
    ck_assert_str_eq(info.format, "llpc");
    ck_assert_str_eq(info.source, "one");
    ck_assert_uint_eq(info.id, 0xabc);
    ck_assert_uint_eq(info.n_text, 7);
    ck_assert(!memcmp(info.text, "a %d %f", 7));
    ck_assert_uint_eq(info.argument_count, 2);
    ck_assert_uint_eq(pfd_strings_widths(strings, 0, widths, 4), 2);
    ck_assert(widths[0] == 32 && widths[1] == 64 && widths[2] == 9);
    ck_assert_int_eq(pfd_strings_get(strings, 1, &info), PFD_OK);
    ck_assert_uint_eq(info.n_text, 0);
    ck_assert_int_eq(pfd_strings_get(strings, 2, &info), PFD_OK);
    ck_assert_str_eq(info.source, "-");
    teardown();
}
END_TEST

START_TEST(duplicates_are_silent)
{
    setup();
    add(1, "a", "same %d", 1, 0);
    add(2, "a", "other %d", 1, 0);
    add(1, "b", "same %d", 1, 0);
    ck_assert_uint_eq(pfd_strings_count(strings), 2);
    ck_assert_int_eq(heard.n, 0);
    teardown();
}
END_TEST

START_TEST(collisions_name_both)
{
    setup();
    add(0x123456, "first.elf", "say %d\n", 1, 0);
    add(0x123456, "second.elf", "cry\x1b%d", 1, 0);
    ck_assert_int_eq(heard.n, 1);
    ck_assert_int_eq(heard.kind, PFD_FINDING_collision);
    ck_assert_ptr_nonnull(strstr(heard.text, "0x000000123456"));
    ck_assert_ptr_nonnull(strstr(heard.text, "'say %d\\n'"));
    ck_assert_ptr_nonnull(strstr(heard.text, "'cry\\x1b%d'"));
    ck_assert_ptr_nonnull(strstr(heard.text, "'first.elf'"));
    ck_assert_ptr_nonnull(strstr(heard.text, "'second.elf'"));
    /* The same text with another layout is a collision, too. */
    add(0x123456, "third.elf", "say %d\n", 1, 1);
    add(0x123456, "fourth.elf", "say %d\n", 2, 0);
    ck_assert_int_eq(heard.n, 3);
    /* Each of them is known now. */
    add(0x123456, "fifth.elf", "cry\x1b%d", 1, 0);
    add(0x123456, "fifth.elf", "say %d\n", 1, 1);
    ck_assert_int_eq(heard.n, 3);
    ck_assert_uint_eq(pfd_strings_count(strings), 4);
    teardown();
}
END_TEST

START_TEST(refused)
{
    struct pfd_error err;
    struct pfd_string_info info = { .text = "x", .n_text = 1 };
    setup();
    info.id = UINT64_C(1) << 48;
    ck_assert_int_eq(pfd_strings_add(strings, &info, NULL, 0, NULL, NULL, &err),
                     PFD_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "0x1000000000000"));
    info.id = 1;
    info.n_text = ((size_t)1 << 28) + 1;
    ck_assert_int_eq(pfd_strings_add(strings, &info, NULL, 0, NULL, NULL, &err),
                     PFD_ERR_USAGE);
    ck_assert_int_eq(
        pfd_strings_load(strings, "not one", 7, "x", NULL, NULL, &err),
        PFD_ERR_UNSUPPORTED);
    ck_assert_int_eq(pfd_strings_load(strings, NULL, 0, "x", NULL, NULL, &err),
                     PFD_ERR_UNSUPPORTED);
    ck_assert_int_eq(
        pfd_strings_load_file(strings, "/nowhere/at/all", NULL, NULL, &err),
        PFD_ERR_IO);
    ck_assert_str_eq(err.text, "/nowhere/at/all: No such file or directory");
    ck_assert_int_eq(pfd_strings_load_file(strings, "/", NULL, NULL, &err),
                     PFD_ERR_IO);
    ck_assert_uint_eq(pfd_strings_count(strings), 0);
    teardown();
}
END_TEST

START_TEST(hostile_counts)
{
    uint8_t widths[8];
    setup();
    ck_assert_int_eq(add(1, "a", "%d", UINT64_MAX, UINT64_MAX), PFD_OK);
    ck_assert_int_eq(add(2, "a", "%d", UINT64_C(1) << 63, 0), PFD_OK);
    ck_assert_int_eq(add(3, "a", "%d", 65536, 0), PFD_OK);
    ck_assert_uint_eq(pfd_strings_widths(strings, 0, widths, 8), 65535);
    ck_assert_uint_lt(pfd_strings_memory(strings), 64 * 1024);
    teardown();
}
END_TEST

/* Mask bits beyond the arguments and zero words at the end say nothing. */
START_TEST(loose_masks)
{
    uint8_t widths[8];
    uint64_t words[4] = { 1, 0, 0, 0 };
    struct pfd_string_info info = {
        .text = "%d", .n_text = 2, .id = 7, .argument_count = 1
    };
    setup();
    for (size_t n = 1; n <= 4; n++) {
        ck_assert_int_eq(
            pfd_strings_add(strings, &info, words, n, hear, &heard, NULL),
            PFD_OK);
    }
    ck_assert_uint_eq(pfd_strings_count(strings), 1);
    ck_assert_int_eq(heard.n, 0);
    ck_assert_uint_eq(pfd_strings_widths(strings, 0, widths, 8), 1);
    ck_assert_uint_eq(widths[0], 64);
    teardown();
}
END_TEST

START_TEST(many)
{
    enum {
        N = 100000
    };
    char text[64];
    struct pfd_string_info info;
    setup();
    for (uint64_t i = 0; i < N; i++) {
        snprintf(text, sizeof text, "string number %llu says %%d\n",
                 (unsigned long long)i);
        ck_assert_int_eq(add(i * UINT64_C(0x9e3779b97f4b) % (UINT64_C(1) << 48),
                             "many.elf", text, 1, 0),
                         PFD_OK);
    }
    ck_assert_int_eq(heard.n, 0);
    ck_assert_uint_eq(pfd_strings_count(strings), N);
    ck_assert_int_eq(pfd_strings_get(strings, 77777, &info), PFD_OK);
    ck_assert(!memcmp(info.text, "string number 77777 ", 20));
    ck_assert_uint_lt(pfd_strings_memory(strings), (size_t)N * 400);
    teardown();
}
END_TEST

/* Ids that land in one place of the table. */
START_TEST(clustered_ids)
{
    setup();
    for (uint64_t i = 0; i < 5000; i++)
        add(i << 32 | 0xffff, "x", "text", 0, 0);
    for (uint64_t i = 0; i < 5000; i++)
        add(i << 32 | 0xffff, "x", "text", 0, 0);
    ck_assert_uint_eq(pfd_strings_count(strings), 5000);
    teardown();
}
END_TEST

static void clear(struct pfd_strings **set)
{
    pfd_strings_free(*set);
    *set = NULL;
}

static bool says(const struct pfd_string *s, const char *text)
{
    return s->n_text == strlen(text) &&
           !memcmp(pfd_string_text(s), text, s->n_text);
}

/* A set goes on where another one ends, which stays as it was. */
START_TEST(extends)
{
    setup();
    ck_assert_int_eq(add(1, "a", "one %d", 1, 0), PFD_OK);
    ck_assert_int_eq(add(2, "a", "two", 0, 0), PFD_OK);
    struct pfd_strings *before = strings;
    strings = pfd_strings_extend(before);
    ck_assert_uint_eq(pfd_strings_count(strings), 2);
    ck_assert_int_eq(add(2, "b", "two", 0, 0), PFD_OK);
    ck_assert_int_eq(heard.n, 0);
    ck_assert_uint_eq(pfd_strings_count(strings), 2);
    for (uint64_t i = 3; i < 100; i++)
        ck_assert_int_eq(add(i, "b", "more", 0, 0), PFD_OK);
    ck_assert_int_eq(add(1, "b", "another one", 0, 0), PFD_OK);
    ck_assert_int_eq(add(1, "b", "a third one", 0, 0), PFD_OK);
    ck_assert_int_eq(heard.n, 2);
    ck_assert_ptr_nonnull(strstr(heard.text, "'one %d' (1 arguments) in 'a'"));
    ck_assert_uint_eq(pfd_strings_count(strings), 101);
    ck_assert_uint_eq(pfd_strings_count(before), 2);
    const struct pfd_string *old = pfd_strings_at(before, 0);
    const struct pfd_string *now = pfd_strings_at(strings, 0);
    ck_assert_ptr_null(old->next);
    ck_assert(says(now, "one %d"));
    ck_assert_ptr_eq(now->next, pfd_strings_at(strings, 99));
    ck_assert_ptr_eq(now->next->next, pfd_strings_at(strings, 100));
    ck_assert_ptr_eq(pfd_strings_at(before, 1), pfd_strings_at(strings, 1));
    clear(&before);
    ck_assert_str_eq(pfd_strings_source(strings, now), "a");
    teardown();
}
END_TEST

/* What branches add is their own. */
START_TEST(branches)
{
    setup();
    ck_assert_int_eq(add(1, "a", "one", 0, 0), PFD_OK);
    struct pfd_strings *trunk = strings;
    struct pfd_strings *left = pfd_strings_branch(trunk);
    struct pfd_strings *right = pfd_strings_branch(trunk);
    strings = left;
    ck_assert_int_eq(add(1, "l", "left", 0, 0), PFD_OK);
    ck_assert_int_eq(add(7, "l", "left", 0, 0), PFD_OK);
    strings = right;
    ck_assert_int_eq(add(7, "r", "right", 0, 0), PFD_OK);
    strings = pfd_strings_extend(trunk);
    ck_assert_int_eq(add(9, "t", "trunk", 0, 0), PFD_OK);
    clear(&trunk);
    clear(&strings);
    ck_assert_uint_eq(pfd_strings_count(left), 3);
    ck_assert_uint_eq(pfd_strings_count(right), 2);
    ck_assert(says(pfd_strings_at(left, 0)->next, "left"));
    ck_assert_ptr_null(pfd_strings_at(right, 0)->next);
    clear(&left);
    ck_assert(says(pfd_strings_at(right, 1), "right"));
    clear(&right);
}
END_TEST

/* Growing step by step takes no more than at once; duplicates take nothing. */
START_TEST(extends_cheaply)
{
    setup();
    for (uint64_t i = 0; i < 1000; i++) {
        struct pfd_strings *before = strings;
        strings = pfd_strings_extend(before);
        clear(&before);
        ck_assert_int_eq(add(i, "a", "some text of %d words", 1, 0), PFD_OK);
        ck_assert_int_eq(add(i / 2, "b", "some text of %d words", 1, 0),
                         PFD_OK);
    }
    ck_assert_uint_eq(pfd_strings_count(strings), 1000);
    ck_assert_uint_lt(pfd_strings_memory(strings), 1000 * 400);
    teardown();
}
END_TEST

/* Nothing is taken beyond the room, for a moment neither. */
START_TEST(keeps_to_its_room)
{
    static char text[1 << 20];
    struct pfd_error err;
    struct pfd_string_info info = { .text = text, .n_text = sizeof text };
    setup();
    memset(text, 'x', sizeof text);
    size_t before = pfd_strings_memory(strings);
    pfd_strings_set_room(strings, 2 << 20);
    ck_assert_int_eq(
        pfd_strings_add(strings, &info, NULL, 0, hear, &heard, &err),
        PFD_ERR_NOMEM);
    ck_assert_int_eq(add(1, "a", "small", 0, 0), PFD_OK);
    ck_assert_uint_lt(pfd_strings_memory(strings), before + 65536);
    for (uint64_t i = 2; i < 100000; i++) {
        if (add(i, "a", "small", 0, 0) != PFD_OK)
            break;
        ck_assert_uint_lt(pfd_strings_memory(strings), before + (2 << 20));
    }
    ck_assert_uint_lt(pfd_strings_count(strings), 99000);
    pfd_strings_set_room(strings, SIZE_MAX);
    pfd_strings_trim(strings);
    ck_assert_int_eq(
        pfd_strings_add(strings, &info, NULL, 0, hear, &heard, &err), PFD_OK);
    teardown();
}
END_TEST

START_TEST(recognises)
{
    ck_assert(pfd_strings_recognise("\177ELF", 4));
    ck_assert(!pfd_strings_recognise("\177EL", 3));
    ck_assert(pfd_strings_recognise("!<arch>\n", 8));
    ck_assert(!pfd_strings_recognise("!<arch>", 7));
    ck_assert(!pfd_strings_recognise(NULL, 0));
}
END_TEST

int main(void)
{
    return suite_run("strings",
                     TESTS(empty, listing, duplicates_are_silent,
                           collisions_name_both, refused, hostile_counts,
                           loose_masks, many, clustered_ids, extends, branches,
                           extends_cheaply, keeps_to_its_room, recognises),
                     60);
}
