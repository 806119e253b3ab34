/* SPDX-License-Identifier: MIT */
/*
 * ROCm's OpenCL printf: what the files of this format share. Nothing outside
 * of this folder includes it but the list of formats.
 */
#ifndef OPENCL_H
#define OPENCL_H

#include "format.h"

extern const struct pfd_format pfd_format_opencl;

/* Sizes of arguments are packed two to a layout word. */
enum {
    OPENCL_SIZES_MAX = 2 * PFD_LAYOUT_MAX
};

static inline uint32_t opencl_size(const struct pfd_string *s, size_t i)
{
    return (uint32_t)(pfd_string_layout(s)[i / 2] >> (32 * (i % 2)));
}

/*
 * Reads the rows `ID:N:S0:...:format` of an HSA code object into
 * pfd_format_opencl.strings: key is ID, layout the sizes, the escapes of the
 * format undone.
 */
enum pfd_status opencl_load(const struct pfd_image *image,
                            struct pfd_strings *strings,
                            struct pfd_report *report, size_t *n_rows,
                            struct pfd_error *err);

#endif
