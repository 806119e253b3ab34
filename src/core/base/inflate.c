/* SPDX-License-Identifier: MIT */
#include "core/base/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "core/base/dynamic_library.h"

#define ZSTD_CALLS(X)          \
    X(createDCtx)              \
    X(decompress)              \
    X(decompressStream)        \
    X(findFrameCompressedSize) \
    X(freeDCtx)                \
    X(getErrorName)            \
    X(isError)
#define ZSTD_POINTER(name) __typeof__(ZSTD_##name) *(name);
#define ZSTD_NAME(name)    "ZSTD_" #name "\0"

static struct {
    ZSTD_CALLS(ZSTD_POINTER)
} zstd;

PFD_DYNAMIC_LIBRARY(zstd, "libzstd.so.1", ZSTD_CALLS(ZSTD_NAME), &zstd,
                    "input by zstd");

enum {
    /* The most bytes that one compressed byte can yield: a zlib match of 258
     * bytes takes 2 bits; a zstd block of 128 KiB takes 4 bytes. */
    ZLIB_RATIO_MAX = 1032,
    ZSTD_RATIO_MAX = 32768,
    ZLIB_STEP = 1 << 30, /* zlib counts in unsigned int */
};

static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

enum {
    SKIPPABLE_HEADER = 8 /* magic, u32 size */
};

static bool is_skippable(const uint8_t *p, size_t n)
{
    return n >= SKIPPABLE_HEADER && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a &&
           p[2] == 0x4d && p[3] == 0x18;
}

/* How many bytes the frames with data of others take that stand first, as far
 * as they are whole (RFC 8878). */
static size_t skippable_size(const uint8_t *p, size_t n)
{
    size_t at = 0;
    while (is_skippable(p + at, n - at)) {
        const uint8_t *size = p + at + 4;
        uint64_t n_frame = SKIPPABLE_HEADER +
                           (size[0] | (uint64_t)size[1] << 8 |
                            (uint64_t)size[2] << 16 | (uint64_t)size[3] << 24);
        if (n_frame > n - at)
            break;
        at += (size_t)n_frame;
    }
    return at;
}

/* The bytes behind a skipped frame that is longer than these bytes cannot be
 * seen. */
static bool is_zstd(const uint8_t *p, size_t n)
{
    size_t n_skipped = skippable_size(p, n);
    p += n_skipped;
    n -= n_skipped;
    return (n_skipped > 0 && n == 0) || is_skippable(p, n) ||
           (n >= sizeof zstd_magic &&
            !memcmp(p, zstd_magic, sizeof zstd_magic));
}

enum pfd_compression pfd_compression_of(const void *bytes, size_t n)
{
    return is_zstd(bytes, n) ? PFD_COMPRESSION_ZSTD : PFD_COMPRESSION_ZLIB;
}

/* zlib is linked: libelf, which reads every code object, depends on it. */
static enum pfd_status load(enum pfd_compression method, struct pfd_error *err)
{
    return method == PFD_COMPRESSION_ZSTD
               ? pfd_dynamic_library_load(&pfd_library_zstd, err)
               : PFD_OK;
}

struct inflation {
    const uint8_t *in; /* [n_in] */
    size_t n_in;
    uint8_t *out; /* [n_out] */
    size_t n_out;
    size_t n_read;
    size_t n_written;
    uint64_t n_given; /* bytes written before these and handed to fn */
    struct pfd_error *problem;
};

static void damaged(struct inflation *f, const char *what)
{
    pfd_fail(f->problem, PFD_ERR_CORRUPT, f->n_read,
             "%s after %zu compressed bytes, which gave %llu", what, f->n_read,
             (unsigned long long)f->n_given + f->n_written);
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

/* Behind the end of a frame: is there another, for the missing bytes? Then it is
 * next. */
static bool has_more(ZSTD_inBuffer *in, const ZSTD_outBuffer *out)
{
    const uint8_t *p = (const uint8_t *)in->src + in->pos;
    if (out->pos == out->size || !is_zstd(p, in->size - in->pos))
        return false;
    in->pos += skippable_size(p, in->size - in->pos);
    return in->pos < in->size;
}

/* Inflates one stream frame by frame; a damaged one gives its beginning. */
static bool stream_zstd(struct inflation *f)
{
    ZSTD_DCtx *ctx = zstd.createDCtx();
    ZSTD_inBuffer in = { f->in, f->n_in, 0 };
    ZSTD_outBuffer out = { f->out, f->n_out, 0 };
    size_t rc = 1;
    if (!ctx)
        return false;
    while (!zstd.isError(rc) && (rc > 0 || has_more(&in, &out))) {
        size_t in_before = in.pos;
        size_t out_before = out.pos;
        rc = zstd.decompressStream(ctx, &out, &in);
        if (in.pos == in_before && out.pos == out_before)
            break; /* it needs more input */
    }
    f->n_read = in.pos;
    f->n_written = out.pos;
    if (zstd.isError(rc)) {
        damaged(f, zstd.getErrorName(rc));
    } else if (rc > 0) {
        damaged(f, out.pos == out.size ? "more than the stated size"
                                       : "the data ends");
    }
    zstd.freeDCtx(ctx);
    return true;
}

static bool inflate_zstd(struct inflation *f)
{
    size_t n_frame = zstd.findFrameCompressedSize(f->in, f->n_in);
    if (!zstd.isError(n_frame)) {
        size_t n = zstd.decompress(f->out, f->n_out, f->in, n_frame);
        if (!zstd.isError(n) && n == f->n_out) {
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

enum pfd_status pfd_inflate(enum pfd_compression method,
                            struct pfd_byte_reader in, size_t n_head,
                            uint64_t n_out, uint8_t **ret, size_t *n_ret,
                            size_t *n_used, struct pfd_error *problem,
                            struct pfd_error *err)
{
    uint64_t ratio =
        method == PFD_COMPRESSION_ZSTD ? ZSTD_RATIO_MAX : ZLIB_RATIO_MAX;
    struct inflation f = { .n_in = pfd_byte_reader_left(&in),
                           .problem = problem };
    f.in = pfd_byte_reader_bytes(&in, f.n_in);
    *ret = NULL;
    *n_ret = *n_used = 0;
    problem->code = PFD_OK;
    if (n_out / ratio > f.n_in) {
        pfd_fail(problem, PFD_ERR_CORRUPT, 0,
                 "%zu compressed bytes cannot become the %llu that are stated",
                 f.n_in, (unsigned long long)n_out);
        return PFD_OK;
    }
    enum pfd_status status = load(method, err);
    if (status != PFD_OK)
        return status;
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

/* ---- whole files ---- */

enum {
    ROOM_FIRST = 1 << 16,
    ROOM_GIVEN = 1 << 20,  /* of output before fn gets it */
    GZIP_WINDOW = 15 + 16, /* zlib: gzip header, largest window */
    GZIP_HEADER = 10,
    GZIP_RESERVED = 0xe0, /* bits of its flags */
};

bool pfd_inflate_recognise(const void *bytes, size_t n)
{
    static const uint8_t gzip_magic[] = { 0x1f, 0x8b, 8 };
    const uint8_t *p = bytes;
    if (n >= GZIP_HEADER && !memcmp(p, gzip_magic, sizeof gzip_magic))
        return !(p[3] & GZIP_RESERVED);
    return is_zstd(p, n);
}

/* A file's inflated bytes while they grow. */
struct file_inflation {
    struct inflation f; /* n_out: size of the output buffer */
    uint64_t n_max;
    pfd_inflated_fn fn; /* NULL: the bytes stay in f.out */
    void *user;
    bool failed; /* out of memory */
    bool stopped;
};

static bool is_too_much(struct file_inflation *g)
{
    return pfd_fail(g->f.problem, PFD_ERR_UNSUPPORTED, g->f.n_read,
                    "more than %llu bytes, of which the first are taken "
                    "(--max-inflated)",
                    (unsigned long long)g->n_max) != PFD_OK;
}

/* Hands the output to fn, up to n_max bytes. False: stop. */
static bool flush(struct file_inflation *g)
{
    struct inflation *f = &g->f;
    uint64_t room = g->n_max - f->n_given;
    bool too_much = f->n_written > room;
    size_t n = too_much ? (size_t)room : f->n_written;
    g->stopped |= n && !g->fn(g->user, f->out, n);
    f->n_given += n;
    f->n_written = 0;
    if (!f->out) {
        f->out = malloc(ROOM_GIVEN);
        f->n_out = f->out ? ROOM_GIVEN : 0;
        g->failed = !f->out;
    }
    return !g->failed && !g->stopped && !(too_much && is_too_much(g));
}

/* Makes room for more output: up to n_max + 1 bytes, of which the last one
 * shows that the file has too many. False: stop. */
static bool grow(struct file_inflation *g)
{
    size_t most = (size_t)g->n_max + 1;
    size_t room = g->f.n_out ? 2 * g->f.n_out : ROOM_FIRST;
    if (g->f.n_written < g->f.n_out)
        return true;
    if (g->fn)
        return flush(g);
    if (g->f.n_out == most) {
        g->f.n_written = most - 1;
        return !is_too_much(g);
    }
    room = room < most ? room : most;
    uint8_t *out = realloc(g->f.out, room);
    g->failed = !out;
    if (!out)
        return false;
    g->f.out = out;
    g->f.n_out = room;
    return true;
}

/* Inflates some bytes of one gzip member; returns zlib's status. */
static int step_gzip(struct file_inflation *g, z_stream *z)
{
    size_t in_left = g->f.n_in - g->f.n_read;
    size_t out_left = g->f.n_out - g->f.n_written;
    uInt in = in_left < ZLIB_STEP ? (uInt)in_left : ZLIB_STEP;
    uInt out = out_left < ZLIB_STEP ? (uInt)out_left : ZLIB_STEP;
    z->next_in = (Bytef *)(uintptr_t)(g->f.in + g->f.n_read); /* read only */
    z->avail_in = in;
    z->next_out = g->f.out + g->f.n_written;
    z->avail_out = out;
    int rc = inflate(z, Z_NO_FLUSH);
    g->f.n_read += in - z->avail_in;
    g->f.n_written += out - z->avail_out;
    return rc;
}

/* Another member may follow; other bytes do not belong to the file. */
static bool goes_on(struct file_inflation *g, z_stream *z)
{
    size_t left = g->f.n_in - g->f.n_read;
    if (left && !pfd_inflate_recognise(g->f.in + g->f.n_read, left))
        damaged(&g->f, "other bytes follow");
    return left && g->f.problem->code == PFD_OK && inflateReset(z) == Z_OK;
}

static void grow_gzip(struct file_inflation *g)
{
    z_stream z = { 0 };
    int rc = inflateInit2(&z, GZIP_WINDOW);
    g->failed = rc == Z_MEM_ERROR;
    while (rc == Z_OK && grow(g)) {
        rc = step_gzip(g, &z);
        if (rc == Z_STREAM_END && goes_on(g, &z))
            rc = Z_OK;
        if (rc == Z_BUF_ERROR && g->f.n_written == g->f.n_out)
            rc = Z_OK; /* it needs room */
    }
    if (rc == Z_BUF_ERROR) {
        damaged(&g->f, "the data ends");
    } else if (rc != Z_OK && rc != Z_STREAM_END) {
        damaged(&g->f, z.msg ? z.msg : "damaged data");
    }
    inflateEnd(&z);
}

static void grow_zstd(struct file_inflation *g)
{
    ZSTD_DCtx *ctx = zstd.createDCtx();
    size_t rc = 1;
    g->failed = !ctx;
    while (ctx && grow(g)) {
        ZSTD_inBuffer in = { g->f.in, g->f.n_in, g->f.n_read };
        ZSTD_outBuffer out = { g->f.out, g->f.n_out, g->f.n_written };
        rc = zstd.decompressStream(ctx, &out, &in);
        bool stuck = in.pos == g->f.n_read && out.pos == g->f.n_written;
        g->f.n_read = in.pos;
        g->f.n_written = out.pos;
        if (zstd.isError(rc) || stuck || (rc == 0 && in.pos == in.size))
            break;
    }
    if (zstd.isError(rc)) {
        damaged(&g->f, zstd.getErrorName(rc));
    } else if (rc && g->f.problem->code == PFD_OK) {
        damaged(&g->f, "the data ends");
    }
    zstd.freeDCtx(ctx);
}

static enum pfd_status inflate_all(struct file_inflation *g,
                                   struct pfd_error *err)
{
    enum pfd_compression method = pfd_compression_of(g->f.in, g->f.n_in);
    enum pfd_status status = load(method, err);
    g->f.problem->code = PFD_OK;
    if (status != PFD_OK)
        return status;
    if (method == PFD_COMPRESSION_ZSTD) {
        grow_zstd(g);
    } else {
        grow_gzip(g);
    }
    return PFD_OK;
}

enum pfd_status pfd_inflate_to(const void *bytes, size_t n, uint64_t n_max,
                               pfd_inflated_fn fn, void *user,
                               struct pfd_error *problem, struct pfd_error *err)
{
    struct file_inflation g = {
        .f = { .in = bytes, .n_in = n, .problem = problem },
        .n_max = n_max,
        .fn = fn,
        .user = user
    };
    enum pfd_status status = inflate_all(&g, err);
    if (status != PFD_OK)
        return status;
    if (!g.failed && !g.stopped)
        flush(&g);
    free(g.f.out);
    if (g.failed)
        return no_memory(err, ROOM_GIVEN);
    return g.stopped ? pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET, "stopped")
                     : PFD_OK;
}

enum pfd_status pfd_inflate_file(const void *bytes, size_t n, uint64_t n_max,
                                 uint8_t **ret, size_t *n_ret,
                                 struct pfd_error *problem,
                                 struct pfd_error *err)
{
    struct file_inflation g = {
        .f = { .in = bytes, .n_in = n, .problem = problem },
        .n_max = n_max < SIZE_MAX / 4 ? n_max : SIZE_MAX / 4
    };
    *ret = NULL;
    *n_ret = 0;
    enum pfd_status status = inflate_all(&g, err);
    if (status != PFD_OK)
        return status;
    if (g.failed) {
        free(g.f.out);
        return no_memory(err, g.f.n_out);
    }
    if (!g.f.n_written && problem->code != PFD_OK) {
        free(g.f.out); /* perhaps not compressed at all */
        return PFD_OK;
    }
    *ret = g.f.out;
    *n_ret = g.f.n_written;
    return PFD_OK;
}

uint32_t pfd_crc32(const void *bytes, size_t n)
{
    return (uint32_t)crc32_z(0, bytes, n);
}
