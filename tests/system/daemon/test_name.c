/* SPDX-License-Identifier: MIT */
/* Names of what others call things: whatever the bytes, the name can be shown,
 * and the bytes can be told from it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <jansson.h>

#include "../../unit/suite.h"
#include "base/name.h"

static const char *name_of(const char *bytes, size_t n)
{
    static char name[PFDD_NAME_ROOM];
    ck_assert(pfdd_name_put(name, bytes, n));
    return name;
}

#define NAME_OF(text) name_of(text, sizeof(text) - 1)

START_TEST(test_shown)
{
    ck_assert_str_eq(NAME_OF("app"), "app");
    ck_assert_str_eq(NAME_OF("C:\\app \"1\" {x}/\xc3\xa9\xe2\x82\xac"),
                     "C:\\app \"1\" {x}/\xc3\xa9\xe2\x82\xac");
    ck_assert_str_eq(NAME_OF("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
    ck_assert_str_eq(NAME_OF("a\0b"), "a\\x00b");
    ck_assert_str_eq(NAME_OF("a\xff\xfe"), "a\\xff\\xfe");
    ck_assert_str_eq(NAME_OF("\\x0a"), "\\x5cx0a");
    ck_assert_str_eq(NAME_OF("\\\\x"), "\\\\x5cx");
    /* Longer than need be, halves of pairs, beyond the last, cut. */
    ck_assert_str_eq(NAME_OF("\xc0\xaf"), "\\xc0\\xaf");
    ck_assert_str_eq(NAME_OF("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    ck_assert_str_eq(NAME_OF("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    ck_assert_str_eq(NAME_OF("\xe2\x82"), "\\xe2\\x82");
    ck_assert_str_eq(NAME_OF("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
    /* What a terminal obeys, or shows elsewhere. */
    ck_assert_str_eq(NAME_OF("\xc2\x9b"), "\\xc2\\x9b");
    ck_assert_str_eq(NAME_OF("\xe2\x80\xae"), "\\xe2\\x80\\xae");
}
END_TEST

/* Bytes from a name. */
static size_t read_back(const char *name, char *ret)
{
    size_t n = 0;
    while (*name) {
        if (name[0] == '\\' && name[1] == 'x') {
            char digits[3] = { name[2], name[3], '\0' };
            ret[n++] = (char)strtoul(digits, NULL, 16);
            name += 4;
        } else {
            ret[n++] = *name++;
        }
    }
    return n;
}

/* An assertion is dear, and these are many. */
static bool is_right(const char *bytes, size_t n)
{
    char name[PFDD_NAME_ROOM];
    char back[PFDD_NAME_ROOM];
    bool ok = pfdd_name_put(name, bytes, n);
    json_t *valid = json_string(name);
    ok = ok && valid;
    json_decref(valid);
    for (const char *c = name; *c; c++)
        ok = ok && (unsigned char)*c >= ' ' && *c != 0x7f;
    return ok && read_back(name, back) == n && !memcmp(back, bytes, n);
}

START_TEST(test_told_apart)
{
    static const char parts[] = "\\xa5c0\0\n\xc3\xa9\xe2\x80\xae\xf0\x9f\xed";
    char bytes[60];
    for (unsigned i = 0; i < 0x10000; i++) {
        bytes[0] = (char)i;
        bytes[1] = (char)(i >> 8);
        if (!is_right(bytes, 2))
            ck_abort_msg("bytes %04x", i);
    }
    srand(1);
    for (unsigned i = 0; i < 100000; i++) {
        size_t n = 1 + (unsigned)rand() % sizeof bytes;
        for (size_t k = 0; k < n; k++)
            bytes[k] = parts[(unsigned)rand() % (sizeof parts - 1)];
        if (!is_right(bytes, n))
            ck_abort_msg("try %u", i);
    }
}
END_TEST

START_TEST(test_bounds)
{
    char name[PFDD_NAME_ROOM];
    char bytes[400];
    memset(bytes, 'x', sizeof bytes);
    ck_assert(!pfdd_name_put(name, "", 0));
    ck_assert(!pfdd_name_put(name, NULL, 0));
    ck_assert(pfdd_name_put(name, bytes, PFDD_NAME_MAX));
    ck_assert_uint_eq(strlen(name), PFDD_NAME_MAX);
    ck_assert(!pfdd_name_put(name, bytes, PFDD_NAME_MAX + 1));
    memset(bytes, '\xff', sizeof bytes);
    ck_assert(pfdd_name_put(name, bytes, 63));
    ck_assert(!pfdd_name_put(name, bytes, 64));
    ck_assert_uint_eq(strlen(name), 252);
    /* Of a file: with room for a number behind it. */
    memset(bytes, 'x', sizeof bytes);
    bytes[399] = '\0';
    pfdd_name_of_file(name, bytes, 0);
    ck_assert(!strncmp(name, "file ", 5) && strstr(name, " of device "));
    pfdd_name_of_file(name, bytes + 300, 0);
    ck_assert_str_eq(name, bytes + 300);
}
END_TEST

START_TEST(test_paths)
{
    char path[64];
    ck_assert(pfdd_name_put_path(path, sizeof path, "a-b_C9.d"));
    ck_assert_str_eq(path, "a-b_C9.d");
    ck_assert(pfdd_name_put_path(path, sizeof path, "a.20261122T"));
    ck_assert_str_eq(path, "a%2E20261122T");
    ck_assert(pfdd_name_put_path(path, sizeof path, "../a/b%2F\xc3\xa9~"));
    ck_assert_str_eq(path, "%2E.%2Fa%2Fb%252F%C3%A9%7E");
    ck_assert(pfdd_name_put_path(path, 8, "1234567"));
    ck_assert(!pfdd_name_put_path(path, 8, "12345678"));
    ck_assert_str_eq(path, "1234567");
    ck_assert(!pfdd_name_put_path(path, 8, "12345/"));
    ck_assert_str_eq(path, "12345");
}
END_TEST

int main(void)
{
    return suite_run(
        "name", TESTS(test_shown, test_told_apart, test_bounds, test_paths),
        60);
}
