/* SPDX-License-Identifier: MIT */
/* How to read a buffer of a capture, as far as its frame says. */
#include <stdio.h>
#include <string.h>

#include <printfdecode/capture.h>

#include "core/base/error.h"

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

/* Sets one option by its word. */
static enum pfd_status set_option(const struct pfd_wire_frame *buffer,
                                  const char *name,
                                  const struct pfd_wire_bytes *said,
                                  struct pfd_options *options,
                                  struct pfd_error *err)
{
    struct pfd_quoted quoted;
    char word[64];
    if (!said->n)
        return PFD_OK;
    snprintf(word, sizeof word, "%.*s",
             said->n < sizeof word ? (int)said->n : 0, said->at);
    if (pfd_options_set(options, name, word, NULL) == PFD_OK)
        return PFD_OK;
    return pfd_fail(err, PFD_ERR_USAGE, buffer->at, "%s '%s' is not known",
                    name, pfd_quote(&quoted, said->at, said->n));
}

enum pfd_status pfd_capture_reading(const struct pfd_wire_frame *buffer,
                                    const char **format,
                                    struct pfd_options *options,
                                    struct pfd_error *err)
{
    const struct {
        const char *name;
        const struct pfd_wire_bytes *said;
    } all[] = {
        { "layout", &buffer->layout },
        { "compat", &buffer->compat },
        { "opencl-strings", &buffer->opencl_strings },
    };
    struct pfd_quoted quoted;
    enum pfd_status status = PFD_OK;
    *format = format_of(buffer);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == PFD_OK; i++)
        status = set_option(buffer, all[i].name, all[i].said, options, err);
    if (status == PFD_OK && buffer->format.n && !*format) {
        return pfd_fail(
            err, PFD_ERR_USAGE, buffer->at, "format '%s' is not known",
            pfd_quote(&quoted, buffer->format.at, buffer->format.n));
    }
    return status;
}
