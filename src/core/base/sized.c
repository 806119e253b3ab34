/* SPDX-License-Identifier: MIT */
#include "core/base/sized.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/zero.h"

enum pfd_status pfd_sized_take(void *to, size_t n, const void *from,
                               struct pfd_error *err)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    if (!size)
        size = n;
    if (size < sizeof size) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "a struct_size of %zu is none", size);
    }
    if (size > n) {
        if (!pfd_is_zero((const uint8_t *)from + n, size - n)) {
            return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                            "a struct of %zu bytes has members that this "
                            "library does not know: it knows %zu bytes",
                            size, n);
        }
        size = n;
    }
    memset(to, 0, n);
    memcpy(to, from, size);
    memcpy(to, &n, sizeof n);
    return PFD_OK;
}
