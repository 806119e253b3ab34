/* SPDX-License-Identifier: MIT */
/* Format strings: what each prints, and what is found about it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/print/program.h"
#include "dump.h"
#include "guard.h"
#include "suite.h"

enum {
    SLACK = 32,
    VALUES_MAX = 16
};

/* Bits of some floats: binary32 and binary64. */
enum {
    F_1 = 0x3f800000,
    F_1_5 = 0x3fc00000,
    F_2 = 0x40000000,
    F_3 = 0x40400000,
    F_4 = 0x40800000,
};
#define D_1_5 0x3ff8000000000000

static char printed[1 << 18];
static size_t n_printed;
static uint64_t found;

struct bound {
    char *text; /* with readable bytes behind it */
    struct pfd_step *steps;
    size_t n_steps;
    struct pfd_program_facts facts;
};

static void compile(struct bound *b, const char *text, size_t n)
{
    b->text = calloc(1, n + SLACK);
    ck_assert_ptr_nonnull(b->text);
    memcpy(b->text, text, n);
    struct guard g = guard_new(text, n);
    const char *guarded = (const char *)g.bytes;
    size_t max = pfd_program_steps_max(guarded, n);
    b->steps = calloc(max, sizeof *b->steps);
    ck_assert_ptr_nonnull(b->steps);
    b->n_steps = pfd_program_compile(guarded, n, b->steps, &b->facts);
    ck_assert_uint_ge(b->n_steps, 1);
    ck_assert_uint_le(b->n_steps, max);
    guard_free(&g);
}

static void bound_free(struct bound *b)
{
    free(b->text);
    free(b->steps);
}

/* The address of text as a value of width 's'. */
#define TEXT(literal) ((uint64_t)(uintptr_t)(literal))

/* One value of a width: '1', '2', '4', '8' bytes; 'b', 'w': 1 and 2 bytes in 4;
 * 's': TEXT(), or 0 for a null string. Its slot, and its bytes at payload. */
static struct pfd_slot put_value(uint8_t *payload, uint32_t at, char width,
                                 uint64_t value)
{
    static const char widths[] = "?481"
                                 "2bw";
    struct pfd_slot slot = { .at = at, .store = PFD_STORE_STRING };
    const char *text = (const char *)(uintptr_t)value;
    if (width == 's') {
        slot.n_bytes =
            text ? (uint32_t)strlen(text) & PFD_STRING_NULL : PFD_STRING_NULL;
        if (text)
            memcpy(payload + at, text, pfd_slot_bytes(&slot));
        return slot;
    }
    const char *which = strchr(widths, width);
    ck_assert_ptr_nonnull(which);
    slot.store = (unsigned)(which - widths) & 15;
    memcpy(payload + at, &value, pfd_slot_bytes(&slot));
    return slot;
}

/* Binds to values of widths and prints; the payload ends at an unreadable
 * page, the output has exactly the room that was asked for. */
static void print(struct bound *b, size_t n_text, const char *widths,
                  const uint64_t *values, bool cut)
{
    uint8_t payload[64 * VALUES_MAX];
    struct pfd_slot slots[VALUES_MAX + 1];
    size_t n = strlen(widths);
    uint32_t at = 0;
    size_t room = 0;
    for (size_t i = 0; i < n; i++) {
        slots[i] = put_value(payload, at, widths[i], values[i]);
        at += pfd_slot_bytes(&slots[i]);
    }
    struct guard g = guard_new(payload, at);
    found = b->facts.findings |
            pfd_program_bind(b->steps, b->n_steps, slots, n, cut, &room);
    char *out = malloc(room + n_text);
    ck_assert_ptr_nonnull(out);
    char *end =
        pfd_program_print(out, b->steps, b->text, PFD_RAW, g.bytes, &found);
    n_printed = (size_t)(end - out);
    ck_assert_uint_le(n_printed, room + n_text);
    ck_assert_uint_lt(n_printed, sizeof printed);
    memcpy(printed, out, n_printed);
    printed[n_printed] = '\0';
    free(out);
    guard_free(&g);
}

static void say(const char *text, const char *widths, const uint64_t *values)
{
    struct bound b;
    compile(&b, text, strlen(text));
    print(&b, strlen(text), widths, values, false);
    bound_free(&b);
}

/* Text of two conversions of one value, with its arguments beside it. */
static void say_both(const char *text, size_t n_text, uint32_t value,
                     const char *want, const char *json)
{
    struct bound b;
    struct pfd_slot slots[2];
    uint8_t payload[8];
    char out[1024];
    char arguments[1024];
    char *end = arguments;
    size_t room = 0;
    for (unsigned i = 0; i < 2; i++)
        slots[i] = put_value(payload, 4 * i, '4', value);
    compile(&b, text, n_text);
    pfd_program_bind(b.steps, b.n_steps, slots, 2, false, &room);
    ck_assert_uint_lt(room + n_text, sizeof out);
    *pfd_program_print_both(out, b.steps, b.text, PFD_RAW, payload, &found,
                            &end) = '\0';
    *end = '\0';
    ck_assert_str_eq(out, want);
    ck_assert_str_eq(arguments, json);
    bound_free(&b);
}

struct row {
    const char *text;
    const char *widths;
    uint64_t values[VALUES_MAX];
    const char *expected;
    uint64_t findings;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        say(r->text, r->widths, r->values);
        ck_assert_msg(!strcmp(printed, r->expected) && found == r->findings,
                      "'%s' prints '%s' (findings %llx), not '%s' (%llx)",
                      r->text, printed, (unsigned long long)found, r->expected,
                      (unsigned long long)r->findings);
    }
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

START_TEST(literals)
{
    static const struct row rows[] = {
        { "", "", { 0 }, "", 0 },
        { "plain\n", "", { 0 }, "plain\n", 0 },
        { "%%", "", { 0 }, "%", 0 },
        { "100%% and %%%%.", "", { 0 }, "100% and %%.", 0 },
        { "%%d", "", { 0 }, "%d", 0 },
        { "%%5d", "", { 0 }, "%5d", 0 },
        { "%%%d", "4", { 7 }, "%7", 0 },
        /* What the text ends in is literal. */
        { "%", "", { 0 }, "%", 0 },
        { "a %", "", { 0 }, "a %", 0 },
        { "%5.", "", { 0 }, "%5.", 0 },
        { "%-08.3ll", "", { 0 }, "%-08.3ll", 0 },
        { "%*", "4", { 1 }, "%*", PFD_FINDING_BIT(unused_arguments) },
        { "%99999", "", { 0 }, "%99999", 0 },
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(integers)
{
    static const struct row rows[] = {
        { "%d %i %u",
          "444",
          { 0xffffffff, 7, 0xffffffff },
          "-1 7 4294967295",
          0 },
        { "%x %X %o %#x %#o",
          "44444",
          { 255, 255, 8, 255, 8 },
          "ff FF 10 0xff 010",
          0 },
        { "%d %u %x",
          "888",
          { UINT64_MAX, UINT64_MAX, UINT64_MAX },
          "-1 18446744073709551615 ffffffffffffffff",
          0 },
        /* The stored width decides, whatever the modifier says. */
        { "%ld %lu %lld %jd %zd %td %qd",
          "4444444",
          { 0xffffffff, 0xffffffff, 0xffffffff, 1, 2, 3, 4 },
          "-1 4294967295 -1 1 2 3 4",
          0 },
        { "%hhd %hd %hhu %hu %hhx",
          "44444",
          { 0xff, 0xffff, 0x1ff, 0x1ffff, 0x1ab },
          "-1 -1 255 65535 ab",
          0 },
        { "%hhd|%hhd", "88", { 0x180, 0x17f }, "-128|127", 0 },
        { "%hld", "4", { 0xffffffff }, "-1", 0 },
        { "%5d|%-5d|%05d|%+d|% d|%.3d",
          "444444",
          { 7, 7, 7, 7, 7, 7 },
          "    7|7    |00007|+7| 7|007",
          0 },
        { "%'d", "4", { 1234567 }, "1234567", 0 },
        { "%- +0#10x|", "4", { 255 }, "0xff      |", 0 },
        { "%.0d|%.d", "44", { 0, 0 }, "|", 0 },
        { "%c%c", "44", { 'a', 0x100 + 'b' }, "ab", 0 },
        { "%5c|%-3c|", "44", { 'a', 'b' }, "    a|b  |", 0 },
        { "%p %p %p",
          "484",
          { 0xbeef, (uint64_t)1 << 40, 0 },
          "0xbeef 0x10000000000 0x0",
          0 },
        { "%12p|%-8p|", "44", { 0xbeef, 1 }, "      0xbeef|0x1     |", 0 },
        /* As glibc: a precision is the least number of digits. */
        { "%.2p|%.8p|%.0p|%.0p|",
          "4484",
          { 0xbeef, 0xbeef, 0x7fffdeadbeef, 0 },
          "0xbeef|0x0000beef|0x7fffdeadbeef|0x0|",
          0 },
        { "%012p|%-12p|%12.6p|%-012.6p|",
          "4444",
          { 0xbeef, 0xbeef, 0xbeef, 0xbeef },
          "0x000000beef|0xbeef      |    0x00beef|0x00beef    |",
          0 },
    };
    CHECK_ROWS(rows);
}
END_TEST

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Flags and widths of all kinds, against the C library; and the value beside
 * the text. */
START_TEST(widths_as_in_c)
{
    static const char *const flags[] = { "", "0", "-", "+", " ", "#", "-0" };
    uint64_t rng = 5;
    for (int i = 0; i < 8000; i++) {
        char conv = "diuxXo"[dump_below(&rng, 6)];
        uint64_t value = dump_random(&rng) >> dump_below(&rng, 64) & UINT32_MAX;
        char text[32];
        char want[128];
        char json[64];
        if (dump_below(&rng, 2))
            value = -value & UINT32_MAX;
        int n_text = snprintf(text, sizeof text, "%%%s%u%c|%%%u%c",
                              flags[dump_below(&rng, 7)], dump_below(&rng, 12),
                              conv, dump_below(&rng, 10), conv);
        snprintf(want, sizeof want, text, (uint32_t)value, (uint32_t)value);
        say(text, "44", (uint64_t[]){ value, value });
        ck_assert_msg(!strcmp(printed, want), "'%s' of %x: '%s', not '%s'",
                      text, (unsigned)value, printed, want);
        bool is_signed = conv == 'd' || conv == 'i';
        snprintf(json, sizeof json, is_signed ? "%d,%d," : "%u,%u,",
                 (uint32_t)value, (uint32_t)value);
        say_both(text, (size_t)n_text, (uint32_t)value, want, json);
    }
}
END_TEST

/* %g of floats and doubles of all sizes. */
START_TEST(general_as_in_c)
{
    static const char *const texts[] = { "%g|%g", "%.3g|%.3g", "%.9g|%.17g",
                                         "%-9g|%09g" };
    uint64_t rng = 6;
    for (int i = 0; i < 4000; i++) {
        uint64_t bits = dump_random(&rng);
        uint32_t low = (uint32_t)dump_random(&rng);
        const char *text = texts[i % 4];
        char want[256];
        float f;
        double d;
        if (i % 3 == 0) { /* few digits */
            d = (double)(int32_t)low / 1000;
            f = (float)d;
            memcpy(&bits, &d, sizeof bits);
            memcpy(&low, &f, sizeof low);
        }
        memcpy(&f, &low, sizeof f);
        memcpy(&d, &bits, sizeof d);
        snprintf(want, sizeof want, text, (double)f, d);
        say(text, "48", (uint64_t[]){ low, bits });
        ck_assert_msg(!strcmp(printed, want), "'%s': '%s', not '%s'", text,
                      printed, want);
    }
}
END_TEST

#pragma GCC diagnostic pop

START_TEST(floats)
{
    static const struct row rows[] = {
        { "%f %F %e %g %a",
          "44444",
          { F_1_5, F_1_5, F_1_5, F_1_5, F_1_5 },
          "1.500000 1.500000 1.500000e+00 1.5 0x1.8p+0",
          0 },
        { "%f %Lf %lf",
          "888",
          { D_1_5, D_1_5, D_1_5 },
          "1.500000 1.500000 1.500000",
          0 },
        { "%Lf", "4", { F_1_5 }, "1.500000", 0 },
        { "%.0f %.f %.3f %8.2f|%-8.2f|%+f",
          "444444",
          { F_1_5, F_1_5, F_1_5, F_1_5, F_1_5, F_1_5 },
          "2 2 1.500     1.50|1.50    |+1.500000",
          0 },
        { "%f %f %F",
          "444",
          { 0x7f800000, 0xff800000, 0x7fc00000 },
          "inf -inf NAN",
          0 },
        { "%E %G %A",
          "888",
          { D_1_5, D_1_5, D_1_5 },
          "1.500000E+00 1.5 0X1.8P+0",
          0 },
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(vectors)
{
    static const struct row rows[] = {
        { "%v2d", "44", { 1, 2 }, "1, 2", 0 },
        { "%v4f",
          "4444",
          { F_1, F_2, F_3, F_4 },
          "1.000000, 2.000000, 3.000000, 4.000000",
          0 },
        { "%v4.1f", "4444", { F_1, F_2, F_3, F_4 }, "1.0, 2.0, 3.0, 4.0", 0 },
        { "%.1v4f", "4444", { F_1, F_2, F_3, F_4 }, "1.0, 2.0, 3.0, 4.0", 0 },
        { "%5v2d|", "44", { 1, 2 }, "    1,     2|", 0 },
        { "%v2ld %v2hld", "8844", { 1, 2, 3, 4 }, "1, 2 3, 4", 0 },
        { "%v3x!", "444", { 10, 11, 12 }, "a, b, c!", 0 },
        { "%v8u",
          "44444444",
          { 1, 2, 3, 4, 5, 6, 7, 8 },
          "1, 2, 3, 4, 5, 6, 7, 8",
          0 },
        { "%v16u",
          "4444444444444444",
          { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
          "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
          0 },
        /* Mixed widths are as the mask says, scalar by scalar. */
        { "%v2u", "84", { (uint64_t)1 << 40, 2 }, "1099511627776, 2", 0 },
        { "%v2c", "44", { 'a', 'b' }, "a, b", 0 },
        /* No vector: 'v' is then the conversion, which prints nothing. */
        { "%v5d", "4", { 5 }, "%v5d", PFD_FINDING_BIT(bad_conversion) },
        { "%vd", "4", { 5 }, "%vd", PFD_FINDING_BIT(bad_conversion) },
        { "%v1d", "4", { 5 }, "%v1d", PFD_FINDING_BIT(bad_conversion) },
        { "%v4v4f",
          "4444",
          { 1, 2, 3, 4 },
          "%v4v4f",
          PFD_FINDING_BIT(bad_conversion) },
        /* One missing: the whole conversion is shown, never half of it. */
        { "%v4f %d",
          "444",
          { F_1, F_2, F_3 },
          "%v4f %d",
          PFD_FINDING_BIT(payload_short) },
        { "%v2s", "44", { 1, 2 }, "%v2s", PFD_FINDING_BIT(bad_conversion) },
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(stars)
{
    static const struct row rows[] = {
        { "%*d", "44", { 5, 7 }, "    7", 0 },
        { "%-*d|", "44", { 5, 7 }, "7    |", 0 },
        { "%*d|", "44", { (uint32_t)-5, 7 }, "7    |", 0 },
        { "%.*f", "44", { 2, F_1_5 }, "1.50", 0 },
        { "%.*f", "44", { (uint32_t)-1, F_1_5 }, "1.500000", 0 },
        { "%*.*f|", "444", { 8, 1, F_1_5 }, "     1.5|", 0 },
        { "%*.*f|", "884", { 8, 1, F_1_5 }, "     1.5|", 0 },
        { "%*v2d", "444", { 3, 1, 2 }, "  1,   2", 0 },
        { "%*v2.*f", "4444", { 5, 1, F_1, F_2 }, "  1.0,   2.0", 0 },
        { "%*d %*d", "4444", { 3, 1, 4, 2 }, "  1    2", 0 },
        { "%*d", "4", { 3 }, "%*d", PFD_FINDING_BIT(payload_short) },
        { "%*.*f", "44", { 3, 1 }, "%*.*f", PFD_FINDING_BIT(payload_short) },
        { "%*d", "", { 0 }, "%*d", PFD_FINDING_BIT(payload_short) },
        /* 64-bit values are cut to int, as in C. */
        { "%*d", "84", { 0x100000003, 7 }, "  7", 0 },
        { "%*s|%d",
          "444",
          { 3, 9, 7 },
          "%*s|7",
          PFD_FINDING_BIT(bad_conversion) },
    };
    CHECK_ROWS(rows);
}
END_TEST

static void check_clamped(const char *text, const char *widths,
                          const uint64_t *values, size_t n)
{
    say(text, widths, values);
    ck_assert_uint_eq(n_printed, n);
    ck_assert(found & PFD_FINDING_BIT(width_clamped));
}

START_TEST(clamps)
{
    check_clamped("%4097d", "4", (uint64_t[]){ 1 }, 4096);
    check_clamped("%99999999999999999999d", "4", (uint64_t[]){ 1 }, 4096);
    check_clamped("%.4097d", "4", (uint64_t[]){ 1 }, 4096);
    check_clamped("%.999999999f", "4", (uint64_t[]){ F_1 }, 2 + 4096);
    check_clamped("%*d", "44", (uint64_t[]){ 4097, 1 }, 4096);
    check_clamped("%*d", "44", (uint64_t[]){ 0x80000000, 1 }, 4096);
    check_clamped("%.*d", "44", (uint64_t[]){ 0x7fffffff, 1 }, 4096);
    say("%4096d", "4", (uint64_t[]){ 1 });
    ck_assert_uint_eq(n_printed, 4096);
    ck_assert_uint_eq(found, 0);
    say("%.4096f", "8", (uint64_t[]){ 0x7fefffffffffffff });
    ck_assert_uint_eq(n_printed, 309 + 1 + 4096);
    say("%*d", "44", (uint64_t[]){ (uint32_t)-4096, 1 });
    ck_assert_uint_eq(n_printed, 4096);
    ck_assert_uint_eq(found, 0);
}
END_TEST

/* Characters of any width, and what is none. */
START_TEST(characters)
{
    static const struct row rows[] = {
        { "%lc%C", "48", { 'A', 'B' }, "AB", 0 },
        { "%lc %lc %lc", "444", { 0xe9, 0x20ac, 0x1f600 }, "é € 😀", 0 },
        { "[%5lc] [%-5lc]", "44", { 'B', 0xe9 }, "[    B] [é   ]", 0 },
        { "[%*C]", "44", { 3, 'x' }, "[  x]", 0 },
        { "%lc %lc", "44", { 0xd800, 0x110000 }, "\\U0000d800 \\U00110000", 0 },
        { "%lc", "8", { UINT64_C(0xffffffff00000041) }, "A", 0 },
        { "%Zu %Zd %Zx", "884", { 7, UINT64_MAX, 255 }, "7 -1 ff", 0 },
        { "%Z %u", "44", { 7, 8 }, "%Z 8", PFD_FINDING_BIT(bad_conversion) },
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(verbatim)
{
    static const struct row rows[] = {
        { "%s", "4", { 1 }, "%s", PFD_FINDING_BIT(bad_conversion) },
        { "%n", "4", { 1 }, "%n", PFD_FINDING_BIT(bad_conversion) },
        { "a%sb%dc",
          "44",
          { 1, 2 },
          "a%sb2c",
          PFD_FINDING_BIT(bad_conversion) },
        { "%hc %ls %hhc",
          "444",
          { 1, 2, 3 },
          "%hc %ls %hhc",
          PFD_FINDING_BIT(bad_conversion) },
        /* %m and what is no letter take nothing. */
        { "%m %d", "4", { 7 }, "%m 7", PFD_FINDING_BIT(bad_conversion) },
        { "%! %d", "4", { 7 }, "%! 7", PFD_FINDING_BIT(bad_conversion) },
        { "%y %d", "44", { 1, 7 }, "%y 7", PFD_FINDING_BIT(bad_conversion) },
        { "%s", "", { 0 }, "%s", PFD_FINDING_BIT(payload_short) },
        { "%m", "", { 0 }, "%m", PFD_FINDING_BIT(bad_conversion) },
        { "%-5.3lls!",
          "4",
          { 1 },
          "%-5.3lls!",
          PFD_FINDING_BIT(bad_conversion) },
        { "%\n%d", "4", { 7 }, "%\n7", PFD_FINDING_BIT(bad_conversion) },
        { "%d %d", "4", { 7 }, "7 %d", PFD_FINDING_BIT(payload_short) },
        { "%d", "44", { 7, 8 }, "7", PFD_FINDING_BIT(unused_arguments) },
        { "none", "8", { 8 }, "none", PFD_FINDING_BIT(unused_arguments) },
    };
    CHECK_ROWS(rows);
}
END_TEST

/* The rows that the driver's own regular expression reads wrongly. */
START_TEST(driver_grammar)
{
    static const struct row rows[] = {
        { "%%d", "", { 0 }, "%d", 0 },
        { "100%%d", "", { 0 }, "100%d", 0 },
        { "%%5d", "", { 0 }, "%5d", 0 },
        { "%%%d", "4", { 7 }, "%7", 0 },
        { "% d", "4", { 7 }, " 7", 0 },
        { "% 5d", "4", { 7 }, "    7", 0 },
        { "%s", "4", { 7 }, "%s", PFD_FINDING_BIT(bad_conversion) },
        { "%p", "4", { 7 }, "0x7", 0 },
        { "%n", "4", { 7 }, "%n", PFD_FINDING_BIT(bad_conversion) },
        { "%*d", "44", { 4, 7 }, "   7", 0 },
        { "%.*f", "44", { 1, F_1_5 }, "1.5", 0 },
        { "%.f", "4", { F_1_5 }, "2", 0 },
        { "%1$d",
          "4",
          { 7 },
          "%1$d",
          PFD_FINDING_BIT(bad_conversion) | PFD_FINDING_BIT(unused_arguments) },
        { "%'d", "4", { 7 }, "7", 0 },
        { "%s3d", "4", { 7 }, "%s3d", PFD_FINDING_BIT(bad_conversion) },
        { "%5s3d", "4", { 7 }, "%5s3d", PFD_FINDING_BIT(bad_conversion) },
        { "%x4d", "4", { 10 }, "a4d", 0 },
        { "%u8x", "4", { 9 }, "98x", 0 },
        { "50%complete", "4", { 'C' }, "50Complete", 0 },
        { "%5%d",
          "4",
          { 7 },
          "%5%d",
          PFD_FINDING_BIT(bad_conversion) | PFD_FINDING_BIT(unused_arguments) },
        { "%v4f",
          "4444",
          { F_1, F_1, F_1, F_1 },
          "1.000000, 1.000000, 1.000000, 1.000000",
          0 },
        { "%v8d", "44444444", { 0 }, "0, 0, 0, 0, 0, 0, 0, 0", 0 },
        { "%v4.3f",
          "4444",
          { F_1, F_1, F_1, F_1 },
          "1.000, 1.000, 1.000, 1.000",
          0 },
        { "%ul", "8", { (uint64_t)1 << 40 }, "1099511627776l", 0 },
        { "%I64d", "4", { 7 }, "%I64d", PFD_FINDING_BIT(bad_conversion) },
        { "%Lf", "8", { D_1_5 }, "1.500000", 0 },
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(nul_from_char_and_in_text)
{
    struct bound b;
    say("a%cb", "4", (uint64_t[]){ 0 });
    ck_assert_uint_eq(n_printed, 3);
    ck_assert(!memcmp(printed, "a\0b", 3));
    compile(&b, "x\0%\0%d\0", 7);
    print(&b, 7, "4", (uint64_t[]){ 7 }, false);
    ck_assert_uint_eq(n_printed, 6);
    ck_assert(!memcmp(printed, "x\0%\0007\0", 6));
    bound_free(&b);
}
END_TEST

START_TEST(cut_vectors)
{
    struct bound b;
    const char *text = "pos %v4f of %*v2d.";
    compile(&b, text, strlen(text));
    ck_assert_uint_eq(b.facts.n_scalars, 7);
    ck_assert_uint_eq(b.facts.n_cut_scalars, 3);
    print(&b, strlen(text), "444", (uint64_t[]){ F_1_5, 3, 7 }, true);
    ck_assert_str_eq(printed, "pos 1.500000 of   7.");
    ck_assert_uint_eq(found, 0);
    bound_free(&b);
}
END_TEST

START_TEST(stored_strings)
{
    const uint64_t hello = TEXT("hello");
    const struct row rows[] = {
        { "<%s>", "s", { hello }, "<hello>", 0 },
        { "<%s>", "s", { TEXT("") }, "<>", 0 },
        { "<%10s|%-10s>",
          "ss",
          { hello, hello },
          "<     hello|hello     >",
          0 },
        { "<%.2s|%4.1s|%.9s>",
          "sss",
          { hello, hello, hello },
          "<he|   h|hello>",
          0 },
        { "<%*s|%-*.*s>",
          "4s44s",
          { 7, hello, 4, 2, hello },
          "<  hello|he  >",
          0 },
        { "<%*.*s>",
          "44s",
          { UINT32_MAX - 6, UINT32_MAX, hello },
          "<hello  >",
          0 },
        { "<%s|%.3s|%8s>", "sss", { 0, 0, 0 }, "<(null)||  (null)>", 0 },
        { "%s%s%d", "ss4", { hello, TEXT("!"), 5 }, "hello!5", 0 },
        { "%ls", "s", { hello }, "hello", 0 },
        { "%5000s", "s", { 0 }, NULL, PFD_FINDING_BIT(width_clamped) },
        /* A string is for %s alone, and %s for a string alone. */
        { "%d|%s",
          "s4",
          { hello, 5 },
          "%d|%s",
          PFD_FINDING_BIT(bad_conversion) },
        { "%v2s",
          "ss",
          { hello, hello },
          "%v2s",
          PFD_FINDING_BIT(bad_conversion) },
        { "%s", "", { 0 }, "%s", PFD_FINDING_BIT(payload_short) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row row = rows[i];
        char wide[4097];
        memset(wide, ' ', 4090);
        strcpy(wide + 4090, "(null)");
        row.expected = row.expected ? row.expected : wide;
        check_rows(&row, 1);
    }
}
END_TEST

START_TEST(small_scalars)
{
    static const struct row rows[] = {
        { "%d %u %x", "111", { 0x80, 0x80, 0xff }, "-128 128 ff", 0 },
        { "%d %u %X",
          "222",
          { 0x8000, 0x8000, 0xffff },
          "-32768 32768 FFFF",
          0 },
        { "%d %u|%d %u",
          "bbww",
          { 0x85, 0x85, 0xff85, 0xff85 },
          "-123 133|-123 65413",
          0 },
        { "%hhd %hd %lld",
          "222",
          { 0x1ff, 0x8000, 0x8000 },
          "-1 -32768 -32768",
          0 },
        { "%5d|%c", "11", { 0xff, 65 }, "   -1|A", 0 },
        { "%f %.1f %g %e",
          "2222",
          { 0x3c00, 0xc000, 0x7bff, 1 },
          "1.000000 -2.0 65504 5.960464e-08",
          0 },
        { "%f %f %f %g",
          "2222",
          { 0x7c00, 0xfc00, 0x8000, 0x03ff },
          "inf -inf -0.000000 6.09756e-05",
          0 },
        { "%f", "w", { 0x3e00 }, "1.500000", 0 },
        { "%v2hf,%v4hhd",
          "221111",
          { 0x3c00, 0x4000, 1, 2, 3, 0xfc },
          "1.000000, 2.000000,1, 2, 3, -4",
          0 },
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(tight_vectors)
{
    struct bound b;
    const char *text = "%v3d;%v2f";
    compile(&b, text, strlen(text));
    pfd_program_join_tight(b.steps, b.n_steps);
    print(&b, strlen(text), "44444", (uint64_t[]){ 1, 2, 3, F_1, F_2 }, false);
    ck_assert_str_eq(printed, "1,2,3;1.000000,2.000000");
    bound_free(&b);
}
END_TEST

START_TEST(literal_program)
{
    struct bound b;
    const char *text = "100% of %s and %d\n";
    size_t n = strlen(text);
    compile(&b, text, n);
    b.n_steps = pfd_program_literal(b.text, n, b.steps);
    b.facts.findings = 0;
    print(&b, n, "", NULL, false);
    ck_assert_str_eq(printed, text);
    ck_assert_uint_eq(found, 0);
    bound_free(&b);
}
END_TEST

/* A conversion that ends in what a width begins with. */
START_TEST(star_as_letter)
{
    static const struct row rows[] = {
        { "%5*d %d", "4", { 7 }, "%5*d 7", PFD_FINDING_BIT(bad_conversion) },
        { "%5*", "", { 0 }, "%5*", PFD_FINDING_BIT(bad_conversion) },
        { "%.1#d",
          "4",
          { 7 },
          "%.1#d",
          PFD_FINDING_BIT(bad_conversion) | PFD_FINDING_BIT(unused_arguments) },
        { "%**d",
          "44",
          { 1, 2 },
          "%**d",
          PFD_FINDING_BIT(bad_conversion) | PFD_FINDING_BIT(unused_arguments) },
    };
    CHECK_ROWS(rows);
}
END_TEST

static void same_argument(const char *text, char width, uint64_t value,
                          const char *expected)
{
    uint8_t payload[64];
    char out[512];
    struct bound b;
    size_t room = 0;
    struct pfd_slot slot = put_value(payload, 0, width, value);
    compile(&b, text, strlen(text));
    pfd_program_bind(b.steps, b.n_steps, &slot, 1, false, &room);
    *pfd_program_print_arguments(out, b.steps, payload) = '\0';
    ck_assert_str_eq(out, expected);
    bound_free(&b);
}

START_TEST(arguments_as_json)
{
    same_argument("%s", 's', TEXT("a\"b\n"), "\"a\\\"b\\n\",");
    same_argument("%s", 's', 0, "null,");
    same_argument("%s", 's', TEXT("\xff"), "\"\xef\xbf\xbd\",");
    same_argument("%d", '1', 0xfe, "-2,");
    same_argument("%u", 'w', 0xfffe, "65534,");
    same_argument("%f", '2', 0x3c00, "1.0,");
}
END_TEST

/* The same steps bound to one layout after the other. */
START_TEST(rebind)
{
    struct bound b;
    const char *text = "%d %f|%s %*d %v2x";
    size_t n = strlen(text);
    compile(&b, text, n);
    for (int round = 0; round < 2; round++) {
        print(&b, n, "4", (uint64_t[]){ 7 }, false);
        ck_assert_str_eq(printed, "7 %f|%s %*d %v2x");
        ck_assert_uint_eq(found, PFD_FINDING_BIT(payload_short));
        print(&b, n, "8844844", (uint64_t[]){ 1, D_1_5, 2, 3, 4, 10, 11 },
              false);
        ck_assert_str_eq(printed, "1 1.500000|%s   4 a, b");
        ck_assert_uint_eq(found, PFD_FINDING_BIT(bad_conversion));
        print(&b, n, "4444444", (uint64_t[]){ 1, F_1_5, 2, 1, 4, 10, 11 },
              false);
        ck_assert_str_eq(printed, "1 1.500000|%s 4 a, b");
        print(&b, n, "", NULL, false);
        ck_assert_str_eq(printed, text);
    }
    bound_free(&b);
}
END_TEST

START_TEST(suggested_widths)
{
    struct bound b;
    uint64_t wide = 0;
    const char *text = "%ld %d %*lld %v2Lf %s %m %hd";
    compile(&b, text, strlen(text));
    size_t n = pfd_program_suggest(b.steps, b.n_steps, false, &wide, 16);
    ck_assert_uint_eq(n, 8);
    ck_assert_uint_eq(wide, 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5);
    wide = 0;
    ck_assert_uint_eq(pfd_program_suggest(b.steps, b.n_steps, true, &wide, 2),
                      7);
    ck_assert_uint_eq(wide, 1 << 0);
    bound_free(&b);
}
END_TEST

/* Literals longer than a step holds; characters are never cut in two. */
START_TEST(long_literals)
{
    static char text[200000];
    struct bound b;
    for (size_t i = 0; i + 3 <= sizeof text; i += 3)
        memcpy(text + i, "\xe4\xbd\xa0", 3);
    memcpy(text + 100002, "%d\n", 3);
    size_t n = 199998;
    compile(&b, text, n);
    print(&b, n, "", NULL, false);
    bound_free(&b);
}
END_TEST

static void same_escaped(uint64_t *rng)
{
    static const char *const pieces[] = { "\"", "\\",   "\xc3\xa9", "\n",
                                          "a",  "%d",   "%v2d",     "%s",
                                          "%%", "\x01", "%*d",      "%y",
                                          "%q", "% ",   "\xc3" };
    char text[128] = "";
    char escaped[6 * sizeof text + SLACK];
    static char plain[1 << 17];
    static char out[1 << 17];
    uint8_t payload[400] = { 0 };
    struct pfd_slot slots[40];
    struct bound b;
    size_t room = 0;
    uint64_t findings = 0;
    for (uint32_t i = dump_below(rng, 12); i; i--)
        strcat(text, pieces[dump_below(rng, 15)]);
    compile(&b, text, strlen(text));
    for (uint32_t i = 0; i < 40; i++)
        slots[i] = (struct pfd_slot){ .at = 8 * i, .store = PFD_STORE_DWORD };
    pfd_program_bind(b.steps, b.n_steps, slots, dump_below(rng, 40), false,
                     &room);
    char *end =
        pfd_program_print(plain, b.steps, b.text, PFD_RAW, payload, &findings);
    char *want = pfd_escape_json(escaped, plain, (size_t)(end - plain));
    size_t n_want = (size_t)(want - escaped);
    char from[6 * sizeof text + SLACK];
    pfd_escape_json(from, text, strlen(text));
    end =
        pfd_program_print(out, b.steps, from, PFD_ESCAPED, payload, &findings);
    ck_assert_uint_eq((size_t)(end - out), n_want);
    ck_assert(!memcmp(out, escaped, n_want));
    bound_free(&b);
}

/* Printing escaped is the same as printing, then escaping. */
START_TEST(escaped_output)
{
    uint64_t rng = 5;
    for (int i = 0; i < 20000; i++)
        same_escaped(&rng);
}
END_TEST

/* A float of so many bits of exponent and fraction, by its definition. */
static double defined(uint32_t v, int exponent_bits, int fraction_bits)
{
    int fraction = (int)(v & ((1u << fraction_bits) - 1));
    int exponent = (int)(v >> fraction_bits & ((1u << exponent_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double value = fraction;
    if (exponent)
        value += 1 << fraction_bits;
    double ret = ldexp(value, (exponent ? exponent : 1) - bias - fraction_bits);
    return v >> (exponent_bits + fraction_bits) ? -ret : ret;
}

static double stored(enum pfd_store store, uint32_t v)
{
    struct pfd_step step = { .conv = 'f', .store = store & 15 };
    return pfd_step_double(&step, (const uint8_t *)&v);
}

static void same_float(double given, double want)
{
    ck_assert(isnan(want) ? isnan(given)
                          : given == want && signbit(given) == signbit(want));
}

/* Each value of the floats that are no IEEE ones. */
START_TEST(encoded_floats)
{
    for (uint32_t v = 0; v < 256; v++) {
        bool is_nan = (v & 0x7f) == 0x7f;
        same_float(stored(PFD_STORE_E4M3, v),
                   is_nan ? (double)NAN : defined(v, 4, 3));
    }
    for (uint32_t v = 0; v < 256; v++) {
        double infinity = v & 0x80 ? -HUGE_VAL : HUGE_VAL;
        double special = v & 3 ? (double)NAN : infinity;
        bool is_special = (v & 0x7c) == 0x7c;
        same_float(stored(PFD_STORE_E5M2, v),
                   is_special ? special : defined(v, 5, 2));
    }
    for (uint32_t v = 0; v < 65536; v++) {
        double infinity = v & 0x8000 ? -HUGE_VAL : HUGE_VAL;
        double special = v & 0x7f ? (double)NAN : infinity;
        bool is_special = (v & 0x7f80) == 0x7f80;
        same_float(stored(PFD_STORE_BFLOAT, v),
                   is_special ? special : defined(v, 8, 7));
    }
}
END_TEST

int main(void)
{
    return suite_run("program",
                     TESTS(literals, integers, widths_as_in_c, general_as_in_c,
                           floats, vectors, stars, clamps, characters, verbatim,
                           driver_grammar, nul_from_char_and_in_text,
                           cut_vectors, stored_strings, small_scalars,
                           tight_vectors, literal_program, star_as_letter,
                           arguments_as_json, rebind, suggested_widths,
                           long_literals, escaped_output, encoded_floats),
                     60);
}
