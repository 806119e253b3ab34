/* SPDX-License-Identifier: MIT */
/*
 * A fast reader for string tables in the usual form of compilers, directly from
 * the note: a document of values takes several times its own size in memory,
 * and a table can have a hundred thousand rows. It rejects anything unusual,
 * which may need a finding; strings.c then reads the whole note.
 */
#include <string.h>

#include "core/base/msgpack.h"
#include "layout.h"

enum {
    /* Nested containers in skipped values. */
    DEPTH = 16,
    MASK_BITS = 64,
    VERSION = 1,
    /* Bytes of the smallest row: two keys with their lengths, a number and a
     * text. */
    ROW_MIN = 1 + 7 + 8 + 2,
};

/* Bits for the members of a row or table. */
enum {
    HAS_INDEX = 1,
    HAS_STRING = 2,
    HAS_COUNT = 4,
    HAS_MASK = 8,
    IS_OTHER = 16, /* a member that is skipped */
    N_KEYS = 4,
    HAS_VERSION = 1,
    HAS_ROWS = 2,
};

/* Skips n objects with their contents. */
static bool skip(struct pfd_byte_reader *c, uint64_t n)
{
    uint64_t owed[DEPTH] = { n };
    size_t depth = n > 0;
    while (depth > 0) {
        struct pfd_msgpack object = pfd_msgpack_read(c);
        if (object.kind == PFD_MSGPACK_BAD || !pfd_byte_reader_ok(c) ||
            object.n_follow > pfd_byte_reader_left(c))
            return false;
        owed[depth - 1]--;
        if (object.kind != PFD_MSGPACK_ITEMS) {
            pfd_byte_reader_skip(c, (size_t)object.n_follow);
        } else if (object.n_follow > 0) {
            if (depth == DEPTH)
                return false;
            owed[depth++] = object.n_follow;
        }
        while (depth > 0 && owed[depth - 1] == 0)
            depth--;
    }
    return true;
}

/* Reads the number of an array's objects, or of a map's pairs. */
static bool read_items(struct pfd_byte_reader *c, bool is_map, uint64_t *n)
{
    struct pfd_msgpack object = pfd_msgpack_read(c);
    if (object.kind != PFD_MSGPACK_ITEMS || object.is_map != is_map ||
        object.n_follow > pfd_byte_reader_left(c))
        return false;
    *n = object.n_follow >> is_map;
    return true;
}

static bool is_key(const char *key, size_t n, const char *wanted,
                   size_t n_wanted)
{
    return n == n_wanted && !memcmp(key, wanted, n_wanted);
}

#define IS_KEY(key, n, wanted) is_key(key, n, wanted, sizeof(wanted) - 1)

static bool read_mask(struct pfd_byte_reader *c,
                      struct llpc_note_table_row *ret)
{
    uint64_t n = 0;
    if (!read_items(c, false, &n) || n > 1)
        return false;
    ret->n_masks = (uint8_t)n;
    return !n || pfd_msgpack_read_number(c, &ret->mask);
}

static bool read_text(struct pfd_byte_reader *c,
                      struct llpc_note_table_row *ret)
{
    size_t n = 0;
    ret->text = pfd_msgpack_read_bytes(c, &n);
    if (!ret->text || n > PFD_TEXT_MAX)
        return false;
    /* Like strings.c. */
    if (n > 0 && ret->text[n - 1] == '\0')
        n--;
    ret->n_text = (uint32_t)n;
    return true;
}

static bool read_count(struct pfd_byte_reader *c,
                       struct llpc_note_table_row *ret)
{
    uint64_t n = 0;
    if (!pfd_msgpack_read_number(c, &n) || n > MASK_BITS)
        return false;
    ret->n_arguments = (uint8_t)n;
    return true;
}

/* The bit for a row's key. */
static unsigned meaning(const char *key, size_t n)
{
    return IS_KEY(key, n, ".index")              ? HAS_INDEX
           : IS_KEY(key, n, ".string")           ? HAS_STRING
           : IS_KEY(key, n, ".argument_count")   ? HAS_COUNT
           : IS_KEY(key, n, ".64bit_arguments")  ? HAS_MASK
           : IS_KEY(key, n, ".vector_separator") ? 0 /* unusual */
                                                 : IS_OTHER;
}

static bool read_value(struct pfd_byte_reader *c, unsigned has,
                       struct llpc_note_table_row *ret)
{
    switch (has) {
    case HAS_INDEX:
        return pfd_msgpack_read_number(c, &ret->key);
    case HAS_STRING:
        return read_text(c, ret);
    case HAS_COUNT:
        return read_count(c, ret);
    case HAS_MASK:
        return read_mask(c, ret);
    default:
        return skip(c, 1);
    }
}

/* The keys of the last row; a compiler writes those of the next row alike. */
struct keys {
    struct {
        const uint8_t *at; /* [n], the key's object with its header */
        size_t n;
        size_t n_text; /* length of the text at its end */
        unsigned has;
    } all[N_KEYS];
};

/* Reads key i of a row; returns its bit; 0: it is no text. */
static unsigned read_key(struct pfd_byte_reader *c, struct keys *keys,
                         uint64_t i, size_t *n_text)
{
    const uint8_t *at = c->base + c->at;
    size_t n = i < N_KEYS ? keys->all[i].n : 0;
    if (n && n <= pfd_byte_reader_left(c) && !memcmp(at, keys->all[i].at, n)) {
        pfd_byte_reader_skip(c, n);
        *n_text = keys->all[i].n_text;
        return keys->all[i].has;
    }
    const char *key = pfd_msgpack_read_bytes(c, n_text);
    unsigned has = key ? meaning(key, *n_text) : 0;
    if (has && i < N_KEYS) {
        keys->all[i].at = at;
        keys->all[i].n = (size_t)(c->base + c->at - at);
        keys->all[i].n_text = *n_text;
        keys->all[i].has = has;
    }
    return has;
}

static bool read_row(struct pfd_byte_reader *c, struct keys *keys,
                     struct llpc_note_table_row *ret)
{
    uint64_t n_pairs = 0;
    unsigned has = 0;
    if (!read_items(c, true, &n_pairs))
        return false;
    *ret = (struct llpc_note_table_row){ 0 };
    for (uint64_t i = 0; i < n_pairs; i++) {
        size_t n_text = 0;
        unsigned one = read_key(c, keys, i, &n_text);
        if (i == 0)
            ret->offset = (uint32_t)(c->at - n_text);
        if (!one || has & one || !read_value(c, one, ret))
            return false;
        has |= one & ~(unsigned)IS_OTHER;
    }
    /* The mask must have bits for all arguments, and none beyond. */
    if (ret->n_arguments > ret->n_masks * (unsigned)MASK_BITS)
        return false;
    if (ret->n_arguments < MASK_BITS)
        ret->mask &= (UINT64_C(1) << ret->n_arguments) - 1;
    return has & HAS_INDEX && has & HAS_STRING && ret->key >> LLPC_ID_BITS == 0;
}

static bool read_rows(struct pfd_byte_reader *c, struct llpc_note_table *ret)
{
    uint64_t n = 0;
    struct llpc_note_table_row row;
    struct keys keys = { 0 };
    if (!read_items(c, false, &n) || n > pfd_byte_reader_left(c) / ROW_MIN)
        return false;
    pfd_text_expect(&ret->rows, (size_t)n * sizeof row);
    for (; ret->n < n; ret->n++) {
        if (!read_row(c, &keys, &row))
            return false;
        pfd_text_add(&ret->rows, (const char *)&row, sizeof row);
    }
    return !ret->rows.failed;
}

static bool read_member(struct pfd_byte_reader *c, unsigned has,
                        struct llpc_note_table *ret)
{
    uint64_t version = 0;
    if (has == HAS_ROWS)
        return read_rows(c, ret);
    if (has == HAS_VERSION)
        return pfd_msgpack_read_number(c, &version) && version == VERSION;
    return skip(c, 1); /* such as .user_data_offset */
}

static bool read_table(struct pfd_byte_reader *c, struct llpc_note_table *ret)
{
    uint64_t n_pairs = 0;
    unsigned has = 0;
    if (!read_items(c, true, &n_pairs))
        return false;
    for (uint64_t i = 0; i < n_pairs; i++) {
        size_t n = 0;
        const char *key = pfd_msgpack_read_bytes(c, &n);
        if (!key)
            return false;
        unsigned one = IS_KEY(key, n, ".version")   ? HAS_VERSION
                       : IS_KEY(key, n, ".strings") ? HAS_ROWS
                                                    : 0;
        if (has & one || !read_member(c, one, ret))
            return false;
        has |= one;
    }
    return has == (HAS_VERSION | HAS_ROWS);
}

/* Reads the whole document: if any part is cut or damaged, it is rejected. */
static bool read_document(struct pfd_byte_reader *c,
                          struct llpc_note_table *ret)
{
    uint64_t n_pairs = 0;
    bool is_there = false;
    if (pfd_byte_reader_left(c) > UINT32_MAX || !read_items(c, true, &n_pairs))
        return false;
    for (uint64_t i = 0; i < n_pairs; i++) {
        struct pfd_byte_reader before = *c;
        size_t n = 0;
        const char *key = pfd_msgpack_read_bytes(c, &n);
        if (!key) {
            *c = before;
            if (!skip(c, 2))
                return false;
        } else if (!IS_KEY(key, n, LLPC_TABLE_KEY)) {
            if (!skip(c, 1))
                return false;
        } else if (is_there || !read_table(c, ret)) {
            return false;
        } else {
            is_there = true;
        }
    }
    return pfd_byte_reader_ok(c) && !pfd_byte_reader_left(c);
}

bool llpc_note_table_read(struct pfd_byte_reader document,
                          struct llpc_note_table *ret)
{
    struct pfd_byte_reader c =
        pfd_byte_reader_sub(&document, pfd_byte_reader_left(&document));
    *ret = (struct llpc_note_table){ 0 };
    if (read_document(&c, ret))
        return true;
    llpc_note_table_free(ret);
    return false;
}

struct llpc_note_table_row llpc_note_table_at(
    const struct llpc_note_table *plain, size_t i)
{
    struct llpc_note_table_row row;
    memcpy(&row, plain->rows.data + i * sizeof row, sizeof row);
    return row;
}

void llpc_note_table_free(struct llpc_note_table *plain)
{
    pfd_text_free(&plain->rows);
    *plain = (struct llpc_note_table){ 0 };
}
