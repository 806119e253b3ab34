/* SPDX-License-Identifier: MIT */
/* Patterns with limits, and what a filter lets through. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <printfdecode/filter.h>

#include "core/base/pattern.h"
#include "core/filter/filter.h"
#include "core/filter/highlight.h"
#include "dump.h"
#include "guard.h"
#include "suite.h"

#define ONE   UINT64_C(0x0123456789ab)
#define TWO   UINT64_C(0x0fedcba98765)
#define OTHER UINT64_C(0x777777777777)

static struct pfd_pattern_memory memory;
static struct pfd_pattern_memory of_matcher;

static enum pfd_match match(const char *pattern, const char *text, size_t n)
{
    enum pfd_match ret[2];
    for (unsigned jit = 0; jit < 2; jit++) {
        struct pfd_pattern *p = NULL;
        ck_assert_int_eq(pfd_pattern_new(pattern, jit ? PFD_PATTERN_JIT : 0,
                                         &memory, &p, NULL),
                         PFD_OK);
        struct pfd_matcher *m = pfd_matcher_new(&of_matcher);
        ret[jit] = pfd_pattern_match(p, m, text, n);
        pfd_pattern_free(p);
        pfd_matcher_free(m);
    }
    /* What costs too much can be less for machine code. */
    if (ret[0] != PFD_MATCH_GAVE_UP)
        ck_assert_int_eq(ret[0], ret[1]);
    return ret[0];
}

static bool matches(const char *pattern, const char *text)
{
    return match(pattern, text, strlen(text)) == PFD_MATCH_YES;
}

START_TEST(matching)
{
    ck_assert(matches("foo$", "a foo\n"));
    ck_assert(matches("foo$", "a foo"));
    ck_assert(!matches("foo$", "a foo\nb"));
    ck_assert(matches("^a.*\\d{2}", "a 12"));
    ck_assert(matches("b", "a\nb"));
    ck_assert(matches("\\x{e4}", "\xc3\xa4"));
    ck_assert(matches("^.x", "\xc3\xa4x"));
    /* Bytes that are no UTF-8 are passed over, and nothing else is. */
    ck_assert(matches("foo", "\xff foo \xfe"));
    ck_assert(!matches("bar", "\xff foo \xfe"));
    ck_assert_int_eq(match("b", "a\0b", 3), PFD_MATCH_YES);
}
END_TEST

/* Each of these takes longer than anybody lives without limits. */
START_TEST(hostile_patterns)
{
    static const char *const patterns[] = {
        "(a+b+)+(ab+)+X",
        "(a*)*b",
        "(a|aa)+$b",
        "(.*)*X",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?:a?){40}a{40}b",
        "(a(?1)?a)*b",
    };
    static char text[400000];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        match(patterns[i], text, sizeof text);
    ck_assert_int_eq(match("^(a|aa)+[bc]$", text, 40), PFD_MATCH_GAVE_UP);
}
END_TEST

START_TEST(wrong_patterns)
{
    static const char *const wrong[] = { "(", "[z-a]", "\\C", "(?<n", "*" };
    static char large[PFD_PATTERN_MAX + 2];
    struct pfd_error err;
    struct pfd_pattern *p = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(pfd_pattern_new(wrong[i], 0, &memory, &p, &err) ==
                          PFD_ERR_USAGE,
                      "%s is a pattern", wrong[i]);
    }
    memset(large, 'a', sizeof large - 1);
    ck_assert_int_eq(pfd_pattern_new(large, 0, &memory, &p, &err),
                     PFD_ERR_USAGE);
}
END_TEST

/* ---- filters ---- */

/* The numbers of the entries that pass, such as "024". */
static void check_filter(const struct pfd_filter_spec *spec,
                         const char *expected)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct build body = { 0 };
    struct build buffer = { 0 };
    struct build given = { 0 };
    struct pfd_filter *filter = NULL;
    struct pfd_filter_run *run = NULL;
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    dump_add_string(strings, ONE, "one %d\n", "4");
    dump_add_string(strings, TWO, "two x=%d y=%f\n", "44");
    dump_entry(&body, ONE, 3, (uint32_t[]){ 7 }, 1);
    dump_entry(&body, TWO, 4, (uint32_t[]){ 1, 0x40000000 }, 2);
    dump_entry(&body, ONE, 3, (uint32_t[]){ 8 }, 1);
    dump_entry(&body, TWO, 4, (uint32_t[]){ 2, 0x7fc00000 }, 2);
    dump_entry(&body, OTHER, 4, (uint32_t[]){ 7, 7 }, 2);
    dump_entry(&body, ONE, 3, (uint32_t[]){ 77 }, 1);
    dump_header(&buffer, body.n / 4);
    build_bytes(&buffer, body.bytes, body.n);
    ck_assert_int_eq(pfd_filter_new(spec, &filter, NULL), PFD_OK);
    ck_assert_int_eq(pfd_filter_run_new(filter, strings, &run, NULL), PFD_OK);
    pfd_decoder_new(strings, "llpc", "name", &decoder, NULL);
    pfd_decoder_view(decoder, buffer.bytes, buffer.n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        char digit = (char)('0' + item->entry->index);
        if (item->is_entry && pfd_filter_want(run, item->entry))
            build_bytes(&given, &digit, 1);
    }
    build_bytes(&given, "", 1);
    ck_assert_str_eq((const char *)given.bytes, expected);
    pfd_filter_run_free(run);
    pfd_filter_free(filter);
    pfd_decoder_free(decoder);
    pfd_strings_free(strings);
    build_free(&body);
    build_free(&buffer);
    build_free(&given);
}

#define LIST(...)         \
    (const char *const[]) \
    {                     \
        __VA_ARGS__       \
    }
#define CHECK(expected, ...) \
    check_filter(&(struct pfd_filter_spec){ __VA_ARGS__ }, expected)

START_TEST(filters)
{
    CHECK("012345", .jit = true);
    CHECK("05", .patterns = LIST("7"), .n_patterns = 1);
    CHECK("1234", .patterns = LIST("7"), .n_patterns = 1, .invert = true);
    CHECK("013", .patterns = LIST("7$", "x"), .n_patterns = 2,
          .where = "a0 < 70");
    CHECK("025", .patterns = LIST("ONE"), .n_patterns = 1, .ignore_case = true);
    CHECK("", .patterns = LIST("ONE"), .n_patterns = 1);
    CHECK("13", .ids = (uint64_t[]){ TWO }, .n_ids = 1);
    CHECK("134", .ids = (uint64_t[]){ TWO, OTHER }, .n_ids = 2);
    CHECK("13", .format_strings = LIST("x=%d"), .n_format_strings = 1);
    CHECK("025", .format_strings = LIST("^one"), .n_format_strings = 1);
    CHECK("012345", .sources = LIST("other", "name"), .n_sources = 2);
    CHECK("", .sources = LIST("other"), .n_sources = 1);
    CHECK("3", .where = "x > 1");
    CHECK("3", .where = "isnan(y)");
    CHECK("05", .where = "one % 70 == 7");
    CHECK("1", .where = "y == 2 && x == 1", .ids = (uint64_t[]){ TWO },
          .n_ids = 1);
}
END_TEST

/* The last entry is of a string that the condition turns down unseen, has no
 * payload, and nothing can be read behind it. */
START_TEST(reads_no_further)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct build bytes = { 0 };
    struct pfd_filter *filter = NULL;
    struct pfd_summary summary = { 0 };
    const struct pfd_filter_spec spec = { .where = "x > 1" };
    uint64_t n_given = 0;
    uint32_t two[] = { 2, 0 };
    dump_add_string(strings, ONE, "none\n", "");
    dump_add_string(strings, TWO, "two x=%d y=%f\n", "44");
    dump_header(&bytes, 8);
    dump_entry(&bytes, ONE, 2, NULL, 0);
    dump_entry(&bytes, TWO, 4, two, 2);
    dump_entry(&bytes, ONE, 2, NULL, 0);
    struct guard guard = guard_new(bytes.bytes, bytes.n);
    ck_assert_int_eq(pfd_filter_new(&spec, &filter, NULL), PFD_OK);
    struct pfd_convert convert = {
        .strings = strings,
        .output = "text",
        .format = "llpc",
        .threads = 1,
        .filter = filter,
        .n_emitted = &n_given,
    };
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, guard.bytes, guard.n, &summary, NULL),
        PFD_OK);
    ck_assert_uint_eq(summary.entries, 3);
    ck_assert_uint_eq(summary.bytes, 32);
    ck_assert_uint_eq(n_given, 1);
    pfd_filter_free(filter);
    guard_free(&guard);
    build_free(&bytes);
    pfd_strings_free(strings);
}
END_TEST

/* What a run says of entries of many strings, as digits 0 and 1. */
static void say_wanted(struct pfd_filter_run *run, struct pfd_strings *strings,
                       const struct build *buffer, struct build *ret)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    pfd_decoder_new(strings, "llpc", "name", &decoder, NULL);
    pfd_decoder_view(decoder, buffer->bytes, buffer->n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        if (item->is_entry)
            build_bytes(ret, pfd_filter_want(run, item->entry) ? "1" : "0", 1);
    }
    build_bytes(ret, "", 1);
    pfd_decoder_free(decoder);
}

static void check_in_room(const struct pfd_filter_spec *spec,
                          struct pfd_strings *strings,
                          const struct build *buffer, size_t least)
{
    struct pfd_filter *filter = NULL;
    struct build said[2] = { { 0 } };
    struct build again[2] = { { 0 } };
    size_t n[2];
    ck_assert_int_eq(pfd_filter_new(spec, &filter, NULL), PFD_OK);
    for (size_t i = 0; i < 2; i++) {
        struct pfd_filter_run *run = NULL;
        ck_assert_int_eq(pfd_filter_run_new(filter, strings, &run, NULL),
                         PFD_OK);
        size_t own = pfd_filter_run_memory(run);
        pfd_filter_run_set_room(run, i ? 0 : PFD_FILTER_ROOM_MIN);
        say_wanted(run, strings, buffer, &said[i]);
        n[i] = pfd_filter_run_memory(run) - own;
        ck_assert_uint_eq(pfd_filter_gave_up(run), 0);
        pfd_filter_run_set_room(run, PFD_FILTER_ROOM_MIN);
        ck_assert_uint_le(pfd_filter_run_memory(run), PFD_FILTER_ROOM_MIN);
        say_wanted(run, strings, buffer, &again[i]);
        ck_assert_uint_le(pfd_filter_run_memory(run), PFD_FILTER_ROOM_MIN);
        ck_assert_str_eq((const char *)again[i].bytes,
                         (const char *)said[i].bytes);
        build_free(&again[i]);
        pfd_filter_run_free(run);
    }
    ck_assert_uint_le(n[0], PFD_FILTER_ROOM_MIN);
    ck_assert_uint_ge(n[1], least);
    ck_assert_str_eq((const char *)said[0].bytes, (const char *)said[1].bytes);
    ck_assert(strchr((const char *)said[0].bytes, '1'));
    pfd_filter_free(filter);
    build_free(&said[0]);
    build_free(&said[1]);
}

/* What has no room is worked out anew, and the same. */
START_TEST(room_of_plans)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct build body = { 0 };
    struct build buffer = { 0 };
    const uint64_t n_strings = 4000;
    for (uint64_t i = 0; i < n_strings; i++) {
        dump_add_string(strings, ONE + i, i % 3 ? "one x=%d\n" : "two y=%d\n",
                        "4");
        dump_entry(&body, ONE + i, 3, (uint32_t[]){ (uint32_t)i % 17 }, 1);
    }
    dump_header(&buffer, body.n / 4);
    build_bytes(&buffer, body.bytes, body.n);
    check_in_room(&(struct pfd_filter_spec){ .where = "x < 3 || x == 7" },
                  strings, &buffer, n_strings * 100);
    check_in_room(&(struct pfd_filter_spec){ .patterns = LIST("7|1$"),
                                             .n_patterns = 1,
                                             .format_strings = LIST("two"),
                                             .n_format_strings = 1 },
                  strings, &buffer, n_strings * 20);
    check_in_room(
        &(struct pfd_filter_spec){ .ids = (uint64_t[]){ ONE + 1, ONE },
                                   .n_ids = 2 },
        strings, &buffer, n_strings * 20);
    pfd_strings_free(strings);
    build_free(&body);
    build_free(&buffer);
}
END_TEST

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A pattern is tried on a format string once, even where plans have no room. */
START_TEST(room_of_states)
{
    enum {
        STRINGS = 400,
        ROUNDS = 30,
    };
    char text[16];
    struct pfd_strings *strings = pfd_strings_new();
    struct build body = { 0 };
    struct build buffer = { 0 };
    const struct pfd_filter_spec spec = { .format_strings = LIST("(a+)+[cd]"),
                                          .n_format_strings = 1 };
    memset(text, 'a', sizeof text - 1);
    for (uint64_t i = 0; i < STRINGS; i++) {
        text[sizeof text - 2] = i % 2 ? 'c' : '\n';
        dump_add_string(strings, ONE + i, text, "");
    }
    for (uint64_t i = 0; i < (uint64_t)STRINGS * ROUNDS; i++)
        dump_entry(&body, ONE + i % STRINGS, 2, NULL, 0);
    dump_header(&buffer, body.n / 4);
    build_bytes(&buffer, body.bytes, body.n);
    struct pfd_filter *filter = NULL;
    ck_assert_int_eq(pfd_filter_new(&spec, &filter, NULL), PFD_OK);
    uint64_t spent[2];
    for (size_t i = 0; i < 2; i++) {
        struct pfd_filter_run *run = NULL;
        struct build said = { 0 };
        ck_assert_int_eq(pfd_filter_run_new(filter, strings, &run, NULL),
                         PFD_OK);
        pfd_filter_run_set_room(run, i ? 0 : PFD_FILTER_ROOM_MIN);
        uint64_t began = cpu_ns();
        say_wanted(run, strings, &buffer, &said);
        spent[i] = cpu_ns() - began;
        ck_assert_uint_eq(said.n, STRINGS * ROUNDS + 1);
        for (size_t k = 0; k < STRINGS * ROUNDS; k++)
            ck_assert_msg(said.bytes[k] == '0' + k % 2, "entry %zu", k);
        build_free(&said);
        pfd_filter_run_free(run);
    }
    ck_assert_msg(spent[0] / 5 < spent[1], "%llu ns, %llu with room",
                  (unsigned long long)spent[0], (unsigned long long)spent[1]);
    pfd_filter_free(filter);
    pfd_strings_free(strings);
    build_free(&body);
    build_free(&buffer);
}
END_TEST

/* Each letter is a step deeper: 2,000 of them want some 300 KiB. */
START_TEST(room_of_matching)
{
    static char text[2001];
    struct pfd_pattern *p = NULL;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 2] = 'c';
    ck_assert_int_eq(pfd_pattern_new("^(a|b)*c", 0, &memory, &p, NULL), PFD_OK);
    for (size_t room = 32 << 10; room <= 4 << 20; room *= 128) {
        struct pfd_pattern_memory m = { .n_max = room };
        struct pfd_matcher *matcher = pfd_matcher_new(&m);
        enum pfd_match expected =
            room < 1 << 20 ? PFD_MATCH_GAVE_UP : PFD_MATCH_YES;
        ck_assert_int_eq(pfd_pattern_match(p, matcher, text, sizeof text - 1),
                         expected);
        ck_assert_uint_le(m.n, room);
        ck_assert_int_eq(pfd_pattern_match(p, matcher, "ac", 2), PFD_MATCH_YES);
        pfd_matcher_free(matcher);
        ck_assert_uint_eq(m.n, 0);
    }
    pfd_pattern_free(p);
}
END_TEST

/* The processor's nanoseconds for all places in a text. */
static uint64_t show_places(struct pfd_highlight *h, const char *text,
                            size_t n_expected)
{
    struct timespec t[2];
    size_t from = 0;
    size_t to = 0;
    size_t n = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t[0]);
    pfd_highlight_begin(h, text, strlen(text));
    while (pfd_highlight_next(h, &from, &to)) {
        ck_assert_int_eq(text[from], 'x');
        ck_assert_uint_eq(to, from + 1 + (text[from + 1] == 'y'));
        n++;
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t[1]);
    ck_assert_uint_eq(n, n_expected);
    return (uint64_t)(t[1].tv_sec - t[0].tv_sec) * 1000000000 +
           (uint64_t)(t[1].tv_nsec - t[0].tv_nsec);
}

/* A pattern that gives up in a text does so once, however many places the
 * others have there. */
START_TEST(places_in_colour)
{
    const struct pfd_filter_spec spec = {
        .patterns = LIST("x", "(ax?|axax?)+[bc]", "xy"),
        .n_patterns = 3,
    };
    struct pfd_filter *filter = NULL;
    struct pfd_highlight *h = NULL;
    char many[201] = "";
    char one[201];
    ck_assert_int_eq(pfd_filter_new(&spec, &filter, NULL), PFD_OK);
    ck_assert_int_eq(pfd_highlight_new(filter, &h, NULL), PFD_OK);
    show_places(h, "", 0);
    show_places(h, "xyx xy x", 4);
    memset(many, 'a', sizeof many - 1);
    memcpy(one, many, sizeof one);
    one[199] = 'x';
    for (size_t i = 80; i < sizeof many - 1; i += 2)
        many[i] = 'x';
    uint64_t of_one = show_places(h, one, 1);
    ck_assert_uint_lt(show_places(h, many, 60), 8 * of_one);
    pfd_highlight_free(h);
    pfd_filter_free(filter);
}
END_TEST

START_TEST(unknown_names)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_filter *filter = NULL;
    struct pfd_error err = { 0 };
    dump_add_string(strings, TWO, "two x=%d y=%f\n", "44");
    const struct pfd_filter_spec good = { .where = "x > 1 && a1 < 2 && lane" };
    const struct pfd_filter_spec bad = { .where = "x > 1 && q < 2" };
    ck_assert_int_eq(pfd_filter_new(&good, &filter, &err), PFD_OK);
    ck_assert_int_eq(pfd_filter_check(filter, strings, &err), PFD_OK);
    pfd_filter_free(filter);
    ck_assert_int_eq(pfd_filter_new(&bad, &filter, &err), PFD_OK);
    ck_assert_int_eq(pfd_filter_check(filter, strings, &err), PFD_ERR_USAGE);
    ck_assert_str_eq(err.text,
                     "no format string has an argument 'q'; there is x, y");
    pfd_filter_free(filter);
    const struct pfd_filter_spec near = { .where = "hots == 'node1'" };
    ck_assert_int_eq(pfd_filter_new(&near, &filter, &err), PFD_OK);
    ck_assert_int_eq(pfd_filter_check(filter, strings, &err), PFD_ERR_USAGE);
    ck_assert_str_eq(
        err.text, "no format string has an argument 'hots', and no entry has "
                  "it; near to it: host; there is x, y");
    pfd_filter_free(filter);
    /* What a set has is remembered, but not beyond its next string, and not of
     * another set. */
    ck_assert_int_eq(pfd_filter_new(&bad, &filter, &err), PFD_OK);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(pfd_filter_check(filter, strings, &err),
                         PFD_ERR_USAGE);
        ck_assert_str_eq(err.text, "no format string has an argument 'q'; "
                                   "there is x, y");
    }
    dump_add_string(strings, ONE, "one q=%d\n", "4");
    ck_assert_int_eq(pfd_filter_check(filter, strings, &err), PFD_OK);
    for (unsigned i = 0; i < 8; i++) {
        struct pfd_strings *others = pfd_strings_new();
        dump_add_string(others, TWO, i % 2 ? "q=%d\n" : "z=%d\n", "4");
        ck_assert_int_eq(pfd_filter_check(filter, others, &err),
                         i % 2 ? PFD_OK : PFD_ERR_USAGE);
        pfd_strings_free(others);
    }
    ck_assert_int_eq(pfd_filter_check(filter, NULL, &err), PFD_OK);
    pfd_filter_free(filter);
    pfd_strings_free(strings);
}
END_TEST

int main(void)
{
    return suite_run("filter",
                     TESTS(matching, hostile_patterns, wrong_patterns, filters,
                           reads_no_further, room_of_plans, room_of_states,
                           room_of_matching, places_in_colour, unknown_names),
                     60);
}
