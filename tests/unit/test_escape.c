/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include <check.h>
#include <jansson.h>

#include "core/base/escape.h"
#include "core/base/safe_line.h"
#include "dump.h"
#include "guard.h"
#include "suite.h"

/* A second opinion on UTF-8: decode and encode again. */
static size_t utf8_by_value(const uint8_t *p, size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (n == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc0 || p[0] >= 0xf8 || length > n)
        return 0;
    uint32_t value = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3f);
    }
    bool surrogate = value >= 0xd800 && value < 0xe000;
    return value < least[length] || surrogate || value > 0x10ffff ? 0 : length;
}

START_TEST(utf8_lengths)
{
    uint8_t p[4];
    unsigned wrong = 0;
    for (uint32_t a = 0; a < 256; a++) {
        for (uint32_t b = 0; b < 256; b++) {
            static const uint8_t rest[] = { 0x00, 0x7f, 0x80, 0xbf, 0xc0 };
            p[0] = (uint8_t)a;
            p[1] = (uint8_t)b;
            for (size_t k = 0; k < 25; k++) {
                p[2] = rest[k / 5];
                p[3] = rest[k % 5];
                for (size_t n = 0; n <= 4; n++)
                    wrong += pfd_utf8_length((const char *)p, n) !=
                             utf8_by_value(p, n);
            }
        }
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static void random_bytes(uint64_t *rng, uint8_t *ret, size_t n)
{
    static const char *const some[] = { "\xc3\xa9",         "\xe4\xbd\xa0",
                                        "\xf0\x9f\x98\x80", "plain text",
                                        "\"\\/\b\f\n\r\t",  "\xc2\x9b",
                                        "\xe2\x80\xae",     "\xd8\x9c" };
    for (size_t i = 0; i < n;) {
        const char *piece = some[dump_below(rng, 8)];
        size_t length = strlen(piece);
        if (dump_below(rng, 3) == 0 || length > n - i)
            ret[i++] = (uint8_t)dump_random(rng);
        else {
            memcpy(ret + i, piece, length);
            i += length;
        }
    }
}

/* What jansson reads back is the text, with U+FFFD for bytes not UTF-8. */
START_TEST(json_reads_back)
{
    uint64_t rng = 1;
    for (int round = 0; round < 3000; round++) {
        uint8_t in[70];
        char out[6 * sizeof in + 2];
        char want[3 * sizeof in];
        size_t n_want = 0;
        size_t n = dump_below(&rng, sizeof in);
        random_bytes(&rng, in, n);
        struct guard g = guard_new(in, n);
        const char *p = (const char *)g.bytes;
        out[0] = '"';
        char *end = pfd_escape_json(out + 1, p, n);
        ck_assert_uint_eq((size_t)(end - out - 1),
                          pfd_escape_json_length(p, n));
        *end++ = '"';
        for (size_t i = 0; i < n;) {
            size_t length = utf8_by_value(in + i, n - i);
            memcpy(want + n_want, length ? p + i : "\xef\xbf\xbd",
                   length ? length : 3);
            n_want += length ? length : 3;
            i += length ? length : 1;
        }
        json_t *json = json_loadb(out, (size_t)(end - out),
                                  JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        ck_assert_ptr_nonnull(json);
        ck_assert_uint_eq(json_string_length(json), n_want);
        ck_assert(!memcmp(json_string_value(json), want, n_want));
        json_decref(json);
        guard_free(&g);
    }
}
END_TEST

static const char *shown(const char *text, size_t n)
{
    static char out[400];
    *pfd_escape_terminal(out, text, n) = '\0';
    return out;
}

START_TEST(terminal)
{
    ck_assert_str_eq(shown("a\tb\nc", 5), "a\tb\nc");
    ck_assert_str_eq(shown("\x1b[31m", 5), "\\x1b[31m");
    ck_assert_str_eq(shown("\0\x7f\r", 3), "\\x00\\x7f\\x0d");
    ck_assert_str_eq(shown("caf\xc3\xa9", 5), "caf\xc3\xa9");
    ck_assert_str_eq(shown("\x9b", 1), "\\x9b");
    ck_assert_str_eq(shown("\xc2\x9b", 2), "\\xc2\\x9b");
    ck_assert_str_eq(shown("\xc2\xa0", 2), "\xc2\xa0");
}
END_TEST

/* Of all characters of two and three bytes exactly these are controls. */
START_TEST(controls)
{
    static const struct {
        uint32_t from;
        uint32_t to;
    } ranges[] = { { 0x80, 0x9f },     { 0x61c, 0x61c },
                   { 0x200e, 0x200f }, { 0x202a, 0x202e },
                   { 0x2066, 0x2069 }, { UINT32_MAX, UINT32_MAX } };
    size_t range = 0;
    for (uint32_t c = 0x80; c < 0x10000; c++) {
        char in[4] = { (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                       (char)(0x80 | (c & 63)) };
        const char *p = c < 0x800 ? in + 1 : in;
        if (c < 0x800)
            in[1] = (char)(0xc0 | c >> 6);
        if (c > ranges[range].to)
            range++;
        bool is_control = c >= ranges[range].from && c <= ranges[range].to;
        size_t k = c < 0x800 ? 2 : 3;
        if (c >= 0xd800 && c < 0xe000)
            continue;
        ck_assert_uint_eq(pfd_is_control(p, k), is_control);
        ck_assert_uint_eq(strlen(shown(p, k)), is_control ? 4 * k : k);
        ck_assert_uint_eq(pfd_is_plain(p, k), !is_control);
    }
}
END_TEST

/* No byte of what is shown can drive a terminal, and plain means unchanged. */
START_TEST(terminal_is_safe)
{
    uint64_t rng = 2;
    for (int round = 0; round < 3000; round++) {
        uint8_t in[60];
        char out[4 * sizeof in];
        size_t n = dump_below(&rng, sizeof in);
        random_bytes(&rng, in, n);
        struct guard g = guard_new(in, n);
        const char *p = (const char *)g.bytes;
        size_t n_out = (size_t)(pfd_escape_terminal(out, p, n) - out);
        bool same = n_out == n && !memcmp(out, in, n);
        if (pfd_is_plain(p, n))
            ck_assert(same);
        ck_assert_uint_le(n_out, 4 * n);
        for (size_t i = 0; i < n_out; i++) {
            uint8_t c = (uint8_t)out[i];
            ck_assert((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t');
            ck_assert(!(c == 0xc2 && i + 1 < n_out &&
                        ((uint8_t)out[i + 1] & 0xe0) == 0x80));
        }
        ck_assert_uint_eq(pfd_escape_for_terminal(out, p, n), n_out);
        guard_free(&g);
    }
}
END_TEST

START_TEST(base64)
{
    static const struct {
        const char *in;
        const char *out;
    } rows[] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
        { "\xff\xfe\xfb", "//77" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[16];
        struct guard g = guard_new(rows[i].in, strlen(rows[i].in));
        *pfd_base64(out, g.bytes, g.n) = '\0';
        ck_assert_str_eq(out, rows[i].out);
        guard_free(&g);
    }
}
END_TEST

START_TEST(one_line)
{
    static const struct {
        const char *in;
        const char *safe;
        const char *line;
        const char *words;
    } rows[] = {
        { "", "", "", "" },
        { "\n", "\n", "\\n", " " },
        { "a\tb", "a\tb", "a\tb", "a\tb" },
        { "a\nb\n\n", "a\nb\n\n", "a\\nb\\n\\n", "a b  " },
        { "\033[m\n\xe2\x80", "\\x1b[m\n\xe2\\x80", "\\x1b[m\\n\xe2\\x80",
          "\\x1b[m \xe2\\x80" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct guard g = guard_new(rows[i].in, strlen(rows[i].in));
        const char *in = (const char *)g.bytes;
        struct pfd_text out = { 0 };
        pfd_text_add_safe(&out, in, g.n);
        pfd_text_puts(&out, "|");
        pfd_text_add_safe_line(&out, in, g.n);
        pfd_text_puts(&out, "|");
        pfd_text_add_safe_words(&out, in, g.n);
        pfd_text_add(&out, "", 1);
        char expected[128];
        snprintf(expected, sizeof expected, "%s|%s|%s", rows[i].safe,
                 rows[i].line, rows[i].words);
        ck_assert_str_eq(out.data, expected);
        pfd_text_free(&out);
        guard_free(&g);
    }
    struct pfd_text none = { 0 };
    pfd_text_add_safe(&none, NULL, 0);
    pfd_text_add_safe_words(&none, NULL, 0);
    ck_assert(!none.failed && none.n == 0);
}
END_TEST

int main(void)
{
    return suite_run("escape",
                     TESTS(utf8_lengths, json_reads_back, terminal, controls,
                           terminal_is_safe, base64, one_line),
                     60);
}
