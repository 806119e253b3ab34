/* SPDX-License-Identifier: MIT */
/* Names of arguments, and conditions on them, without any entry printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/wire.h>

#include "core/decode/entry.h"
#include "core/filter/where_range.h"
#include "core/strings/column_names.h"
#include "dump.h"
#include "suite.h"

#define ID UINT64_C(0x0123456789ab)

/* One entry of one format string. */
struct one {
    struct pfd_strings *strings;
    struct build buffer;
    struct pfd_decoder *decoder;
    struct pfd_item *item;
};

static void one_init(struct one *one, const char *text, const char *widths,
                     const uint32_t *payload, size_t n)
{
    *one = (struct one){ .strings = pfd_strings_new() };
    dump_add_string(one->strings, ID, text, widths);
    dump_header(&one->buffer, n + 2);
    dump_entry(&one->buffer, ID, (uint32_t)n + 2, payload, n);
    ck_assert_int_eq(
        pfd_decoder_new(one->strings, "llpc", "test", &one->decoder, NULL),
        PFD_OK);
    ck_assert_int_eq(pfd_decoder_view(one->decoder, one->buffer.bytes,
                                      one->buffer.n, 0, true, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_decoder_next(one->decoder, &one->item, NULL), PFD_OK);
    ck_assert(one->item->is_entry);
}

static void one_deinit(struct one *one)
{
    pfd_decoder_free(one->decoder);
    pfd_strings_free(one->strings);
    build_free(&one->buffer);
}

/* 2026-11-26T03:47:12.000000005Z */
static const struct pfd_filter_facts facts = {
    .time_unix_ns = UINT64_C(1795664832000000005),
    .sequence = 41,
    .generation = 2,
    .buffer =
        &(const struct pfd_wire_frame){
            .type = PFD_WIRE_BUFFER,
            .host = { "node7", 5 },
            .pid = 4711,
            .labels =
                &(const struct pfd_wire_label){ { "job", 3 }, { "x", 1 } },
            .n_labels = 1,
        },
};

static bool holds(struct one *one, const char *expression)
{
    struct pfd_where *where = NULL;
    struct pfd_error err = { 0 };
    struct pfd_entry *entry = one->item->entry;
    enum pfd_status status = pfd_where_new(expression, &where, &err);
    ck_assert_msg(status == PFD_OK, "%s: %s", expression, err.text);
    struct pfd_where_bound *bound = pfd_where_bind(where, entry->string);
    bool ret = pfd_where_test(where, bound, entry->steps, entry->payload, entry,
                              &facts);
    ck_assert_msg(!ret || !bound->is_never, "%s is never true, but is",
                  expression);
    if (bound->ranges) {
        ck_assert_msg(
            pfd_where_ranges_hold(where, bound->ranges, entry->payload) == ret,
            "%s is another thing by ranges", expression);
    }
    free(bound);
    pfd_where_free(where);
    return ret;
}

static void check_all(struct one *one, const char *const *expressions,
                      bool expected)
{
    for (; *expressions; expressions++) {
        ck_assert_msg(holds(one, *expressions) == expected, "%s is %s",
                      *expressions, expected ? "false" : "true");
    }
}

#define CHECK(one, expected, ...) \
    check_all(one, (const char *const[]){ __VA_ARGS__, NULL }, expected)

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

START_TEST(numbers)
{
    struct one one;
    const uint32_t payload[] = { 7, (uint32_t)-3, bits_of(2.5f) };
    one_init(&one, "ray %u depth=%d t: %f\n", "444", payload, 3);
    CHECK(&one, true, "ray == 7", "a0 == 7", "ray==0x7", "0b111 == ray",
          "0o7 == a0", "depth < 0", "depth == -3", "-depth == 3",
          "abs(depth) == 3", "t > 2", "t == 2.5", "t*2 == 5", "t <= 25e-1",
          "ray * 2 + 1 == 15", "ray % 4 == 3", "ray / 2 == 3", "ray & 4 == 4",
          "ray | 8 == 15", "ray ^ 1 == 6", "1 << ray == 128", "ray >> 1 == 3",
          "!(ray == 8)", "ray == 7 && depth == -3", "ray == 8 || t == 2.5",
          "ray", "!isnan(t)", "!isinf(t)", "t % 1 == .5", "(ray)",
          "ray != 8 && (depth > 0 || t > 0)", "1 + 2 * 3 == 7");
    CHECK(&one, false, "ray == 8", "ray > 7", "depth > 0", "t < 2.5", "0",
          "ray == 7 && depth == 3", "isnan(t)", "ray == '7'", "!ray");
    one_deinit(&one);
}
END_TEST

START_TEST(exact_integers)
{
    struct one one;
    const uint32_t payload[] = { 0xffffffff, 0xffffffff, 0xffffffff,
                                 0xffffffff, 1,          0x00200000 };
    one_init(&one, "u=%llu d=%lld big=%llu\n", "888", payload, 6);
    CHECK(&one, true, "u == 18446744073709551615", "d == -1", "u != d", "u > d",
          "u - 1 == 18446744073709551614", "u + 1 > u",
          "u * 2 > 18446744073709551615", "big == 9007199254740993",
          "big > 9007199254740992.0", "big != 9007199254740992.0", "u < 1.9e19",
          "d > -1.5", "u >= 18446744073709551615",
          "u < 18446744073709551616.0");
    CHECK(&one, false, "u == d", "big == 9007199254740992.0",
          "u * u > 0" /* more than 127 bits: nothing */);
    one_deinit(&one);
}
END_TEST

START_TEST(nothing_is_not_true)
{
    struct one one;
    const uint32_t payload[] = { 0, 1 };
    one_init(&one, "a %u b %u\n", "44", payload, 2);
    CHECK(&one, false, "c == 1", "!(c == 1)", "c != 1", "c", "!c",
          "b == 1 && c == 1", "b == 2 || c == 1", "b / a == 1", "b % a == 0",
          "b << 200", "b << -1", "isnan(c)", "abs(c) >= 0", "-c < 1", "a5 == 0",
          "entry.x == 1", "entry.4 == 1", "origin.labels.any == 1", "c == c",
          "b == 'x'", "b + 'x'");
    CHECK(&one, true, "b == 1 || c == 1", "c == 1 || b == 1",
          "!(a == 1 && c == 1)", "!(c == 1 && a == 1)");
    one_deinit(&one);
}
END_TEST

START_TEST(floats_that_are_no_numbers)
{
    struct one one;
    const uint32_t payload[] = { 0x7fc00000, 0x7f800000, 0xff800000 };
    one_init(&one, "n=%f p=%f m=%f\n", "444", payload, 3);
    CHECK(&one, true, "isnan(n)", "n != n", "n != 0", "isinf(p)", "isinf(m)",
          "p > 18446744073709551615", "m < -18446744073709551615",
          "isnan(p + m)", "abs(m) == p");
    CHECK(&one, false, "n == n", "n < 0", "n >= 0", "n == 0", "n", "isnan(p)",
          "isinf(n)");
    one_deinit(&one);
}
END_TEST

START_TEST(wrong_expressions)
{
    static const struct {
        const char *text;
        uint64_t at;
    } wrong[] = {
        { "", 0 },       { "a ==", 4 },    { "(a", 2 },
        { "a)", 1 },     { "a b", 2 },     { "a == 'x", 5 },
        { "f(a)", 0 },   { "isnan(a", 7 }, { "0x", 0 },
        { "12q", 0 },    { "a = 1", 2 },   { "18446744073709551616", 0 },
        { "a ** 2", 3 }, { "'\\q'", 0 },   { "a == 1 &&", 9 },
        { "1.5.2", 0 },  { "@", 0 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pfd_where *where = NULL;
        struct pfd_error err = { 0 };
        ck_assert_msg(pfd_where_new(wrong[i].text, &where, &err) ==
                          PFD_ERR_USAGE,
                      "%s is an expression", wrong[i].text);
        ck_assert_msg(err.offset == wrong[i].at, "%s: %s (%llu)", wrong[i].text,
                      err.text, (unsigned long long)err.offset);
    }
}
END_TEST

START_TEST(operators_of_other_languages)
{
    static const struct {
        const char *text;
        const char *why;
    } all[] = {
        { "a0 and a1", "an operator expected ('and' is '&&') at 'and a1'" },
        { "a0 OR(a1)", "an operator expected ('or' is '||') at 'OR(a1)'" },
        { "a0 = 1", "an operator expected ('=' is '==') at '= 1'" },
        { "a0 order", "an operator expected at 'order'" },
        { "a0 && entry.findngs != ''",
          "no entry can have 'entry.findngs'; near to it: findings" },
        { "origin.hots == 1",
          "no entry can have 'origin.hots'; near to it: host" },
        { "origin.nothing", "no entry can have 'origin.nothing'" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pfd_where *where = NULL;
        struct pfd_error err = { 0 };
        ck_assert_int_eq(pfd_where_new(all[i].text, &where, &err),
                         PFD_ERR_USAGE);
        ck_assert_str_eq(err.text, all[i].why);
    }
}
END_TEST

/* Whatever is too much is refused, and nothing runs over. */
START_TEST(bounds)
{
    static const char *const parts[] = { "(",   "!",    "-",    "1+",
                                         "a&&", "abs(", "'x'+", "1||" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t n = 0; n < 5000; n += n < 80 ? 1 : 491) {
            struct build text = { 0 };
            struct pfd_where *where = NULL;
            for (size_t k = 0; k < n; k++)
                build_bytes(&text, parts[i], strlen(parts[i]));
            build_bytes(&text, "b", 2);
            if (pfd_where_new((const char *)text.bytes, &where, NULL) ==
                PFD_OK) {
                struct pfd_where_bound *bound = pfd_where_bind(where, NULL);
                ck_assert(
                    bound->asks_entry ||
                    !pfd_where_test(where, bound, NULL, NULL, NULL, NULL) ||
                    !bound->is_never);
                free(bound);
            }
            pfd_where_free(where);
            build_free(&text);
        }
    }
}
END_TEST

/* Values and constants around everything that rounds, wraps or is no number:
 * ranges and values have to say the same (holds() compares them). */
START_TEST(ranges)
{
    static const char *const constants[] = {
        "0",
        "-0.0",
        "1",
        "-1",
        "0.5",
        "-0.5",
        "2147483647",
        "2147483648",
        "-2147483648",
        "-2147483649",
        "4294967295",
        "4294967296",
        "1e-45",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616.0",
        "1e300",
        "-1e300",
        "3.4028234663852886e38",
        "16777217",
        "0.1",
        "'x'",
    };
    static const char *const compares[] = { "==", "!=", "<", "<=", ">", ">=" };
    static const uint64_t values[] = {
        0,
        1,
        UINT64_MAX,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x7fffffffffffffff,
        0x8000000000000000,
        0x0020000000000001,
        0x4340000000000000,
        0x43f0000000000000,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000000,
        0x3f8000003f800000,
        0x7f8000007fc00000,
        0x3dcccccd4b800000,
        0x43e0000000000000,
        0xc3e0000000000000,
        0x3fb999999999999a,
        0x36a0000000000000,
    };
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        struct one one;
        uint32_t low = (uint32_t)values[v];
        uint32_t high = (uint32_t)(values[v] >> 32);
        const uint32_t payload[] = { low, low,  high, low,  high, low, high,
                                     low, high, low,  high, low,  low };
        one_init(&one, "%d %u %f %lld %llu %f %x %hd %hhu %c\n", "4448884444",
                 payload, sizeof payload / sizeof *payload);
        for (size_t i = 0; i < 6 * sizeof constants / sizeof *constants; i++) {
            for (unsigned a = 0; a < 10; a++) {
                char expression[128];
                snprintf(expression, sizeof expression,
                         "a%u %s %s || !(a%u %s %s) && a1 != 0", a,
                         compares[i % 6], constants[i / 6], a,
                         compares[(i + v) % 6], constants[i / 6]);
                holds(&one, expression);
                *strchr(expression, '|') = '\0';
                holds(&one, expression);
            }
        }
        one_deinit(&one);
    }
}
END_TEST

START_TEST(names)
{
    static const struct {
        const char *text;
        const char *widths;
        const char *names;
    } rows[] = {
        { "ray %u hit t=%.3f prim %#010x\n", "444", "ray t prim" },
        { "x=%f", "4", "x" },
        { "Output:%d\n", "4", "Output" },
        { "%d %d", "44", "a0 a1" },
        { "id 0x%x, %x", "44", "id.x id.y" },
        { "pixel %u,%u: %f\n", "444", "pixel.x pixel.y a2" },
        { "size %ux%u at (%f, %f; %f / %f)\n", "444444",
          "size.x size.y at.x at.y at.z at.w" },
        { "pos %f %f %f %u\n", "4444", "pos.x pos.y pos.z a3" },
        { "px %v2u = %v4f\n", "444444", "px.x px.y a2 a3 a4 a5" },
        { "%u,%u\n", "44", "a0 a1" },
        { "m %d %d %d %d %d\n", "44444", "m.0 m.1 m.2 m.3 m.4" },
        { "t %d %*d\n", "444", "t a1 a2" },
        { "temp\u00e9rature %f \u03b1=%f \u6e29\u5ea6=%f 5\u2192%f\n", "4444",
          "temp\u00e9rature \u03b1 \u6e29\u5ea6 a3" },
        { "x=%f \u0394x=%f bad\xe9y=%f\n", "444", "x \u0394x a2" },
        { "pos (%v3f)\n", "444", "pos.x pos.y pos.z" },
        { "w[%d] = %d", "44", "w a1" },
        { "x %d x %d", "44", "x a1" },
        { "wide %*d\n", "44", "a0 wide" },
        { "100%% of %d", "4", "of" },
        { "a2b=%d, 2x=%d", "44", "a2b x" },
        { "v8 %v8d", "44444444", "v8.0 v8.1 v8.2 v8.3 v8.4 v8.5 v8.6 v8.7" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pfd_strings *strings = pfd_strings_new();
        struct build said = { 0 };
        size_t number = 0;
        dump_add_string(strings, ID, rows[i].text, rows[i].widths);
        const struct pfd_string *s = pfd_strings_at(strings, 0);
        for (size_t k = 0; k < s->n_steps; k++) {
            char name[PFD_COLUMN_NAME_MAX];
            if (!pfd_step_has_argument(&s->steps[k]))
                continue;
            pfd_column_name(s, k, number, name);
            ck_assert_uint_eq(pfd_column_find(s, name, strlen(name)), k);
            build_bytes(&said, " ", number++ > 0);
            build_bytes(&said, name, strlen(name));
        }
        build_bytes(&said, "", 1);
        ck_assert_str_eq((const char *)said.bytes, rows[i].names);
        build_free(&said);
        pfd_strings_free(strings);
    }
}
END_TEST

/* What is said of a format string is what its entries have. */
START_TEST(columns_and_arguments)
{
    const uint32_t payload[] = { 3, 0x3fc00000, 7, 0, 65 };
    struct one one;
    struct pfd_column columns[4];
    size_t n = 0;
    one_init(&one, "n=%*.2f wide %lld %c", "4484", payload, 5);
    ck_assert_uint_eq(pfd_strings_columns(one.strings, 1, columns, 4), 0);
    ck_assert_uint_eq(pfd_strings_columns(one.strings, 0, NULL, 0), 4);
    ck_assert_uint_eq(pfd_strings_columns(one.strings, 0, columns, 4), 4);
    const struct pfd_argument *arguments =
        pfd_entry_arguments(one.item->entry, &n);
    ck_assert_uint_eq(n, 4);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(columns[i].type, arguments[i].type);
        ck_assert_uint_eq(columns[i].n_bytes, arguments[i].n_bytes);
        ck_assert_int_eq(columns[i].conversion, arguments[i].conversion);
    }
    ck_assert_str_eq(columns[0].name, "a0");
    ck_assert_str_eq(columns[1].name, "n");
    ck_assert_str_eq(columns[2].name, "wide");
    ck_assert_str_eq(columns[3].name, "a3");
    ck_assert_int_eq(columns[0].conversion, '*');
    ck_assert_int_eq(columns[1].type, PFD_ARGUMENT_FLOAT);
    ck_assert_int_eq(columns[2].type, PFD_ARGUMENT_INT);
    ck_assert_uint_eq(columns[2].n_bytes, 8);
    one_deinit(&one);
}
END_TEST

/* What JSON says by these names; an argument goes before it. */
START_TEST(what_every_entry_has)
{
    struct one one;
    const uint32_t payload[] = { 7, 3 };
    one_init(&one, "index %u of %u\n", "44", payload, 2);
    CHECK(&one, true, "index == 7", "entry.index == 0", "offset == 16",
          "id == 0x0123456789ab", "id == '0x0123456789AB'", "id != '0x1'",
          "time_unix_nano == '1795664832000000005'", "source == 'test'",
          "format == 'llpc'", "format_string == 'index %u of %u\\n'",
          "message == 'index 7 of 3\\n'",
          "time == '2026-11-26T03:47:12.000000005Z'", "time > '2026-11-26'",
          "time < '2026-11-27'", "time_unix_nano == 1795664832000000005",
          "sequence == 41", "generation == 2", "host == 'node7'", "pid == 4711",
          "labels.job == 'x'", "entry.host == 'node7'",
          "origin.host == 'node7'", "findings == ''",
          "offset == 16 && of == 3");
    CHECK(&one, false, "stream == 'stdout'", "stream != 'stdout'",
          "labels.other == 'x'", "process == 'p'", "lane == 0",
          "origin.lane == 0", "entry.index == 7", "time == 5", "id == 'x'",
          "id == '0x'", "id == '0x0123456789ab '", "id != ''", "of == '3'");
    one_deinit(&one);
}
END_TEST

int main(void)
{
    return suite_run("where",
                     TESTS(numbers, exact_integers, nothing_is_not_true,
                           floats_that_are_no_numbers, wrong_expressions,
                           operators_of_other_languages, bounds, ranges, names,
                           columns_and_arguments, what_every_entry_has),
                     60);
}
