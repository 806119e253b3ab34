/* SPDX-License-Identifier: MIT */
#include "stream/live/tail_copy.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/large_pages.h"

enum {
    ROOM_FIRST = 1 << 16, /* bytes */
    ROOM_KEPT = 1 << 17,  /* larger memory is freed after a burst */
};

void pfd_tail_copy_drop(struct pfd_tail_copy *copy)
{
    free(copy->bytes);
    *copy = (struct pfd_tail_copy){ 0 };
}

/* Makes room for n bytes; the old bytes are lost. With large pages there is
 * room for the largest poll: untouched pages cost nothing. */
static bool make_room(struct pfd_tail_copy *copy, size_t n, size_t farther)
{
    if (copy->room >= n)
        return true;
    size_t room = copy->room ? copy->room : ROOM_FIRST;
    while (room < n)
        room *= 2;
    if (room > PFD_LARGE_PAGE && n <= farther)
        room = farther;
    free(copy->bytes);
    copy->bytes = pfd_large_pages_new(room);
    copy->room = copy->bytes ? room : 0;
    return copy->bytes;
}

void pfd_tail_copy_shrink(struct pfd_tail_copy *copy)
{
    if (copy->room > ROOM_KEPT)
        pfd_tail_copy_drop(copy);
}

enum pfd_status pfd_tail_copy_read(struct pfd_tail_copy *copy,
                                   const struct pfd_tail_options *source,
                                   uint64_t from, size_t n,
                                   struct pfd_error *err)
{
    copy->base = from;
    copy->n = 0;
    if (n == 0)
        return PFD_OK;
    if (!make_room(copy, n, source->farther))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    while (copy->n < n) {
        long got = source->read(source->read_user, from + copy->n,
                                copy->bytes + copy->n, n - copy->n);
        if (got < 0) {
            return pfd_fail(err, PFD_ERR_IO, from + copy->n, "%s",
                            strerror((int)-got));
        }
        if (got == 0)
            break;
        copy->n += (size_t)got;
    }
    return PFD_OK;
}
