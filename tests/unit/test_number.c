/* SPDX-License-Identifier: MIT */
/*
 * The borders of the number printers, one by one; diff_number.c compares them
 * with the C library on random values.
 */
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "core/print/number.h"
#include "core/print/number_fast.h"
#include "suite.h"

enum {
    TEXT_MAX = 2 * PFD_WIDTH_MAX
};

static char text[TEXT_MAX];

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint32_t bits32_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static const char *ended(char *end)
{
    *end = '\0';
    return text;
}

static const char *as_int(char conv, uint8_t flags, int width, int precision,
                          uint64_t value)
{
    struct pfd_spec spec = { conv, flags, (int16_t)width, (int16_t)precision };
    return ended(pfd_number_int(text, &spec, value));
}

static const char *as_double(char conv, uint8_t flags, int width, int precision,
                             double value)
{
    struct pfd_spec spec = { conv, flags, (int16_t)width, (int16_t)precision };
    return ended(pfd_number_double(text, &spec, value));
}

START_TEST(integers)
{
    ck_assert_str_eq(as_int('d', 0, 0, -1, 0), "0");
    ck_assert_str_eq(as_int('d', 0, 0, -1, 1ull << 63), "-9223372036854775808");
    ck_assert_str_eq(as_int('u', 0, 0, -1, UINT64_MAX), "18446744073709551615");
    ck_assert_str_eq(as_int('i', PFD_SPEC_PLUS, 6, 3, 7), "  +007");
    ck_assert_str_eq(as_int('d', PFD_SPEC_SPACE | PFD_SPEC_PLUS, 0, -1, 7),
                     "+7");
    ck_assert_str_eq(as_int('d', PFD_SPEC_ZERO, 5, -1, (uint64_t)-42), "-0042");
    ck_assert_str_eq(as_int('d', PFD_SPEC_ZERO, 5, 1, 42), "   42");
    ck_assert_str_eq(as_int('d', PFD_SPEC_ZERO | PFD_SPEC_MINUS, 5, -1, 42),
                     "42   ");
    ck_assert_str_eq(as_int('d', 0, 3, 0, 0), "   ");
    ck_assert_str_eq(as_int('u', PFD_SPEC_PLUS, 0, -1, 3), "3");
}
END_TEST

START_TEST(hex_and_octal)
{
    ck_assert_str_eq(as_int('x', PFD_SPEC_HASH, 0, -1, 0), "0");
    ck_assert_str_eq(as_int('X', PFD_SPEC_HASH, 0, -1, 0xbeef), "0XBEEF");
    ck_assert_str_eq(as_int('x', PFD_SPEC_HASH | PFD_SPEC_ZERO, 8, -1, 0xab),
                     "0x0000ab");
    ck_assert_str_eq(as_int('o', PFD_SPEC_HASH, 0, 0, 0), "0");
    ck_assert_str_eq(as_int('o', PFD_SPEC_HASH, 0, -1, 8), "010");
    ck_assert_str_eq(as_int('o', PFD_SPEC_HASH, 0, 3, 8), "010");
    ck_assert_str_eq(as_int('o', 0, 0, -1, UINT64_MAX),
                     "1777777777777777777777");
}
END_TEST

START_TEST(characters_and_pointers)
{
    ck_assert_str_eq(as_int('c', 0, 3, -1, 'x'), "  x");
    ck_assert_str_eq(as_int('c', PFD_SPEC_MINUS, 3, -1, 0x100 | 'x'), "x  ");
    ck_assert_str_eq(as_int('p', 0, 0, -1, 0), "0x0");
    ck_assert_str_eq(as_int('p', PFD_SPEC_MINUS, 8, -1, 0xabc), "0xabc   ");
    ck_assert_str_eq(as_int('p', 0, 8, 2, 0xabc), "   0xabc");
    ck_assert_str_eq(as_int('p', 0, 8, 5, 0xabc), " 0x00abc");
    ck_assert_str_eq(as_int('p', 0, 0, 0, 0), "0x0");
    ck_assert_str_eq(as_int('p', PFD_SPEC_ZERO, 8, -1, 0xabc), "0x000abc");
}
END_TEST

START_TEST(fixed)
{
    ck_assert_str_eq(as_double('f', 0, 0, -1, 0.5), "0.500000");
    ck_assert_str_eq(as_double('f', 0, 0, 0, 0.5), "0");
    ck_assert_str_eq(as_double('f', 0, 0, 0, 1.5), "2");
    ck_assert_str_eq(as_double('f', 0, 0, 0, 2.5), "2");
    ck_assert_str_eq(as_double('f', 0, 0, 2, 0.125), "0.12");
    ck_assert_str_eq(as_double('f', 0, 0, 2, 0.375), "0.38");
    ck_assert_str_eq(as_double('f', 0, 0, 2, 0.999), "1.00");
    ck_assert_str_eq(as_double('f', PFD_SPEC_HASH, 0, 0, 9.5), "10.");
    ck_assert_str_eq(as_double('f', PFD_SPEC_ZERO, 8, 1, -2.25), "-00002.2");
    ck_assert_str_eq(as_double('f', 0, 0, 3, -0.0), "-0.000");
    ck_assert_str_eq(as_double('f', 0, 0, 0, (double)FLT_MAX),
                     "340282346638528859811704183484516925440");
    ck_assert_str_eq(as_double('f', 0, 0, 25, 0.1),
                     "0.1000000000000000055511151");
    ck_assert_uint_eq(strlen(as_double('f', 0, 0, 0, DBL_MAX)), 309);
}
END_TEST

START_TEST(nonfinite)
{
    ck_assert_str_eq(as_double('f', PFD_SPEC_ZERO, 6, 2, HUGE_VAL), "   inf");
    ck_assert_str_eq(as_double('E', PFD_SPEC_PLUS, 0, 2, HUGE_VAL), "+INF");
    ck_assert_str_eq(as_double('a', PFD_SPEC_HASH, 0, 2, -HUGE_VAL), "-inf");
    ck_assert_str_eq(as_double('G', 0, 0, 2, copysign((double)NAN, -1)),
                     "-NAN");
}
END_TEST

START_TEST(exponent)
{
    ck_assert_str_eq(as_double('e', 0, 0, -1, 0), "0.000000e+00");
    ck_assert_str_eq(as_double('e', 0, 0, 1, 125), "1.2e+02");
    ck_assert_str_eq(as_double('e', 0, 0, 1, 135), "1.4e+02");
    ck_assert_str_eq(as_double('e', 0, 0, 0, 9.5), "1e+01");
    ck_assert_str_eq(as_double('E', PFD_SPEC_HASH, 0, 0, 1), "1.E+00");
    ck_assert_str_eq(as_double('e', 0, 0, 3, DBL_TRUE_MIN), "4.941e-324");
    ck_assert_str_eq(as_double('e', 0, 0, 16, DBL_MAX),
                     "1.7976931348623157e+308");
    ck_assert_str_eq(as_double('e', 0, 0, 22, 0.1),
                     "1.0000000000000000555112e-01");
}
END_TEST

START_TEST(general)
{
    ck_assert_str_eq(as_double('g', 0, 0, -1, 100000), "100000");
    ck_assert_str_eq(as_double('g', 0, 0, -1, 1000000), "1e+06");
    ck_assert_str_eq(as_double('g', 0, 0, -1, 0.0001), "0.0001");
    ck_assert_str_eq(as_double('g', 0, 0, -1, 0.00001), "1e-05");
    ck_assert_str_eq(as_double('g', 0, 0, 0, 0.25), "0.2");
    ck_assert_str_eq(as_double('g', PFD_SPEC_HASH, 0, -1, 1), "1.00000");
    ck_assert_str_eq(as_double('g', 0, 0, 17, 0.1), "0.10000000000000001");
    ck_assert_str_eq(as_double('g', 0, 0, 17, 12345678901234567.0),
                     "12345678901234568");
    ck_assert_str_eq(as_double('g', 0, 0, 40, 0.5), "0.5");
    /* glibc's, not the standard's */
    ck_assert_str_eq(as_double('g', PFD_SPEC_HASH, 0, -1, 999999.9), "1.e+06");
}
END_TEST

START_TEST(hex_float)
{
    ck_assert_str_eq(as_double('a', 0, 0, -1, 1), "0x1p+0");
    ck_assert_str_eq(as_double('a', 0, 0, 0, 1.5), "0x2p+0");
    ck_assert_str_eq(as_double('A', 0, 0, 2, -3.14), "-0X1.92P+1");
    ck_assert_str_eq(as_double('a', PFD_SPEC_ZERO, 12, -1, 1), "0x0000001p+0");
    ck_assert_str_eq(as_double('a', 0, 0, -1, DBL_TRUE_MIN),
                     "0x0.0000000000001p-1022");
    ck_assert_str_eq(as_double('a', 0, 0, 15, 0), "0x0.000000000000000p+0");
}
END_TEST

START_TEST(shortest)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { 0.1, "0.1" },
        { 1e-7, "1e-07" },
        { 0.0001, "0.0001" },
        { 0.00001, "1e-05" },
        { 1.5e22, "1.5e+22" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { 123456.75, "123456.75" },
        { 9007199254740992.0, "9007199254740992.0" },
        { DBL_TRUE_MIN, "5e-324" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { 0x1p-44, "5.684341886080802e-14" },
        { HUGE_VAL, "\"inf\"" },
        { -HUGE_VAL, "\"-inf\"" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(
            ended(pfd_put_shortest64(text, bits_of(cases[i].value))),
            cases[i].text);
    ck_assert_str_eq(ended(pfd_put_shortest64(text, UINT64_MAX)), "\"nan\"");
    ck_assert_str_eq(ended(pfd_put_shortest32(text, 0xffffffff)), "\"nan\"");
    ck_assert_str_eq(ended(pfd_put_shortest32(text, bits32_of(0.1f))), "0.1");
    ck_assert_str_eq(ended(pfd_put_shortest32(text, 1)), "1e-45");
    ck_assert_str_eq(ended(pfd_put_shortest32(text, bits32_of(1e10f))),
                     "10000000000.0");
    ck_assert_str_eq(ended(pfd_put_shortest32(text, bits32_of(FLT_MAX))),
                     "3.4028235e+38");
}
END_TEST

/* Every pair of four digits in both halves, both ways of making them. */
START_TEST(eight_digits)
{
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t value = i * 10000 + (9999 - i);
        char expect[16];
        snprintf(expect, sizeof(expect), "%08u", value);
        uint64_t digits = pfd_digits8_portable(value) | PFD_WORD_OF('0');
        ck_assert_mem_eq(&digits, expect, 8);
        uint64_t first, second;
        pfd_digits8x2(value, 99999999 - value, &first, &second);
        ck_assert_uint_eq(first, pfd_digits8(value));
        ck_assert_uint_eq(first, pfd_digits8_portable(value));
        ck_assert_uint_eq(second, pfd_digits8_portable(99999999 - value));
    }
}
END_TEST

START_TEST(digit_counts)
{
    for (unsigned n = 1; n < 20; n++) {
        ck_assert_uint_eq(pfd_digits10_64(pfd_pow10_u64[n] - 1), n);
        ck_assert_uint_eq(pfd_digits10_64(pfd_pow10_u64[n]), n + 1);
    }
    for (unsigned n = 1; n < 10; n++) {
        ck_assert_uint_eq(pfd_digits10_32((uint32_t)pfd_pow10_u64[n] - 1), n);
        ck_assert_uint_eq(pfd_digits10_32((uint32_t)pfd_pow10_u64[n]), n + 1);
    }
    ck_assert_uint_eq(pfd_digits10_64(0), 1);
    ck_assert_uint_eq(pfd_digits10_64(UINT64_MAX), 20);
}
END_TEST

START_TEST(other_rounding)
{
    static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        fesetround(modes[i]);
        ck_assert_str_eq(as_double('f', 0, 0, 2, 0.999), "1.00");
        ck_assert_str_eq(as_double('f', 0, 0, 25, 0.1),
                         "0.1000000000000000055511151");
        ck_assert_str_eq(as_double('g', 0, 0, -1, 1.23456789), "1.23457");
        ck_assert_str_eq(as_double('a', 0, 0, 1, -1.999), "-0x2.0p+0");
    }
    fesetround(FE_TONEAREST);
}
END_TEST

/* Nothing depends on the process' locale; skipped where there is no other. */
START_TEST(other_locale)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        return;
    ck_assert_str_eq(as_double('f', 0, 0, 30, 0.5),
                     "0.500000000000000000000000000000");
    setlocale(LC_ALL, "C");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *tcase = tcase_create("number");
    tcase_add_test(tcase, integers);
    tcase_add_test(tcase, hex_and_octal);
    tcase_add_test(tcase, characters_and_pointers);
    tcase_add_test(tcase, fixed);
    tcase_add_test(tcase, nonfinite);
    tcase_add_test(tcase, exponent);
    tcase_add_test(tcase, general);
    tcase_add_test(tcase, hex_float);
    tcase_add_test(tcase, shortest);
    tcase_add_test(tcase, eight_digits);
    tcase_add_test(tcase, digit_counts);
    tcase_add_test(tcase, other_rounding);
    tcase_add_test(tcase, other_locale);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
