/* SPDX-License-Identifier: MIT */
#include "core/base/sized.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/zero.h"

/* The size that a caller's struct states; 0: less than a size needs. */
static size_t stated_size(const void *theirs, size_t n, struct pfd_error *err)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (!size)
        return n;
    if (size < sizeof size) {
        pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                 "a struct_size of %zu is none", size);
        return 0;
    }
    return size;
}

enum pfd_status pfd_sized_take(void *to, size_t n, const void *from,
                               struct pfd_error *err)
{
    size_t size = stated_size(from, n, err);
    if (!size)
        return PFD_ERR_USAGE;
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

enum pfd_status pfd_sized_give(void *to, const void *from, size_t n,
                               struct pfd_error *err)
{
    const size_t head = sizeof(size_t);
    size_t size = stated_size(to, n, err);
    if (!size)
        return PFD_ERR_USAGE;
    memset((char *)to + head, 0, size - head);
    memcpy((char *)to + head, (const char *)from + head,
           (size < n ? size : n) - head);
    return PFD_OK;
}
