/* SPDX-License-Identifier: MIT */
/* Cuts a chunk into smaller ones. Copies records, and does not read entries. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "stream/capture/chunk.h"
#include "stream/capture/chunk_layout.h"

enum {
    SHORT = 8,  /* bytes of a record before its own, */
    LONG = 60,  /* in long form, */
    OTHER = 16, /* of a finding or a gap */
    N_AT = 52,  /* in a record in long form: the number of its bytes, */
    READINGS_AT = 58,
    /* In a header: */
    N_ITEMS_AT = 4,
    N_STRINGS_AT = 20,
    LOSS_AT = 24,
    N_LOSS = 16, /* bytes */
};

struct cut {
    const uint8_t *bytes; /* the chunk */
    struct pfd_chunk chunk;
    size_t strings_at;
    size_t n_max;
    uint64_t index; /* of the next entry, as records in short form have it */
    uint64_t offset;
    /* The part that is being made. */
    struct pfd_text strings;
    struct pfd_text records;
    struct pfd_text whole;
    uint32_t *numbers; /* [chunk.n_strings]: a string's there, + 1; 0: none */
    uint32_t n_items;
    bool is_later; /* the first part has the chunk's losses */
    pfd_chunk_part_fn give;
    void *user;
};

/* An item: a record, and other readings of it. */
struct item {
    const uint8_t *at;
    size_t n;
    uint32_t n_records;
    bool is_entry;
    bool is_long;
};

static uint32_t get32(const uint8_t *at)
{
    uint32_t v = 0;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t v = 0;
    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

static void set32(char *at, uint32_t v)
{
    v = htole32(v);
    memcpy(at, &v, sizeof v);
}

static void set64(char *at, uint64_t v)
{
    v = htole64(v);
    memcpy(at, &v, sizeof v);
}

static enum pfd_chunk_kind kind_of(const uint8_t *record)
{
    return (enum pfd_chunk_kind)(get32(record) & (PFD_CHUNK_LONG - 1));
}

/* Bytes of a record, with padding. The chunk was counted: it is whole. */
static size_t size_of(const uint8_t *record)
{
    uint32_t head = get32(record);
    size_t n = head >> PFD_CHUNK_BITS;
    size_t before = SHORT;
    if (head & PFD_CHUNK_LONG) {
        before = LONG;
        n = get32(record + N_AT);
    } else if (kind_of(record) >= PFD_CHUNK_IS_FINDING) {
        before = OTHER;
    }
    return before + ((n + 3) & ~(size_t)3);
}

static struct item item_at(const uint8_t *at)
{
    struct item ret = { .at = at, .n = size_of(at), .n_records = 1 };
    ret.is_entry = kind_of(at) == PFD_CHUNK_IS_ENTRY;
    ret.is_long = get32(at) & PFD_CHUNK_LONG;
    if (ret.is_entry && ret.is_long)
        ret.n_records += at[READINGS_AT];
    for (uint32_t i = 1; i < ret.n_records; i++)
        ret.n += size_of(at + ret.n);
    return ret;
}

static bool has_string(const uint8_t *record)
{
    return kind_of(record) < PFD_CHUNK_IS_FINDING &&
           get32(record + sizeof(uint32_t)) != PFD_CHUNK_NO_STRING;
}

/* True: as the first item of a part it needs the long form. */
static bool is_moved(const struct cut *c, const struct item *item)
{
    return !c->n_items && item->is_entry && !item->is_long &&
           (c->index || c->offset);
}

/* Bytes that the part would have with this item. A string that the item has
 * twice counts twice. */
static size_t size_with(const struct cut *c, const struct item *item)
{
    size_t n = c->strings_at + c->strings.n + c->records.n + item->n;
    const uint8_t *at = item->at;
    for (uint32_t i = 0; i < item->n_records; i++) {
        if (has_string(at) && !c->numbers[get32(at + sizeof(uint32_t))])
            n += PFD_CHUNK_STRING;
        at += size_of(at);
    }
    return n + (is_moved(c, item) ? LONG - SHORT : 0);
}

static void begin(struct cut *c)
{
    c->strings.n = c->records.n = 0;
    c->n_items = 0;
    memset(c->numbers, 0, c->chunk.n_strings * sizeof *c->numbers);
}

static bool end(struct cut *c)
{
    struct pfd_text *out = &c->whole;
    if (!c->n_items)
        return true;
    out->n = 0;
    pfd_text_add(out, c->bytes, c->strings_at);
    pfd_text_add(out, c->strings.data, c->strings.n);
    pfd_text_add(out, c->records.data, c->records.n);
    if (out->failed || c->strings.failed || c->records.failed)
        return false;
    set32(out->data + N_ITEMS_AT, c->n_items);
    set32(out->data + N_STRINGS_AT,
          (uint32_t)(c->strings.n / PFD_CHUNK_STRING));
    if (c->is_later)
        memset(out->data + LOSS_AT, 0, N_LOSS);
    c->is_later = true;
    bool ok = c->give(c->user, out->data, out->n, c->n_items);
    begin(c);
    return ok;
}

/* The number of a record's string in the part, which gets it if it has not. */
static uint32_t number_of(struct cut *c, uint32_t old)
{
    if (!c->numbers[old]) {
        pfd_text_add(&c->strings,
                     c->bytes + c->strings_at + (size_t)old * PFD_CHUNK_STRING,
                     PFD_CHUNK_STRING);
        c->numbers[old] = (uint32_t)(c->strings.n / PFD_CHUNK_STRING);
    }
    return c->numbers[old] - 1;
}

/* A record in short form, which states its place now. */
static void add_moved(struct cut *c, const struct item *item)
{
    uint32_t n = get32(item->at) >> PFD_CHUNK_BITS;
    uint32_t old = get32(item->at + sizeof(uint32_t));
    const uint8_t *string =
        c->bytes + c->strings_at + (size_t)old * PFD_CHUNK_STRING;
    char head[LONG] = { 0 };
    set32(head, PFD_CHUNK_LONG | PFD_CHUNK_IS_ENTRY);
    set32(head + 4, number_of(c, old));
    set64(head + 8, c->index);
    set64(head + 16, c->offset);
    /* No findings (24) and no layout (32) of its own. */
    set64(head + 40, get64(string));
    set32(head + 48, n);
    set32(head + N_AT, n);
    head[56] = (char)c->chunk.n_header;
    pfd_text_add(&c->records, head, sizeof head);
    pfd_text_add(&c->records, item->at + SHORT, item->n - SHORT);
}

static void add_records(struct cut *c, const struct item *item)
{
    const uint8_t *at = item->at;
    for (uint32_t i = 0; i < item->n_records; i++) {
        size_t n = size_of(at);
        size_t where = c->records.n;
        pfd_text_add(&c->records, at, n);
        if (has_string(at) && !c->records.failed) {
            set32(c->records.data + where + sizeof(uint32_t),
                  number_of(c, get32(at + sizeof(uint32_t))));
        }
        at += n;
    }
}

static void pass(struct cut *c, const struct item *item)
{
    if (!item->is_entry)
        return;
    uint32_t n = get32(item->at) >> PFD_CHUNK_BITS;
    c->index = item->is_long ? get64(item->at + 8) + 1 : c->index + 1;
    c->offset = item->is_long ? get64(item->at + 16) + get32(item->at + 48)
                              : c->offset + n;
}

static bool add_item(struct cut *c, const struct item *item)
{
    if (c->n_items && size_with(c, item) > c->n_max && !end(c))
        return false;
    if (size_with(c, item) > c->n_max) {
        pass(c, item);
        return c->give(c->user, NULL, 0, 1);
    }
    if (is_moved(c, item)) {
        add_moved(c, item);
    } else {
        add_records(c, item);
    }
    c->n_items++;
    pass(c, item);
    return true;
}

static bool cut_all(struct cut *c, uint64_t skip)
{
    const struct pfd_byte_reader *r = &c->chunk.records;
    size_t at = r->at;
    begin(c);
    for (uint64_t i = 0; at < r->n; i++) {
        struct item item = item_at(r->base + at);
        at += item.n;
        if (i < skip) {
            pass(c, &item);
        } else if (!add_item(c, &item)) {
            return false;
        }
    }
    return end(c);
}

enum pfd_status pfd_chunk_cut(const void *bytes, size_t n, uint64_t skip,
                              size_t n_max, pfd_chunk_part_fn give, void *user,
                              struct pfd_error *err)
{
    static const struct pfd_options options;
    struct pfd_chunk_counts counts;
    struct cut c = {
        .bytes = bytes, .n_max = n_max, .give = give, .user = user
    };
    enum pfd_status status = pfd_chunk_count(bytes, n, &counts, err);
    if (status != PFD_OK)
        return status;
    struct pfd_strings *none = pfd_strings_new();
    status = none ? pfd_chunk_open(&c.chunk, none, &options, bytes, n, err)
                  : PFD_ERR_NOMEM;
    c.numbers = calloc(c.chunk.n_strings + 1, sizeof *c.numbers);
    c.strings_at =
        c.chunk.records.at - (size_t)c.chunk.n_strings * PFD_CHUNK_STRING;
    c.is_later = skip > 0;
    bool ok = status == PFD_OK && c.numbers && cut_all(&c, skip);
    pfd_text_free(&c.strings);
    pfd_text_free(&c.records);
    pfd_text_free(&c.whole);
    free(c.numbers);
    pfd_chunk_close(&c.chunk);
    pfd_strings_free(none);
    if (status == PFD_OK && !ok)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return status;
}
