/* SPDX-License-Identifier: MIT */
/*
 * An input of any format: a byte for its place in the list, one for the options, the bytes
 * of its strings (2) and of a buffer (2), both, and what a target makes of the
 * rest.
 */
#ifndef ANY_FORMAT_H
#define ANY_FORMAT_H

#include <string.h>

#include <printfdecode/strings.h>

#include "code_object.h"
#include "core/decode/format.h"
#include "llpc_strings.h"

/* A message of four dwords, two of them constant. */
static inline void add_abort(struct pfd_strings *strings)
{
    static const uint64_t layout[] = { 4, 5, UINT64_C(0x6f) << 32 | 0x646c };
    const struct pfd_string_row row = {
        .key = 0x474747474747,
        .text = "abort",
        .n_text = 5,
        .n_arguments = 2,
        .layout = layout,
        .n_layout = 3,
        .literal = true,
    };
    struct pfd_report report = { .source = "fuzz" };
    FUZZ_CHECK(pfd_strings_add_row(strings, &pfd_format_find("llpc")->strings,
                                   &row, &report, 0, NULL) == PFD_OK);
}

/* Texts of Intel's, by index and by offset. */
static inline void add_intel(struct pfd_strings *strings)
{
    static const char *const texts[] = { "%d %f\n", "%s|%v3hd\n", "none\n" };
    struct pfd_report report = { .source = "fuzz" };
    for (uint64_t i = 0; i < 6; i++) {
        const char *text = texts[i % 3];
        const struct pfd_string_row row = {
            .key = i < 3 ? i : UINT64_C(1) << 40 | (i - 3) * 16,
            .text = text,
            .n_text = strlen(text),
            .counted = true,
        };
        FUZZ_CHECK(pfd_strings_add_row(strings,
                                       &pfd_format_find("intel")->strings, &row,
                                       &report, 0, NULL) == PFD_OK);
    }
}

/* The strings of each kind that the bytes can be: a module, or rows; and those
 * that are always there. */
static inline struct pfd_strings *make_strings(unsigned how,
                                               const uint8_t *bytes, size_t n)
{
    const struct pfd_vulkan_capture capture = { .verbose = how & 4 };
    struct pfd_shader_info shader = {
        .id = how & 8 ? PFD_SHADER_NEXT : 0,
        .bytes = bytes,
        .n_bytes = n,
        .source = "module",
    };
    struct pfd_strings *strings = make_llpc_strings();
    add_abort(strings);
    add_intel(strings);
    if (pfd_strings_add_shader(strings, &shader, NULL, NULL, NULL) != PFD_OK)
        load_rows(strings, bytes, n);
    pfd_strings_set_capture(strings, &capture, NULL);
    return strings;
}

struct any_format {
    const char *format;
    struct pfd_strings *strings; /* the target's to free */
    struct pfd_options options;
    struct pfd_byte_reader buffer;
    struct pfd_byte_reader rest;
};

/* False: it is cut. */
static inline bool any_format_read(struct any_format *ret, const uint8_t *data,
                                   size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(data, n);
    size_t n_formats = 1;
    while (pfd_formats[n_formats])
        n_formats++;
    ret->format = pfd_formats[pfd_byte_reader_u8(&c) % n_formats]->info.name;
    unsigned how = pfd_byte_reader_u8(&c);
    size_t n_strings = pfd_byte_reader_u16(&c);
    size_t n_buffer = pfd_byte_reader_u16(&c);
    const uint8_t *strings = pfd_byte_reader_bytes(&c, n_strings);
    ret->buffer = pfd_byte_reader_sub(&c, n_buffer);
    ret->rest = c;
    if (!pfd_byte_reader_ok(&c))
        return false;
    ret->options = (struct pfd_options){
        .compat = (enum pfd_compat)((how & 3) % 3),
        .printf_layout = (enum pfd_printf_layout)((how >> 4) % 7),
    };
    ret->strings = make_strings(how, strings, n_strings);
    return true;
}

#endif
