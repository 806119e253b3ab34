/* SPDX-License-Identifier: MIT */
#include "core/objects/code_walk.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/inflate.h"
#include "core/base/md5.h"
#include "core/base/text.h"
#include "core/objects/nv_fatbin.h"

enum {
    /* A piece costs this plus its bytes, a finding about a container the same
     * constant. */
    WORK_PIECE = 1024,
    BROKEN_PART = 16,
    NAME_MAX_SHOWN = 1024, /* longer names of entries are cut */
    MAGIC_BYTES = 4,       /* of a blob, which identify it */
};

bool pfd_container_recognise(const void *bytes, size_t n)
{
    return pfd_code_kind_of(pfd_byte_reader(bytes, n)) != PFD_CODE_NONE;
}

/* -- Ranges within ranges -- */

static enum pfd_status no_memory(const struct pfd_code_walk *walk)
{
    return pfd_fail(walk->err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

/* The path of a part: that of the range, before, name and after; owned. */
char *pfd_code_path(const struct pfd_code_range *range, const char *before,
                    const char *name, size_t n_name, const char *after)
{
    struct pfd_text text = { 0 };
    pfd_text_puts(&text, range->path);
    pfd_text_puts(&text, before);
    size_t start = text.n;
    pfd_text_add(&text, name,
                 n_name < NAME_MAX_SHOWN ? n_name : NAME_MAX_SHOWN);
    pfd_text_puts(&text, after);
    pfd_text_add(&text, "", 1);
    if (text.failed) {
        pfd_text_free(&text);
        return NULL;
    }
    for (size_t i = start; i + 1 < text.n; i++) {
        if (!text.data[i])
            text.data[i] = '?';
    }
    return text.data;
}

bool pfd_code_spend(const struct pfd_code_range *range, uint64_t cost)
{
    struct pfd_code_walk *walk = range->walk;
    if (cost <= walk->work_left) {
        walk->work_left -= cost;
        return true;
    }
    if (!walk->exhausted) {
        pfd_report_add(range->report, PFD_FINDING_too_large, 0,
                       "the containers are broken in so many places, or "
                       "overlap each other so much, that no further ones are "
                       "read");
    }
    walk->exhausted = true;
    return false;
}

/* The table of a broken blob may be as long as the rest of the file: a fraction
 * is charged, so that a few broken ones are affordable. */
static bool afford_bytes(const struct pfd_code_range *range, size_t n)
{
    return pfd_code_spend(range, n / BROKEN_PART + 1);
}

/* False: this range exceeds a limit, and a finding has reported it. */
static bool afford(const struct pfd_code_range *range)
{
    struct pfd_code_walk *walk = range->walk;
    if (walk->depth >= PFD_CONTAINER_DEPTH) {
        pfd_report_add(range->report, PFD_FINDING_too_large, 0,
                       "containers within containers, deeper than %d levels: "
                       "not read",
                       PFD_CONTAINER_DEPTH);
        return false;
    }
    return pfd_code_spend(range, (uint64_t)range->bytes.n + WORK_PIECE);
}

static void pay_findings(const struct pfd_code_range *range)
{
    struct pfd_code_walk *walk = range->walk;
    uint64_t cost = (range->report->n - walk->n_charged) * WORK_PIECE;
    walk->work_left -= cost < walk->work_left ? cost : walk->work_left;
    walk->n_charged = range->report->n;
}

enum pfd_status pfd_code_walk_range(const struct pfd_code_range *range)
{
    if (!afford(range))
        return PFD_OK;
    range->walk->depth++;
    enum pfd_status status =
        range->walk->walk_kind(range, pfd_code_kind_of(range->bytes));
    range->walk->depth--;
    pay_findings(range);
    return status;
}

/* Walks a part of a range. Takes over the path. Findings name source, or the
 * path. */
static enum pfd_status walk_as(const struct pfd_code_range *outer, char *path,
                               const char *source, struct pfd_byte_reader bytes,
                               uint64_t offset, bool is_code)
{
    if (!path)
        return no_memory(outer->walk);
    struct pfd_report report = *outer->report;
    struct pfd_code_range inner = {
        .walk = outer->walk,
        .path = path,
        .bytes = pfd_byte_reader(bytes.base, bytes.n),
        .offset = outer->offset == PFD_NO_OFFSET ? PFD_NO_OFFSET
                                                 : outer->offset + offset,
        .compressed_left = outer->compressed_left,
        .is_code = is_code,
        .report = &report,
    };
    report.source = source ? source : path;
    enum pfd_status status = pfd_code_walk_range(&inner);
    outer->report->n = report.n;
    free(path);
    return status;
}

void pfd_code_see(const struct pfd_code_range *range, uint64_t at, size_t n)
{
    struct pfd_ranges *seen = range->walk->seen;
    if (seen && range->offset != PFD_NO_OFFSET) {
        pfd_ranges_add(seen, range->offset + at, range->offset + at + n);
    }
}

/* Behind a code object there may be another. */
void pfd_code_see_piece(const struct pfd_code_range *range,
                        enum pfd_piece_kind kind)
{
    const struct pfd_byte_reader *c = &range->bytes;
    if (kind != PFD_PIECE_ELF) {
        pfd_code_see(range, 0, c->n);
    } else if (pfd_code_is_amd(*c)) {
        pfd_code_see(range, 0, pfd_image_size(c->base, c->n));
    }
}

enum pfd_status pfd_code_walk_part(const struct pfd_code_range *outer,
                                   char *path, struct pfd_byte_reader bytes,
                                   uint64_t offset, bool is_code)
{
    return walk_as(outer, path, NULL, bytes, offset, is_code);
}

/* -- Pieces -- */

enum pfd_status pfd_code_emit(const struct pfd_code_range *range,
                              enum pfd_piece_kind kind, bool is_code)
{
    struct pfd_code_piece piece = {
        .kind = kind,
        .path = range->path,
        .bytes = range->bytes,
        .offset = range->offset,
        .is_code = is_code,
    };
    struct pfd_code_walk *walk = range->walk;
    pay_findings(range);
    pfd_code_see_piece(range, kind);
    enum pfd_status status = walk->fn(walk->user, &piece, range->report);
    /* Findings within a piece are free. */
    walk->n_charged = range->report->n;
    return status;
}

/* -- Bundles: "range:id", from the second one of a range on "range#2:id" -- */

static enum pfd_status walk_entry(void *user,
                                  const struct pfd_blob_entry *entry)
{
    const struct pfd_code_blob *blob = user;
    char before[24] = ":";
    if (blob->number > 1)
        snprintf(before, sizeof before, "#%u:", blob->number);
    return pfd_code_walk_part(
        blob->range,
        pfd_code_path(blob->range, before, entry->id, entry->n_id, ""),
        entry->bytes, blob->at + entry->offset, !entry->is_host);
}

static bool may_inflate(const struct pfd_code_blob *blob,
                        const struct pfd_compressed *head)
{
    struct pfd_code_walk *walk = blob->range->walk;
    uint64_t n = head->n_out;
    if (n > walk->max_inflated || n > UINT64_MAX - head->n_kept) {
        pfd_report_add(blob->range->report, PFD_FINDING_too_large, blob->at,
                       "a compressed bundle says that it inflates to %llu "
                       "bytes, and the limit is %llu: not inflated "
                       "(--max-inflated %llu would do)",
                       (unsigned long long)n,
                       (unsigned long long)walk->max_inflated,
                       (unsigned long long)n);
        return false;
    }
    if (n > walk->inflated_left) {
        pfd_report_add(blob->range->report, PFD_FINDING_too_large, blob->at,
                       "the compressed bundles inflate to more than %d times "
                       "the file's size: no further ones are inflated",
                       PFD_CODE_INFLATED_FACTOR);
        return false;
    }
    walk->inflated_left -= n;
    return true;
}

static void check_hash(const struct pfd_code_blob *blob,
                       const struct pfd_compressed *head, const uint8_t *bytes,
                       size_t n)
{
    uint64_t hash = head->has_hash ? pfd_md5_u64(bytes, n) : 0;
    if (head->has_hash && hash != head->hash) {
        pfd_report_add(blob->range->report, PFD_FINDING_hash_mismatch, blob->at,
                       "the compressed bundle should have the MD5 "
                       "%016llx, and what it inflates to has %016llx",
                       (unsigned long long)head->hash,
                       (unsigned long long)hash);
    }
}

/* Inflated bytes add to the budget like a file of their size, but only once for
 * the same compressed bytes. */
static void add_budget(const struct pfd_code_range *range, size_t n_compressed,
                       size_t n)
{
    if (n_compressed > *range->compressed_left)
        return;
    *range->compressed_left -= n_compressed;
    range->walk->work_left += PFD_CODE_WORK_FACTOR * (uint64_t)n;
}

/* Walks inflated bytes, which have no offset in the file. */
static enum pfd_status walk_inflated(const struct pfd_code_blob *blob,
                                     uint8_t *bytes, size_t n)
{
    struct pfd_code_range outer = *blob->range;
    uint64_t compressed_left = n;
    char after[24] = "";
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    outer.offset = PFD_NO_OFFSET;
    outer.compressed_left = &compressed_left;
    if (pfd_code_kind_of(c) == PFD_CODE_NONE) {
        pfd_report_add(outer.report, PFD_FINDING_bad_compressed, blob->at,
                       "what the bundle inflates to, %zu bytes, is neither a "
                       "bundle nor a code object",
                       n);
        return PFD_OK;
    }
    if (blob->number > 1)
        snprintf(after, sizeof after, "#%u", blob->number);
    char *source =
        pfd_code_path(&outer, "", after, strlen(after), " (inflated)");
    if (!source)
        return no_memory(outer.walk);
    enum pfd_status status =
        walk_as(&outer, pfd_code_path(&outer, "", "", 0, after), source, c, 0,
                outer.is_code);
    free(source);
    return status;
}

enum pfd_status pfd_code_walk_copy(
    const struct pfd_code_range *range, const uint8_t *bytes, size_t n,
    size_t n_compressed,
    enum pfd_status (*fn)(const struct pfd_code_range *range))
{
    struct pfd_code_walk *walk = range->walk;
    struct pfd_report report = *range->report;
    struct pfd_code_range copy = *range;
    uint64_t compressed_left = n;
    uint64_t most = walk->max_inflated;
    char *source = pfd_code_path(range, "", "", 0, " (inflated)");
    if (!source)
        return no_memory(walk);
    uint64_t n_more = n > range->bytes.n ? n - range->bytes.n : 0;
    add_budget(range, n_compressed, (size_t)n_more);
    walk->inflated_left -=
        n_more < walk->inflated_left ? n_more : walk->inflated_left;
    walk->max_inflated -= n_more < most ? n_more : most;
    report.source = source;
    copy.bytes = pfd_byte_reader(bytes, n);
    copy.offset = PFD_NO_OFFSET;
    copy.compressed_left = &compressed_left;
    copy.report = &report;
    enum pfd_status status = fn(&copy);
    range->report->n = report.n;
    walk->max_inflated = most;
    free(source);
    return status;
}

enum pfd_status pfd_code_walk_compressed(const struct pfd_code_blob *blob,
                                         const struct pfd_compressed *head,
                                         size_t *n_used)
{
    struct pfd_code_walk *walk = blob->range->walk;
    struct pfd_error problem;
    uint8_t *bytes;
    size_t n;
    size_t n_read;
    uint64_t n_before = walk->max_inflated;
    if (!may_inflate(blob, head))
        return PFD_OK;
    enum pfd_status status =
        pfd_inflate(head->method, head->data, head->n_kept, head->n_out, &bytes,
                    &n, &n_read, &problem, walk->err);
    if (status != PFD_OK)
        return status;
    if (problem.code != PFD_OK) {
        pfd_report_add(blob->range->report, PFD_FINDING_bad_compressed,
                       blob->at + head->n_header + problem.offset, "%s",
                       problem.text);
    }
    if (!*n_used) /* not in the header: the end of the compressed data */
        *n_used = head->n_header + n_read;
    if (problem.code == PFD_OK)
        check_hash(blob, head, bytes, n);
    if (bytes && head->n_kept > 0) {
        memcpy(bytes, head->data.base - head->n_kept, head->n_kept);
        pfd_binary_inflated(bytes, n);
    }
    /* Nested blobs are in memory at the same time. */
    walk->max_inflated -= n < walk->max_inflated ? n : walk->max_inflated;
    if (n > head->n_kept) {
        add_budget(blob->range, n_read, n);
        status = walk_inflated(blob, bytes, n);
    }
    walk->max_inflated = n_before;
    free(bytes);
    return status;
}

/* -- CUDA: "range:sm_75" -- */

static enum pfd_status walk_part(const struct pfd_code_blob *blob,
                                 const struct pfd_fatbin_part *part)
{
    const struct pfd_code_range *range = blob->range;
    char name[32];
    size_t n_used = 0;
    if (part->packing == PFD_FATBIN_LZ4) {
        pfd_report_add(range->report, PFD_FINDING_not_read,
                       blob->at + part->offset,
                       "code for sm_%u is compressed by LZ4: not read (nvcc's "
                       "--compress-mode=size and none can be)",
                       part->target);
        return PFD_OK;
    }
    if (part->packing == PFD_FATBIN_ZSTD) {
        const struct pfd_code_blob inner = { range, blob->at + part->offset,
                                             blob->number };
        const struct pfd_compressed head = {
            .method = PFD_COMPRESSION_ZSTD,
            .data = part->bytes,
            .n_out = part->n_out,
        };
        return pfd_code_walk_compressed(&inner, &head, &n_used);
    }
    int n = snprintf(name, sizeof name, "sm_%u", part->target);
    return pfd_code_walk_part(range,
                              pfd_code_path(range, ":", name, (size_t)n, ""),
                              part->bytes, blob->at + part->offset, false);
}

/* Walks the ELF parts. Uncompressed parts are also plain bytes of the program's
 * file, whose reader has seen them. */
static enum pfd_status walk_fatbin(const struct pfd_code_blob *blob,
                                   const uint8_t *p, size_t n, size_t *n_used)
{
    enum pfd_status status = PFD_OK;
    struct pfd_fatbin_part part;
    size_t at = 0;
    *n_used = pfd_fatbin_size(p, n);
    while (status == PFD_OK && pfd_fatbin_next(p, n, &at, &part)) {
        if (part.is_elf && afford_bytes(blob->range, part.bytes.n))
            status = walk_part(blob, &part);
    }
    if (status == PFD_OK && (!*n_used || (at && at != *n_used))) {
        pfd_report_add(blob->range->report, PFD_FINDING_bad_bundle, blob->at,
                       "CUDA's code is cut or broken %zu bytes in: the rest of "
                       "it is not read",
                       at);
    }
    return status;
}

/* Of compressed bytes all are seen, of others the pieces alone. */
static enum pfd_status walk_compressed(const struct pfd_code_blob *blob,
                                       const struct pfd_compressed *head,
                                       size_t n, size_t *n_used)
{
    enum pfd_status status = pfd_code_walk_compressed(blob, head, n_used);
    pfd_code_see(blob->range, blob->at, *n_used < n ? *n_used : n);
    return status;
}

/* Walks one blob; *n_used: 0 when its end is unknown. */
enum pfd_status pfd_code_walk_blob(struct pfd_code_blob *blob, size_t *n_used)
{
    const struct pfd_code_range *range = blob->range;
    const uint8_t *p = range->bytes.base + blob->at;
    size_t n = range->bytes.n - (size_t)blob->at;
    struct pfd_compressed head;
    *n_used = 0;
    pfd_code_see(range, blob->at, n < MAGIC_BYTES ? n : MAGIC_BYTES);
    enum pfd_code_kind kind = pfd_code_kind_of(pfd_byte_reader(p, n));
    if (kind == PFD_CODE_BUNDLE) {
        return pfd_bundle_entries(p, n, walk_entry, blob, n_used, blob->at,
                                  range->report);
    }
    if (kind == PFD_CODE_COMPRESSED) {
        if (!pfd_compressed_read(p, n, &head, n_used, blob->at, range->report))
            return PFD_OK;
        return walk_compressed(blob, &head, n, n_used);
    }
    if (kind == PFD_CODE_BINARY) {
        if (!pfd_binary_compressed(p, n, &head)) {
            return pfd_binary_entries(p, n, walk_entry, blob, n_used, blob->at,
                                      range->report);
        }
        *n_used = head.n_total;
        return walk_compressed(blob, &head, n, n_used);
    }
    return kind == PFD_CODE_FATBIN ? walk_fatbin(blob, p, n, n_used) : PFD_OK;
}

/* The offset of the next blob; skips padding and bytes that are no blob. */
static size_t next_blob(const struct pfd_code_range *range, size_t at)
{
    const struct pfd_byte_reader *c = &range->bytes;
    while (at < c->n && c->base[at] == 0)
        at++;
    if (at == c->n || pfd_code_is_blob(pfd_code_kind_of(
                          pfd_byte_reader(c->base + at, c->n - at))))
        return at;
    size_t next = pfd_blob_find(c->base, c->n, at);
    pfd_report_add(range->report, PFD_FINDING_bad_bundle, at,
                   "%zu bytes after a bundle are not another one: %s",
                   next - at, next < c->n ? "skipped" : "nothing more is read");
    return next;
}

enum pfd_status pfd_code_walk_blobs(const struct pfd_code_range *range)
{
    struct pfd_byte_reader c = range->bytes;
    struct pfd_code_blob blob = { .range = range };
    enum pfd_status status = PFD_OK;
    size_t at = 0;
    while (at < c.n && status == PFD_OK) {
        size_t n_used;
        blob.at = at;
        blob.number++;
        status = pfd_code_walk_blob(&blob, &n_used);
        if (status == PFD_OK && n_used == 0 && !afford_bytes(range, c.n - at))
            break;
        at = n_used > 0 ? next_blob(range, at + n_used)
                        : pfd_blob_find(c.base, c.n, at + 4);
    }
    return status;
}
