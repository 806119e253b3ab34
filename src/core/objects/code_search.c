/* SPDX-License-Identifier: MIT */
/* Code anywhere in a file of another kind: "file+0x50". */
#include <stdio.h>

#include "core/objects/code_walk.h"
#include "core/objects/elf_image.h"

/* The next ELF file of AMD from an offset on; the number of bytes: none. */
static size_t find_elf(struct pfd_byte_reader c, size_t at)
{
    while (at < c.n) {
        const uint8_t *p = memchr(c.base + at, 0x7f, c.n - at);
        if (!p)
            break;
        at = (size_t)(p - c.base);
        if (pfd_code_is_amd(pfd_byte_reader(p, c.n - at)))
            return at;
        at++;
    }
    return c.n;
}

/* The text that a bundle begins with is in tools that make some, too. */
static bool has_entries(struct pfd_byte_reader c, size_t at)
{
    enum {
        MAGIC = 24,
        ENTRIES_MAX = 4096
    };
    if (pfd_code_kind_of(pfd_byte_reader(c.base + at, c.n - at)) !=
        PFD_CODE_BUNDLE)
        return true;
    uint64_t n =
        c.n - at < MAGIC + 8 ? 0 : pfd_byte_reader_peek_u64(&c, at + MAGIC);
    return n > 0 && n <= ENTRIES_MAX;
}

static size_t find_bundle(struct pfd_byte_reader c)
{
    size_t at = pfd_blob_find(c.base, c.n, 0);
    while (at < c.n && !has_entries(c, at))
        at = pfd_blob_find(c.base, c.n, at + 1);
    return at;
}

size_t pfd_container_find(const void *bytes, size_t n)
{
    size_t elf = find_elf(pfd_byte_reader(bytes, n), 0);
    size_t bundle = find_bundle(pfd_byte_reader(bytes, elf));
    return elf < bundle ? elf : bundle;
}

/* Walks an ELF file in the range; *end: its end. */
static enum pfd_status walk_elf_at(const struct pfd_code_range *range,
                                   size_t at, size_t *end)
{
    char name[24];
    struct pfd_byte_reader c = range->bytes;
    int n_name = snprintf(name, sizeof name, "+0x%zx", at);
    size_t n = pfd_image_size(c.base + at, c.n - at);
    c.at = at;
    *end = at + n;
    return pfd_code_walk_part(
        range, pfd_code_path(range, "", name, (size_t)n_name, ""),
        pfd_byte_reader_sub(&c, n), at, true);
}

/* The end of the range seen at an offset; the offset itself: none was. */
static size_t skip_seen(const struct pfd_ranges *seen, size_t at)
{
    size_t i = pfd_range_find(seen->at, seen->n, at);
    return i < seen->n && seen->at[i].from <= at ? (size_t)seen->at[i].to : at;
}

enum pfd_status pfd_code_search(const struct pfd_code_range *range,
                                const struct pfd_ranges *seen)
{
    struct pfd_byte_reader c = range->bytes;
    struct pfd_code_blob blob = { .range = range };
    enum pfd_status status = PFD_OK;
    size_t elf = find_elf(c, 0);
    size_t bundle = pfd_blob_find(c.base, c.n, 0);
    while (status == PFD_OK && (elf < c.n || bundle < c.n)) {
        size_t at = elf < bundle ? elf : bundle;
        size_t end = skip_seen(seen, at);
        if (!pfd_code_spend(range, 1))
            break;
        if (end > at) {
            /* walked already */
        } else if (elf < bundle) {
            status = walk_elf_at(range, elf, &end);
        } else {
            blob.at = bundle;
            blob.number++;
            status = pfd_code_walk_blob(&blob, &end);
            end = bundle + (end ? end : 4);
        }
        elf = elf < end ? find_elf(c, end) : elf;
        bundle = bundle < end ? pfd_blob_find(c.base, c.n, end) : bundle;
    }
    return status;
}
