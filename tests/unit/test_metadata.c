/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "build.h"
#include "core/objects/metadata.h"
#include "guard.h"
#include "suite.h"

static struct build b;
static struct guard guard;
static struct pfd_metadata *doc;
static size_t n_used;
static struct pfd_error err;

static void setup(void)
{
    doc = NULL;
    memset(&guard, 0, sizeof guard);
}

static void close_doc(void)
{
    pfd_metadata_free(doc);
    doc = NULL;
    if (guard.map)
        guard_free(&guard);
    memset(&guard, 0, sizeof guard);
}

static void teardown(void)
{
    close_doc();
    build_free(&b);
}

static size_t room = SIZE_MAX;

static enum pfd_status open_bytes(const void *bytes, size_t n)
{
    close_doc();
    guard = guard_new(bytes, n);
    return pfd_metadata_open(pfd_byte_reader(guard.bytes, n), room, &doc,
                             &n_used, &err);
}

static const struct pfd_value *open_ok(void)
{
    ck_assert_int_eq(open_bytes(b.bytes, b.n), PFD_OK);
    ck_assert_uint_eq(n_used, b.n);
    return pfd_metadata_root(doc);
}

/* The whole document is one value, written as bytes [n]. */
static const struct pfd_value *open_one(const char *bytes, size_t n)
{
    ck_assert_int_eq(open_bytes(bytes, n), PFD_OK);
    ck_assert_uint_eq(n_used, n);
    return pfd_metadata_root(doc);
}

#define ONE(bytes) open_one(bytes, sizeof bytes - 1)

static void assert_int(const struct pfd_value *value, uint64_t expected,
                       bool expected_negative)
{
    uint64_t got;
    bool negative;
    ck_assert_int_eq(pfd_value_kind(value), PFD_VALUE_INT);
    ck_assert(pfd_value_int(value, &got, &negative));
    ck_assert_uint_eq(got, expected);
    ck_assert(negative == expected_negative);
}

static void assert_bytes(const struct pfd_value *value, const char *expected)
{
    const char *p;
    size_t n;
    ck_assert(pfd_value_bytes(value, &p, &n));
    ck_assert_uint_eq(n, strlen(expected));
    ck_assert_int_eq(memcmp(p, expected, n), 0);
}

START_TEST(test_integers)
{
    assert_int(ONE("\x00"), 0, false);
    assert_int(ONE("\x7f"), 127, false);
    assert_int(ONE("\xcc\xff"), 255, false);
    assert_int(ONE("\xcd\x01\x02"), 0x102, false);
    assert_int(ONE("\xce\x01\x02\x03\x04"), 0x1020304, false);
    assert_int(ONE("\xcf\xff\xff\xff\xff\xff\xff\xff\xfe"), UINT64_MAX - 1,
               false);
    assert_int(ONE("\xd0\x05"), 5, false);
    assert_int(ONE("\xd3\x00\x00\x12\x34\x56\x78\x9a\xbc"), 0x123456789abc,
               false);
    assert_int(ONE("\xff"), UINT64_MAX, true);
    assert_int(ONE("\xe0"), (uint64_t)-32, true);
    assert_int(ONE("\xd0\x80"), (uint64_t)-128, true);
    assert_int(ONE("\xd1\xff\xfe"), (uint64_t)-2, true);
    assert_int(ONE("\xd2\xff\xff\xff\xfd"), (uint64_t)-3, true);
    assert_int(ONE("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), UINT64_C(1) << 63,
               true);
}
END_TEST

START_TEST(test_text_and_binary)
{
    assert_bytes(ONE("\xa3"
                     "abc"),
                 "abc");
    assert_bytes(ONE("\xd9\x03"
                     "abc"),
                 "abc");
    assert_bytes(ONE("\xda\x00\x03"
                     "abc"),
                 "abc");
    assert_bytes(ONE("\xdb\x00\x00\x00\x03"
                     "abc"),
                 "abc");
    assert_bytes(ONE("\xc4\x03"
                     "abc"),
                 "abc");
    assert_bytes(ONE("\xc5\x00\x03"
                     "abc"),
                 "abc");
    assert_bytes(ONE("\xc6\x00\x00\x00\x03"
                     "abc"),
                 "abc");
    /* Empty ones have no pointer in msgpack-c. */
    assert_bytes(ONE("\xa0"), "");
    assert_bytes(ONE("\xd9\x00"), "");
    assert_bytes(ONE("\xc4\x00"), "");
}
END_TEST

START_TEST(test_other_kinds)
{
    static const struct {
        const char *bytes;
        size_t n;
        enum pfd_value_kind kind;
        const char *name;
    } cases[] = {
        { "\xc0", 1, PFD_VALUE_NIL, "nil" },
        { "\xc2", 1, PFD_VALUE_BOOL, "a boolean" },
        { "\xc3", 1, PFD_VALUE_BOOL, "a boolean" },
        { "\xca\x3f\x80\x00\x00", 5, PFD_VALUE_FLOAT, "a float" },
        { "\xcb\x3f\xf0\0\0\0\0\0\0", 9, PFD_VALUE_FLOAT, "a float" },
        { "\xd4\x01\x02", 3, PFD_VALUE_EXT, "an extension" },
        { "\xd8\x01"
          "0123456789abcdef",
          18, PFD_VALUE_EXT, "an extension" },
        { "\xc7\x02\x05xy", 5, PFD_VALUE_EXT, "an extension" },
        { "\xc8\x00\x00\x05", 4, PFD_VALUE_EXT, "an extension" },
        { "\xc9\x00\x00\x00\x01\x05x", 7, PFD_VALUE_EXT, "an extension" },
        { "\x90", 1, PFD_VALUE_ARRAY, "an array" },
        { "\xde\0\0", 3, PFD_VALUE_MAP, "a map" },
    };
    const struct pfd_value *v = open_one(cases[_i].bytes, cases[_i].n);
    uint64_t number;
    bool negative;
    const char *p;
    size_t n;
    ck_assert_int_eq(pfd_value_kind(v), cases[_i].kind);
    ck_assert_str_eq(pfd_value_kind_name(v), cases[_i].name);
    ck_assert(!pfd_value_int(v, &number, &negative));
    ck_assert(!pfd_value_bytes(v, &p, &n));
    ck_assert_uint_eq(pfd_value_count(v), 0);
    ck_assert_ptr_null(pfd_value_at(v, 0));
    ck_assert_ptr_null(pfd_value_get(v, "x", NULL));
    ck_assert_uint_eq(pfd_metadata_offset(doc, v), PFD_NO_OFFSET);
}
END_TEST

START_TEST(test_absent)
{
    uint64_t number;
    bool negative;
    bool twice = true;
    const char *p;
    size_t n;
    const struct pfd_value *v;
    ck_assert_int_eq(pfd_value_kind(NULL), PFD_VALUE_ABSENT);
    ck_assert_str_eq(pfd_value_kind_name(NULL), "missing");
    ck_assert_uint_eq(pfd_value_count(NULL), 0);
    ck_assert_ptr_null(pfd_value_at(NULL, 0));
    ck_assert_ptr_null(pfd_value_get(NULL, "x", &twice));
    ck_assert(!twice);
    ck_assert(!pfd_value_pair(NULL, 0, &v, &v));
    ck_assert(!pfd_value_int(NULL, &number, &negative));
    ck_assert(!pfd_value_bytes(NULL, &p, &n));
    pfd_metadata_free(NULL);
}
END_TEST

START_TEST(test_map)
{
    bool twice;
    build_map(&b, 5);
    build_uint(&b, 7); /* keys need not be text */
    build_uint(&b, 1);
    build_text(&b, "a");
    build_uint(&b, 2);
    build_bytes(&b, "\xc4\x01z", 3); /* a binary key */
    build_uint(&b, 3);
    build_text(&b, "a");
    build_uint(&b, 4);
    build_text(&b, "ab");
    build_nil(&b);
    const struct pfd_value *map = open_ok();
    const struct pfd_value *key;
    const struct pfd_value *value;
    ck_assert_uint_eq(pfd_value_count(map), 5);
    assert_int(pfd_value_get(map, "a", &twice), 2, false);
    ck_assert(twice);
    assert_int(pfd_value_get(map, "z", &twice), 3, false);
    ck_assert(!twice);
    ck_assert_int_eq(pfd_value_kind(pfd_value_get(map, "ab", NULL)),
                     PFD_VALUE_NIL);
    ck_assert_ptr_null(pfd_value_get(map, "", &twice));
    ck_assert(pfd_value_pair(map, 3, &key, &value));
    assert_bytes(key, "a");
    assert_int(value, 4, false);
    ck_assert(!pfd_value_pair(map, 5, &key, &value));
    ck_assert_ptr_null(pfd_value_at(map, 0));
}
END_TEST

START_TEST(test_large_containers)
{
    enum {
        N = 70000
    };
    build_array(&b, 2);
    build_array(&b, N);
    for (unsigned i = 0; i < N; i++)
        build_uint(&b, i);
    build_map(&b, N);
    for (unsigned i = 0; i < N; i++) {
        build_uint(&b, i);
        build_nil(&b);
    }
    const struct pfd_value *root = open_ok();
    const struct pfd_value *array = pfd_value_at(root, 0);
    ck_assert_uint_eq(pfd_value_count(array), N);
    assert_int(pfd_value_at(array, N - 1), N - 1, false);
    ck_assert_ptr_null(pfd_value_at(array, N));
    ck_assert_uint_eq(pfd_value_count(pfd_value_at(root, 1)), N);
}
END_TEST

START_TEST(test_offset)
{
    build_array(&b, 3);
    build_nil(&b);
    build_map(&b, 1);
    build_text(&b, "key");
    build_nil(&b);
    build_array(&b, 1);
    build_array(&b, 1);
    build_text(&b, "deep");
    const struct pfd_value *root = open_ok();
    ck_assert_uint_eq(pfd_metadata_offset(doc, root), PFD_NO_OFFSET);
    ck_assert_uint_eq(pfd_metadata_offset(doc, pfd_value_at(root, 1)), 4);
    ck_assert_uint_eq(pfd_metadata_offset(doc, pfd_value_at(root, 2)), 11);
    ck_assert_uint_eq(pfd_metadata_offset(doc, NULL), PFD_NO_OFFSET);
}
END_TEST

START_TEST(test_bytes_after_the_document)
{
    ck_assert_int_eq(open_bytes("\x92\x01\x02\x03\xc1", 5), PFD_OK);
    ck_assert_uint_eq(n_used, 3);
}
END_TEST

static void nest(size_t depth, const char *innermost)
{
    build_free(&b);
    for (size_t i = 0; i < depth; i++)
        build_array(&b, 1);
    build_bytes(&b, innermost, 1);
}

START_TEST(test_depth)
{
    nest(PFD_METADATA_DEPTH, "\x05");
    const struct pfd_value *v = open_ok();
    for (int i = 0; i < PFD_METADATA_DEPTH; i++)
        v = pfd_value_at(v, 0);
    assert_int(v, 5, false);
    nest(PFD_METADATA_DEPTH - 1, "\x90");
    open_ok();
}
END_TEST

START_TEST(test_too_deep)
{
    static const struct {
        size_t depth;
        const char *innermost;
    } cases[] = { { 33, "\x05" },
                  { 32, "\x90" },
                  { 32, "\x80" },
                  { 64, "\x05" },
                  { 100000, "\x05" } };
    nest(cases[_i].depth, cases[_i].innermost);
    ck_assert_int_eq(open_bytes(b.bytes, b.n), PFD_ERR_UNSUPPORTED);
    ck_assert_uint_eq(err.offset, 32);
    ck_assert_ptr_nonnull(strstr(err.text, "32 levels"));
}
END_TEST

/* Counts that the bytes cannot hold, at the offset of their object. */
START_TEST(test_count_too_large)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t offset;
    } cases[] = {
        { "\xdd\xff\xff\xff\xff", 5, 0 },
        { "\xdf\xff\xff\xff\xff\x01", 6, 0 },
        { "\xdf\x80\x00\x00\x00\x01", 6, 0 }, /* 2 * 2^31 */
        { "\x82\x01\x02\x03", 4, 0 },
        { "\x91\xdc\x00\x03\x01\x02", 6, 1 },
        { "\xdb\xff\xff\xff\xff", 5, 0 },
        { "\xc6\x00\x00\x00\x02\x01", 6, 0 },
        { "\xc9\xff\xff\xff\xff\x01", 6, 0 }, /* and its type: 2^32 */
        { "\xa2\x01", 2, 0 },
        /* each fits alone */
        { "\x92\x93\x01\x01\x01", 5, 5 },
    };
    ck_assert_int_eq(open_bytes(cases[_i].bytes, cases[_i].n), PFD_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, cases[_i].offset);
}
END_TEST

START_TEST(test_reserved_byte)
{
    ck_assert_int_eq(open_bytes("\x82\xa1x\xc1\xa1y\x01", 7), PFD_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, 3);
    ck_assert_ptr_nonnull(strstr(err.text, "0xc1"));
}
END_TEST

START_TEST(test_every_cut)
{
    build_map(&b, 3);
    build_text(&b, "key");
    build_uint(&b, UINT64_MAX);
    build_text(&b, "a text that is longer than thirty-two bytes");
    build_array(&b, 20);
    for (unsigned i = 0; i < 20; i++)
        build_uint(&b, i * 1000);
    build_bytes(&b, "\xc7\x02\x05xy\xcb\x3f\xf0\0\0\0\0\0\0", 14);
    struct build whole = b;
    for (size_t n = 0; n < whole.n; n++)
        ck_assert_int_eq(open_bytes(whole.bytes, n), PFD_ERR_CORRUPT);
    open_ok();
}
END_TEST

/* Whatever the walk lets pass, msgpack-c must read to the same end. */
START_TEST(test_agrees_with_msgpack)
{
    unsigned state = 1;
    uint8_t bytes[24];
    for (int i = 0; i < 200000; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            state = state * 1664525 + 1013904223;
            bytes[k] = (uint8_t)(state >> 24);
            /* more structure than noise has */
            if (k < 6 && (state >> 16 & 3) == 0)
                bytes[k] = (uint8_t)(0x80 + (state >> 24 & 0x1f));
        }
        struct pfd_metadata *one;
        if (pfd_metadata_open(pfd_byte_reader(bytes, sizeof bytes), SIZE_MAX,
                              &one, &n_used, &err) == PFD_OK)
            pfd_metadata_free(one);
        else
            ck_assert_ptr_null(strstr(err.text, "msgpack-c"));
    }
}
END_TEST

/* Objects are made of bytes only where there is room for them. */
START_TEST(test_room)
{
    static const char ten[] = "\x9a\1\1\1\1\1\1\1\1\1\1";
    room = 11 * 24 - 1;
    ck_assert_int_eq(open_bytes(ten, sizeof ten - 1), PFD_ERR_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.text, "11 objects"));
    room++;
    ck_assert_int_eq(open_bytes(ten, sizeof ten - 1), PFD_OK);
    room = SIZE_MAX;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metadata");
    TCase *tcase = tcase_create("metadata");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, test_integers);
    tcase_add_test(tcase, test_text_and_binary);
    tcase_add_loop_test(tcase, test_other_kinds, 0, 12);
    tcase_add_test(tcase, test_absent);
    tcase_add_test(tcase, test_map);
    tcase_add_test(tcase, test_large_containers);
    tcase_add_test(tcase, test_offset);
    tcase_add_test(tcase, test_bytes_after_the_document);
    tcase_add_test(tcase, test_depth);
    tcase_add_loop_test(tcase, test_too_deep, 0, 5);
    tcase_add_loop_test(tcase, test_count_too_large, 0, 10);
    tcase_add_test(tcase, test_room);
    tcase_add_test(tcase, test_reserved_byte);
    tcase_add_test(tcase, test_every_cut);
    tcase_add_test(tcase, test_agrees_with_msgpack);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
