/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "build.h"
#include "core/objects/archive.h"
#include "guard.h"
#include "suite.h"

static struct findings findings;
static struct build archive;

/* "name=contents@offset;" of each member. */
static char seen[1024];

static void setup(void)
{
    build_bytes(&archive, "!<arch>\n", 8);
}

static void teardown(void)
{
    build_free(&archive);
}

static enum pfd_status remember(void *user, const struct pfd_member *member)
{
    size_t n = strlen(seen);
    snprintf(seen + n, sizeof seen - n, "%.*s=%.*s@%u;", (int)member->n_name,
             member->name, (int)member->bytes.n,
             (const char *)member->bytes.base, (unsigned)member->offset);
    return PFD_OK;
}

static enum pfd_status stop(void *user, const struct pfd_member *member)
{
    ++*(int *)user;
    return PFD_ERR_STOPPED;
}

static void look_at(const void *bytes, size_t n)
{
    struct guard guard = guard_new(bytes, n);
    seen[0] = '\0';
    findings_init(&findings);
    ck_assert_int_eq(pfd_archive_members(guard.bytes, n, remember, NULL,
                                         &findings.report, NULL),
                     PFD_OK);
    guard_free(&guard);
}

static void look(void)
{
    look_at(archive.bytes, archive.n);
}

static void add(const char *name, const char *contents)
{
    char size[24];
    snprintf(size, sizeof size, "%zu", strlen(contents));
    build_member(&archive, name, size, contents, strlen(contents));
}

static void assert_seen(const char *expected, int n_findings)
{
    ck_assert_str_eq(seen, expected);
    ck_assert_int_eq(findings.n_all, n_findings);
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_archive], n_findings);
}

START_TEST(test_gnu)
{
    add("/", "symbols");
    add("//", "0123456789ABCDEF.x/\nsecond_long_name.o/\n");
    add("short.o/", "odd");
    add("/0", "even");
    add("/20", "");
    look();
    assert_seen("short.o=odd@236;0123456789ABCDEF.x=even@300;"
                "second_long_name.o=@364;",
                0);
}
END_TEST

START_TEST(test_bsd)
{
    add("__.SYMDEF", "symbols.");
    build_member(&archive, "#1/20", "24", "__.SYMDEF SORTED\0\0\0\0data", 24);
    build_member(&archive, "#1/12", "17", "long name.o\0hello", 17);
    add("plain.o", "x");
    look();
    assert_seen("long name.o=hello@232;plain.o=x@298;", 0);
}
END_TEST

START_TEST(test_symbol_tables_of_64_bits)
{
    add("/SYM64/", "symbols");
    add("a/", "x");
    look();
    assert_seen("a=x@136;", 0);
}
END_TEST

START_TEST(test_empty)
{
    look();
    assert_seen("", 0);
}
END_TEST

START_TEST(test_last_padding_may_be_missing)
{
    add("a/", "odd");
    look_at(archive.bytes, archive.n - 1);
    assert_seen("a=odd@68;", 0);
}
END_TEST

START_TEST(test_long_name_not_there)
{
    add("//", "name/\n");
    add("/6", "a");
    add("/999999999999999", "b");
    add("/x", "c"); /* no number: a name */
    look();
    assert_seen("/6=a@134;/999999999999999=b@196;/x=c@258;", 2);
    ck_assert_uint_eq(findings.last.offset, 196 - 60);
}
END_TEST

START_TEST(test_bsd_name_too_long)
{
    add("#1/9", "12345678");
    look();
    assert_seen("#1/9=12345678@68;", 1);
    ck_assert_uint_eq(findings.last.offset, 8);
}
END_TEST

/* A size beyond the end: the member ends where the next one seems to start. */
START_TEST(test_size_too_large)
{
    build_member(&archive, "a/", "9999999999", "hello!", 6);
    add("b/", "world");
    look();
    assert_seen("a=hello!@68;b=world@134;", 1);
    ck_assert_uint_eq(findings.last.offset, 8);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "9999999999 bytes"));
}
END_TEST

START_TEST(test_last_is_cut)
{
    add("a/", "hello");
    look_at(archive.bytes, archive.n - 3);
    assert_seen("a=hel@68;", 1);
}
END_TEST

/* A size below the truth: no header where the next one should be. */
START_TEST(test_size_too_small)
{
    build_member(&archive, "a/", "2", "hello!", 6);
    add("b/", "world");
    look();
    assert_seen("a=he@68;b=world@134;", 1);
    ck_assert_uint_eq(findings.last.offset, 70);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "4 bytes are skipped"));
}
END_TEST

START_TEST(test_size_is_no_number)
{
    static const char *const sizes[] = { "", "x", "-1", "5x", "0x5", " 5" };
    build_member(&archive, "a/", sizes[_i], "hello!", 6);
    add("b/", "world");
    look();
    assert_seen("b=world@134;", 1);
    ck_assert_uint_eq(findings.last.offset, 8);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "decimal"));
}
END_TEST

START_TEST(test_bytes_after_the_last)
{
    add("a/", "12");
    build_bytes(&archive, "garbage", 7);
    look();
    assert_seen("a=12@68;", 1);
    ck_assert_uint_eq(findings.last.offset, 70);
}
END_TEST

START_TEST(test_thin)
{
    teardown();
    build_bytes(&archive, "!<thin>\n", 8);
    build_member(&archive, "a/", "100", "", 0);
    look();
    assert_seen("", 1);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "thin archive"));
}
END_TEST

START_TEST(test_every_cut)
{
    add("//", "long name/\n");
    add("/0", "hello");
    add("#1/4", "namecontents");
    for (size_t n = 8; n <= archive.n; n++)
        look_at(archive.bytes, n);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_stop)
{
    int n = 0;
    findings_init(&findings);
    add("a/", "1");
    add("b/", "2");
    ck_assert_int_eq(pfd_archive_members(archive.bytes, archive.n, stop, &n,
                                         &findings.report, NULL),
                     PFD_ERR_STOPPED);
    ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(test_no_archive)
{
    struct pfd_error err;
    int n = 0;
    findings_init(&findings);
    ck_assert_int_eq(
        pfd_archive_members("", 0, stop, &n, &findings.report, &err),
        PFD_ERR_UNSUPPORTED);
    ck_assert_int_eq(
        pfd_archive_members("!<arch>\n", 7, stop, &n, &findings.report, &err),
        PFD_ERR_UNSUPPORTED);
    ck_assert_int_eq(
        pfd_archive_members("\x7f\x45LF", 4, stop, &n, &findings.report, &err),
        PFD_ERR_UNSUPPORTED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("archive");
    TCase *tcase = tcase_create("archive");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_gnu);
    tcase_add_test(tcase, test_bsd);
    tcase_add_test(tcase, test_symbol_tables_of_64_bits);
    tcase_add_test(tcase, test_empty);
    tcase_add_test(tcase, test_last_padding_may_be_missing);
    tcase_add_test(tcase, test_long_name_not_there);
    tcase_add_test(tcase, test_bsd_name_too_long);
    tcase_add_test(tcase, test_size_too_large);
    tcase_add_test(tcase, test_last_is_cut);
    tcase_add_test(tcase, test_size_too_small);
    tcase_add_loop_test(tcase, test_size_is_no_number, 0, 6);
    tcase_add_test(tcase, test_bytes_after_the_last);
    tcase_add_test(tcase, test_thin);
    tcase_add_test(tcase, test_every_cut);
    tcase_add_test(tcase, test_stop);
    tcase_add_test(tcase, test_no_archive);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
