/* SPDX-License-Identifier: MIT */
/* How a buffer of a capture is to be read, as far as its frame says it. */
#include <stdio.h>
#include <string.h>

#include <printfdecode/capture.h>

#include "base/error.h"

static bool is_text(const struct pfd_wire_bytes *bytes, const char *text)
{
    return strlen(text) == bytes->n && !memcmp(text, bytes->at, bytes->n);
}

static const char *format_of(const struct pfd_wire_frame *buffer)
{
    struct pfd_format_info info;
    for (size_t i = 0; pfd_format_get(i, &info) == PFD_OK; i++) {
        if (is_text(&buffer->format, info.name))
            return info.name;
    }
    return NULL;
}

enum pfd_status pfd_capture_reading(const struct pfd_wire_frame *buffer,
                                    const char **format,
                                    struct pfd_options *options,
                                    struct pfd_error *err)
{
    struct pfd_quoted quoted;
    char layout[64];
    *format = format_of(buffer);
    if (buffer->layout.n) {
        snprintf(layout, sizeof layout, "%.*s",
                 buffer->layout.n < sizeof layout ? (int)buffer->layout.n : 0,
                 buffer->layout.at);
        if (pfd_options_set(options, "layout", layout, NULL) != PFD_OK) {
            return pfd_fail(
                err, PFD_ERR_USAGE, buffer->at, "layout '%s' is not known",
                pfd_quote(&quoted, buffer->layout.at, buffer->layout.n));
        }
    }
    if (buffer->format.n && !*format) {
        return pfd_fail(
            err, PFD_ERR_USAGE, buffer->at, "format '%s' is not known",
            pfd_quote(&quoted, buffer->format.at, buffer->format.n));
    }
    return PFD_OK;
}
