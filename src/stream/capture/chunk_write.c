/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc32c.h"
#include "core/decode/entry_run.h"
#include "core/decode/inspect.h"
#include "stream/capture/chunk.h"
#include "stream/capture/chunk_layout.h"
#include "stream/capture/wire.h"

enum {
    /* Limit for entries of a run that are copied in blocks: nearly all. */
    RUN_ENTRY_MAX = 256,
    RUN_BLOCK = 32,
    RUN_ENTRY_ROOM = 2 * sizeof(uint32_t) + RUN_ENTRY_MAX + sizeof(uint32_t),
};

struct known_string {
    const struct pfd_string *string;
    uint32_t number;
};

struct pfd_chunk_writer {
    const struct pfd_format *format;    /* NULL: no entries so far */
    uint8_t kinds[PFD_CHUNK_KINDS_MAX]; /* enum pfd_finding_kind, [n_kinds] */
    uint32_t n_kinds;
    uint32_t n_items;
    uint32_t n_header; /* of entries in short form */
    uint32_t n_strings;
    struct pfd_text strings;
    struct known_string *known; /* [mask + 1], by the string's number; owned */
    size_t mask;
    struct pfd_text records;
    struct pfd_text done; /* the last finished chunk */
    uint64_t index;       /* of the next entry in short form */
    uint64_t offset;
    uint64_t lost_bytes;
    uint64_t skipped_bytes;
};

uint64_t pfd_chunk_hash(const struct pfd_string *s)
{
    uint32_t text = pfd_crc32c(0, pfd_string_text(s), s->n_text);
    uint32_t rest = pfd_crc32c(0, &s->n_arguments, sizeof s->n_arguments);
    rest =
        pfd_crc32c(rest, pfd_string_layout(s), s->n_layout * sizeof(uint64_t));
    return (uint64_t)text << 32 | rest;
}

enum pfd_status pfd_chunk_writer_new(struct pfd_chunk_writer **ret,
                                     struct pfd_error *err)
{
    enum {
        FIRST = 256
    };
    struct pfd_chunk_writer *w = calloc(1, sizeof *w);
    if (w)
        w->known = calloc(FIRST, sizeof *w->known);
    if (!w || !w->known) {
        free(w);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    w->mask = FIRST - 1;
    *ret = w;
    return PFD_OK;
}

void pfd_chunk_writer_free(struct pfd_chunk_writer *w)
{
    if (!w)
        return;
    pfd_text_free(&w->strings);
    pfd_text_free(&w->records);
    pfd_text_free(&w->done);
    free(w->known);
    free(w);
}

/* ---- words ---- */

static void put32(struct pfd_text *out, uint64_t v)
{
    uint32_t word = (uint32_t)v;
    pfd_text_add(out, &word, sizeof word);
}

static void put64(struct pfd_text *out, uint64_t v)
{
    pfd_text_add(out, &v, sizeof v);
}

/* Zeros up to a multiple of size, which is 4 or 8. */
static void pad(struct pfd_text *out, size_t size)
{
    pfd_text_add(out, "\0\0\0\0\0\0\0", -out->n & (size - 1));
}

/* ---- strings and kinds ---- */

static struct known_string *slot_of(const struct pfd_chunk_writer *w,
                                    const struct pfd_string *s)
{
    size_t i = s->index;
    while (w->known[i & w->mask].string && w->known[i & w->mask].string != s)
        i++;
    return &w->known[i & w->mask];
}

static bool grow(struct pfd_chunk_writer *w)
{
    struct known_string *old = w->known;
    size_t n = w->mask + 1;
    struct known_string *known = calloc(2 * n, sizeof *known);
    if (!known)
        return false;
    w->known = known;
    w->mask = 2 * n - 1;
    for (size_t i = 0; i < n; i++) {
        if (old[i].string)
            *slot_of(w, old[i].string) = old[i];
    }
    free(old);
    return true;
}

static __attribute__((noinline)) uint32_t add_string(struct pfd_chunk_writer *w,
                                                     const struct pfd_string *s)
{
    if (w->n_strings >= w->mask / 2 && !grow(w)) {
        w->records.failed = true;
        return PFD_CHUNK_NO_STRING;
    }
    *slot_of(w, s) = (struct known_string){ s, w->n_strings };
    uint64_t words[2] = { s->key, pfd_chunk_hash(s) };
    pfd_text_add(&w->strings, words, sizeof words);
    return w->n_strings++;
}

/* The string's number in the chunk. */
static inline uint32_t number_of(struct pfd_chunk_writer *w,
                                 const struct pfd_string *s)
{
    if (!s)
        return PFD_CHUNK_NO_STRING;
    const struct known_string *slot = slot_of(w, s);
    return slot->string ? slot->number : add_string(w, s);
}

/* Kinds have names on the wire, since their numbers are one library's. */
static uint32_t number_of_kind(struct pfd_chunk_writer *w,
                               enum pfd_finding_kind kind)
{
    for (uint32_t i = 0; i < w->n_kinds; i++) {
        if (w->kinds[i] == kind)
            return i;
    }
    w->kinds[w->n_kinds] = (uint8_t)kind;
    return w->n_kinds++;
}

static uint64_t bits_of(struct pfd_chunk_writer *w, uint64_t findings)
{
    uint64_t ret = 0;
    for (; findings; findings &= findings - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(findings);
        ret |= UINT64_C(1) << number_of_kind(w, kind);
    }
    return ret;
}

/* Bytes of a chunk beside its records. */
static inline size_t size_of_rest(const struct pfd_chunk_writer *w)
{
    enum {
        NAME_MAX_BYTES = 32 /* of a format or a kind */
    };
    return PFD_CHUNK_HEADER + (1 + w->n_kinds) * NAME_MAX_BYTES + w->strings.n;
}

/* As pfd_chunk_size(). */
static inline size_t size_of(const struct pfd_chunk_writer *w)
{
    if (!w->records.n && !w->lost_bytes && !w->skipped_bytes)
        return 0;
    return size_of_rest(w) + w->records.n;
}

/* ---- records ---- */

/* The walk's findings, and the tail's; the others are found again when the
 * entry is made. */
static uint64_t findings_of(const struct pfd_entry *entry)
{
    return entry->record->findings |
           (entry->findings & (PFD_FINDING_BIT(stale) | PFD_FINDING_BIT(late)));
}

static void put_long(struct pfd_chunk_writer *w, const struct pfd_record *r,
                     uint64_t index, uint64_t findings, size_t n)
{
    const uint8_t flags = r->flags & (uint8_t)~PFD_RECORD_SURE;
    const uint8_t bytes[] = { r->n_header, flags, r->n_alternatives, 0 };
    put64(&w->records, index);
    put64(&w->records, r->offset);
    put64(&w->records, bits_of(w, findings));
    put64(&w->records, r->layout);
    put64(&w->records, r->key);
    put32(&w->records, r->n_bytes);
    put32(&w->records, n);
    pfd_text_add(&w->records, bytes, sizeof bytes);
}

/* Do the record before and the string say everything about this entry? */
static bool is_short(const struct pfd_chunk_writer *w,
                     const struct pfd_entry *entry, size_t n)
{
    const struct pfd_record *r = entry->record;
    uint64_t flags =
        r->flags & ~(unsigned)(PFD_RECORD_COPIED | PFD_RECORD_SURE);
    return r->string && !(findings_of(entry) | r->layout | flags) &&
           !r->n_alternatives && r->key == r->string->key &&
           r->n_header == w->n_header && entry->index == w->index &&
           r->offset == w->offset && r->n_bytes == n &&
           n <= PFD_CHUNK_SHORT_MAX;
}

/* Bytes of their own follow the entry's. */
static void put_alternatives(struct pfd_chunk_writer *w,
                             const struct pfd_entry *entry, const char *bytes)
{
    const struct pfd_record *r = entry->record;
    for (size_t i = 1; i <= r->n_alternatives; i++) {
        bool has_own = r[i].flags & PFD_RECORD_COPIED;
        size_t n = has_own ? r[i].n_bytes : 0;
        put32(&w->records, PFD_CHUNK_LONG | PFD_CHUNK_IS_ALTERNATIVE);
        put32(&w->records, number_of(w, r[i].string));
        put_long(w, &r[i], entry->index, r[i].findings, n);
        pfd_text_add(&w->records, bytes, n);
        pad(&w->records, sizeof(uint32_t));
        bytes += n;
    }
}

/* Nearly all entries: two words and the bytes, padded, in one step. */
static void put_short(struct pfd_chunk_writer *w, const struct pfd_string *s,
                      const char *bytes, size_t n)
{
    size_t n_pad = -n & (sizeof(uint32_t) - 1);
    uint32_t words[2] = {
        (uint32_t)(n << PFD_CHUNK_BITS | PFD_CHUNK_IS_ENTRY),
        number_of(w, s),
    };
    char *out = pfd_text_reserve(&w->records, sizeof words + n + n_pad);
    if (!out)
        return;
    memcpy(out, words, sizeof words);
    memcpy(out + sizeof words, bytes, n);
    memset(out + sizeof words + n, 0, n_pad);
    w->records.n += sizeof words + n + n_pad;
}

static void put_entry(struct pfd_chunk_writer *w, const struct pfd_entry *entry)
{
    const struct pfd_record *r = entry->record;
    size_t n = r->n_header + (size_t)entry->n_payload;
    const char *bytes = (const char *)entry->payload - r->n_header;
    if (is_short(w, entry, n)) {
        put_short(w, r->string, bytes, n);
    } else {
        put32(&w->records, PFD_CHUNK_LONG | PFD_CHUNK_IS_ENTRY);
        put32(&w->records, number_of(w, r->string));
        put_long(w, r, entry->index, findings_of(entry), n);
        pfd_text_add(&w->records, bytes, n);
        pad(&w->records, sizeof(uint32_t));
        put_alternatives(w, entry, bytes + n);
    }
    w->index = entry->index + 1;
    w->offset = r->offset + r->n_bytes;
    w->n_items++;
}

static enum pfd_status outcome(const struct pfd_chunk_writer *w,
                               struct pfd_error *err)
{
    if (w->records.failed || w->strings.failed)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return PFD_OK;
}

/* PFD_ERR_USAGE: the chunk has entries of another format. */
static enum pfd_status use_format(struct pfd_chunk_writer *w,
                                  const struct pfd_format *format,
                                  const struct pfd_record *first,
                                  struct pfd_error *err)
{
    if (w->format && w->format != format) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "an entry of '%s' in a chunk of '%s'",
                        format->info.name, w->format->info.name);
    }
    if (!w->format)
        w->n_header = first->n_header;
    w->format = format;
    return PFD_OK;
}

enum pfd_status pfd_chunk_add_entry(struct pfd_chunk_writer *w,
                                    const struct pfd_entry *entry,
                                    struct pfd_error *err)
{
    enum pfd_status status =
        use_format(w, entry->of->format, entry->record, err);
    if (status != PFD_OK)
        return status;
    put_entry(w, entry);
    return outcome(w, err);
}

/* As is_short(), of a record in a run whose earlier entries are in the
 * chunk. */
static inline bool is_short_in_run(const struct pfd_record *r,
                                   uint32_t n_header)
{
    return r->key == r->string->key && r->n_header == n_header &&
           r->n_bytes <= RUN_ENTRY_MAX;
}

/* Copies n <= RUN_ENTRY_MAX bytes of [left]: in blocks, if that many can be
 * read. */
static void copy_blocks(char *out, const uint8_t *from, size_t n, size_t left)
{
    if (left < RUN_ENTRY_MAX) {
        memcpy(out, from, n);
        return;
    }
    for (size_t i = 0; i < n; i += RUN_BLOCK)
        memcpy(out + i, from + i, RUN_BLOCK);
}

/* Reserves room for the short forms of records from `from` on: as many as a
 * chunk of n_bytes holds, and one more; NULL: out of memory. */
static char *reserve_shorts(struct pfd_chunk_writer *w,
                            const struct pfd_entry_run *entry_run, size_t from,
                            size_t n_bytes)
{
    size_t n = (entry_run->n - from) * (RUN_ENTRY_ROOM - RUN_ENTRY_MAX) +
               (size_t)pfd_entry_run_bytes(entry_run);
    if (n > n_bytes)
        n = n_bytes;
    return pfd_text_reserve(&w->records, n + RUN_ENTRY_ROOM);
}

/*
 * As put_entry() of records from `from` on, while they are in short form, until
 * the chunk has more than n_bytes; returns the index of the next. Nearly all
 * entries of a followed buffer pass here, on one thread.
 */
static size_t put_shorts(struct pfd_chunk_writer *w,
                         const struct pfd_entry_run *entry_run, size_t from,
                         size_t n_bytes)
{
    const struct pfd_record *r = &entry_run->records[from];
    const struct pfd_record *end = entry_run->records + entry_run->n;
    const uint8_t *first =
        entry_run->bytes + (r->offset - entry_run->records[0].offset);
    const uint8_t *bytes = first;
    const uint8_t *bytes_end =
        entry_run->bytes + pfd_entry_run_bytes(entry_run);
    const uint32_t n_header = w->n_header;
    bool is_next =
        r->offset == w->offset && entry_run->index + from == w->index;
    char *out = is_next ? reserve_shorts(w, entry_run, from, n_bytes) : NULL;
    if (!out)
        return from;
    while (r < end && is_short_in_run(r, n_header)) {
        size_t n = r->n_bytes;
        uint32_t words[2] = { (uint32_t)n << PFD_CHUNK_BITS |
                                  PFD_CHUNK_IS_ENTRY,
                              number_of(w, r->string) };
        memcpy(out, words, sizeof words);
        copy_blocks(out + sizeof words, bytes, n, (size_t)(bytes_end - bytes));
        memset(out + sizeof words + n, 0, sizeof(uint32_t));
        out += sizeof words + n + (-n & (sizeof(uint32_t) - 1));
        bytes += n;
        r++;
        w->records.n = (size_t)(out - w->records.data);
        if (size_of_rest(w) + w->records.n > n_bytes)
            break;
    }
    size_t to = (size_t)(r - entry_run->records);
    w->offset += (uint64_t)(bytes - first);
    w->index += to - from;
    w->n_items += (uint32_t)(to - from);
    return to;
}

enum pfd_status pfd_chunk_add_run(struct pfd_chunk_writer *w,
                                  const struct pfd_entry_run *entry_run,
                                  size_t *from, size_t n_bytes,
                                  struct pfd_error *err)
{
    enum pfd_status status =
        use_format(w, entry_run->of->format, &entry_run->records[*from], err);
    if (status != PFD_OK)
        return status;
    do {
        size_t i = put_shorts(w, entry_run, *from, n_bytes);
        if (i == *from) {
            struct pfd_entry entry;
            pfd_entry_run_entry(entry_run, i, &entry);
            put_entry(w, &entry);
            i++;
        }
        *from = i;
    } while (*from < entry_run->n && size_of(w) <= n_bytes);
    return outcome(w, err);
}

enum pfd_status pfd_chunk_add_finding(struct pfd_chunk_writer *w,
                                      const struct pfd_finding *finding,
                                      struct pfd_error *err)
{
    const char *name = pfd_finding_name(finding->kind);
    size_t n_name = strlen(name);
    size_t n = strnlen(finding->text, PFD_CHUNK_SHORT_MAX - n_name);
    put32(&w->records, (n_name + n) << PFD_CHUNK_BITS | PFD_CHUNK_IS_FINDING);
    put32(&w->records, n_name);
    put64(&w->records, finding->offset);
    pfd_text_add(&w->records, name, n_name);
    pfd_text_add(&w->records, finding->text, n);
    pad(&w->records, sizeof(uint32_t));
    w->n_items++;
    return outcome(w, err);
}

enum pfd_status pfd_chunk_add_gap(struct pfd_chunk_writer *w,
                                  const struct pfd_gap *gap,
                                  struct pfd_error *err)
{
    size_t n = strnlen(gap->reason, PFD_CHUNK_SHORT_MAX);
    put32(&w->records, n << PFD_CHUNK_BITS | PFD_CHUNK_IS_GAP);
    put32(&w->records, 0);
    put64(&w->records, gap->missed);
    pfd_text_add(&w->records, gap->reason, n);
    pad(&w->records, sizeof(uint32_t));
    w->n_items++;
    return outcome(w, err);
}

void pfd_chunk_add_loss(struct pfd_chunk_writer *w, uint64_t lost_bytes,
                        uint64_t skipped_bytes)
{
    struct pfd_summary sum = { .lost_bytes = w->lost_bytes,
                               .skipped_bytes = w->skipped_bytes };
    struct pfd_summary more = { .lost_bytes = lost_bytes,
                                .skipped_bytes = skipped_bytes };
    pfd_summary_add(&sum, &more);
    w->lost_bytes = sum.lost_bytes;
    w->skipped_bytes = sum.skipped_bytes;
}

/* ---- the chunk ---- */

size_t pfd_chunk_size(const struct pfd_chunk_writer *w)
{
    return size_of(w);
}

static void join(struct pfd_chunk_writer *w)
{
    struct pfd_text *out = &w->done;
    out->n = 0;
    put32(out, PFD_CHUNK_VERSION);
    put32(out, w->n_items);
    put32(out, w->format ? w->format->record_version : 0);
    put32(out, w->n_header);
    put32(out, w->n_kinds);
    put32(out, w->n_strings);
    put64(out, w->lost_bytes);
    put64(out, w->skipped_bytes);
    put64(out, 0);
    const char *name = w->format ? w->format->info.name : "";
    pfd_text_add(out, name, strlen(name) + 1);
    for (uint32_t i = 0; i < w->n_kinds; i++) {
        name = pfd_finding_name((enum pfd_finding_kind)w->kinds[i]);
        pfd_text_add(out, name, strlen(name) + 1);
    }
    pad(out, sizeof(uint64_t));
    pfd_text_add(out, w->strings.data, w->strings.n);
    pfd_text_add(out, w->records.data, w->records.n);
}

const void *pfd_chunk_finish(struct pfd_chunk_writer *w, size_t *n)
{
    bool failed = outcome(w, NULL) != PFD_OK;
    join(w);
    failed |= w->done.failed;
    *n = failed ? 1 : w->done.n;
    memset(w->known, 0, (w->mask + 1) * sizeof *w->known);
    w->strings.n = w->records.n = 0;
    w->strings.failed = w->records.failed = w->done.failed = false;
    w->n_kinds = w->n_strings = w->n_header = w->n_items = 0;
    w->index = w->offset = w->lost_bytes = w->skipped_bytes = 0;
    w->format = NULL;
    return failed ? NULL : w->done.data;
}
