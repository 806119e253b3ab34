/* SPDX-License-Identifier: MIT */
/* Walks a file's containers of all kinds. */
#include "core/objects/archive.h"
#include "core/objects/code_walk.h"
#include "core/objects/driver_cache.h"
#include "core/objects/elf_image.h"

enum {
    WORK_SPARE = 1 << 20, /* work that a small file may cost as well */
};

/* -- ar archives: "archive(member)" -- */

static enum pfd_status walk_member(void *user, const struct pfd_member *member)
{
    const struct pfd_code_range *range = user;
    if (pfd_code_kind_of(member->bytes) == PFD_CODE_NONE)
        return PFD_OK;
    return pfd_code_walk_part(
        range, pfd_code_path(range, "(", member->name, member->n_name, ")"),
        member->bytes, member->offset, false);
}

static enum pfd_status walk_archive(const struct pfd_code_range *range)
{
    /* fn's user is not const, but not changed. */
    struct pfd_code_range copy = *range;
    return pfd_archive_members(range->bytes.base, range->bytes.n, walk_member,
                               &copy, range->report, range->walk->err);
}

/* -- Caches: "cache(entry)" -- */

/* The entries of a cache while it is walked. */
struct cache {
    const struct pfd_code_range *range;
    uint64_t n_entries;
    uint64_t n_opaque; /* entries without visible code */
};

/* Finds the code in an entry, perhaps behind a header of its own: an ELF file
 * of AMD or an archive. False: there is none from `at` on. */
static bool find_code(struct pfd_byte_reader whole, size_t at,
                      struct pfd_byte_reader *ret)
{
    for (; at < whole.n; at++) {
        const uint8_t *p = whole.base + at;
        if (*p != 0x7f && *p != '!')
            continue;
        *ret = pfd_byte_reader(p, whole.n - at);
        if (pfd_code_is_amd(*ret) ||
            pfd_code_is_archive(pfd_code_kind_of(*ret)))
            return true;
    }
    return false;
}

static enum pfd_status walk_cache_entry(void *user,
                                        const struct pfd_member *member)
{
    struct cache *cache = user;
    const struct pfd_code_range *range = cache->range;
    enum pfd_status status = PFD_OK;
    struct pfd_byte_reader code;
    size_t at = 0;
    /* Every entry is searched, and they may overlap. */
    if (!pfd_code_spend(range, member->bytes.n))
        return PFD_OK;
    cache->n_entries++;
    cache->n_opaque += !find_code(member->bytes, 0, &code);
    while (status == PFD_OK && find_code(member->bytes, at, &code)) {
        size_t start = (size_t)(code.base - member->bytes.base);
        size_t n =
            pfd_code_is_amd(code) ? pfd_image_size(code.base, code.n) : code.n;
        code.n = n;
        at = start + n;
        status = pfd_code_walk_part(
            range, pfd_code_path(range, "(", member->name, member->n_name, ")"),
            code, member->offset + start, false);
    }
    return status;
}

static enum pfd_status walk_cache(const struct pfd_code_range *range)
{
    struct cache cache = { .range = range };
    enum pfd_status status =
        pfd_cache_members(range->bytes.base, range->bytes.n, walk_cache_entry,
                          &cache, range->report, range->walk->err);
    if (status == PFD_OK && cache.n_opaque > 0) {
        pfd_report_add(range->report, PFD_FINDING_not_read, PFD_NO_OFFSET,
                       "%llu of the cache's %llu entries hold no code object "
                       "that is stored as it is (they may be compressed): not "
                       "read",
                       (unsigned long long)cache.n_opaque,
                       (unsigned long long)cache.n_entries);
    }
    return status;
}

/* -- All kinds -- */

static enum pfd_status walk_kind(const struct pfd_code_range *range,
                                 enum pfd_code_kind kind)
{
    switch (kind) {
    case PFD_CODE_ELF:
        return pfd_code_walk_elf(range);
    case PFD_CODE_SPIRV:
        return pfd_code_emit(range, PFD_PIECE_SPIRV, true);
    case PFD_CODE_BITCODE:
        return pfd_code_emit(range, PFD_PIECE_BITCODE, range->is_code);
    case PFD_CODE_ARCHIVE:
    case PFD_CODE_THIN_ARCHIVE:
        return walk_archive(range);
    case PFD_CODE_BUNDLE:
    case PFD_CODE_COMPRESSED:
    case PFD_CODE_BINARY:
    case PFD_CODE_FATBIN:
        return pfd_code_walk_blobs(range);
    case PFD_CODE_PAL_ARCHIVE:
    case PFD_CODE_PIPELINES:
        return walk_cache(range);
    case PFD_CODE_COFF:
        return pfd_code_walk_coff(range);
    case PFD_CODE_KPACK:
        return pfd_code_walk_kpack(range);
    case PFD_CODE_NONE:
        break;
    }
    return PFD_OK;
}

/* Walks a file from its start where that is a container's, then, where what
 * was seen is wanted, searches the rest. */
static enum pfd_status walk_file(const void *bytes, size_t n,
                                 uint64_t max_inflated, pfd_piece_fn fn,
                                 void *user, struct pfd_report *report,
                                 struct pfd_error *err, struct pfd_ranges *seen)
{
    uint64_t compressed_left = n;
    uint64_t most = max_inflated ? max_inflated : PFD_INFLATED_MAX;
    uint64_t in_all = PFD_CODE_INFLATED_FACTOR * (uint64_t)n;
    struct pfd_code_walk walk = {
        .fn = fn,
        .user = user,
        .max_inflated = most,
        .inflated_left =
            in_all + (most < UINT64_MAX - in_all ? most : UINT64_MAX - in_all),
        .work_left = PFD_CODE_WORK_FACTOR * (uint64_t)n + WORK_SPARE,
        .n_charged = report->n,
        .walk_kind = walk_kind,
        .seen = seen,
        .err = err,
    };
    const struct pfd_code_range range = {
        .walk = &walk,
        .path = report->source,
        .bytes = pfd_byte_reader(bytes, n),
        .compressed_left = &compressed_left,
        .report = report,
    };
    enum pfd_status status = PFD_OK;
    if (pfd_container_recognise(bytes, n))
        status = pfd_code_walk_range(&range);
    if (status != PFD_OK || !seen)
        return status;
    walk.seen = NULL;
    pfd_ranges_settle(seen);
    return seen->failed
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : pfd_code_search(&range, seen);
}

enum pfd_status pfd_container_walk(const void *bytes, size_t n,
                                   uint64_t max_inflated, pfd_piece_fn fn,
                                   void *user, struct pfd_report *report,
                                   struct pfd_error *err)
{
    if (!pfd_container_recognise(bytes, n)) {
        return pfd_fail(
            err, PFD_ERR_UNSUPPORTED, 0,
            "no code objects: neither ELF nor SPIR-V, and no archive, bundle or cache of them");
    }
    return walk_file(bytes, n, max_inflated, fn, user, report, err, NULL);
}

enum pfd_status pfd_container_search(const void *bytes, size_t n,
                                     uint64_t max_inflated, pfd_piece_fn fn,
                                     void *user, struct pfd_report *report,
                                     struct pfd_error *err)
{
    struct pfd_ranges seen = { 0 };
    enum pfd_status status =
        walk_file(bytes, n, max_inflated, fn, user, report, err, &seen);
    pfd_ranges_free(&seen);
    return status;
}
