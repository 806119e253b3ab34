/* SPDX-License-Identifier: MIT */
#include "counter.h"

#include <printfdecode/convert.h>

#include "core/base/input.h"

enum {
    BYTES_MAX = 4096, /* a counter stands near the begin */
};

enum pfd_status counter_describe(const char *path, struct pfd_text *ret,
                                 struct pfd_error *err)
{
    struct pfd_input *input = NULL;
    size_t n = 0;
    enum pfd_status status = pfd_input_open(path, &input, err);
    if (status != PFD_OK)
        return status;
    const uint8_t *bytes = pfd_input_bytes(input, &n);
    pfd_text_puts(ret, "ring counter: \"");
    for (size_t i = 0; i < n && i < BYTES_MAX; i++)
        pfd_text_printf(ret, "%02x", bytes[i]);
    pfd_text_puts(ret, "\"\n");
    pfd_input_close(input);
    return ret->failed
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}
