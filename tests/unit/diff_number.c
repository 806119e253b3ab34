/* SPDX-License-Identifier: MIT */
/*
 * Randomised comparison of the number printers with the C library, on values
 * picked for the borders of each path. Also that nothing is written beyond the
 * room that was asked for.
 *
 * usage: diff_number [COUNT] [SEED]
 * Prints how many values were compared per path; exit status 1 after
 * mismatches (the first ten are shown).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print/number.h"
#include "core/print/number_fast.h"

enum {
    TEXT_MAX = 2 * PFD_WIDTH_MAX,
    GUARD = 64,
    MISMATCHES_MAX = 10,
    VALUES_PER_SPEC = 64,
};

enum path {
    PATH_INT,
    PATH_CHAR_POINTER,
    PATH_FIXED,
    PATH_EXPONENT,
    PATH_GENERAL,
    PATH_HEX,
    PATH_FAST_INT,
    PATH_FAST_FIXED32,
    PATH_FAST_FIXED64,
    PATH_SHORTEST32,
    PATH_SHORTEST64,
    PATH_BOTH32,
    PATH_N,
};

static const char *const path_names[PATH_N] = {
    "int",          "char+pointer", "%f",         "%e",
    "%g",           "%a",           "fast int",   "fast fixed32",
    "fast fixed64", "shortest32",   "shortest64", "both32",
};

static uint64_t n_compared[PATH_N];
static unsigned n_mismatches;

/* ---- random values ---- */

static uint64_t rng_state;

static uint64_t rng(void) /* splitmix64 */
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
    return (unsigned)((rng() >> 32) * n >> 32);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t bits32_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t random_int(void)
{
    static const uint64_t borders[] = {
        0,
        1,
        9,
        10,
        99,
        100,
        INT32_MAX,
        0x80000000,
        UINT32_MAX,
        INT64_MAX,
        1ull << 63,
        UINT64_MAX,
        (uint64_t)INT32_MIN,
        0x100000000,
    };
    switch (below(6)) {
    case 0:
        return borders[below(sizeof(borders) / sizeof(borders[0]))];
    case 1: /* around powers of ten */
        return pfd_pow10_u64[below(20)] + below(3) - 1;
    case 2: /* around powers of two */
        return (1ull << below(64)) + below(3) - 1;
    case 3: /* small, both signs */
        return (uint64_t)(int64_t)(int32_t)(rng() >> (33 + below(31))) *
               (below(2) ? 1 : UINT64_MAX);
    default:
        return rng() >> below(64);
    }
}

/* A few decimal digits, as people write them. */
static double random_human(void)
{
    double digits = (double)(rng() >> (20 + below(44)));
    double value = digits / (double)pfd_pow10_u64[below(12)];
    return below(4) ? value : digits * (double)pfd_pow10_u64[below(20)];
}

/* Few bits, so that a decimal place often splits it in halves exactly. */
static double random_tie(void)
{
    double odd = (double)((rng() >> (34 + below(30))) | 1);
    return ldexp(odd, -(int)below(40));
}

/* Some bits, then half a unit of some decimal place, for large values. */
static double random_large_tie(void)
{
    double odd = (double)((rng() >> (44 + below(20))) | 1);
    return odd * 5 * (double)pfd_pow10_u64[below(16)];
}

static double random_near_power(void)
{
    double power = ldexp(1, (int)below(2098) - 1074);
    if (below(2)) {
        char text[16];
        snprintf(text, sizeof(text), "1e%d", (int)below(633) - 324);
        power = strtod(text, NULL);
    }
    return double_of(bits_of(power) + below(3) - (power > 0));
}

static double random_special(void)
{
    static const uint64_t bits[] = {
        0,
        1,
        0x000fffffffffffff, /* largest denormal */
        0x0010000000000000,
        0x7fefffffffffffff,
        0x7ff0000000000000,
        0x7ff8000000000000,
        0x7ff4000000000001,
        0x3ff0000000000000,
        0x3fefffffffffffff,
        0x4340000000000000, /* 2^53 */
        0x43e0000000000000, /* 2^63 */
        0x47efffffe0000000, /* FLT_MAX */
    };
    return double_of(bits[below(sizeof(bits) / sizeof(bits[0]))]);
}

static double random_double_magnitude(void)
{
    switch (below(12)) {
    case 0:
        return random_special();
    case 1:
        return random_near_power();
    case 2:
        return random_tie();
    case 3:
        return random_large_tie();
    case 4:
    case 5:
        return random_human();
    case 6: /* denormal */
        return double_of(rng() >> (12 + below(52)));
    case 7:
        return (double)float_of((uint32_t)rng());
    case 8: /* all nines, for carries */
        return ((double)pfd_pow10_u64[1 + below(16)] - 0.5 -
                (double)below(3) * 0.25) /
               (double)pfd_pow10_u64[below(16)];
    case 9: /* moderate */
        return double_of((rng() >> 12) | (uint64_t)(1003 + below(70)) << 52);
    default:
        return double_of(rng());
    }
}

static double random_double(void)
{
    double value = random_double_magnitude();
    return double_of(bits_of(value) ^ (rng() & 1) << 63);
}

static float random_float(void)
{
    switch (below(8)) {
    case 0:
        return float_of((uint32_t)(1 + below(255)) << 23 | below(2) << 31);
    case 1:
        return float_of(((uint32_t)below(256) << 23) + below(3) - 1);
    case 2: /* denormal */
        return float_of((uint32_t)(rng() >> (41 + below(23))));
    case 3:
        return (float)random_human();
    case 4:
        return (float)random_tie();
    case 5: {
        float power = (float)random_near_power();
        return float_of(bits32_of(power) + below(3) - 1);
    }
    default:
        return float_of((uint32_t)rng());
    }
}

/* ---- comparison ---- */

struct buffer {
    char bytes[TEXT_MAX + GUARD];
};
static struct buffer ours, theirs;

static void buffer_prepare(size_t room)
{
    memset(ours.bytes + room, 0x5a, GUARD);
}

static void report(enum path path, const char *what, uint64_t bits,
                   const char *our_end, int their_len)
{
    printf("%s %s of 0x%" PRIx64 ":\n  ours   '%.*s'\n  theirs '%.*s'\n",
           path_names[path], what, bits, (int)(our_end - ours.bytes),
           ours.bytes, their_len, theirs.bytes);
    if (++n_mismatches >= MISMATCHES_MAX)
        exit(1);
}

static void compare(enum path path, const char *what, uint64_t bits,
                    const char *our_end, int their_len, size_t room)
{
    n_compared[path]++;
    if (our_end - ours.bytes != their_len ||
        memcmp(ours.bytes, theirs.bytes, (size_t)their_len) != 0)
        report(path, what, bits, our_end, their_len);
    for (size_t i = room; i < room + GUARD; i++) {
        if (ours.bytes[i] != 0x5a) {
            report(path, "written beyond the room", bits, our_end, their_len);
            return;
        }
    }
}

/* "%", flags and the rest of a specification. */
static void make_format(char *ret, const struct pfd_spec *spec,
                        const char *length)
{
    static const char flags[] = "-+ #0";
    *ret++ = '%';
    for (unsigned i = 0; i < 5; i++) {
        if (spec->flags & 1u << i)
            *ret++ = flags[i];
    }
    sprintf(ret, "*.*%s%c", length, spec->conv);
}

static void random_width_precision(struct pfd_spec *spec)
{
    unsigned kind = below(64);
    spec->width = (int16_t)(below(2) ? 0 : below(40));
    spec->precision = (int16_t)(below(3) ? (int)below(22) : -1);
    if (kind == 0)
        spec->width = (int16_t)below(PFD_WIDTH_MAX + 1);
    if (kind == 1)
        spec->precision = (int16_t)below(PFD_WIDTH_MAX + 1);
    if (kind == 2)
        spec->precision = (int16_t)below(400);
    if (kind == 3)
        spec->width = PFD_WIDTH_MAX;
    if (kind == 4)
        spec->precision = PFD_WIDTH_MAX;
}

static struct pfd_spec random_spec(const char *convs)
{
    struct pfd_spec spec = { 0 };
    spec.conv = convs[below((unsigned)strlen(convs))];
    spec.flags = (uint8_t)(below(2) ? below(32) : 0);
    random_width_precision(&spec);
    return spec;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int print_double(const char *format, const struct pfd_spec *spec,
                        double value)
{
    return snprintf(theirs.bytes, sizeof(theirs.bytes), format, spec->width,
                    spec->precision, value);
}

static int print_int64(const char *format, const struct pfd_spec *spec,
                       uint64_t value)
{
    return snprintf(theirs.bytes, sizeof(theirs.bytes), format, spec->width,
                    spec->precision, (unsigned long long)value);
}

static int print_int32(const char *format, const struct pfd_spec *spec,
                       uint32_t value)
{
    return snprintf(theirs.bytes, sizeof(theirs.bytes), format, spec->width,
                    spec->precision, value);
}

#pragma GCC diagnostic pop

static void diff_doubles(enum path path, const char *convs)
{
    struct pfd_spec spec = random_spec(convs);
    char format[32];
    make_format(format, &spec, "");
    size_t room = pfd_number_room(&spec);
    for (unsigned i = 0; i < VALUES_PER_SPEC; i++) {
        double value = random_double();
        buffer_prepare(room);
        char *end = pfd_number_double(ours.bytes, &spec, value);
        int len = print_double(format, &spec, value);
        compare(path, format, bits_of(value), end, len, room);
    }
}

static void diff_fixed(void)
{
    diff_doubles(PATH_FIXED, "fF");
}

static void diff_exponent(void)
{
    diff_doubles(PATH_EXPONENT, "eE");
}

static void diff_general(void)
{
    diff_doubles(PATH_GENERAL, "gG");
}

static void diff_hex(void)
{
    diff_doubles(PATH_HEX, "aA");
}

static void diff_int(void)
{
    struct pfd_spec spec = random_spec("diouxX");
    bool is_signed = spec.conv == 'd' || spec.conv == 'i';
    char format[32], format64[32];
    make_format(format, &spec, "");
    make_format(format64, &spec, "ll");
    size_t room = pfd_number_room(&spec);
    for (unsigned i = 0; i < VALUES_PER_SPEC; i++) {
        uint64_t value = random_int();
        uint32_t value32 = (uint32_t)random_int();
        uint64_t wide =
            is_signed ? (uint64_t)(int64_t)(int32_t)value32 : value32;
        buffer_prepare(room);
        char *end = pfd_number_int(ours.bytes, &spec, value);
        int len = print_int64(format64, &spec, value);
        compare(PATH_INT, format64, value, end, len, room);
        end = pfd_number_int(ours.bytes, &spec, wide);
        len = print_int32(format, &spec, value32);
        compare(PATH_INT, format, value32, end, len, room);
    }
}

static void diff_char(void)
{
    struct pfd_spec spec = random_spec("c");
    char format[32];
    spec.precision = -1;
    make_format(format, &spec, "");
    size_t room = pfd_number_room(&spec);
    for (unsigned i = 0; i < VALUES_PER_SPEC; i++) {
        uint32_t value = (uint32_t)rng();
        buffer_prepare(room);
        char *end = pfd_number_int(ours.bytes, &spec, value);
        int len = print_int32(format, &spec, value);
        compare(PATH_CHAR_POINTER, format, value, end, len, room);
    }
}

/* As glibc's, which is %#x but for a null pointer. */
static void diff_pointer(void)
{
    struct pfd_spec spec = random_spec("p");
    struct pfd_spec as_hex = spec;
    char format[32];
    as_hex.conv = 'x';
    as_hex.flags |= PFD_SPEC_HASH;
    make_format(format, &as_hex, "ll");
    size_t room = pfd_number_room(&spec);
    for (unsigned i = 0; i < VALUES_PER_SPEC; i++) {
        uint64_t value = random_int();
        value += !value;
        buffer_prepare(room);
        char *end = pfd_number_int(ours.bytes, &spec, value);
        int len = print_int64(format, &spec, value);
        compare(PATH_CHAR_POINTER, "p", value, end, len, room);
    }
}

typedef char *put_int_fn(char *out, uint64_t value);

#define WRAP(name, type)                                \
    static char *call_##name(char *out, uint64_t value) \
    {                                                   \
        return pfd_put_##name(out, (type)value);        \
    }
WRAP(u32, uint32_t)
WRAP(i32, int32_t)
WRAP(u64, uint64_t)
WRAP(i64, int64_t)
WRAP(hex32, uint32_t)
WRAP(hex32_upper, uint32_t)
WRAP(hex64, uint64_t)
WRAP(hex64_upper, uint64_t)
WRAP(octal64, uint64_t)

static const struct {
    put_int_fn *put;
    const char *format;
    bool is_32;
} fast_ints[] = {
    { call_u32, "%*.*u", true },        { call_i32, "%*.*d", true },
    { call_u64, "%*.*llu", false },     { call_i64, "%*.*lld", false },
    { call_hex32, "%*.*x", true },      { call_hex32_upper, "%*.*X", true },
    { call_hex64, "%*.*llx", false },   { call_hex64_upper, "%*.*llX", false },
    { call_octal64, "%*.*llo", false },
};

static void diff_fast_int(void)
{
    const struct pfd_spec none = { .precision = -1 };
    for (unsigned i = 0; i < sizeof(fast_ints) / sizeof(fast_ints[0]); i++) {
        const char *format = fast_ints[i].format;
        for (unsigned j = 0; j < VALUES_PER_SPEC; j++) {
            uint64_t value = random_int();
            buffer_prepare(PFD_ROOM_INT);
            char *end = fast_ints[i].put(ours.bytes, value);
            int len = fast_ints[i].is_32
                          ? print_int32(format, &none, (uint32_t)value)
                          : print_int64(format, &none, value);
            compare(PATH_FAST_INT, format, value, end, len, PFD_ROOM_INT);
        }
    }
}

static unsigned random_precision(void)
{
    unsigned kind = below(32);
    if (kind == 0)
        return below(400);
    return kind < 16 ? below(9) : below(22);
}

/* The fixed form with the shortest beside it, then the other way round; the
 * functions that make them apart are compared themselves. */
static void diff_both32(float value, const struct pfd_spec *spec)
{
    static char beside[1024];
    uint32_t bits = bits32_of(value);
    unsigned precision = (unsigned)spec->precision;
    size_t room = pfd_room_fixed32(precision);
    buffer_prepare(room);
    struct pfd_both both =
        pfd_put_fixed_shortest32(ours.bytes, beside, bits, precision);
    int len = print_double("%*.*f", spec, (double)value);
    compare(PATH_BOTH32, "%f", bits, both.fixed, len, room);

    buffer_prepare(PFD_ROOM_SHORTEST);
    both = pfd_put_fixed_shortest32(beside, ours.bytes, bits, precision);
    len = (int)(pfd_put_shortest32(theirs.bytes, bits) - theirs.bytes);
    compare(PATH_BOTH32, "repr", bits, both.shortest, len, PFD_ROOM_SHORTEST);
}

static void diff_fast_fixed(void)
{
    unsigned precision = random_precision();
    const struct pfd_spec spec = { .precision = (int16_t)precision };
    for (unsigned i = 0; i < VALUES_PER_SPEC; i++) {
        double value = random_double();
        size_t room = pfd_room_fixed64(precision);
        buffer_prepare(room);
        char *end = pfd_put_fixed64(ours.bytes, bits_of(value), precision);
        int len = print_double("%*.*f", &spec, value);
        compare(PATH_FAST_FIXED64, "%f", bits_of(value), end, len, room);

        float narrow = random_float();
        room = pfd_room_fixed32(precision);
        buffer_prepare(room);
        end = pfd_put_fixed32(ours.bytes, bits32_of(narrow), precision);
        len = print_double("%*.*f", &spec, (double)narrow);
        compare(PATH_FAST_FIXED32, "%f", bits32_of(narrow), end, len, room);
        diff_both32(narrow, &spec);
    }
}

/* ---- shortest ---- */

static int append(char *out, const char *text, int n)
{
    memcpy(out, text, (size_t)n);
    return n;
}

/* Python's repr() of n digits of which the first has this exponent. */
static int lay_out_repr(char *out, bool negative, const char *digits, int n,
                        int exponent)
{
    int len = negative ? append(out, "-", 1) : 0;
    if (exponent < -4 || exponent >= 16) {
        len += append(out + len, digits, 1);
        if (n > 1)
            len += sprintf(out + len, ".%.*s", n - 1, digits + 1);
        return len + sprintf(out + len, "e%+03d", exponent);
    }
    if (exponent < 0)
        return len + sprintf(out + len, "0.%.*s%.*s", -exponent - 1, "000", n,
                             digits);
    for (int i = 0; i <= exponent; i++)
        len += append(out + len, i < n ? digits + i : "0", 1);
    if (n <= exponent + 1)
        return len + append(out + len, ".0", 2);
    return len +
           sprintf(out + len, ".%.*s", n - exponent - 1, digits + exponent + 1);
}

static bool reads_back(const char *text, bool is_32, double value)
{
    double read = is_32 ? (double)strtof(text, NULL) : strtod(text, NULL);
    return bits_of(read) == bits_of(value);
}

/* The digits of a positive value, closest to it, and their exponent. */
static int digits_of(double value, int n, char *ret_digits)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*e", n - 1, value);
    ret_digits[0] = text[0];
    memcpy(ret_digits + 1, text + 2, (size_t)n - 1);
    return atoi(strchr(text, 'e') + 1);
}

static bool closest_reads_back(double value, bool is_32, int n)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*e", n - 1, value);
    return reads_back(text, is_32, value);
}

/* Significant digits of a text that we made. */
static int count_digits(const char *text)
{
    int n = 0;
    int trailing = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
            continue;
        n++;
        trailing = *text == '0' ? trailing + 1 : 0;
    }
    return n - trailing;
}

/* Fills [theirs] with what our text must be. If the closest decimal of that
 * length does not read back (next to a power of two), ours must, and it is
 * taken as it is. */
static int expect_shortest(double value, bool is_32, bool thorough)
{
    char digits[40];
    double magnitude = fabs(value);
    if (isnan(value) || isinf(value))
        return sprintf(theirs.bytes, isnan(value) ? "\"nan\""
                                     : value < 0  ? "\"-inf\""
                                                  : "\"inf\"");
    if (magnitude == 0)
        return sprintf(theirs.bytes, "%.1f", value);
    int n = count_digits(ours.bytes);
    for (int shorter = thorough ? 1 : n - 1; shorter < n && shorter > 0;
         shorter++) {
        if (closest_reads_back(magnitude, is_32, shorter))
            return sprintf(theirs.bytes, "(%d digits are enough)", shorter);
    }
    if (!reads_back(ours.bytes, is_32, value))
        return sprintf(theirs.bytes, "(reads back otherwise)");
    if (!closest_reads_back(magnitude, is_32, n))
        return sprintf(theirs.bytes, "%s", ours.bytes);
    int exponent = digits_of(magnitude, n, digits);
    return lay_out_repr(theirs.bytes, value < 0, digits, n, exponent);
}

static void diff_shortest(void)
{
    for (unsigned i = 0; i < VALUES_PER_SPEC / 4; i++) {
        double value = random_double();
        buffer_prepare(PFD_ROOM_SHORTEST);
        char *end = pfd_put_shortest64(ours.bytes, bits_of(value));
        char keep = *end;
        *end = '\0';
        int len = expect_shortest(value, false, i == 0);
        *end = keep;
        compare(PATH_SHORTEST64, "repr", bits_of(value), end, len,
                PFD_ROOM_SHORTEST);
        value = (double)random_float();
        uint32_t bits = bits32_of((float)value);
        buffer_prepare(PFD_ROOM_SHORTEST);
        end = pfd_put_shortest32(ours.bytes, bits);
        keep = *end;
        *end = '\0';
        len = expect_shortest(value, true, i == 0);
        *end = keep;
        compare(PATH_SHORTEST32, "repr", bits, end, len, PFD_ROOM_SHORTEST);
    }
}

static uint64_t total(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PATH_N; i++)
        sum += n_compared[i];
    return sum;
}

int main(int argc, char **argv)
{
    static void (*const rounds[])(void) = {
        diff_int,        diff_fixed,    diff_exponent,   diff_general,
        diff_hex,        diff_fast_int, diff_fast_fixed, diff_shortest,
        diff_int,        diff_fixed,    diff_exponent,   diff_general,
        diff_fast_fixed, diff_shortest, diff_char,       diff_pointer,
    };
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
    rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    for (unsigned i = 0; total() < count; i++)
        rounds[i % (sizeof(rounds) / sizeof(rounds[0]))]();
    printf("%" PRIu64 " compared:", total());
    for (unsigned i = 0; i < PATH_N; i++)
        printf(" %s %" PRIu64 "%s", path_names[i], n_compared[i],
               i + 1 < PATH_N ? "," : "");
    printf("; %u wrong\n", n_mismatches);
    return n_mismatches != 0;
}
