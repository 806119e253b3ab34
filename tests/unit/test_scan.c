/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"
#include "guard.h"
#include "suite.h"
#include "writer/scan.h"

static struct pfd_error err;

/* The rewritten source, NUL-terminated; NULL: err says why not. */
static char *scan_with(struct pfd_scan *scan, enum pfd_scan_language language,
                       const char *name, const char *source, size_t n)
{
    struct guard guard = guard_new(source, n);
    void *out = NULL;
    size_t n_out = 0;
    memset(&err, 0, sizeof err);
    enum pfd_status status = pfd_scan_source(scan, language, name, guard.bytes,
                                             n, &out, &n_out, &err);
    guard_free(&guard);
    if (status != PFD_OK) {
        ck_assert_int_eq(status, err.code);
        ck_assert_ptr_null(out);
        return NULL;
    }
    char *ret = malloc(n_out + 1);
    ck_assert_ptr_nonnull(ret);
    memcpy(ret, out, n_out);
    ret[n_out] = '\0';
    free(out);
    return ret;
}

static char *scan(enum pfd_scan_language language, const char *source)
{
    static const char *const calls[] = { "printf", "debugPrintfEXT" };
    const struct pfd_scan_options options = { .calls = calls, .n_calls = 2 };
    struct pfd_scan *s = pfd_scan_new(&options);
    char *ret =
        scan_with(s, language, language == PFD_SCAN_GLSL ? "a.comp" : "a.cl",
                  source, strlen(source));
    pfd_scan_free(s);
    return ret;
}

/* What stands behind the device's source: from the last #line on. */
static const char *behind(const char *out)
{
    const char *ret = NULL;
    for (const char *at = out; (at = strstr(at, "\n#line ")); at++)
        ret = at + 1;
    return ret;
}

/* Ids depend on the texts: in these sources they are all left out. */
/* "pfd_argument_2_of_percent_v3ld" is "pfd_q3". */
static const char *take_argument(const char *from, char **to)
{
    unsigned i = 0;
    unsigned n = 0;
    char conversion[16] = "";
    int length = 0;
    if (sscanf(from, "pfd_argument_%u_of_percent_%15[a-zA-Z0-9]%n", &i,
               conversion, &length) != 2 ||
        i < 1)
        return from;
    char *c = conversion;
    if (*c == 'v')
        n = (unsigned)strtoul(c + 1, &c, 10);
    bool is_wide = *c == 'l';
    char last = conversion[strlen(conversion) - 1];
    char class = last == 'f'   ? (is_wide ? 'd' : 'f')
                 : last == 'p' ? 'p'
                 : is_wide     ? 'q'
                               : 'u';
    *to += sprintf(*to, n ? "pfd_%c%u" : "pfd_%c", class, n);
    return from + length;
}

static void take_ids_out(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        from = take_argument(from, &to);
        bool is_id = !strncmp(from, "0x", 2) && strspn(from + 2, "0123456789"
                                                                 "abcdef") == 8;
        if (is_id) {
            *to++ = '@';
            from += 10;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static const struct {
    enum pfd_scan_language language;
    const char *source;
    const char *want; /* from #line on, ids as @ */
} rewritten[] = {
    { PFD_SCAN_GLSL, "void main()\n{ PFD_PRINTF(\"a %d\\n\", x); }\n",
      "#line 1\nvoid main()\n{ pfd_print_u(@, @, pfd_u(x)); }\n" },
    /* Comments, line ends and brackets stay. */
    { PFD_SCAN_GLSL,
      "#version 450\n/* \" */ f(); PFD_PRINTF ( \"a\" // ,\n\"%f\" /* ) */,\n"
      " v[f(1, 2)] /* b */ , /* c */ g(\",)\") );",
      NULL },
    { PFD_SCAN_GLSL,
      "#version 450\n/* \" */ f(); PFD_PRINTF ( \"a\" // ,\n\"%f %d\" /* ) */,\n"
      " v[f(1, 2)] /* b */ , /* c */ g(1) );",
      "#line 2\nf(); pfd_print_u_u ( @, @\n /* ) */,\n pfd_f(v[f(1, 2)]) /* "
      "b */ , /* c */ pfd_u(g(1)) );" },
    /* A macro's text, over several lines; that of a call's name is none. */
    { PFD_SCAN_GLSL,
      "#define PFD_PRINTF(...) printf(__VA_ARGS__)\n#define L(x) \\\n  printf(\"%lu\" \\\n  , "
      "x)\nL(1);",
      "#line 5\nL(1);" },
    /* Other names, and none of them in another or behind a '#'. */
    { PFD_SCAN_GLSL, "xprintf(\"%d\"); debugPrintfEXT(\"\");\n#error printf(\n",
      "#line 1\nxprintf(\"%d\"); pfd_print(@, @);\n#error printf(\n" },
    /* Literals go into the format string, their lines stay. */
    { PFD_SCAN_GLSL, "printf(\"%s %v2d\",\n\"a\"\n\"b\"\n, w);",
      "#line 1\npfd_print_u2(@, @\n\n\n, pfd_u2(w));" },
    /* A name that is continued, and the line ends of Windows. */
    { PFD_SCAN_GLSL, "PFD_\\\r\nPRINTF(\"%ld\",\r\n x);",
      "#line 1\npfd_print_q\r\n(@, @,\r\n pfd_q(x));" },
    /* Line markers. */
    { PFD_SCAN_GLSL, "#version 450\n#line 20\n#define X 1\nprintf(\"\");",
      "#line 21\npfd_print(@, @);" },
    { PFD_SCAN_OPENCL, "# 7 \"in \\\"c.cl\" 1\n\nprintf(\"%p\", q);",
      "#line 8 \"in \\\"c.cl\"\npfd_printed(pfd_print_q(PFD_ARGUMENTS, @, @, "
      "pfd_p(q)));" },
    { PFD_SCAN_OPENCL,
      "int c = '\"'; /* PFD_PRINTF( */ printf(\"%*.*lf\", a, "
      "(b), c);",
      "#line 1 \"a.cl\"\nint c = '\"'; /* PFD_PRINTF( */ "
      "pfd_printed(pfd_print_u_u_q(PFD_ARGUMENTS, @, @, pfd_u(a), pfd_u((b)), "
      "pfd_d(c)));" },
    /* No quote of text stops it, nor prose where no compiler reads. */
    { PFD_SCAN_GLSL, "#version 450\n#if 0\ndon't printf\n#else\n'printf(\"\")'",
      "#line 2\n#if 0\ndon't printf\n#else\n'pfd_print(@, @)'" },
    { PFD_SCAN_OPENCL, "#if 0\n\"don't\n#endif\nprintf(\"\");",
      "#line 1 \"a.cl\"\n#if 0\n\"don't\n#endif\n"
      "pfd_printed(pfd_print(PFD_ARGUMENTS, @, @));" },
    /* Before the #if that the first code is in. */
    { PFD_SCAN_OPENCL, "#ifndef A\n#define A\nvoid f(PFD_PARAMETERS);\n#endif",
      "#line 1 \"a.cl\"\n#ifndef A\n#define A\nvoid f(PFD_PARAMETERS);\n"
      "#endif" },
};

START_TEST(rewriting)
{
    for (size_t i = 0; i < sizeof rewritten / sizeof *rewritten; i++) {
        char *out = scan(rewritten[i].language, rewritten[i].source);
        if (!rewritten[i].want) {
            ck_assert_ptr_null(out);
            continue;
        }
        ck_assert_msg(out != NULL, "%zu: %s", i, err.text);
        ck_assert_ptr_nonnull(behind(out));
        char *rest = strdup(behind(out));
        take_ids_out(rest);
        ck_assert_str_eq(rest, rewritten[i].want);
        free(rest);
        free(out);
    }
}
END_TEST

/* Line ends before and behind the device's source are those of the source. */
static void add_note(void *user, bool is_error, const char *text)
{
    char *notes = user;
    strcat(notes, is_error ? "E " : "H ");
    strcat(strcat(notes, text), "\n");
}

START_TEST(all_errors)
{
    static const char source[] = "PFD_PRINTF(\"%d\");\n#define A PFD_PRINTF\n"
                                 "PFD_PRINTF(x, (PFD_PRINTF(\"%y\", 1)));\n"
                                 "#if 0\nPFD_PRINTF\n#endif\n/*";
    char notes[1024] = "";
    const struct pfd_scan_options options = { .note = add_note, .user = notes };
    struct pfd_scan *s = pfd_scan_new(&options);
    ck_assert_ptr_null(
        scan_with(s, PFD_SCAN_GLSL, "a.comp", source, sizeof source - 1));
    pfd_scan_free(s);
    ck_assert_str_eq(
        notes,
        "E a.comp:1: the format string wants 1 arguments, the call has 0\n"
        "E a.comp:2: the name stands without its arguments, and macros are not "
        "expanded: with --call A its calls print what they say themselves\n"
        "E a.comp:3: a call stands inside of another\n"
        "E a.comp:3: the conversion '%y' is none that a device can print\n"
        "E a.comp:7: the comment does not end\n");
    ck_assert_str_eq(
        err.text,
        "a.comp:1: the format string wants 1 arguments, the call has 0");
}
END_TEST

START_TEST(byte_order)
{
    char notes[256] = "";
    const struct pfd_scan_options options = { .note = add_note, .user = notes };
    struct pfd_scan *s = pfd_scan_new(&options);
    static const char source[] = "\xef\xbb\xbf#version 450\n";
    char *out =
        scan_with(s, PFD_SCAN_OPENCL, "a.cl", source, sizeof source - 1);
    ck_assert_str_eq(out, source + 3);
    ck_assert_str_eq(notes, "H a.cl:1: nothing here is PFD_PRINTF\n");
    notes[0] = '\0';
    free(out);
    out = scan_with(s, PFD_SCAN_GLSL, "a.comp", source, sizeof source - 1);
    ck_assert_str_eq(out, source + 3);
    ck_assert_str_eq(notes, "H a.comp:1: a byte order mark, which compilers of "
                            "GLSL refuse, is left out\n"
                            "H a.comp:1: nothing here is PFD_PRINTF\n");
    free(out);
    ck_assert_ptr_null(scan_with(s, PFD_SCAN_GLSL, "a",
                                 "\xff\xfe"
                                 "a",
                                 4));
    ck_assert_str_eq(err.text,
                     "a:1: the source is UTF-16: compilers take UTF-8");
    ck_assert_ptr_null(scan_with(s, PFD_SCAN_GLSL, "a", "\xff\xfe\0", 4));
    ck_assert_str_eq(err.text,
                     "a:1: the source is UTF-32: compilers take UTF-8");
    pfd_scan_free(s);
}
END_TEST

START_TEST(macros)
{
    char *out = scan(PFD_SCAN_GLSL,
                     "#define L(x) \\\n  printf(\"%lu\" \\\n  , x)\nL(1);");
    take_ids_out(out);
    ck_assert_ptr_nonnull(strstr(out,
                                 "#define L(x) \\\n  pfd_print_q(@, @ \\\n"
                                 "  , pfd_q(x))\n#ifndef PFD_HAS_int64\n"));
    free(out);
    out = scan(PFD_SCAN_GLSL, "#version 310 es\n#ifdef A\n#extension B : "
                              "enable\nprintf(\"\");\n#endif\n");
    ck_assert_ptr_nonnull(strstr(out, "enable\n#ifndef PFD_DEVICE\n"));
    free(out);
}
END_TEST

START_TEST(untouched)
{
    static const char *const sources[] = {
        "",
        "#version 450\nvoid main() {}\n",
        "// PFD_PRINTF(\"x\")",
        "#if 0\n#error don't\n#endif",
        "int x = 'a'; /* \" */ char *s = \"\\\"\";",
        "#if 0\nThis shouldn't matter, and printf\nis \" nothing\n#endif\n'",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char *out = scan(PFD_SCAN_OPENCL, sources[i]);
        ck_assert_msg(out != NULL, "%s", err.text);
        ck_assert_str_eq(out, sources[i]);
        free(out);
    }
}
END_TEST

static const struct {
    const char *source;
    const char *why;
} wrong[] = {
    { "\n x \"abc printf(", "a.cl:2: the string does not end on its line, and "
                            "a call is behind it" },
    { "don't PFD_\\\nLOG(", "a.cl:1: the character does not end on its line, "
                            "and a call is behind it" },
    { "printf(\"abc\n\")", "a.cl:1: the string or character does not end on "
                           "its line" },
    { "/* a\n\n", "a.cl:1: the comment does not end" },
    { "#error /* a\n\n", "a.cl:1: the comment does not end" },
    { "#line 30 \"o\"\n\nprintf(\"a\"", "o:31: the call does not end" },
    { "printf(\"a\", (b)", "a.cl:1: the call does not end" },
    { "\n#define X printf(\"%d\",\n 1)", "a.cl:2: the call does not end" },
    { "printf(\"a\",\n#if 1\n", "a.cl:2: a directive stands inside of a call" },
    { "\nx = printf;", "a.cl:2: the name stands without its arguments, and "
                       "macros are not expanded: write them here" },
    { "printf(f, 1)", "a.cl:1: the format string is no string literal, and "
                      "macros are not expanded: write its text here" },
    { "#define D(f, ...) printf(\"[x] \" f, __VA_ARGS__)",
      "a.cl:1: the format string is no string literal, and macros are not "
      "expanded: with --call D its calls print what they say themselves" },
    { "printf(\"%d\" X, 1)", "a.cl:1: the format string is no string literal, "
                             "and macros are not expanded: write its text "
                             "here" },
    { "printf(\"%d\",\n (PFD_PRINTF(\"\")))",
      "a.cl:2: a call stands inside of another" },
    { "printf(\"%4096s%4096s%4096s%4096s%4096s%4096s%4096s%4096s%4096s%4096s"
      "%4096s%4096s%4096s%4096s%4096s%4096s%4096s\", \"\", \"\", \"\", \"\","
      "\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\","
      "\"\")",
      "a.cl:1: the format string is longer than 65536 bytes" },
    { "printf()", "a.cl:1: an argument is missing" },
    { "printf(\"%d\",\n)", "a.cl:2: an argument is missing" },
    { "printf(\"%d %v4f\", 1)",
      "a.cl:1: the format string wants 2 arguments, the call has 1" },
    { "printf(\"%%d\", 1)",
      "a.cl:1: the format string wants 0 arguments, the call has 1" },
    { "printf(\"%s\",\n\n p)",
      "a.cl:3: argument 1 is for '%s', and no string literal: a device has no "
      "other text" },
    { "printf(\"%d\", \"1\")",
      "a.cl:1: argument 1 is a string, its conversion is not '%s'" },
    { "printf(\"%*s\", 1, \"1\")",
      "a.cl:1: the conversion '%*s' is printed before the program runs: it has "
      "no '*' and no vN" },
    { "printf(\"a %-5n\", x)",
      "a.cl:1: the conversion '%-5n' is none that a device can print" },
    { "printf(\"%y %d\")",
      "a.cl:1: the conversion '%y' is none that a device can print" },
    { "printf(\"%99999d\", 1)", "a.cl:1: a width or precision is above 4096" },
    { "printf(\"\\q\")", "a.cl:1: the string has an escape sequence that is "
                         "none of C's, or that is no byte" },
    { "printf(\"\\x100\")", "a.cl:1: the string has an escape sequence that is "
                            "none of C's, or that is no byte" },
    { "printf(\"\\u00e\")", "a.cl:1: the string has a \\u that names no "
                            "character, or one that C does not name so" },
    { "printf(\"\\ud800\")", "a.cl:1: the string has a \\u that names no "
                             "character, or one that C does not name so" },
    { "printf(\"\\U00110000\")", "a.cl:1: the string has a \\U that names no "
                                 "character, or one that C does not name so" },
    { "printf(\"\\u0041\")", "a.cl:1: the string has a \\u that names no "
                             "character, or one that C does not name so" },
    { "printf(\"\\0\")", "a.cl:1: the string has a byte 0" },
};

START_TEST(refusing)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *out = scan(PFD_SCAN_OPENCL, wrong[i].source);
        ck_assert_msg(out == NULL, "%zu", i);
        ck_assert_str_eq(err.text, wrong[i].why);
        ck_assert_int_eq(err.code, PFD_ERR_CORRUPT);
    }
    ck_assert_ptr_null(scan(PFD_SCAN_GLSL, "printf(\"%v8f\", x)"));
    ck_assert_str_eq(err.text, "a.comp:1: argument 1 is for a vector that GLSL "
                               "does not have");
    struct pfd_scan *s = pfd_scan_new(NULL);
    ck_assert_ptr_null(scan_with(s, PFD_SCAN_GLSL, "x\ny", "a\n\0b", 4));
    ck_assert_str_eq(err.text, "x\\ny:2: a byte 0, which no source has");
    ck_assert_uint_eq(err.offset, 2);
    pfd_scan_free(s);
}
END_TEST

/* A wrong call behind "#if 0" is no error, and none of the calls. */
START_TEST(dead)
{
    static const char source[] = "#if 0\nprintf(\"%p %s\",, q \"x\");\n#endif";
    static const char *const calls[] = { "printf" };
    const struct pfd_scan_options options = { .calls = calls, .n_calls = 1 };
    struct pfd_scan *s = pfd_scan_new(&options);
    char *out =
        scan_with(s, PFD_SCAN_OPENCL, "a.cl", source, sizeof source - 1);
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(pfd_scan_n_calls(s), 0);
    ck_assert_ptr_nonnull(strstr(out, ",, q"));
    free(out);
    pfd_scan_free(s);
}
END_TEST

/* An entry has 65535 dwords at most. */
START_TEST(long_entries)
{
    enum {
        N = 4097,
        ARGUMENT = sizeof "%v16f" - 1 + sizeof ",x" - 1
    };
    char *source = malloc(N * ARGUMENT + 64);
    for (size_t n = N - 2; n <= N - 1; n++) {
        char *at = source + sprintf(source, "printf(\"");
        for (size_t i = 0; i < n; i++)
            at += sprintf(at, "%%v16f");
        at += sprintf(at, "\"");
        for (size_t i = 0; i < n; i++)
            at += sprintf(at, ",x");
        sprintf(at, ");");
        char *out = scan(PFD_SCAN_OPENCL, source);
        ck_assert(n == N - 2 ? out != NULL : out == NULL);
        free(out);
    }
    ck_assert_str_eq(err.text, "a.cl:1: the conversion '%v16f' makes an entry "
                               "longer than 65535 dwords");
    free(source);
}
END_TEST

/* Calls as sites: what is asked before they print, and what is refused. */
static char *scan_sites(const struct pfd_scan_options *options,
                        enum pfd_scan_language language, const char *source)
{
    struct pfd_scan *s = pfd_scan_new(options);
    char *ret = scan_with(s, language, "a", source, strlen(source));
    pfd_scan_free(s);
    return ret;
}

START_TEST(sites)
{
    static const struct pfd_scan_options all = { .control = true,
                                                 .commit = true,
                                                 .origin = true };
    static const struct pfd_scan_options places = { .sites = true };
    char *out =
        scan_sites(&all, PFD_SCAN_GLSL, "PFD_LOG(/* a */ERROR,\n\"%ld\", x);");
    take_ids_out(out);
    const char *gate = strstr(behind(out), "(pfd_is_on(");
    ck_assert_ptr_nonnull(gate);
    unsigned long number = strtoul(gate + 11, NULL, 10);
    char want[256];
    snprintf(want, sizeof want,
             "#line 1\n(pfd_is_on(%luu) && pfd_may(%luu, @, @) && "
             "pfd_printoc_q(\n@, @, pfd_q(x)));",
             number, number);
    ck_assert_str_eq(behind(out), want);
    free(out);
    out = scan_sites(&places, PFD_SCAN_OPENCL,
                     "#define L \\\n PFD_LOG( \\\n TRACE, \"\")\n");
    take_ids_out(out);
    ck_assert_ptr_nonnull(strstr(out, "pfd_print(PFD_ARGUMENTS, \\\n@, @)"));
    free(out);
    ck_assert_ptr_null(
        scan_sites(NULL, PFD_SCAN_GLSL, "\nPFD_LOG(ERROR, \"\");"));
    ck_assert_str_eq(err.text, "a:2: a level goes with --sites, --commit, "
                               "--origin or --control: see there");
    ck_assert_ptr_null(
        scan_sites(&places, PFD_SCAN_GLSL, "PFD_LOG(NONE, \"\");"));
    ck_assert_str_eq(err.text, "a:1: PFD_LOG begins with ERROR, WARNING, INFO, "
                               "DEBUG or TRACE");
    ck_assert_ptr_null(scan_sites(&places, PFD_SCAN_OPENCL,
                                  "PFD_PRINTF(\"%v16d%v16d%d\", a, b, 1);"));
    ck_assert_str_eq(err.text, "a:1: a site prints 32 values at most");
}
END_TEST

struct loaded {
    const char *text;
    const char *widths; /* "4" and "8" */
};

static void check_strings(const struct pfd_scan *s, const struct loaded *want,
                          size_t n)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_string_info info;
    void *elf;
    size_t n_elf;
    ck_assert_int_eq(pfd_scan_strings(s, &elf, &n_elf, &err), PFD_OK);
    ck_assert_int_eq(
        pfd_strings_load(strings, elf, n_elf, "elf", NULL, NULL, &err), PFD_OK);
    ck_assert_uint_eq(pfd_strings_count(strings), n);
    for (size_t i = 0; i < n; i++) {
        uint8_t widths[64];
        ck_assert_int_eq(pfd_strings_get(strings, i, &info), PFD_OK);
        ck_assert_str_eq(info.format, "llpc");
        ck_assert_uint_eq(info.n_text, strlen(want[i].text));
        ck_assert_mem_eq(info.text, want[i].text, info.n_text);
        ck_assert_uint_eq(info.argument_count, strlen(want[i].widths));
        ck_assert_uint_ge(info.id, UINT64_C(1) << 32);
        pfd_strings_widths(strings, i, widths, 64);
        for (size_t k = 0; want[i].widths[k]; k++)
            ck_assert_uint_eq(widths[k], want[i].widths[k] == '8' ? 64 : 32);
    }
    pfd_strings_free(strings);
    free(elf);
}

START_TEST(strings)
{
    static const char source[] =
        "PFD_PRINTF(\"a\\t\\x41\\101\\\"\\n\"); PFD_PRINTF(\"%d\", 1);\n"
        "PFD_PRINTF(\"\\u00e9\\u20ac\\U0001f600\\u0024 \\U000000e90\");\n"
        "PFD_PRINTF(\"%d\", 2); PFD_PRINTF(\"%v3lf %c %p\", a, b, c);\n"
        "PFD_PRINTF(\"[%s] %-4s|%4.2s|%.0s|%s %lu\", \"50%\", \"ab\", \"xyz\", "
        "\"gone\", \"\", 1);\n";
    static const struct loaded want[] = {
        { "a\tAA\"\n", "" },
        { "%d", "4" },
        { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80$ \xc3\xa9"
          "0",
          "" },
        { "%v3lf %c %p", "88848" },
        { "[50%%] ab  |  xy|| %lu", "8" },
    };
    struct pfd_scan *s = pfd_scan_new(NULL);
    check_strings(s, want, 0);
    free(scan_with(s, PFD_SCAN_OPENCL, "x", source, strlen(source)));
    ck_assert_uint_eq(pfd_scan_n_calls(s), 6);
    ck_assert_uint_eq(pfd_scan_n_strings(s), 5);
    check_strings(s, want, 5);
    free(scan_with(s, PFD_SCAN_GLSL, "x", source, strlen(source)));
    ck_assert_uint_eq(pfd_scan_n_strings(s), 5);
    pfd_scan_free(s);
    /* As sites: those of the same text at other lines are others. */
    static const struct pfd_scan_options places = { .sites = true };
    static const struct loaded apart[] = {
        { "a\tAA\"\n", "" },
        { "%d", "4" },
        { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80$ \xc3\xa9"
          "0",
          "" },
        { "%d", "4" },
        { "%v3lf %c %p", "88848" },
        { "[50%%] ab  |  xy|| %lu", "8" },
    };
    s = pfd_scan_new(&places);
    for (int i = 0; i < 2; i++) {
        free(scan_with(s, PFD_SCAN_OPENCL, "x", source, strlen(source)));
        check_strings(s, apart, 6);
    }
    pfd_scan_free(s);
    pfd_scan_free(NULL);
}
END_TEST

/* Hundreds of strings and shapes: sets grow, masks have several words. */
START_TEST(many)
{
    char source[512];
    struct pfd_scan *s = pfd_scan_new(NULL);
    for (unsigned i = 0; i < 1000; i++) {
        int n = snprintf(source, sizeof source,
                         "PFD_PRINTF(\"%u%%v16lf%%v16lf%%v16lf%%v16lf%%lf\","
                         "a,b,c,d,e);",
                         i);
        char *out = scan_with(s, PFD_SCAN_OPENCL, "x", source, (size_t)n);
        ck_assert_msg(out != NULL, "%s", err.text);
        free(out);
    }
    ck_assert_uint_eq(pfd_scan_n_strings(s), 1000);
    pfd_scan_free(s);
}
END_TEST

/* A million brackets, directives and words cost no more than their bytes. */
START_TEST(large)
{
    enum {
        N = 1 << 20
    };
    static const char *const pieces[] = { "(", "#if A\n", "x ", "\\\n",
                                          "\"%\"" };
    char *source = malloc(8 * N);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t n = strlen(pieces[i]);
        memcpy(source, "PFD_PRINTF(\"\",", 14);
        for (size_t k = 0; k < N; k++)
            memcpy(source + 14 + k * n, pieces[i], n);
        struct pfd_scan *s = pfd_scan_new(NULL);
        ck_assert_ptr_null(
            scan_with(s, PFD_SCAN_OPENCL, "x", source, 14 + N * n));
        ck_assert_int_eq(err.code, PFD_ERR_CORRUPT);
        char *out = scan_with(s, PFD_SCAN_OPENCL, "x", source + 14, N * n);
        ck_assert_msg(out != NULL, "%s", err.text);
        ck_assert_mem_eq(out, source + 14, N * n);
        free(out);
        pfd_scan_free(s);
    }
    free(source);
}
END_TEST

START_TEST(languages)
{
    enum pfd_scan_language language;
    ck_assert(pfd_scan_language_of("a/b.comp", &language));
    ck_assert_int_eq(language, PFD_SCAN_GLSL);
    ck_assert(pfd_scan_language_of("x.c.cl", &language));
    ck_assert_int_eq(language, PFD_SCAN_OPENCL);
    ck_assert(!pfd_scan_language_of("comp", &language));
    ck_assert(!pfd_scan_language_of("a.comp/x.c", &language));
}
END_TEST

int main(void)
{
    return suite_run("scan",
                     TESTS(rewriting, all_errors, byte_order, macros, untouched,
                           refusing, dead, long_entries, sites, strings, many,
                           large, languages),
                     60);
}
