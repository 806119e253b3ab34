/* SPDX-License-Identifier: MIT */
/*
 * LLVM offload binaries: llvm/include/llvm/Object/OffloadBinary.h.
 *
 *   header   10 ff 10 ad, u32 version, u64 size, u64 offset of the entries,
 *            u64 their number (version 1: size of the one entry);
 *            version 3: u64 size before it was compressed, 0: it was not
 *   entry    u16 image kind, u16 offload kind, u32 flags, u64 offset of its
 *            strings, u64 their number, u64 offset of the image, u64 its size
 *   string   u64 offset of the key, u64 of the value, both ended by a NUL;
 *            from version 2 on u64 size of the value
 *
 * Offsets count from the start of the binary. In a compressed one everything
 * from the entries on is compressed, and offsets are those before compression.
 */
#include <stdio.h>

#include "core/objects/offload_bundle.h"

enum {
    ENTRY_SIZE = 40,
    HEADER_V1 = 32,
    HEADER_V3 = 40,
    STRINGS_MAX = 16, /* an entry has "triple", "arch" and a few more */
    VALUE_MAX = 128,
    FINDINGS_MAX = 8,
    VERSION_MAX = 3,
    SIZE_AT = 8,
    INFLATED_AT = 32,
};

struct header {
    unsigned version;
    uint64_t size;
    uint64_t entries_at;
    uint64_t n_entries;
    uint64_t n_inflated;
};

static bool read_header(const void *bytes, size_t n, struct header *ret)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    pfd_byte_reader_skip(&c, 4);
    ret->version = pfd_byte_reader_u32(&c);
    ret->size = pfd_byte_reader_u64(&c);
    ret->entries_at = pfd_byte_reader_u64(&c);
    ret->n_entries = pfd_byte_reader_u64(&c);
    ret->n_inflated = ret->version >= 3 ? pfd_byte_reader_u64(&c) : 0;
    if (ret->version == 1)
        ret->n_entries = 1;
    return pfd_byte_reader_ok(&c) && ret->version >= 1 &&
           ret->version <= VERSION_MAX;
}

/* One binary while it is read. */
struct binary {
    struct pfd_byte_reader c;
    struct header header;
    uint64_t base;
    uint64_t n_bad;
    struct pfd_report *report;
};

/* Text up to a NUL or the end, at most max bytes, into ret [max + 1]. */
static void copy_text(struct pfd_byte_reader c, uint64_t at, uint64_t max,
                      char *ret)
{
    size_t n = 0;
    pfd_byte_reader_seek(&c, at);
    while (n < max && pfd_byte_reader_ok(&c) && pfd_byte_reader_left(&c) > 0) {
        char byte = (char)pfd_byte_reader_u8(&c);
        if (!byte)
            break;
        ret[n++] = byte;
    }
    ret[n] = '\0';
}

struct names {
    char triple[VALUE_MAX + 1];
    char arch[VALUE_MAX + 1];
};

static void read_strings(const struct binary *b, uint64_t at, uint64_t count,
                         struct names *ret)
{
    struct pfd_byte_reader c = b->c;
    *ret = (struct names){ 0 };
    pfd_byte_reader_seek(&c, at);
    for (uint64_t i = 0; i < count && i < STRINGS_MAX; i++) {
        char key[8];
        uint64_t key_at = pfd_byte_reader_u64(&c);
        uint64_t value_at = pfd_byte_reader_u64(&c);
        uint64_t n_value =
            b->header.version >= 2 ? pfd_byte_reader_u64(&c) : VALUE_MAX;
        if (!pfd_byte_reader_ok(&c))
            return;
        copy_text(b->c, key_at, sizeof key - 1, key);
        char *to = !strcmp(key, "triple") ? ret->triple
                   : !strcmp(key, "arch") ? ret->arch
                                          : NULL;
        if (to) {
            copy_text(b->c, value_at, n_value < VALUE_MAX ? n_value : VALUE_MAX,
                      to);
        }
    }
}

static const char *kind_name(unsigned offload_kind)
{
    switch (offload_kind) {
    case 1:
        return "openmp";
    case 2:
        return "cuda";
    case 3: /* until kinds became bits */
    case 4:
        return "hip";
    case 8:
        return "sycl";
    default:
        return "offload";
    }
}

static void bad_entry(struct binary *b, uint64_t at, uint64_t i,
                      const char *what, uint64_t offset, uint64_t size)
{
    if (b->n_bad++ < FINDINGS_MAX) {
        pfd_report_add(b->report, PFD_FINDING_bad_bundle, b->base + at,
                       "%s of entry %llu is %llu bytes at %llu, and the "
                       "offload binary ends at %zu",
                       what, (unsigned long long)i, (unsigned long long)size,
                       (unsigned long long)offset, b->c.n);
    }
}

static enum pfd_status read_entry(struct binary *b, uint64_t i, uint64_t at,
                                  pfd_blob_entry_fn fn, void *user)
{
    char id[2 * VALUE_MAX + 16];
    struct names names;
    struct pfd_byte_reader c = b->c;
    c.at = (size_t)at;
    pfd_byte_reader_skip(&c, 2);
    unsigned kind = pfd_byte_reader_u16(&c);
    pfd_byte_reader_skip(&c, 4);
    uint64_t strings_at = pfd_byte_reader_u64(&c);
    uint64_t n_strings = pfd_byte_reader_u64(&c);
    uint64_t image_at = pfd_byte_reader_u64(&c);
    uint64_t n_image = pfd_byte_reader_u64(&c);
    /* Not before its entry: an image that holds itself would never end. */
    uint64_t left = image_at > at && image_at < b->c.n ? b->c.n - image_at : 0;
    if (n_image > left) {
        bad_entry(b, at, i, "the image", image_at, n_image);
        n_image = left;
    }
    if (n_image == 0)
        return PFD_OK;
    if (strings_at > b->c.n || n_strings > (b->c.n - strings_at) / 16)
        bad_entry(b, at, i, "the string table", strings_at, n_strings);
    read_strings(b, strings_at, n_strings, &names);
    struct pfd_blob_entry entry = { .id = id, .offset = image_at };
    int n = snprintf(id, sizeof id, "%s-%s%s%s", kind_name(kind), names.triple,
                     names.arch[0] ? "--" : "", names.arch);
    entry.n_id = n > 0 ? strlen(id) : 0;
    c.at = (size_t)image_at;
    entry.bytes = pfd_byte_reader_sub(&c, (size_t)n_image);
    return fn(user, &entry);
}

enum pfd_status pfd_binary_entries(const void *bytes, size_t n,
                                   pfd_blob_entry_fn fn, void *user,
                                   size_t *n_used, uint64_t base,
                                   struct pfd_report *report)
{
    struct binary b = { .base = base, .report = report };
    struct header *h = &b.header;
    enum pfd_status status = PFD_OK;
    *n_used = 0;
    if (!read_header(bytes, n, h)) {
        pfd_report_add(report, PFD_FINDING_bad_bundle, base,
                       "an offload binary of version %u and %zu bytes: "
                       "versions 1 to %d are read",
                       h->version, n, VERSION_MAX);
        return PFD_OK;
    }
    if (h->size < HEADER_V1 || h->size > n) {
        pfd_report_add(report, PFD_FINDING_bad_bundle, base + SIZE_AT,
                       "an offload binary of %llu bytes in a file that has "
                       "%zu: read as far as there is",
                       (unsigned long long)h->size, n);
    } else {
        *n_used = n = (size_t)h->size;
    }
    b.c = pfd_byte_reader(bytes, n);
    uint64_t room = h->entries_at < n ? (n - h->entries_at) / ENTRY_SIZE : 0;
    if (h->n_entries > room) {
        pfd_report_add(report, PFD_FINDING_bad_bundle, base + SIZE_AT + 8,
                       "the offload binary has %llu entries at %llu, and room "
                       "for %llu",
                       (unsigned long long)h->n_entries,
                       (unsigned long long)h->entries_at,
                       (unsigned long long)room);
        h->n_entries = room;
    }
    for (uint64_t i = 0; i < h->n_entries && status == PFD_OK; i++)
        status = read_entry(&b, i, h->entries_at + i * ENTRY_SIZE, fn, user);
    return status;
}

bool pfd_binary_compressed(const void *bytes, size_t n,
                           struct pfd_compressed *ret)
{
    struct header h;
    struct pfd_byte_reader c;
    if (!read_header(bytes, n, &h) || h.n_inflated == 0 ||
        h.entries_at < HEADER_V3 || h.entries_at > n ||
        h.n_inflated < h.entries_at)
        return false;
    size_t n_total = h.size >= h.entries_at && h.size <= n ? (size_t)h.size : 0;
    c = pfd_byte_reader(bytes, n_total ? n_total : n);
    c.at = (size_t)h.entries_at;
    struct pfd_byte_reader data =
        pfd_byte_reader_sub(&c, pfd_byte_reader_left(&c));
    *ret = (struct pfd_compressed){
        .method = pfd_compression_of(data.base, data.n),
        .data = data,
        .n_header = (size_t)h.entries_at,
        .n_out = h.n_inflated - h.entries_at,
        .n_kept = (size_t)h.entries_at,
        .n_total = n_total,
    };
    return true;
}

void pfd_binary_inflated(uint8_t *bytes, size_t n)
{
    uint64_t size = n;
    uint64_t none = 0;
    memcpy(bytes + SIZE_AT, &size, sizeof size);
    memcpy(bytes + INFLATED_AT, &none, sizeof none);
}
