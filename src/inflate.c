/* SPDX-License-Identifier: MIT */
#include "inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum {
    /* The most that one compressed byte can stand for: a zlib match of 258
     * bytes takes 2 bits; a zstd block of 128 KiB takes 4 bytes. */
    ZLIB_RATIO_MAX = 1032,
    ZSTD_RATIO_MAX = 32768,
    ZLIB_STEP = 1 << 30, /* zlib counts in unsigned int */
};

static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

enum pfd_compression pfd_compression_of(const void *bytes, size_t n)
{
    return n >= sizeof zstd_magic &&
                   !memcmp(bytes, zstd_magic, sizeof zstd_magic)
               ? PFD_COMPRESSION_ZSTD
               : PFD_COMPRESSION_ZLIB;
}

struct inflation {
    const uint8_t *in; /* [n_in] */
    size_t n_in;
    uint8_t *out; /* [n_out] */
    size_t n_out;
    size_t n_read;
    size_t n_written;
    struct pfd_error *problem;
};

static void damaged(struct inflation *f, const char *what)
{
    pfd_fail(f->problem, PFD_ERR_CORRUPT, f->n_read,
             "%s after %zu compressed bytes, which gave %zu", what, f->n_read,
             f->n_written);
}

/* False: out of memory. */
static bool inflate_zlib(struct inflation *f)
{
    z_stream z = { 0 };
    int rc = inflateInit(&z);
    if (rc == Z_MEM_ERROR)
        return false;
    z.next_in = (Bytef *)(uintptr_t)f->in; /* read only */
    z.next_out = f->out;
    while (rc == Z_OK) {
        size_t in_left = f->n_in - f->n_read;
        size_t out_left = f->n_out - f->n_written;
        uInt in = in_left < ZLIB_STEP ? (uInt)in_left : ZLIB_STEP;
        uInt out = out_left < ZLIB_STEP ? (uInt)out_left : ZLIB_STEP;
        z.avail_in = in;
        z.avail_out = out;
        rc = inflate(&z, Z_NO_FLUSH);
        f->n_read += in - z.avail_in;
        f->n_written += out - z.avail_out;
    }
    if (rc == Z_BUF_ERROR) {
        damaged(f, f->n_written == f->n_out ? "more than the stated size"
                                            : "the data ends");
    } else if (rc != Z_STREAM_END && rc != Z_MEM_ERROR) {
        damaged(f, z.msg ? z.msg : "damaged data");
    }
    inflateEnd(&z);
    return rc != Z_MEM_ERROR;
}

/* Frame by frame of one stream, for as much as a damaged one gives. */
static bool stream_zstd(struct inflation *f)
{
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    ZSTD_inBuffer in = { f->in, f->n_in, 0 };
    ZSTD_outBuffer out = { f->out, f->n_out, 0 };
    size_t rc = 1;
    if (!ctx)
        return false;
    while (rc > 0 && !ZSTD_isError(rc)) {
        size_t in_before = in.pos;
        size_t out_before = out.pos;
        rc = ZSTD_decompressStream(ctx, &out, &in);
        if (in.pos == in_before && out.pos == out_before)
            break; /* it wants more than there is */
    }
    f->n_read = in.pos;
    f->n_written = out.pos;
    if (ZSTD_isError(rc)) {
        damaged(f, ZSTD_getErrorName(rc));
    } else if (rc > 0) {
        damaged(f, out.pos == out.size ? "more than the stated size"
                                       : "the data ends");
    }
    ZSTD_freeDCtx(ctx);
    return true;
}

static bool inflate_zstd(struct inflation *f)
{
    size_t n_frame = ZSTD_findFrameCompressedSize(f->in, f->n_in);
    if (!ZSTD_isError(n_frame)) {
        size_t n = ZSTD_decompress(f->out, f->n_out, f->in, n_frame);
        if (!ZSTD_isError(n)) {
            f->n_read = n_frame;
            f->n_written = n;
            return true;
        }
    }
    return stream_zstd(f);
}

static enum pfd_status no_memory(struct pfd_error *err, uint64_t n)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET,
                    "out of memory for %llu bytes", (unsigned long long)n);
}

enum pfd_status pfd_inflate(enum pfd_compression method, struct pfd_cursor in,
                            size_t n_head, uint64_t n_out, uint8_t **ret,
                            size_t *n_ret, size_t *n_used,
                            struct pfd_error *problem, struct pfd_error *err)
{
    uint64_t ratio =
        method == PFD_COMPRESSION_ZSTD ? ZSTD_RATIO_MAX : ZLIB_RATIO_MAX;
    struct inflation f = { .n_in = pfd_cursor_left(&in), .problem = problem };
    f.in = pfd_cursor_bytes(&in, f.n_in);
    *ret = NULL;
    *n_ret = *n_used = 0;
    problem->code = PFD_OK;
    if (n_out / ratio > f.n_in) {
        pfd_fail(problem, PFD_ERR_CORRUPT, 0,
                 "%zu compressed bytes cannot become the %llu that are stated",
                 f.n_in, (unsigned long long)n_out);
        return PFD_OK;
    }
    uint8_t *block = n_out < SIZE_MAX - n_head - 1
                         ? malloc(n_head + (size_t)n_out + 1)
                         : NULL;
    if (!block)
        return no_memory(err, n_out);
    f.n_out = (size_t)n_out;
    f.out = block + n_head;
    bool ok =
        method == PFD_COMPRESSION_ZSTD ? inflate_zstd(&f) : inflate_zlib(&f);
    if (!ok) {
        free(block);
        return no_memory(err, n_out);
    }
    if (problem->code == PFD_OK && f.n_written < f.n_out)
        damaged(&f, "less than the stated size");
    *ret = block;
    *n_ret = n_head + f.n_written;
    *n_used = f.n_read;
    return PFD_OK;
}
