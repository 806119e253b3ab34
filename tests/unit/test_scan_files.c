/* SPDX-License-Identifier: MIT */
/* What a source, and those that it includes, have beside their calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

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

static void add_note(void *user, bool is_error, const char *text)
{
    char *notes = user;
    strcat(notes, is_error ? "E " : "H ");
    strcat(strcat(notes, text), "\n");
}

START_TEST(versions)
{
    static const struct {
        const char *source;
        const char *why; /* NULL: it can print */
    } tried[] = {
        { "#version 420\nPFD_PRINTF(\"\");", NULL },
        { "\n#version 330 core\nPFD_PRINTF(\"\");",
          "a.comp:2: GLSL 330 cannot print: it has no atomic operations on "
          "buffers. 430 (or 420, or 310 es) is the least" },
        { "#version 330\nvoid main() {}", NULL },
        { "#version 310 es\nPFD_PRINTF(\"%ld\", 1);", NULL },
        { "#version 300 es\nPFD_PRINTF(\"\");",
          "a.comp:1: GLSL ES 300 cannot print: it has no atomic operations on "
          "buffers. 430 (or 420, or 310 es) is the least" },
        { "#version 320 es\nPFD_PRINTF(\"%d %lf\", 1,\n2.0);",
          "a.comp:3: argument 2 is for a double, which GLSL ES does not have" },
        { "#version 450\nPFD_PRINTF(\"big 0x%ul\\n\", b);",
          "a.comp:2: '%ul' is '%u' and the letter l: 64 bits are %lu or %lx" },
        { "PFD_PRINTF(\"%v2dll\", b);",
          "a.comp:1: '%v2dll' is '%v2d' and the letter l: 64 bits are %lu or "
          "%lx" },
        { "PFD_PRINTF(\"%ulbs %fl %lul %*dlx\", a, b, c, 5, d);", NULL },
    };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        char *out = scan(PFD_SCAN_GLSL, tried[i].source);
        ck_assert_int_eq(!out, tried[i].why != NULL);
        if (tried[i].why)
            ck_assert_str_eq(err.text, tried[i].why);
        free(out);
    }
}
END_TEST

START_TEST(wide_atomics)
{
    static const char *const too_old[] = { "#version 430\nPFD_PRINTF(\"\");",
                                           "#version 320 es\nPFD_PRINTF(\"\");",
                                           NULL };
    static const char new[] = "#version 440\nPFD_PRINTF(\"\");";
    const struct pfd_scan_options rules = { .wide_atomics = true };
    struct pfd_scan *s = pfd_scan_new(&rules);
    for (size_t i = 0; too_old[i]; i++) {
        ck_assert_ptr_null(scan_with(s, PFD_SCAN_GLSL, "a.comp", too_old[i],
                                     strlen(too_old[i])));
        ck_assert_ptr_nonnull(strstr(err.text, "--wide-atomics needs"));
    }
    free(scan_with(s, PFD_SCAN_GLSL, "b.comp", new, sizeof new - 1));
    ck_assert_int_eq(err.code, PFD_OK);
    pfd_scan_free(s);
}
END_TEST

START_TEST(bindings)
{
    static const struct {
        const char *source;
        const char *why; /* NULL: there is room */
    } tried[] = {
        { "\nlayout(set = 0, binding = 0) buffer Out { float x[]; };",
          "a.comp:2: set 0, binding 0 is taken by 'Out': --binding 1 is free" },
        { "layout(binding=0x0u) uniform sampler2D a, b;",
          "a.comp:1: set 0, binding 0 is taken by 'a': --binding 1 is free" },
        { "#define B (0)\nlayout(rgba8, binding = B) layout(set = 0)\nuniform "
          "writeonly image2D t[4];",
          "a.comp:2: set 0, binding 0 is taken by 't': --binding 1 is free" },
        { "layout(binding = 1) buffer A { int a; };\n"
          "layout(binding = 0) buffer B { int b; };",
          "a.comp:2: set 0, binding 0 is taken by 'B': --binding 2 is free" },
        { "layout(set = 1, binding = 0) buffer Out { float x[]; };", NULL },
        { "layout(location = 0) in vec4 a; layout(local_size_x = 1) in;",
          NULL },
        { "layout(push_constant) uniform P { float f; };", NULL },
        { "layout(binding = N + 0) uniform P { float f; };", NULL },
        { "#if 0\nlayout(binding = 0) buffer Out { float x[]; };\n#endif",
          NULL },
    };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        char source[512];
        snprintf(source, sizeof source, "%s\nvoid main() { PFD_PRINTF(\"\"); }",
                 tried[i].source);
        char *out = scan(PFD_SCAN_GLSL, source);
        ck_assert_msg(!out == (tried[i].why != NULL), "%zu: %s", i, err.text);
        if (tried[i].why)
            ck_assert_str_eq(err.text, tried[i].why);
        free(out);
    }
    const struct pfd_scan_options rules = { .control = true };
    struct pfd_scan *s = pfd_scan_new(&rules);
    static const char next[] = "layout(binding = 1) buffer Out { int x; };\n"
                               "void main() { PFD_PRINTF(\"\"); }";
    ck_assert_ptr_null(
        scan_with(s, PFD_SCAN_GLSL, "a.comp", next, sizeof next - 1));
    ck_assert_str_eq(err.text,
                     "a.comp:1: set 0, binding 1 is taken by 'Out', and "
                     "--control needs it: --binding 2 is free");
    pfd_scan_free(s);
}
END_TEST

static size_t add_source(struct pfd_scan *s, const char *name,
                         const char *source, bool is_included)
{
    size_t ret = SIZE_MAX;
    ck_assert_int_eq(
        (is_included ? pfd_scan_add_included : pfd_scan_add)(
            s, PFD_SCAN_GLSL, name, source, strlen(source), &ret, &err),
        PFD_OK);
    return ret;
}

START_TEST(includes)
{
    char notes[512] = "";
    const struct pfd_scan_options options = { .note = add_note, .user = notes };
    struct pfd_scan *s = pfd_scan_new(&options);
    size_t root = add_source(
        s, "a.comp",
        "#version 450\n#if 0\n#include \"no\"\n#endif\nvoid main() {\n"
        "#include \"piece.glsl\"\n#include <b/other.glsl> // <\n}\n",
        false);
    size_t piece =
        add_source(s, "piece.glsl", "PFD_PRINTF(\"%lu\", 1);\n", false);
    size_t other = add_source(s, "b/other.glsl",
                              "layout(binding = 0) uniform U { int u; };\n"
                              "PFD_PRINTF(\"%y\");",
                              true);
    struct pfd_scan_include include;
    ck_assert(pfd_scan_get_include(s, root, 0, &include));
    ck_assert_uint_eq(include.n, 10);
    ck_assert_uint_eq(include.line, 6);
    ck_assert(!include.is_angled);
    ck_assert(pfd_scan_get_include(s, root, 1, &include));
    ck_assert(include.is_angled);
    ck_assert_int_eq(memcmp(include.path, "b/other.glsl>", 13), 0);
    ck_assert(!pfd_scan_get_include(s, root, 2, &include));
    ck_assert_int_eq(pfd_scan_link(s, root, 0, piece), PFD_OK);
    void *out = NULL;
    size_t n = 0;
    ck_assert_int_eq(pfd_scan_write(s, root, &out, &n, &err), PFD_OK);
    ck_assert_ptr_nonnull(memmem(out, n, "pfd_print_q(", 12));
    free(out);
    ck_assert_str_eq(notes, "");
    /* Those that stay as they are count, too. */
    ck_assert_int_eq(pfd_scan_link(s, root, 1, other), PFD_OK);
    ck_assert_int_eq(pfd_scan_write(s, root, &out, &n, &err), PFD_ERR_CORRUPT);
    ck_assert_str_eq(
        notes,
        "H a.comp:7: b/other.glsl, which is included, prints: scan it as well\n"
        "E b/other.glsl:1: set 0, binding 0 is taken by 'U': --binding 1 is "
        "free\n");
    notes[0] = '\0';
    ck_assert_int_eq(pfd_scan_write(s, piece, &out, &n, &err), PFD_OK);
    free(out);
    pfd_scan_free(s);
    /* By itself it has no function around it. */
    s = pfd_scan_new(&options);
    free(scan_with(s, PFD_SCAN_GLSL, "p", "\nPFD_PRINTF(\"\");", 16));
    ck_assert_str_eq(notes, "H p:2: a call outside of all functions: give the "
                            "file that includes this one as well\n");
    pfd_scan_free(s);
}
END_TEST

int main(void)
{
    return suite_run("scan_files",
                     TESTS(versions, wide_atomics, bindings, includes), 60);
}
