/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <check.h>

#include "build.h"
#include "core/objects/metadata.h"
#include "guard.h"
#include "suite.h"

static struct pfd_metadata *metadata;
static struct pfd_error problem;

/* The tree on one line: {key:value,...}, [a,b], text in quotes. */
static char seen[2048];

static void say(const char *text, size_t n)
{
    size_t at = strlen(seen);
    ck_assert_uint_lt(at + n, sizeof seen);
    memcpy(seen + at, text, n);
    seen[at + n] = '\0';
}

static void say_value(const struct pfd_value *value)
{
    const struct pfd_value *key;
    const struct pfd_value *element;
    const char *text;
    size_t n;
    uint64_t number;
    bool negative;
    char digits[32];
    switch ((int)pfd_value_kind(value)) {
    case PFD_VALUE_MAP:
        say("{", 1);
        for (size_t i = 0; pfd_value_pair(value, i, &key, &element); i++) {
            say(",", i > 0);
            say_value(key);
            say(":", 1);
            say_value(element);
        }
        say("}", 1);
        return;
    case PFD_VALUE_ARRAY:
        say("[", 1);
        for (size_t i = 0; i < pfd_value_count(value); i++) {
            say(",", i > 0);
            say_value(pfd_value_at(value, i));
        }
        say("]", 1);
        return;
    case PFD_VALUE_INT:
        pfd_value_int(value, &number, &negative);
        n = (size_t)snprintf(digits, sizeof digits, negative ? "%lld" : "%llu",
                             (long long)number);
        say(digits, n);
        return;
    case PFD_VALUE_BYTES:
        pfd_value_bytes(value, &text, &n);
        say("\"", 1);
        say(text, n);
        say("\"", 1);
        return;
    default:
        text = pfd_value_kind_name(value);
        say(text, strlen(text));
    }
}

static void teardown(void)
{
    pfd_metadata_free(metadata);
    metadata = NULL;
}

static void read_n(const char *text, size_t n)
{
    struct guard guard = guard_new(text, n);
    ck_assert_int_eq(pfd_metadata_open_yaml(pfd_byte_reader(guard.bytes, n),
                                            SIZE_MAX, &metadata, &problem,
                                            NULL),
                     PFD_OK);
    seen[0] = '\0';
    if (n < 10000)
        say_value(pfd_metadata_root(metadata));
    guard_free(&guard);
}

static void reads_as(const char *text, const char *expected)
{
    read_n(text, strlen(text));
    ck_assert_str_eq(seen, expected);
    ck_assert_int_eq(problem.code, PFD_OK);
    teardown();
}

START_TEST(test_flow_and_block)
{
    const char *expected = "{\"Version\":[1,0],\"Printf\":[\"1:1:4:%d\\n\","
                           "\"2:1:8:%g\\n\"]}";
    reads_as("---\nVersion: [ 1, 0 ]\nPrintf: [ '1:1:4:%d\\n', "
             "'2:1:8:%g\\n' ]\n...\n",
             expected);
    reads_as("---\nVersion:\n  - 1\n  - 0\nPrintf:\n  - '1:1:4:%d\\n'\n"
             "  - '2:1:8:%g\\n'\n...\n",
             expected);
    reads_as("---\nVersion: [ 1, 0 ]\nPrintf:\n- '1:1:4:%d\\n'\n"
             "- \"2:1:8:%g\\\\n\"\n",
             expected);
}
END_TEST

START_TEST(test_quotes)
{
    reads_as("- 'it''s \\n'\n- \"a\\tb\\x41\\u00e9\\\"\"\n- plain: 1:2:x\n",
             "[\"it's \\n\",\"a\tbA\xc3\xa9\"\",{\"plain\":\"1:2:x\"}]");
    reads_as("- 'two\n  lines'\n", "[\"two lines\"]");
    reads_as("- ''\n- '12'\n- \"true\"\n", "[\"\",\"12\",\"true\"]");
}
END_TEST

START_TEST(test_plain_scalars)
{
    reads_as("[12, -3, 0x1F, 0o17, 1.5, 1e5, true, False, ~, null, gfx900]",
             "[12,-3,31,15,\"1.5\",\"1e5\",a boolean,a boolean,nil,nil,"
             "\"gfx900\"]");
    reads_as("[18446744073709551615, 18446744073709551616, "
             "-9223372036854775808, -0]",
             "[18446744073709551615,\"18446744073709551616\","
             "-9223372036854775808,0]");
}
END_TEST

START_TEST(test_nothing)
{
    reads_as("", "nil");
    reads_as("# only a comment\n", "nil");
    reads_as("---\n...\n", "nil");
}
END_TEST

START_TEST(test_nul_at_the_end)
{
    read_n("a: 1\n\0\0\0", 8);
    ck_assert_str_eq(seen, "{\"a\":1}");
    ck_assert_int_eq(problem.code, PFD_OK);
}
END_TEST

START_TEST(test_what_is_before_the_damage_is_kept)
{
    const char *text = "Printf:\n  - '1:0:a'\n  - '2:0:b'\n  - 'open\n";
    read_n(text, strlen(text));
    ck_assert_str_eq(seen, "{\"Printf\":[\"1:0:a\",\"2:0:b\"]}");
    ck_assert_int_eq(problem.code, PFD_ERR_CORRUPT);
}
END_TEST

START_TEST(test_a_key_without_value)
{
    const char *text = "a: 1\nb: [x\n";
    read_n(text, strlen(text));
    ck_assert_str_eq(seen, "{\"a\":1,\"b\":[\"x\"]}");
    ck_assert_int_eq(problem.code, PFD_ERR_CORRUPT);
}
END_TEST

START_TEST(test_not_utf8)
{
    const char *text = "- good\n- 'bad \xff'\n";
    read_n(text, strlen(text));
    ck_assert_int_eq(problem.code, PFD_ERR_CORRUPT);
    ck_assert_uint_eq(problem.offset, 14);
}
END_TEST

START_TEST(test_offsets_count_bytes)
{
    const char *text = "- 'caf\xc3\xa9'\n- key\n";
    read_n(text, strlen(text));
    const struct pfd_value *root = pfd_metadata_root(metadata);
    ck_assert_uint_eq(pfd_metadata_offset(metadata, root), 2);
    ck_assert_uint_eq(pfd_metadata_offset(metadata, pfd_value_at(root, 1)), 12);
}
END_TEST

START_TEST(test_billion_laughs)
{
    const char *text = "a: &a [lol, lol]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    read_n(text, strlen(text));
    ck_assert_str_eq(seen, "{\"a\":nil}");
    ck_assert_int_eq(problem.code, PFD_ERR_UNSUPPORTED);
    ck_assert_uint_eq(problem.offset, 3);
}
END_TEST

START_TEST(test_alias)
{
    read_n("[x, *a]", 7);
    ck_assert_str_eq(seen, "[\"x\"]");
    ck_assert_int_eq(problem.code, PFD_ERR_UNSUPPORTED);
    ck_assert_uint_eq(problem.offset, 4);
}
END_TEST

START_TEST(test_second_document)
{
    const char *text = "---\na: 1\n...\n---\nb: 2\n...\n";
    read_n(text, strlen(text));
    ck_assert_str_eq(seen, "{\"a\":1}");
    ck_assert_int_eq(problem.code, PFD_ERR_CORRUPT);
}
END_TEST

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 1 MiB of each opening, and of what makes parsers look ahead. */
static const char *const openings[] = { "[",   "{",    "- ",  "? ", "[{",
                                        "- [", "a: {", "&a ", "!",  "\"",
                                        "'",   "x",    ",",   "# ", "- - ? " };

START_TEST(test_deep)
{
    struct build text = { 0 };
    while (text.n < 1 << 20)
        build_bytes(&text, openings[_i], strlen(openings[_i]));
    double start = seconds();
    read_n((const char *)text.bytes, text.n);
    ck_assert_msg(seconds() - start < 5, "'%s' took %f s", openings[_i],
                  seconds() - start);
    build_free(&text);
}
END_TEST

START_TEST(test_too_long)
{
    struct build text = { 0 };
    while (text.n <= 16 << 20)
        build_bytes(&text, "- 1\n- 2\n- 3\n- 4\n", 16);
    read_n((const char *)text.bytes, text.n);
    ck_assert_int_eq(problem.code, PFD_ERR_UNSUPPORTED);
    build_free(&text);
}
END_TEST

START_TEST(test_every_cut)
{
    const char *text = "---\nV: [ 1, 0 ]\nP:\n  - '1:\\n'\n  - \"\\x41\"\nK:\n"
                       "  - N: k\n    A:\n      - S: 8\n...\n";
    for (size_t n = 0; n <= strlen(text); n++) {
        read_n(text, n);
        teardown();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("yaml");
    TCase *tcase = tcase_create("yaml");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, test_flow_and_block);
    tcase_add_test(tcase, test_quotes);
    tcase_add_test(tcase, test_plain_scalars);
    tcase_add_test(tcase, test_nothing);
    tcase_add_test(tcase, test_nul_at_the_end);
    tcase_add_test(tcase, test_what_is_before_the_damage_is_kept);
    tcase_add_test(tcase, test_a_key_without_value);
    tcase_add_test(tcase, test_not_utf8);
    tcase_add_test(tcase, test_offsets_count_bytes);
    tcase_add_test(tcase, test_billion_laughs);
    tcase_add_test(tcase, test_alias);
    tcase_add_test(tcase, test_second_document);
    tcase_add_loop_test(tcase, test_deep, 0,
                        sizeof openings / sizeof *openings);
    tcase_add_test(tcase, test_too_long);
    tcase_add_test(tcase, test_every_cut);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
