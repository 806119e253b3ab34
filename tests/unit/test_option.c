/* SPDX-License-Identifier: MIT */
/* Choices of how buffers are read, by their names. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <check.h>

#include <printfdecode/capture.h>

#include "core/decode/inspect.h"
#include "suite.h"

/* Each word of each option is what its member then holds, and nothing else
 * changes. */
START_TEST(sets_each)
{
    struct pfd_option_info info;
    struct pfd_error err;
    size_t n = 0;
    for (; pfd_option_get(n, &info) == PFD_OK; n++) {
        ck_assert(info.n_words != 1 && *info.help && *info.value);
        for (size_t w = 0; w < info.n_words; w++) {
            struct pfd_options options = { 0 };
            struct pfd_option_info other;
            ck_assert_int_eq(
                pfd_options_set(&options, info.name, info.words[w], &err),
                PFD_OK);
            for (size_t i = 0; pfd_option_get(i, &other) == PFD_OK; i++) {
                ck_assert_str_eq(pfd_options_word(&options, other.name),
                                 !other.n_words ? ""
                                                : other.words[i == n ? w : 0]);
            }
        }
    }
    ck_assert_uint_eq(n, 4);
}
END_TEST

/* A text is copied, with its NUL, into the member; one too long, or for a struct
 * of an older caller, changes nothing. */
START_TEST(sets_texts)
{
    struct pfd_options none = { 0 };
    struct pfd_options o = { 0 };
    struct pfd_error err;
    char text[PFD_OPTION_TEXT + 1];
    memset(text, 'k', PFD_OPTION_TEXT);
    text[PFD_OPTION_TEXT] = '\0';
    ck_assert_int_eq(pfd_options_set(&o, "kernel", text, &err), PFD_ERR_USAGE);
    ck_assert_str_eq(err.text, "kernel has 255 bytes at most, not 256");
    ck_assert_mem_eq(&o, &none, sizeof o);
    text[PFD_OPTION_TEXT - 1] = '\0';
    ck_assert_int_eq(pfd_options_set(&o, "kernel", text, &err), PFD_OK);
    ck_assert_str_eq(pfd_options_word(&o, "kernel"), text);
    ck_assert_str_eq(o.kernel, text);
    o = none;
    o.struct_size = offsetof(struct pfd_options, kernel);
    none = o;
    ck_assert_int_eq(pfd_options_set(&o, "kernel", "k", &err), PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_options_set(&o, "layout", "auto", &err), PFD_OK);
    ck_assert_mem_eq(&o, &none, sizeof o);
}
END_TEST

START_TEST(sets_members)
{
    struct pfd_options o = { 0 };
    ck_assert_int_eq(pfd_options_set(&o, "layout", "p4", NULL), PFD_OK);
    ck_assert_int_eq(pfd_options_set(&o, "compat", "khronos", NULL), PFD_OK);
    ck_assert_int_eq(pfd_options_set(&o, "opencl_strings", "new", NULL),
                     PFD_OK);
    ck_assert_int_eq(o.printf_layout, PFD_PRINTF_LAYOUT_P4);
    ck_assert_int_eq(o.compat, PFD_COMPAT_KHRONOS);
    ck_assert_int_eq(o.opencl_strings, PFD_OPENCL_STRINGS_NEW);
    ck_assert_int_eq(pfd_options_set(&o, "opencl-strings", "old", NULL),
                     PFD_OK);
    ck_assert_int_eq(o.opencl_strings, PFD_OPENCL_STRINGS_OLD);
}
END_TEST

/* What is wrong says what there is, and changes nothing. */
START_TEST(refuses)
{
    static const struct {
        const char *name;
        const char *word;
        const char *why;
    } rows[] = {
        { "compat", "amd", "compat is none, clr or khronos, not 'amd'" },
        { "compat", "", "compat is none, clr or khronos, not ''" },
        { "compa", "clr", "no option 'compa': there is " },
        { "compat_", "clr", "no option 'compat_': there is " },
        { "", "clr", "no option '': there is " },
        { "layout\n", "p1", "no option 'layout\\n': there is " },
    };
    struct pfd_options none = { 0 };
    struct pfd_options o = { 0 };
    struct pfd_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(pfd_options_set(&o, rows[i].name, rows[i].word, &err),
                         PFD_ERR_USAGE);
        ck_assert_msg(!strncmp(err.text, rows[i].why, strlen(rows[i].why)),
                      "%s", err.text);
    }
    ck_assert_mem_eq(&o, &none, sizeof o);
    ck_assert_ptr_null(pfd_options_word(&o, "nothing"));
    o.compat = (enum pfd_compat)17;
    ck_assert_ptr_null(pfd_options_word(&o, "compat"));
}
END_TEST

static enum pfd_status reading(const char *format, const char *layout,
                               const char **ret, struct pfd_options *options,
                               struct pfd_error *err)
{
    struct pfd_wire_frame frame = { .type = PFD_WIRE_BUFFER,
                                    .at = 7,
                                    .format = pfd_wire_text(format),
                                    .layout = pfd_wire_text(layout) };
    return pfd_capture_reading(&frame, ret, options, err);
}

/* What a buffer's frame says; what it does not say stays. */
START_TEST(reads_frames)
{
    char longest[200];
    const char *format = "";
    struct pfd_options o = { .compat = PFD_COMPAT_CLR };
    struct pfd_error err;
    memset(longest, 'p', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(reading("", NULL, &format, &o, &err), PFD_OK);
    ck_assert_ptr_null(format);
    ck_assert_int_eq(reading("debugprintf", "p5", &format, &o, &err), PFD_OK);
    ck_assert_str_eq(format, "debugprintf");
    ck_assert_int_eq(o.printf_layout, PFD_PRINTF_LAYOUT_P5);
    ck_assert_int_eq(o.compat, PFD_COMPAT_CLR);
    ck_assert_int_eq(reading("debugprint", "p2", &format, &o, &err),
                     PFD_ERR_USAGE);
    ck_assert_str_eq(err.text, "format 'debugprint' is not known");
    ck_assert_uint_eq(err.offset, 7);
    ck_assert_ptr_null(format);
    ck_assert_int_eq(o.printf_layout, PFD_PRINTF_LAYOUT_P2);
    ck_assert_int_eq(reading("llpc", longest, &format, &o, &err),
                     PFD_ERR_USAGE);
    ck_assert_str_eq(format, "llpc");
    ck_assert_int_eq(o.printf_layout, PFD_PRINTF_LAYOUT_P2);
}
END_TEST

/* The name of a kernel is what it is, or an error. */
START_TEST(reads_kernels)
{
    char name[PFD_OPTION_TEXT + 1] = "k";
    struct pfd_wire_frame frame = { .type = PFD_WIRE_BUFFER,
                                    .kernel = { name, 1 } };
    const char *format = NULL;
    struct pfd_options o = { 0 };
    ck_assert_int_eq(pfd_capture_reading(&frame, &format, &o, NULL), PFD_OK);
    ck_assert_str_eq(o.kernel, "k");
    frame.kernel.n = 3; /* with a NUL inside */
    ck_assert_int_eq(pfd_capture_reading(&frame, &format, &o, NULL),
                     PFD_ERR_USAGE);
    memset(name, 'n', sizeof name);
    frame.kernel.n = PFD_OPTION_TEXT;
    ck_assert_int_eq(pfd_capture_reading(&frame, &format, &o, NULL),
                     PFD_ERR_USAGE);
    ck_assert_str_eq(o.kernel, "k");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("option");
    TCase *tests = tcase_create("option");
    tcase_add_test(tests, sets_each);
    tcase_add_test(tests, sets_members);
    tcase_add_test(tests, sets_texts);
    tcase_add_test(tests, refuses);
    tcase_add_test(tests, reads_frames);
    tcase_add_test(tests, reads_kernels);
    suite_add_tcase(suite, tests);
    return suite_run_all(suite);
}
