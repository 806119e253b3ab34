/* SPDX-License-Identifier: MIT */
/* Structs of callers that were compiled with an older or a later version. */
#include <string.h>

#include <printfdecode/convert.h>
#include <printfdecode/tail.h>

#include "dump.h"
#include "suite.h"

enum {
    ID = 0x77
};

static struct pfd_strings *strings;
static struct build out;

static void setup(void)
{
    strings = pfd_strings_new();
    dump_add_string(strings, ID, "%u\n", "4");
}

static void teardown(void)
{
    pfd_strings_free(strings);
    build_free(&out);
}

static bool take(void *user, const void *bytes, size_t n)
{
    build_bytes(user, bytes, n);
    return true;
}

/* Two entries, 7 and 8. */
static const uint32_t buffer[] = { 6, 0, 0, 0, ID << 16 | 3, 0, 7, ID << 16 | 3,
                                   0, 8 };

/* The struct of a later version: one member more than here. */
struct later_convert {
    struct pfd_convert now;
    uint64_t more;
};

static enum pfd_status convert(const void *how, struct pfd_error *err)
{
    struct pfd_summary summary = { 0 };
    return pfd_convert_bytes(how, buffer, sizeof buffer, &summary, err);
}

static struct later_convert plain(size_t size)
{
    return (struct later_convert){ .now = { .struct_size = size,
                                            .strings = strings,
                                            .format = "llpc",
                                            .output = "text",
                                            .write = take,
                                            .write_user = &out } };
}

START_TEST(zeros_convert_everything)
{
    struct later_convert how = plain(0);
    ck_assert_int_eq(convert(&how, NULL), PFD_OK);
    ck_assert_uint_eq(out.n, 4);
    ck_assert(!memcmp(out.bytes, "7\n8\n", 4));
}
END_TEST

START_TEST(an_older_struct_is_taken)
{
    /* It ends before `write`: what stands there is not the caller's struct. */
    struct later_convert how = plain(offsetof(struct pfd_convert, write));
    struct pfd_summary summary = { 0 };
    how.now.output = NULL;
    how.now.n_emitted = &(uint64_t){ 0 };
    ck_assert_int_eq(
        pfd_convert_bytes(&how.now, buffer, sizeof buffer, &summary, NULL),
        PFD_OK);
    ck_assert_uint_eq(*how.now.n_emitted, 2);
    ck_assert_uint_eq(summary.entries, 2);
    ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(results_fit_the_caller)
{
    struct later_convert how = plain(0);
    struct {
        struct pfd_summary now;
        uint64_t more;
    } later = { .now = { .struct_size = sizeof later }, .more = 9 };
    ck_assert_int_eq(
        pfd_convert_bytes(&how.now, buffer, sizeof buffer, &later.now, NULL),
        PFD_OK);
    ck_assert_uint_eq(later.now.entries, 2);
    ck_assert_uint_eq(later.now.struct_size, sizeof later);
    ck_assert_uint_eq(later.more, 0);
    struct pfd_summary older = { .struct_size =
                                     offsetof(struct pfd_summary, bytes),
                                 .bytes = 77,
                                 .findings = 78 };
    ck_assert_int_eq(
        pfd_convert_bytes(&how.now, buffer, sizeof buffer, &older, NULL),
        PFD_OK);
    ck_assert_uint_eq(older.entries, 2);
    ck_assert_uint_eq(older.bytes, 77);
    ck_assert_uint_eq(older.findings, 78);
    struct pfd_summary none = { .struct_size = 3, .entries = 5 };
    size_t n = out.n;
    ck_assert_int_eq(
        pfd_convert_bytes(&how.now, buffer, sizeof buffer, &none, NULL),
        PFD_ERR_USAGE);
    ck_assert_uint_eq(none.entries, 5);
    ck_assert_uint_eq(out.n, n);
}
END_TEST

START_TEST(a_later_struct_is_taken_if_nothing_is_new)
{
    struct later_convert how = plain(sizeof how);
    ck_assert_int_eq(convert(&how, NULL), PFD_OK);
    ck_assert_uint_eq(out.n, 4);
}
END_TEST

START_TEST(a_later_struct_is_refused_if_something_is_new)
{
    struct later_convert how = plain(sizeof how);
    struct pfd_error err;
    how.more = UINT64_C(1) << 56; /* its last byte */
    ck_assert_int_eq(convert(&how, &err), PFD_ERR_USAGE);
    ck_assert(strstr(err.text, "does not know"));
    ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(a_size_below_its_own_is_refused)
{
    struct later_convert how = plain(4);
    ck_assert_int_eq(convert(&how, NULL), PFD_ERR_USAGE);
}
END_TEST

START_TEST(options_are_checked_too)
{
    struct {
        struct pfd_options now;
        uint64_t more;
    } options = { .now.struct_size = sizeof options, .more = 1 };
    struct later_convert how = plain(0);
    struct pfd_tail_options tail = { .strings = strings,
                                     .options = &options.now };
    struct pfd_tail *ret = NULL;
    how.now.options = &options.now;
    ck_assert_int_eq(convert(&how, NULL), PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_tail_new(&tail, &ret, NULL), PFD_ERR_USAGE);
    options.more = 0;
    ck_assert_int_eq(convert(&how, NULL), PFD_OK);
}
END_TEST

START_TEST(a_string_of_an_older_caller_has_no_source)
{
    struct pfd_string_info info = { .struct_size =
                                        offsetof(struct pfd_string_info, id),
                                    .text = "x",
                                    .n_text = 1,
                                    .id = UINT64_MAX };
    ck_assert_int_eq(pfd_strings_add(strings, &info, NULL, 0, NULL, NULL, NULL),
                     PFD_OK);
}
END_TEST

int main(void)
{
    return suite_run_with(
        "sized", setup, teardown,
        TESTS(zeros_convert_everything, an_older_struct_is_taken,
              results_fit_the_caller, a_later_struct_is_taken_if_nothing_is_new,
              a_later_struct_is_refused_if_something_is_new,
              a_size_below_its_own_is_refused, options_are_checked_too,
              a_string_of_an_older_caller_has_no_source),
        60);
}
