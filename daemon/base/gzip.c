/* SPDX-License-Identifier: MIT */
#include "base/gzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

char *pfdd_gzip(const void *bytes, size_t n, size_t *n_ret)
{
    enum {
        GZIP = 15 + 16 /* the largest window, and gzip's frame */
    };
    z_stream z = { 0 };
    if (deflateInit2(&z, 1, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    size_t room = deflateBound(&z, n);
    char *ret = malloc(room);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)ret;
    z.avail_out = (uInt)room;
    bool ok = ret && deflate(&z, Z_FINISH) == Z_STREAM_END;
    *n_ret = ok ? z.total_out : 0;
    deflateEnd(&z);
    if (ok)
        return ret;
    free(ret);
    return NULL;
}
