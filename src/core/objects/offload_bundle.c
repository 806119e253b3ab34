/* SPDX-License-Identifier: MIT */
/*
 * Layouts: "ClangOffloadBundler" in clang's documentation, and LLVM's
 * clang/lib/Driver/OffloadBundler.cpp for the compressed header. All numbers
 * are little-endian.
 *
 * LLVM's reader searches the next bundle from the byte after a magic on, so a
 * magic within a code object leads it astray; here the bundle's own table
 * determines its end.
 */
#include "core/objects/offload_bundle.h"

#include "core/objects/code_kind.h"

enum {
    BUNDLE_MAGIC_SIZE = 24,
    MAGIC_SIZE = 4,     /* of the two others */
    ROW_SIZE = 24,      /* of the table, without the id */
    FINDINGS_MAX = 8,   /* one by one; the others are counted */
    COMPRESSED_MAX = 3, /* known versions */
};

/* Four bytes are quickly found by chance: a version has to follow them. */
static bool plausible(const uint8_t *p, size_t n)
{
    /* Where a search asks, the second byte tells nearly always. */
    if (n < 2 || (p[1] != p[0] && p[1] != 0xff && p[1] != 0xed))
        return false;
    enum pfd_code_kind kind = pfd_code_kind_of(pfd_byte_reader(p, n));
    if (kind == PFD_CODE_COMPRESSED) {
        return n >= 8 && p[4] >= 1 && p[4] <= COMPRESSED_MAX && p[5] == 0 &&
               p[6] <= 1 && p[7] == 0;
    }
    if (kind == PFD_CODE_BINARY)
        return n >= 8 && p[4] >= 1 && p[4] <= 3 && !p[5] && !p[6] && !p[7];
    return pfd_code_is_blob(kind);
}

size_t pfd_blob_find(const void *bytes, size_t n, size_t at)
{
    const uint8_t *p = bytes;
    for (; at < n; at++) {
        if ((p[at] == '_' || p[at] == 'C' || p[at] == 0x10 || p[at] == 0x50) &&
            plausible(p + at, n - at))
            return at;
    }
    return n;
}

/* One bundle while it is read. */
struct bundle {
    struct pfd_byte_reader c;
    uint64_t base;
    size_t end; /* of its table and its entries so far */
    uint64_t n_bad;
    struct pfd_report *report;
};

/* A row of the table; false when it does not fit. */
static bool read_row(struct pfd_byte_reader *c, struct pfd_blob_entry *ret,
                     uint64_t *size)
{
    ret->offset = pfd_byte_reader_u64(c);
    *size = pfd_byte_reader_u64(c);
    uint64_t n_id = pfd_byte_reader_u64(c);
    if (!pfd_byte_reader_ok(c) || n_id > pfd_byte_reader_left(c))
        return false;
    ret->n_id = (size_t)n_id;
    ret->id = (const char *)pfd_byte_reader_bytes(c, ret->n_id);
    ret->is_host = ret->n_id >= 4 && !memcmp(ret->id, "host", 4) &&
                   (ret->n_id == 4 || ret->id[4] == '-');
    return true;
}

/* Bounds an entry by the bundle; false: no bytes are left of it. */
static bool bound_entry(struct bundle *b, uint64_t i, uint64_t at,
                        size_t n_table, uint64_t size,
                        struct pfd_blob_entry *entry)
{
    struct pfd_quoted id;
    struct pfd_byte_reader c = b->c;
    if (size == 0)
        return false;
    /* An entry that holds its own bundle would never end. */
    if (entry->offset < n_table) {
        if (b->n_bad++ < FINDINGS_MAX) {
            pfd_report_add(b->report, PFD_FINDING_bad_bundle, at,
                           "entry %llu '%s' of the bundle is at %llu, within "
                           "the bundle's own table",
                           (unsigned long long)i,
                           pfd_quote(&id, entry->id, entry->n_id),
                           (unsigned long long)entry->offset);
        }
        return false;
    }
    size_t left = entry->offset < c.n ? c.n - (size_t)entry->offset : 0;
    if (size > left && b->n_bad++ < FINDINGS_MAX) {
        pfd_report_add(
            b->report, PFD_FINDING_bad_bundle, at,
            "entry %llu '%s' of the bundle is %llu bytes at %llu, "
            "and the bundle's file ends at %zu",
            (unsigned long long)i, pfd_quote(&id, entry->id, entry->n_id),
            (unsigned long long)size, (unsigned long long)entry->offset, c.n);
    }
    if (size > left)
        size = left;
    if (size == 0)
        return false;
    c.at = (size_t)entry->offset;
    entry->bytes = pfd_byte_reader_sub(&c, (size_t)size);
    if (c.at > b->end)
        b->end = c.at;
    return true;
}

static enum pfd_status walk_table(struct bundle *b, uint64_t count,
                                  pfd_blob_entry_fn fn, void *user)
{
    enum pfd_status status = PFD_OK;
    struct pfd_byte_reader c = b->c;
    pfd_byte_reader_seek(&c, BUNDLE_MAGIC_SIZE + 8);
    for (uint64_t i = 0; i < count && status == PFD_OK; i++) {
        struct pfd_blob_entry entry = { 0 };
        uint64_t size;
        size_t at = c.at;
        if (!read_row(&c, &entry, &size)) {
            pfd_report_add(b->report, PFD_FINDING_bad_bundle, b->base + at,
                           "the bundle's table of %llu entries ends within "
                           "entry %llu",
                           (unsigned long long)count, (unsigned long long)i);
            b->end = 0;
            break;
        }
        if (c.at > b->end)
            b->end = c.at;
        if (bound_entry(b, i, b->base + at, c.at, size, &entry))
            status = fn(user, &entry);
    }
    return status;
}

enum pfd_status pfd_bundle_entries(const void *bytes, size_t n,
                                   pfd_blob_entry_fn fn, void *user,
                                   size_t *n_used, uint64_t base,
                                   struct pfd_report *report)
{
    struct bundle b = {
        .c = pfd_byte_reader(bytes, n),
        .base = base,
        .report = report,
    };
    struct pfd_byte_reader c = b.c;
    *n_used = 0;
    pfd_byte_reader_skip(&c, BUNDLE_MAGIC_SIZE);
    uint64_t count = pfd_byte_reader_u64(&c);
    if (!pfd_byte_reader_ok(&c) ||
        count > pfd_byte_reader_left(&c) / ROW_SIZE) {
        pfd_report_add(report, PFD_FINDING_bad_bundle, base + BUNDLE_MAGIC_SIZE,
                       "the bundle has %llu entries in its table, for which "
                       "its %zu bytes are too few",
                       (unsigned long long)count, n);
        count = pfd_byte_reader_left(&c) / ROW_SIZE;
    }
    b.end = c.at;
    enum pfd_status status = walk_table(&b, count, fn, user);
    if (b.n_bad > FINDINGS_MAX) {
        pfd_report_add(report, PFD_FINDING_bad_bundle, base,
                       "%llu entries of the bundle are not where they can be",
                       (unsigned long long)b.n_bad);
    }
    *n_used = b.end;
    return status;
}

bool pfd_compressed_read(const void *bytes, size_t n,
                         struct pfd_compressed *ret, size_t *n_used,
                         uint64_t base, struct pfd_report *report)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    *n_used = 0;
    pfd_byte_reader_skip(&c, MAGIC_SIZE);
    unsigned version = pfd_byte_reader_u16(&c);
    unsigned method = pfd_byte_reader_u16(&c);
    uint64_t n_total = version == 2   ? pfd_byte_reader_u32(&c)
                       : version >= 3 ? pfd_byte_reader_u64(&c)
                                      : 0;
    uint64_t n_out =
        version >= 3 ? pfd_byte_reader_u64(&c) : pfd_byte_reader_u32(&c);
    uint64_t hash = pfd_byte_reader_u64(&c);
    if (!pfd_byte_reader_ok(&c) || version < 1 || version > COMPRESSED_MAX ||
        method > 1) {
        pfd_report_add(report, PFD_FINDING_bad_compressed, base,
                       "a compressed bundle of version %u, method %u and %zu "
                       "bytes: versions 1 to %d and methods 0 (zlib) and 1 "
                       "(zstd) are read",
                       version, method, n, COMPRESSED_MAX);
        return false;
    }
    size_t n_header = c.at;
    if (version >= 2 && (n_total < n_header || n_total > n)) {
        pfd_report_add(report, PFD_FINDING_bad_compressed, base + 8,
                       "a compressed bundle of %llu bytes, its header is %zu "
                       "and the file has %zu: read as far as there is",
                       (unsigned long long)n_total, n_header, n);
        n_total = 0;
    }
    size_t n_data = n_total ? (size_t)n_total - n_header : n - n_header;
    *n_used = (size_t)n_total;
    *ret = (struct pfd_compressed){
        .method = method == 1 ? PFD_COMPRESSION_ZSTD : PFD_COMPRESSION_ZLIB,
        .data = pfd_byte_reader_sub(&c, n_data),
        .n_header = n_header,
        .n_out = n_out,
        .n_total = (size_t)n_total,
        .has_hash = true,
        .hash = hash,
    };
    return true;
}
