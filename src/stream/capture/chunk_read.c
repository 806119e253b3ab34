/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "stream/capture/chunk.h"
#include "stream/capture/chunk_layout.h"

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static enum pfd_status broken(const struct pfd_byte_reader *c, const char *what,
                              struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_CORRUPT, c->at, "a chunk of entries: %s",
                    what);
}

static void skip_padding(struct pfd_byte_reader *c, size_t size)
{
    pfd_byte_reader_skip(c, -c->at & (size - 1));
}

/* ---- the header ---- */

/* Reads a NUL-terminated name; NULL: it does not end. */
static const char *read_name(struct pfd_byte_reader *c)
{
    const char *name = (const char *)pfd_byte_reader_peek(c, c->at);
    size_t left = pfd_byte_reader_left(c);
    size_t n = pfd_byte_reader_ok(c) && left ? strnlen(name, left) : left;
    return pfd_byte_reader_bytes(c, n + 1) ? name : NULL;
}

/* A kind that this library does not know is a newer one's. */
static enum pfd_finding_kind find_kind(const char *name, size_t n)
{
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        const char *known = pfd_finding_name((enum pfd_finding_kind)i);
        if (strlen(known) == n && !memcmp(name, known, n))
            return (enum pfd_finding_kind)i;
    }
    return PFD_FINDING_version;
}

static enum pfd_status read_kinds(struct pfd_chunk *chunk,
                                  struct pfd_byte_reader *c,
                                  struct pfd_error *err)
{
    if (chunk->n_kinds > PFD_CHUNK_KINDS_MAX)
        return broken(c, "too many kinds of findings", err);
    for (uint32_t i = 0; i < chunk->n_kinds; i++) {
        const char *name = read_name(c);
        if (!name)
            return broken(c, "it is cut", err);
        enum pfd_finding_kind kind = find_kind(name, strlen(name));
        chunk->kinds[i] = kind < PFD_ENTRY_FINDING_KINDS
                              ? (uint8_t)kind
                              : (uint8_t)PFD_FINDING_version;
    }
    return PFD_OK;
}

static bool reserve(struct pfd_chunk *chunk)
{
    if (chunk->n_strings <= chunk->room)
        return true;
    struct pfd_chunk_string *strings =
        realloc(chunk->strings, chunk->n_strings * sizeof *strings);
    if (!strings)
        return false;
    chunk->strings = strings;
    chunk->room = chunk->n_strings;
    return true;
}

static const struct pfd_string *find_string(const struct pfd_table *table,
                                            uint64_t key, uint64_t hash)
{
    const struct pfd_string *s = pfd_table_find(table, key);
    while (s && pfd_chunk_hash(s) != hash)
        s = s->next;
    return s;
}

static enum pfd_status read_strings(struct pfd_chunk *chunk,
                                    struct pfd_byte_reader *c,
                                    struct pfd_error *err)
{
    if (chunk->n_strings > pfd_byte_reader_left(c) / PFD_CHUNK_STRING)
        return broken(c, "more strings than bytes", err);
    if (chunk->n_strings && !chunk->format)
        return broken(c, "strings of no format", err);
    if (!reserve(chunk))
        return no_memory(err);
    for (uint32_t i = 0; i < chunk->n_strings; i++) {
        uint64_t key = pfd_byte_reader_u64(c);
        uint64_t hash = pfd_byte_reader_u64(c);
        chunk->strings[i] = (struct pfd_chunk_string){
            key, find_string(chunk->record_view.table, key, hash), UINT64_MAX
        };
    }
    return PFD_OK;
}

static enum pfd_status read_format(struct pfd_chunk *chunk,
                                   struct pfd_byte_reader *c, uint32_t version,
                                   struct pfd_error *err)
{
    struct pfd_quoted quoted;
    const char *name = read_name(c);
    chunk->format = NULL;
    if (!name)
        return broken(c, "it is cut", err);
    if (!name[0])
        return PFD_OK; /* findings only */
    chunk->format = pfd_format_find(name);
    if (chunk->format && chunk->format->record_version == version)
        return PFD_OK;
    return pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                    "entries of '%s', version %u: this library knows %s",
                    pfd_quote(&quoted, name, strlen(name)), version,
                    chunk->format ? "another version" : "no such format");
}

/* Sets the view that entries are read with. */
static void set_look(struct pfd_chunk *chunk, const struct pfd_strings *strings,
                     const struct pfd_options *options)
{
    chunk->record_view = (struct pfd_record_view){
        .table = chunk->format
                     ? pfd_strings_table(strings, &chunk->format->strings)
                     : NULL,
        .shader_table = pfd_strings_shaders(strings),
        .options = options,
    };
}

uint64_t pfd_chunk_item_count(const void *bytes, size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    pfd_byte_reader_skip(&c, sizeof(uint32_t));
    return pfd_byte_reader_u32(&c);
}

enum pfd_status pfd_chunk_open(struct pfd_chunk *chunk,
                               const struct pfd_strings *strings,
                               const struct pfd_options *options,
                               const void *bytes, size_t n,
                               struct pfd_error *err)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    uint32_t version = pfd_byte_reader_u32(&c);
    pfd_byte_reader_skip(&c, sizeof(uint32_t)); /* number of items: for
                                                   others */
    uint32_t record_version = pfd_byte_reader_u32(&c);
    chunk->n_header = pfd_byte_reader_u32(&c);
    chunk->n_kinds = pfd_byte_reader_u32(&c);
    chunk->n_strings = pfd_byte_reader_u32(&c);
    chunk->lost_bytes = pfd_byte_reader_u64(&c);
    chunk->skipped_bytes = pfd_byte_reader_u64(&c);
    pfd_byte_reader_skip(&c, sizeof(uint64_t));
    chunk->records = pfd_byte_reader(bytes, 0);
    chunk->index = 0;
    chunk->offset = 0;
    if (!pfd_byte_reader_ok(&c) || chunk->n_header > UINT8_MAX)
        return broken(&c, "its header is none", err);
    if (version != PFD_CHUNK_VERSION) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0,
                        "a chunk of entries of version %u", version);
    }
    enum pfd_status status = read_format(chunk, &c, record_version, err);
    set_look(chunk, strings, options);
    if (status == PFD_OK)
        status = read_kinds(chunk, &c, err);
    skip_padding(&c, sizeof(uint64_t));
    if (status == PFD_OK)
        status = read_strings(chunk, &c, err);
    if (status == PFD_OK && !pfd_byte_reader_ok(&c))
        return broken(&c, "it is cut", err);
    if (status == PFD_OK)
        chunk->records = c;
    return status;
}

void pfd_chunk_close(struct pfd_chunk *chunk)
{
    free(chunk->strings);
}

/* ---- records ---- */

/* A record as it stands in the chunk. */
struct raw {
    enum pfd_chunk_kind kind;
    bool is_long;
    uint32_t number;      /* of its string; of a finding, bytes of its kind */
    uint32_t n;           /* bytes of its own */
    const uint8_t *bytes; /* [n] */
    uint64_t index;
    struct pfd_record record;
};

static uint64_t findings_of(const struct pfd_chunk *chunk, uint64_t bits)
{
    uint64_t ret = 0;
    for (; bits; bits &= bits - 1) {
        unsigned i = (unsigned)__builtin_ctzll(bits);
        unsigned kind = i < chunk->n_kinds ? chunk->kinds[i]
                                           : (unsigned)PFD_FINDING_version;
        ret |= UINT64_C(1) << kind;
    }
    return ret;
}

static void read_long(struct pfd_chunk *chunk, struct raw *raw)
{
    struct pfd_byte_reader *c = &chunk->records;
    struct pfd_record *r = &raw->record;
    raw->index = pfd_byte_reader_u64(c);
    r->offset = pfd_byte_reader_u64(c);
    r->findings = findings_of(chunk, pfd_byte_reader_u64(c));
    r->layout = pfd_byte_reader_u64(c);
    r->key = pfd_byte_reader_u64(c);
    r->n_bytes = pfd_byte_reader_u32(c);
    raw->n = pfd_byte_reader_u32(c);
    r->n_header = pfd_byte_reader_u8(c);
    r->flags = pfd_byte_reader_u8(c);
    r->n_alternatives = pfd_byte_reader_u8(c);
    pfd_byte_reader_skip(c, 1);
}

/* Reads a record. False: the chunk is broken. */
static bool read_raw(struct pfd_chunk *chunk, struct raw *ret)
{
    struct pfd_byte_reader *c = &chunk->records;
    uint32_t head = pfd_byte_reader_u32(c);
    ret->kind = (enum pfd_chunk_kind)(head & (PFD_CHUNK_LONG - 1));
    ret->is_long = head & PFD_CHUNK_LONG;
    ret->number = pfd_byte_reader_u32(c);
    ret->n = head >> PFD_CHUNK_BITS;
    ret->index = chunk->index;
    ret->record = (struct pfd_record){
        .offset = chunk->offset,
        .n_bytes = ret->n,
        .n_header = (uint8_t)chunk->n_header,
    };
    if (ret->is_long) {
        read_long(chunk, ret);
    } else if (ret->kind >= PFD_CHUNK_IS_FINDING) {
        ret->record.offset = pfd_byte_reader_u64(c);
    }
    ret->bytes = pfd_byte_reader_bytes(c, ret->n);
    skip_padding(c, sizeof(uint32_t));
    return ret->bytes && pfd_byte_reader_ok(c);
}

static bool is_sound(const struct pfd_chunk *chunk, const struct pfd_record *r,
                     const uint8_t *bytes, size_t n)
{
    struct pfd_record_view record_view = chunk->record_view;
    if (r->n_header > n)
        return false;
    record_view.record = r;
    record_view.string = r->string;
    record_view.bytes = pfd_byte_reader(bytes, n);
    pfd_byte_reader_skip(&record_view.bytes, r->n_header);
    return pfd_record_is_sound(chunk->format, &record_view);
}

/* Finds a string that was not loaded when the entry was decoded, and is now. */
static void find_late(const struct pfd_chunk *chunk, struct raw *raw)
{
    struct pfd_record late = raw->record;
    uint64_t unknown = PFD_FINDING_BIT(unknown_id);
    const struct pfd_string *s =
        pfd_table_find(chunk->record_view.table, raw->record.key);
    if (!(late.findings & unknown) || late.layout || late.n_alternatives ||
        late.flags & PFD_RECORD_SYNTHESIZED || !s || s->next ||
        late.n_header > raw->n || s->n_payload != raw->n - late.n_header)
        return;
    late.string = s;
    late.findings &= ~unknown;
    if (is_sound(chunk, &late, raw->bytes, raw->n))
        raw->record = late;
}

/* Sets the record's string, and the members that depend on it. False: there is
 * no such string. */
static bool set_string(const struct pfd_chunk *chunk, struct raw *raw)
{
    struct pfd_record *r = &raw->record;
    if (raw->number == PFD_CHUNK_NO_STRING) {
        find_late(chunk, raw);
        return raw->is_long;
    }
    if (raw->number >= chunk->n_strings)
        return false;
    r->string = chunk->strings[raw->number].string;
    if (!raw->is_long)
        r->key = chunk->strings[raw->number].key;
    if (!r->string) {
        /* Without it the decoder's decisions mean nothing. */
        r->findings = PFD_FINDING_BIT(unknown_id);
        r->layout = 0;
        r->flags &= (uint8_t)~PFD_RECORD_SYNTHESIZED;
    }
    return true;
}

static void place_entry(struct pfd_record_batch *batch, const struct raw *entry)
{
    struct pfd_record *r = &batch->records[batch->n];
    *r = entry->record;
    r->flags |= PFD_RECORD_COPIED;
    batch->places[batch->n++] = (struct pfd_place){
        .index = entry->index,
        .bytes = entry->bytes,
        .n = entry->n,
    };
}

/* Moves the bytes of an entry whose readings have their own together, one
 * behind the other, where pfd_entry_alternative() expects them. */
static void move_together(struct pfd_record_batch *batch,
                          struct pfd_place *entry, const struct raw *reading)
{
    if (entry->bytes) {
        entry->at = batch->bytes.n;
        pfd_text_add(&batch->bytes, entry->bytes, entry->n);
        entry->bytes = NULL;
    }
    pfd_text_add(&batch->bytes, reading->bytes, reading->n);
}

/* Reads the other readings of the batch's newest entry. Either all of them have
 * bytes of their own, or none. False: the chunk is broken. */
static bool read_alternatives(struct pfd_chunk *chunk, const struct raw *entry,
                              struct pfd_record_batch *batch, bool *sound)
{
    struct pfd_place *place = &batch->places[batch->n - 1];
    unsigned own = 0;
    for (unsigned i = 0; i < entry->record.n_alternatives; i++) {
        struct pfd_record *r = &batch->records[batch->n++];
        struct raw raw;
        if (!read_raw(chunk, &raw) || raw.kind != PFD_CHUNK_IS_ALTERNATIVE ||
            !raw.is_long || !set_string(chunk, &raw))
            return false;
        unsigned has_own = raw.record.flags & PFD_RECORD_COPIED;
        own = i ? own : has_own;
        *r = raw.record;
        r->kind = PFD_RECORD_ALTERNATIVE;
        r->n_alternatives = 0;
        if (own != has_own || (!has_own && raw.n))
            return false;
        *sound &= has_own ? is_sound(chunk, r, raw.bytes, raw.n)
                          : is_sound(chunk, r, entry->bytes, entry->n);
        if (has_own) {
            move_together(batch, place, &raw);
            r->n_bytes = raw.n;
        }
    }
    return true;
}

/* Adds a sentence, escaped like a finding's, since it goes to terminals. */
static void add_sentence(struct pfd_text *out, const char *text, size_t n)
{
    char *from = pfd_text_reserve(out, 4 * n);
    if (!from)
        return;
    char *end = pfd_escape_terminal(from, text, n);
    for (char *at = from; at < end; at++)
        *at = *at == '\n' || *at == '\t' ? ' ' : *at;
    out->n += (size_t)(end - from);
}

/* Adds a finding whose sentence begins at byte `from` of the batch's text. */
static void add_finding(struct pfd_record_batch *batch,
                        enum pfd_finding_kind kind, uint64_t offset,
                        size_t from)
{
    batch->records[batch->n++] = (struct pfd_record){
        .offset = offset,
        .key = from,
        .n_bytes = (uint32_t)(batch->text.n - from),
        .layout = (uint64_t)kind,
        .kind = PFD_RECORD_FINDING,
    };
}

static void add_unsound(struct pfd_record_batch *batch, uint64_t offset)
{
    struct pfd_walk walk = { .batch = batch };
    pfd_walk_finding(&walk, PFD_FINDING_bad_frame, offset,
                     "a chunk has an entry here that no buffer can have: it is "
                     "left out");
}

/* Notes that an entry in short form was sound. */
static void note_sound(struct pfd_chunk *chunk, const struct raw *raw)
{
    if (chunk->format->is_record_by_size && !raw->is_long &&
        raw->number < chunk->n_strings && chunk->strings[raw->number].string)
        chunk->strings[raw->number].n_sound = raw->n;
}

static bool read_entry(struct pfd_chunk *chunk, struct raw *raw,
                       struct pfd_record_batch *batch)
{
    size_t n = batch->n;
    if (!chunk->format || !set_string(chunk, raw) ||
        raw->record.n_alternatives > PFD_ALTERNATIVES_MAX)
        return false;
    raw->record.flags &= (uint8_t)~PFD_RECORD_COPIED;
    chunk->index = raw->index + 1;
    chunk->offset = raw->record.offset + raw->record.n_bytes;
    bool sound = is_sound(chunk, &raw->record, raw->bytes, raw->n);
    place_entry(batch, raw);
    bool whole = !raw->record.n_alternatives ||
                 read_alternatives(chunk, raw, batch, &sound);
    if (!whole || !sound)
        batch->n = n;
    if (whole && sound)
        note_sound(chunk, raw);
    if (whole && !sound)
        add_unsound(batch, raw->record.offset);
    return whole;
}

static bool read_finding(const struct raw *raw, struct pfd_record_batch *batch)
{
    const char *name = (const char *)raw->bytes;
    size_t from = batch->text.n;
    if (raw->is_long || raw->number > raw->n)
        return false;
    add_sentence(&batch->text, name + raw->number, raw->n - raw->number);
    add_finding(batch, find_kind(name, raw->number), raw->record.offset, from);
    return true;
}

/* Reads a gap; its sentence has the number of missed entries, too. */
static bool read_gap(const struct raw *raw, struct pfd_record_batch *batch)
{
    struct pfd_record *r = &batch->records[batch->n];
    size_t from = batch->text.n;
    if (raw->is_long)
        return false;
    if (raw->record.offset) {
        pfd_text_printf(&batch->text, "%llu entries lost: ",
                        (unsigned long long)raw->record.offset);
    } else {
        pfd_text_puts(&batch->text, "entries lost: ");
    }
    size_t n_prefix = batch->text.n - from;
    add_sentence(&batch->text, (const char *)raw->bytes, raw->n);
    add_finding(batch, PFD_FINDING_gap, PFD_NO_OFFSET, from);
    r->findings = raw->record.offset;
    r->n_header = (uint8_t)n_prefix;
    return true;
}

/* Reads an entry in short form that has the string and the size of a sound one
 * before: most have. False: it has to be checked, or is no such entry. */
static bool read_known(struct pfd_chunk *chunk, struct pfd_record_batch *batch)
{
    struct pfd_byte_reader *c = &chunk->records;
    const uint8_t *at = c->base + c->at;
    uint32_t words[2];
    if (c->n - c->at < sizeof words)
        return false;
    memcpy(words, at, sizeof words);
    uint32_t n = le32toh(words[0]) >> PFD_CHUNK_BITS;
    uint32_t number = le32toh(words[1]);
    size_t size = sizeof words + ((n + 3U) & ~3U);
    if (le32toh(words[0]) & (2 * PFD_CHUNK_LONG - 1) ||
        number >= chunk->n_strings || chunk->strings[number].n_sound != n ||
        c->n - c->at < size || chunk->offset > UINT64_MAX - n)
        return false;
    batch->records[batch->n] = (struct pfd_record){
        .offset = chunk->offset,
        .n_bytes = n,
        .n_header = (uint8_t)chunk->n_header,
        .key = chunk->strings[number].key,
        .string = chunk->strings[number].string,
        .flags = PFD_RECORD_COPIED,
    };
    batch->places[batch->n++] = (struct pfd_place){
        .index = chunk->index,
        .bytes = at + sizeof words,
        .n = n,
    };
    chunk->index++;
    chunk->offset += n;
    c->at += size;
    return true;
}

static bool read_record(struct pfd_chunk *chunk, struct pfd_record_batch *batch)
{
    struct raw raw;
    if (!read_raw(chunk, &raw))
        return false;
    switch (raw.kind) {
    case PFD_CHUNK_IS_ENTRY:
        return read_entry(chunk, &raw, batch);
    case PFD_CHUNK_IS_FINDING:
        return read_finding(&raw, batch);
    case PFD_CHUNK_IS_GAP:
        return read_gap(&raw, batch);
    case PFD_CHUNK_IS_ALTERNATIVE:
        break; /* without an entry */
    }
    return false;
}

enum pfd_status pfd_chunk_fill(struct pfd_chunk *chunk,
                               struct pfd_record_batch *batch,
                               struct pfd_error *err)
{
    struct pfd_byte_reader *c = &chunk->records;
    enum pfd_status status = PFD_OK;
    while (status == PFD_OK &&
           batch->n + PFD_RECORD_BATCH_SPARE <= batch->max) {
        if (!pfd_byte_reader_left(c)) {
            status = PFD_END;
            continue;
        }
        if (read_known(chunk, batch))
            continue;
        if (!read_record(chunk, batch)) {
            size_t at = c->at;
            *c = pfd_byte_reader(c->base, 0);
            c->at = 0;
            return pfd_fail(err, PFD_ERR_CORRUPT, at,
                            "a chunk of entries: no record can be read on");
        }
    }
    return batch->text.failed || batch->bytes.failed ? no_memory(err) : status;
}

/* ---- counting ---- */

static bool count_entry(struct pfd_chunk *chunk, const struct raw *entry,
                        struct pfd_chunk_counts *ret)
{
    const struct pfd_record *r = &entry->record;
    if (!chunk->format || r->n_alternatives > PFD_ALTERNATIVES_MAX ||
        (entry->number == PFD_CHUNK_NO_STRING
             ? !entry->is_long
             : entry->number >= chunk->n_strings))
        return false;
    chunk->index = entry->index + 1;
    chunk->offset = r->offset + r->n_bytes;
    ret->entries++;
    ret->index = entry->index;
    ret->offset = r->offset;
    ret->n_bytes = r->n_bytes;
    for (unsigned i = 0; i < r->n_alternatives; i++) {
        struct raw raw;
        if (!read_raw(chunk, &raw) || raw.kind != PFD_CHUNK_IS_ALTERNATIVE ||
            !raw.is_long ||
            (raw.number != PFD_CHUNK_NO_STRING &&
             raw.number >= chunk->n_strings))
            return false;
    }
    return true;
}

static bool count_record(struct pfd_chunk *chunk, struct pfd_chunk_counts *ret)
{
    struct raw raw;
    if (!read_raw(chunk, &raw))
        return false;
    if (raw.kind == PFD_CHUNK_IS_ENTRY)
        return count_entry(chunk, &raw, ret);
    ret->findings += raw.kind == PFD_CHUNK_IS_FINDING;
    ret->gaps += raw.kind == PFD_CHUNK_IS_GAP;
    return raw.kind != PFD_CHUNK_IS_ALTERNATIVE && !raw.is_long &&
           (raw.kind == PFD_CHUNK_IS_GAP || raw.number <= raw.n);
}

enum pfd_status pfd_chunk_count(const void *bytes, size_t n,
                                struct pfd_chunk_counts *ret,
                                struct pfd_error *err)
{
    static const struct pfd_options options;
    struct pfd_chunk chunk = { 0 };
    struct pfd_strings *none = pfd_strings_new();
    *ret = (struct pfd_chunk_counts){ 0 };
    enum pfd_status status =
        none ? pfd_chunk_open(&chunk, none, &options, bytes, n, err)
             : no_memory(err);
    while (status == PFD_OK && pfd_byte_reader_left(&chunk.records)) {
        size_t at = chunk.records.at;
        if (!count_record(&chunk, ret)) {
            status = pfd_fail(err, PFD_ERR_CORRUPT, at,
                              "a chunk of entries: no record can be read on");
        }
    }
    ret->lost_bytes = chunk.lost_bytes;
    ret->skipped_bytes = chunk.skipped_bytes;
    pfd_chunk_close(&chunk);
    pfd_strings_free(none);
    return status;
}
