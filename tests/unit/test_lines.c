/* SPDX-License-Identifier: MIT */
/* Lines of single entries: stamps, what text tells beside messages, gaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/lines.h>

#include "build.h"
#include "core/output/lines.h"
#include "dump.h"
#include "suite.h"

static struct pfd_lines *lines;

static void begin(const char *output)
{
    ck_assert_int_eq(pfd_lines_new(output, false, false, &lines, NULL), PFD_OK);
}

static void end_with(const char *wanted)
{
    size_t n = 0;
    char *text = pfd_lines_take(lines, &n);
    ck_assert_uint_eq(n, strlen(wanted));
    ck_assert(n == 0 || memcmp(text, wanted, n) == 0);
    free(text);
    ck_assert_ptr_null(pfd_lines_take(lines, &n));
    pfd_lines_free(lines);
}

static const struct pfd_finding finding = {
    .kind = PFD_FINDING_overflow,
    .offset = 64,
    .index = PFD_NO_INDEX,
    .source = "a\033",
    .text = "two\nlines",
};

static const struct pfd_gap gap = { 5, "sender_lost" };

START_TEST(stamps_stand_behind_the_type)
{
    begin("json");
    pfd_lines_set_stamp(lines, 7, UINT64_C(1790000000000000001));
    pfd_lines_finding(lines, &finding);
    pfd_lines_set_stamp(lines, UINT64_MAX, UINT64_C(1790000000000000001));
    pfd_lines_gap(lines, &gap, "a");
    end_with("{\"type\":\"finding\",\"sequence\":7,"
             "\"time\":\"2026-09-21T14:13:20.000000001Z\","
             "\"time_unix_nano\":\"1790000000000000001\","
             "\"kind\":\"overflow\",\"text\":\"two\\nlines\",\"offset\":64,"
             "\"source\":\"a\\u001b\"}\n"
             "{\"type\":\"gap\",\"sequence\":18446744073709551615,"
             "\"time\":\"2026-09-21T14:13:20.000000001Z\","
             "\"time_unix_nano\":\"1790000000000000001\","
             "\"missed\":5,\"reason\":\"sender_lost\",\"source\":\"a\"}\n");
}
END_TEST

/* Numbers grow, and times change, from one record to the next. */
START_TEST(stamps_are_all_their_own)
{
    static const uint64_t first[] = { 0,
                                      95,
                                      9990,
                                      99990,
                                      4294967290u,
                                      9999999999999995u,
                                      18446744073709551500u };
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        begin("json");
        for (uint64_t k = 0; k < 30; k++) {
            char wanted[160];
            size_t n = 0;
            unsigned long long seq = first[i] + k;
            pfd_lines_clear(lines);
            pfd_lines_set_stamp(lines, seq, k / 7);
            pfd_lines_gap(lines, &gap, NULL);
            snprintf(wanted, sizeof wanted,
                     "{\"type\":\"gap\",\"sequence\":%llu,"
                     "\"time\":\"1970-01-01T00:00:00.00000000%dZ\","
                     "\"time_unix_nano\":\"%d\",\"missed\":5,"
                     "\"reason\":\"sender_lost\"}\n",
                     seq, (int)(k / 7), (int)(k / 7));
            const char *text = pfd_lines_bytes(lines, &n);
            ck_assert_uint_eq(n, strlen(wanted));
            ck_assert(!memcmp(text, wanted, n));
        }
        pfd_lines_free(lines);
    }
}
END_TEST

START_TEST(text_has_no_stamps)
{
    begin("text");
    pfd_lines_set_stamp(lines, 7, 1);
    pfd_lines_finding(lines, &finding);
    pfd_lines_gap(lines, &gap, "a");
    end_with("");
}
END_TEST

START_TEST(text_tells_when_it_is_asked)
{
    static const struct pfd_finding note = { .kind = PFD_FINDING_reset,
                                             .text = "a note" };
    static const struct pfd_gap unknown = { 0, "x" };
    begin("text");
    pfd_lines_tell(lines);
    pfd_lines_finding(lines, &finding);
    pfd_lines_finding(lines, &note);
    pfd_lines_gap(lines, &gap, "a");
    pfd_lines_gap(lines, &unknown, NULL);
    end_with("! a\\x1b: dword 16: overflow: two lines\n"
             "! a: gap: 5 lost: sender_lost\n! gap: x\n");
}
END_TEST

START_TEST(losses_are_errors_where_they_fail)
{
    static const struct pfd_finding other = { .kind = PFD_FINDING_unknown_id,
                                              .text = "no string" };
    begin("quickfix");
    pfd_lines_tell(lines);
    for (int fails = 0; fails < 2; fails++) {
        pfd_lines_fail_losses(lines, fails);
        pfd_lines_finding(lines, &finding);
        pfd_lines_finding(lines, &other);
        pfd_lines_gap(lines, &gap, "a");
    }
    end_with("warning: a\\x1b: overflow: two lines\n"
             "warning: unknown_id: no string\n"
             "warning: a: gap: 5 lost: sender_lost\n"
             "error: a\\x1b: overflow: two lines\n"
             "warning: unknown_id: no string\n"
             "error: a: gap: 5 lost: sender_lost\n");
}
END_TEST

START_TEST(raw_has_no_place_for_it)
{
    begin("raw");
    pfd_lines_tell(lines);
    pfd_lines_set_stamp(lines, 7, 1);
    pfd_lines_finding(lines, &finding);
    pfd_lines_gap(lines, &gap, "a");
    end_with("");
}
END_TEST

START_TEST(lines_can_be_cut)
{
    size_t n = 0;
    begin("json");
    pfd_lines_gap(lines, &gap, NULL);
    pfd_lines_bytes(lines, &n);
    pfd_lines_finding(lines, &finding);
    pfd_lines_cut(lines, n);
    pfd_lines_cut(lines, 2 * n);
    end_with("{\"type\":\"gap\",\"missed\":5,\"reason\":\"sender_lost\"}\n");
}
END_TEST

int main(void)
{
    return suite_run("lines",
                     TESTS(stamps_stand_behind_the_type,
                           stamps_are_all_their_own, text_has_no_stamps,
                           text_tells_when_it_is_asked,
                           losses_are_errors_where_they_fail,
                           raw_has_no_place_for_it, lines_can_be_cut),
                     10);
}
