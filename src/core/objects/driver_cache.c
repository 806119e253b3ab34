/* SPDX-License-Identifier: MIT */
/*
 * PAL's archive files: inc/util/palArchiveFileFmt.h of PAL 042362399cda, whose
 * structs are packed. The header names the first block; each block is an entry,
 * which names the next one, or the footer. Version 2 is version 1 with 64 bits
 * for places, sizes and counts (PAL_64BIT_ARCHIVE_FILE_FMT).
 *
 * Pipeline caches: VkPipelineCacheHeaderVersionOne of the Vulkan specification,
 * then AMDVLK's own part (xgl e9782eb3, pipeline_binary_cache.cpp): a SHA-1 of
 * the rest, and entries of a 16-byte hash, their size and as many bytes.
 */
#include "core/objects/driver_cache.h"

#include <stdio.h>

#include "core/objects/code_kind.h"

enum {
    PAL_MAGIC_SIZE = 16,
    PAL_NARROW = 1, /* major versions */
    PAL_WIDE = 2,
    PAL_HEADER = 52, /* of version 1; 4 bytes more in version 2 */

    VULKAN_HEADER = 32,
    SHA1_SIZE = 20,
    HASH_SIZE = 16,
};

struct walk {
    struct pfd_byte_reader c;
    bool wide; /* of a PAL archive: numbers have 64 bits */
    pfd_member_fn fn;
    void *user;
    struct pfd_report *report;
};

static enum pfd_status give(struct walk *walk, const char *name, uint64_t at,
                            size_t n)
{
    struct pfd_byte_reader c = walk->c;
    c.failed = false;
    pfd_byte_reader_seek(&c, at);
    struct pfd_member member = {
        .name = name,
        .n_name = strlen(name),
        .offset = at,
        .bytes = pfd_byte_reader_sub(&c, n),
    };
    return n > 0 && pfd_byte_reader_ok(&c) ? walk->fn(walk->user, &member)
                                           : PFD_OK;
}

static enum pfd_status give_rest(struct walk *walk, size_t at)
{
    return give(walk, "rest", at, walk->c.n - at);
}

/* -- PAL's archive files -- */

struct pal_entry {
    uint64_t ordinal;
    uint64_t next;
    uint64_t size;
    uint64_t position;
};

static uint64_t read_number(struct pfd_byte_reader *c, bool wide)
{
    return wide ? pfd_byte_reader_u64(c) : pfd_byte_reader_u32(c);
}

/* The kind of a block: 1 an entry, 0 the footer, -1 neither. */
static int read_block(const struct walk *walk, uint64_t at,
                      struct pal_entry *ret)
{
    struct pfd_byte_reader c = walk->c;
    pfd_byte_reader_seek(&c, at);
    const uint8_t *marker = pfd_byte_reader_bytes(&c, 4);
    if (!marker)
        return -1;
    if (!memcmp(marker, "FOTR", 4))
        return 0;
    ret->ordinal = read_number(&c, walk->wide);
    ret->next = read_number(&c, walk->wide);
    ret->size = read_number(&c, walk->wide);
    ret->position = read_number(&c, walk->wide);
    pfd_byte_reader_skip(&c, 8 + 4 + 20); /* checksum, type, key */
    read_number(&c, walk->wide);          /* a value of the writer */
    return pfd_byte_reader_ok(&c) && !memcmp(marker, "NTRY", 4) ? 1 : -1;
}

static enum pfd_status walk_entry(struct walk *walk, uint64_t at,
                                  const struct pal_entry *entry)
{
    char name[24];
    size_t left =
        entry->position < walk->c.n ? walk->c.n - (size_t)entry->position : 0;
    uint64_t n = entry->size;
    if (n > left) {
        pfd_report_add(walk->report, PFD_FINDING_bad_archive, at,
                       "entry %llu of the PAL archive is %llu bytes at %llu, "
                       "and the file ends at %zu",
                       (unsigned long long)entry->ordinal,
                       (unsigned long long)entry->size,
                       (unsigned long long)entry->position, walk->c.n);
        n = left;
    }
    snprintf(name, sizeof name, "%llu", (unsigned long long)entry->ordinal);
    return give(walk, name, entry->position, (size_t)n);
}

static enum pfd_status walk_blocks(struct walk *walk, uint64_t at)
{
    struct pal_entry entry = { 0 };
    enum pfd_status status = PFD_OK;
    int what = 1;
    while (status == PFD_OK && what > 0) {
        what = read_block(walk, at, &entry);
        if (what < 0) {
            pfd_report_add(walk->report, PFD_FINDING_bad_archive, at,
                           "neither an entry nor the end of the PAL archive: "
                           "no further entries are read");
        } else if (what > 0) {
            status = walk_entry(walk, at, &entry);
            /* Blocks only go forward: a link back is a loop. */
            if (entry.next <= at) {
                pfd_report_add(walk->report, PFD_FINDING_bad_archive, at,
                               "the block after this one of the PAL archive "
                               "is said to be at %llu: no further entries are "
                               "read",
                               (unsigned long long)entry.next);
                what = 0;
            }
            at = entry.next;
        }
    }
    return status;
}

static enum pfd_status walk_pal(struct walk *walk)
{
    struct pfd_byte_reader c = walk->c;
    pfd_byte_reader_skip(&c, PAL_MAGIC_SIZE);
    uint32_t major = pfd_byte_reader_u32(&c);
    uint32_t minor = pfd_byte_reader_u32(&c);
    walk->wide = major == PAL_WIDE;
    uint64_t first = read_number(&c, walk->wide);
    if (!pfd_byte_reader_ok(&c)) {
        pfd_report_add(walk->report, PFD_FINDING_bad_archive, 0,
                       "a PAL archive of %zu bytes is shorter than its header "
                       "of %d bytes",
                       walk->c.n, PAL_HEADER);
        return PFD_OK;
    }
    if (major == PAL_NARROW || major == PAL_WIDE)
        return walk_blocks(walk, first);
    pfd_report_add(walk->report, PFD_FINDING_not_read, PAL_MAGIC_SIZE,
                   "a PAL archive of version %u.%u, versions %d and %d are "
                   "read: searched for code objects",
                   major, minor, PAL_NARROW, PAL_WIDE);
    return give_rest(walk, walk->c.n < PAL_HEADER ? walk->c.n : PAL_HEADER);
}

/* -- Pipeline caches -- */

static enum pfd_status walk_pipelines(struct walk *walk)
{
    enum pfd_status status = PFD_OK;
    struct pfd_byte_reader c = walk->c;
    pfd_byte_reader_skip(&c, VULKAN_HEADER + SHA1_SIZE);
    while (status == PFD_OK && pfd_byte_reader_ok(&c) &&
           pfd_byte_reader_left(&c) > 0) {
        char name[2 * HASH_SIZE + 1];
        size_t at = c.at;
        const uint8_t *hash = pfd_byte_reader_bytes(&c, HASH_SIZE);
        uint64_t size = pfd_byte_reader_u64(&c);
        size_t left = pfd_byte_reader_left(&c);
        if (!hash || !pfd_byte_reader_ok(&c) || size > left) {
            pfd_report_add(walk->report, PFD_FINDING_bad_archive, at,
                           "an entry of %llu bytes in a pipeline cache that "
                           "has %zu left: the rest is searched for code "
                           "objects",
                           (unsigned long long)size, left);
            return give_rest(walk, at);
        }
        for (int i = 0; i < HASH_SIZE; i++)
            snprintf(name + 2 * i, 3, "%02x", hash[i]);
        status = give(walk, name, c.at, (size_t)size);
        pfd_byte_reader_skip(&c, (size_t)size);
    }
    if (!pfd_byte_reader_ok(&c)) {
        pfd_report_add(walk->report, PFD_FINDING_bad_archive, 0,
                       "a pipeline cache of %zu bytes ends within its header",
                       walk->c.n);
    }
    return status;
}

enum pfd_status pfd_cache_members(const void *bytes, size_t n, pfd_member_fn fn,
                                  void *user, struct pfd_report *report,
                                  struct pfd_error *err)
{
    struct walk walk = {
        .c = pfd_byte_reader(bytes, n),
        .fn = fn,
        .user = user,
        .report = report,
    };
    enum pfd_code_kind kind = pfd_code_kind_of(walk.c);
    if (kind == PFD_CODE_PAL_ARCHIVE)
        return walk_pal(&walk);
    if (kind == PFD_CODE_PIPELINES)
        return walk_pipelines(&walk);
    return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0,
                    "neither a PAL archive nor a pipeline cache");
}
