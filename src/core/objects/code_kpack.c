/* SPDX-License-Identifier: MIT */
/*
 * ROCm's kpack archives (TheRock, RFC 8), which hold the device code that was
 * split off programs: "archive(bin/demo#0:gfx1100)".
 *
 * "KPAK", u32 version 1, u64 place of the table; the table is a map of
 * MessagePack: compression_scheme "none" (blobs: a list of maps of offset and
 * size) or "zstd-per-kernel" (zstd_offset: there u32 count, then u32 size and a
 * frame for each), and toc: {program: {architecture: {ordinal,
 * original_size}}}. All numbers outside the table are little-endian.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/msgpack.h"
#include "core/base/text.h"
#include "core/objects/code_walk.h"

enum {
    VERSION = 1,
    TABLE_AT = 8,
    ENTRY_COST = 1024, /* of a name in the table of contents */
    FRAME_COST = 8,    /* of a byte of zstd: frames may be empty */
};

/* The place of a code object in the file. */
struct stored {
    uint64_t offset;
    uint64_t n;
};

struct kpack {
    const struct pfd_code_range *range;
    bool is_zstd;
    struct pfd_byte_reader toc; /* at the map; empty: there is none */
    struct pfd_text stored;     /* struct stored, by ordinal */
    bool is_broken;
};

/* ---- the table ---- */

/* Skips one object with its content. False: it is cut. */
static bool skip(struct pfd_byte_reader *c)
{
    for (uint64_t left = 1; left > 0; left--) {
        struct pfd_msgpack object = pfd_msgpack_read(c);
        if (object.kind == PFD_MSGPACK_BAD ||
            object.n_follow > pfd_byte_reader_left(c))
            return false;
        if (object.kind == PFD_MSGPACK_ITEMS) {
            left += object.n_follow;
        } else {
            pfd_byte_reader_skip(c, (size_t)object.n_follow);
        }
    }
    return pfd_byte_reader_ok(c);
}

/* Reads the number of pairs of the map that begins here. */
static bool read_map(struct pfd_byte_reader *c, uint64_t *n)
{
    struct pfd_msgpack object = pfd_msgpack_read(c);
    *n = object.n_follow / 2;
    return object.kind == PFD_MSGPACK_ITEMS && object.is_map &&
           object.n_follow <= pfd_byte_reader_left(c);
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && !memcmp(text, word, n);
}

/* Members of a map that are numbers, by name. The caller sets their defaults;
 * other members are skipped. */
struct number {
    const char *name;
    uint64_t *value;
};

static bool read_numbers(struct pfd_byte_reader *c,
                         const struct number *numbers, size_t n_numbers)
{
    uint64_t n = 0;
    if (!read_map(c, &n))
        return false;
    for (; n > 0; n--) {
        size_t n_key = 0;
        const char *key = pfd_msgpack_read_bytes(c, &n_key);
        uint64_t *value = NULL;
        for (size_t i = 0; key && i < n_numbers; i++) {
            if (is_word(key, n_key, numbers[i].name))
                value = numbers[i].value;
        }
        if (!key || !(value ? pfd_msgpack_read_number(c, value) : skip(c)))
            return false;
    }
    return true;
}

static bool read_blobs(struct kpack *k, struct pfd_byte_reader *c)
{
    struct pfd_msgpack list = pfd_msgpack_read(c);
    if (list.kind != PFD_MSGPACK_ITEMS || list.is_map ||
        list.n_follow > pfd_byte_reader_left(c))
        return false;
    for (uint64_t i = 0; i < list.n_follow; i++) {
        struct stored stored = { 0 };
        const struct number numbers[] = {
            { "offset", &stored.offset },
            { "size", &stored.n },
        };
        if (!read_numbers(c, numbers, 2))
            return false;
        pfd_text_add(&k->stored, &stored, sizeof stored);
    }
    return true;
}

/* Reads the places of zstd frames, one after another. */
static void read_frames(struct kpack *k, uint64_t offset)
{
    struct pfd_byte_reader c = k->range->bytes;
    pfd_byte_reader_seek(&c, offset);
    uint32_t n = pfd_byte_reader_u32(&c);
    for (uint32_t i = 0; i < n && pfd_byte_reader_ok(&c); i++) {
        uint32_t size = pfd_byte_reader_u32(&c);
        struct stored stored = { c.at, size };
        if (!pfd_byte_reader_ok(&c) || size > pfd_byte_reader_left(&c))
            break;
        pfd_byte_reader_skip(&c, size);
        pfd_text_add(&k->stored, &stored, sizeof stored);
    }
}

static bool read_table(struct kpack *k, struct pfd_byte_reader *c)
{
    uint64_t n = 0;
    uint64_t frames = 0;
    if (!read_map(c, &n))
        return false;
    for (; n > 0; n--) {
        size_t n_text = 0;
        const char *key = pfd_msgpack_read_bytes(c, &n_text);
        if (!key)
            return false;
        bool ok = true;
        if (is_word(key, n_text, "compression_scheme")) {
            const char *scheme = pfd_msgpack_read_bytes(c, &n_text);
            ok = scheme;
            k->is_zstd = ok && is_word(scheme, n_text, "zstd-per-kernel");
        } else if (is_word(key, n_text, "zstd_offset")) {
            ok = pfd_msgpack_read_number(c, &frames);
        } else if (is_word(key, n_text, "blobs")) {
            ok = read_blobs(k, c);
        } else {
            if (is_word(key, n_text, "toc"))
                k->toc = *c;
            ok = skip(c);
        }
        if (!ok)
            return false;
    }
    if (k->is_zstd) {
        k->stored.n = 0;
        read_frames(k, frames);
    }
    return true;
}

/* ---- the code ---- */

static enum pfd_status walk_zstd(const struct kpack *k,
                                 const struct stored *stored, const char *name,
                                 uint64_t n_out)
{
    struct pfd_code_range named = *k->range;
    const struct pfd_code_blob blob = { &named, stored->offset, 1 };
    struct pfd_byte_reader c = k->range->bytes;
    size_t n_used = 0;
    pfd_byte_reader_seek(&c, stored->offset);
    const struct pfd_compressed head = {
        .method = PFD_COMPRESSION_ZSTD,
        .data = pfd_byte_reader_sub(&c, (size_t)stored->n),
        .n_out = n_out,
        .n_total = (size_t)stored->n,
    };
    named.path = name;
    named.is_code = true;
    return pfd_code_walk_compressed(&blob, &head, &n_used);
}

static enum pfd_status walk_stored(const struct kpack *k, uint64_t ordinal,
                                   uint64_t n_out, char *path)
{
    const struct pfd_code_range *range = k->range;
    const struct stored *all = (const void *)k->stored.data;
    struct pfd_byte_reader c = range->bytes;
    if (ordinal >= k->stored.n / sizeof *all || all[ordinal].offset > c.n ||
        all[ordinal].n > c.n - all[ordinal].offset) {
        pfd_report_add(range->report, PFD_FINDING_bad_bundle, PFD_NO_OFFSET,
                       "code object %llu of the kpack archive is not in the "
                       "file: not read",
                       (unsigned long long)ordinal);
        free(path);
        return PFD_OK;
    }
    const struct stored *stored = &all[ordinal];
    /* The same frame may be listed any number of times. */
    if (k->is_zstd && !pfd_code_spend(range, FRAME_COST * stored->n)) {
        free(path);
        return PFD_OK;
    }
    if (k->is_zstd) {
        enum pfd_status status = path
                                     ? walk_zstd(k, stored, path, n_out)
                                     : pfd_fail(range->walk->err, PFD_ERR_NOMEM,
                                                PFD_NO_OFFSET, "out of memory");
        free(path);
        return status;
    }
    pfd_byte_reader_seek(&c, stored->offset);
    return pfd_code_walk_part(range, path,
                              pfd_byte_reader_sub(&c, (size_t)stored->n),
                              stored->offset, true);
}

/* "(program:architecture)" */
static char *path_of(const struct pfd_code_range *range, const char *program,
                     size_t n_program, const char *target, size_t n_target)
{
    struct pfd_text text = { 0 };
    pfd_text_add(&text, program, n_program);
    pfd_text_puts(&text, ":");
    pfd_text_add(&text, target, n_target);
    char *ret =
        text.failed ? NULL : pfd_code_path(range, "(", text.data, text.n, ")");
    pfd_text_free(&text);
    return ret;
}

/* The code of one program: a map by architecture. */
static enum pfd_status walk_program(struct kpack *k, struct pfd_byte_reader *c,
                                    const char *name, size_t n_name)
{
    enum pfd_status status = PFD_OK;
    uint64_t n = 0;
    k->is_broken = !read_map(c, &n);
    for (; n > 0 && !k->is_broken && status == PFD_OK; n--) {
        uint64_t ordinal = UINT64_MAX;
        uint64_t n_out = 0;
        size_t n_target = 0;
        const struct number numbers[] = {
            { "ordinal", &ordinal },
            { "original_size", &n_out },
        };
        const char *target = pfd_msgpack_read_bytes(c, &n_target);
        k->is_broken = !target || !read_numbers(c, numbers, 2);
        if (k->is_broken ||
            !pfd_code_spend(k->range, ENTRY_COST + n_name + n_target))
            break;
        status = walk_stored(k, ordinal, n_out,
                             path_of(k->range, name, n_name, target, n_target));
    }
    return status;
}

static enum pfd_status walk_toc(struct kpack *k)
{
    enum pfd_status status = PFD_OK;
    struct pfd_byte_reader c = k->toc;
    uint64_t n = 0;
    k->is_broken = !k->toc.n || !read_map(&c, &n);
    for (; n > 0 && !k->is_broken && !k->range->walk->exhausted &&
           status == PFD_OK;
         n--) {
        size_t n_name = 0;
        const char *name = pfd_msgpack_read_bytes(&c, &n_name);
        k->is_broken = !name;
        if (name)
            status = walk_program(k, &c, name, n_name);
    }
    return status;
}

enum pfd_status pfd_code_walk_kpack(const struct pfd_code_range *range)
{
    struct kpack k = { .range = range };
    struct pfd_byte_reader c = range->bytes;
    enum pfd_status status = PFD_OK;
    pfd_byte_reader_skip(&c, 4);
    uint32_t version = pfd_byte_reader_u32(&c);
    uint64_t table = pfd_byte_reader_u64(&c);
    pfd_byte_reader_seek(&c, table);
    if (version != VERSION) {
        pfd_report_add(range->report, PFD_FINDING_version, 4,
                       "a kpack archive of version %u: %d is read", version,
                       VERSION);
        return PFD_OK;
    }
    bool ok = pfd_byte_reader_ok(&c) && read_table(&k, &c);
    if (k.stored.failed) {
        status = pfd_fail(range->walk->err, PFD_ERR_NOMEM, PFD_NO_OFFSET,
                          "out of memory");
    }
    if (ok && status == PFD_OK)
        status = walk_toc(&k);
    if (status == PFD_OK && (!ok || k.is_broken)) {
        pfd_report_add(range->report, PFD_FINDING_bad_bundle, TABLE_AT,
                       "the table of the kpack archive, at %llu, is cut or "
                       "broken: what it names further is not read",
                       (unsigned long long)table);
    }
    pfd_text_free(&k.stored);
    return status;
}

/* ---- the section of a program that names archives ---- */

static bool is_text(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && !memcmp(text, word, n);
}

bool pfd_kpack_is_ref(const struct pfd_section *section)
{
    return is_text(section->name, section->n_name, ".rocm_kpack_ref");
}

struct pfd_kpack_names pfd_kpack_names(const struct pfd_section *section)
{
    struct pfd_kpack_names ret = { section->bytes, 0 };
    bool is_it = false;
    for (uint64_t left = 1; left > 0 && !ret.left; left--) {
        struct pfd_msgpack object = pfd_msgpack_read(&ret.c);
        if (object.kind == PFD_MSGPACK_BAD ||
            object.n_follow > pfd_byte_reader_left(&ret.c))
            break;
        if (object.kind == PFD_MSGPACK_ITEMS) {
            ret.left = is_it && !object.is_map ? object.n_follow : 0;
            left += object.n_follow;
            is_it = false;
            continue;
        }
        const uint8_t *text =
            pfd_byte_reader_bytes(&ret.c, (size_t)object.n_follow);
        is_it = object.kind == PFD_MSGPACK_BYTES &&
                is_text((const char *)text, (size_t)object.n_follow,
                        "kpack_search_paths");
    }
    return ret;
}

const char *pfd_kpack_next_name(struct pfd_kpack_names *names, size_t *n)
{
    if (!names->left)
        return NULL;
    names->left--;
    return pfd_msgpack_read_bytes(&names->c, n);
}
