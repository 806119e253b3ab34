/* SPDX-License-Identifier: MIT */
#include "outputs/forward.h"

#include <arpa/inet.h>
#include <string.h>

#include <msgpack.h>

enum {
    DEPTH = 8,
    ITEMS_MAX = 64, /* in a list or a map */
};

enum type {
    NONE,
    OTHER, /* a number, nil, a time */
    FALSE,
    TRUE,
    TEXT, /* or bytes */
    LIST,
    MAP,
};

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    bool is_short; /* incomplete: more bytes may follow */
};

/* A value; of a list or a map, only the number of its items. */
struct value {
    enum type type;
    struct pfdd_piece text;
    uint32_t n;
};

/* ---- decoding ---- */

/* Layout of a value by its first byte: bytes of a length, or bytes of
 * content. */
struct shape {
    uint8_t first;
    enum type type;
    uint8_t n_length;
    uint8_t n_self;
};

static const struct shape shapes[] = {
    { 0xc0, OTHER, 0, 0 }, { 0xc2, FALSE, 0, 0 }, { 0xc3, TRUE, 0, 0 },
    { 0xc4, TEXT, 1, 0 },  { 0xc5, TEXT, 2, 0 },  { 0xc6, TEXT, 4, 0 },
    { 0xca, OTHER, 0, 4 }, { 0xcb, OTHER, 0, 8 }, { 0xcc, OTHER, 0, 1 },
    { 0xcd, OTHER, 0, 2 }, { 0xce, OTHER, 0, 4 }, { 0xcf, OTHER, 0, 8 },
    { 0xd0, OTHER, 0, 1 }, { 0xd1, OTHER, 0, 2 }, { 0xd2, OTHER, 0, 4 },
    { 0xd3, OTHER, 0, 8 }, { 0xd4, OTHER, 0, 2 }, { 0xd5, OTHER, 0, 3 },
    { 0xd6, OTHER, 0, 5 }, { 0xd7, OTHER, 0, 9 }, { 0xd8, OTHER, 0, 17 },
    { 0xd9, TEXT, 1, 0 },  { 0xda, TEXT, 2, 0 },  { 0xdb, TEXT, 4, 0 },
    { 0xdc, LIST, 2, 0 },  { 0xdd, LIST, 4, 0 },  { 0xde, MAP, 2, 0 },
    { 0xdf, MAP, 4, 0 },
};

static bool take(struct reader *r, size_t n, struct pfdd_piece *ret)
{
    if ((size_t)(r->end - r->at) < n) {
        r->is_short = true;
        return false;
    }
    *ret = (struct pfdd_piece){ r->at, n };
    r->at += n;
    return true;
}

static bool read_length(struct reader *r, size_t n_bytes, uint32_t *ret)
{
    struct pfdd_piece bytes;
    if (!take(r, n_bytes, &bytes))
        return false;
    *ret = 0;
    for (size_t i = 0; i < n_bytes; i++)
        *ret = *ret << 8 | ((const uint8_t *)bytes.at)[i];
    return true;
}

static bool read_shaped(struct reader *r, uint8_t first, struct value *ret)
{
    struct pfdd_piece self;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        if (s->first != first)
            continue;
        ret->type = s->type;
        return take(r, s->n_self, &self) &&
               (!s->n_length || read_length(r, s->n_length, &ret->n));
    }
    return false;
}

/* False: it is invalid, or (is_short) incomplete. */
static bool read_value(struct reader *r, struct value *ret)
{
    struct pfdd_piece head;
    *ret = (struct value){ .type = OTHER, .text = { "", 0 } };
    if (!take(r, 1, &head))
        return false;
    uint8_t first = *(const uint8_t *)head.at;
    if (first < 0x80 || first >= 0xe0)
        return true;
    if (first < 0xc0) {
        ret->type = first >= 0xa0 ? TEXT : first >= 0x90 ? LIST : MAP;
        ret->n = first & (first >= 0xa0 ? 31 : 15);
    } else if (!read_shaped(r, first, ret)) {
        return false;
    }
    if (ret->type == TEXT)
        return take(r, ret->n, &ret->text);
    return ret->type < LIST || ret->n <= ITEMS_MAX;
}

/* Skips the items of a list or a map. */
static bool skip_inside(struct reader *r, const struct value *v, unsigned depth)
{
    uint32_t n = v->type == LIST ? v->n : v->type == MAP ? 2 * v->n : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct value inner;
        if (depth == 0 || !read_value(r, &inner) ||
            !skip_inside(r, &inner, depth - 1))
            return false;
    }
    return true;
}

static bool is_word(const struct value *v, const char *word)
{
    return v->type == TEXT && v->text.n == strlen(word) &&
           !memcmp(v->text.at, word, v->text.n);
}

/* ---- messages ---- */

/* Reads the texts under two keys of a map, whose header has been read, and
 * skips all other items. */
static bool read_map(struct reader *r, const struct value *map, const char *key,
                     struct pfdd_piece *ret, const char *other_key,
                     struct pfdd_piece *other)
{
    for (uint32_t i = 0; i < map->n; i++) {
        struct value k;
        struct value v;
        if (!read_value(r, &k) || !skip_inside(r, &k, DEPTH) ||
            !read_value(r, &v) || !skip_inside(r, &v, DEPTH))
            return false;
        if (is_word(&k, key) && v.type == TEXT)
            *ret = v.text;
        if (is_word(&k, other_key) && v.type == TEXT)
            *other = v.text;
    }
    return true;
}

/* ["HELO", {...}] and ["PONG", known, reason, host, proof], perhaps with more
 * items. */
static bool read_list(struct reader *r, uint32_t n,
                      struct pfdd_forward_said *ret)
{
    struct value v = { .type = NONE };
    bool is_known_word = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!read_value(r, &v))
            return false;
        if (i == 0) {
            bool is_pong = is_word(&v, "PONG");
            ret->kind = is_pong ? PFDD_FORWARD_PONG : PFDD_FORWARD_HELO;
            is_known_word = is_pong || is_word(&v, "HELO");
        }
        if (ret->kind == PFDD_FORWARD_HELO && i == 1 && v.type == MAP) {
            if (!read_map(r, &v, "nonce", &ret->nonce, "auth", &ret->auth))
                return false;
            continue;
        }
        if (i == 1)
            ret->is_known = v.type == TRUE;
        if (i == 3)
            ret->host = v.text;
        if (i == 4)
            ret->proof = v.text;
        if (!skip_inside(r, &v, DEPTH))
            return false;
    }
    return is_known_word;
}

long pfdd_forward_read(const void *bytes, size_t n,
                       struct pfdd_forward_said *ret)
{
    struct reader r = { bytes, (const uint8_t *)bytes + n, false };
    struct value v;
    struct pfdd_piece ignored;
    *ret = (struct pfdd_forward_said){ .nonce = { "", 0 },
                                       .auth = { "", 0 },
                                       .host = { "", 0 },
                                       .proof = { "", 0 },
                                       .chunk = { "", 0 } };
    bool ok = read_value(&r, &v);
    if (ok && v.type == LIST) {
        ok = read_list(&r, v.n, ret);
    } else if (ok && v.type == MAP) {
        ret->kind = PFDD_FORWARD_ACK;
        ok = read_map(&r, &v, "ack", &ret->chunk, "", &ignored) && ret->chunk.n;
    } else {
        ok = false;
    }
    if (ok)
        return r.at - (const uint8_t *)bytes;
    return r.is_short ? 0 : -1;
}

/* ---- encoding ---- */

static int add(void *user, const char *bytes, size_t n)
{
    pfd_text_add(user, bytes, n);
    return 0;
}

static void put_text(msgpack_packer *pk, const char *text, size_t n)
{
    msgpack_pack_str(pk, n);
    msgpack_pack_str_body(pk, text, n);
}

static void put_word(msgpack_packer *pk, const char *text)
{
    put_text(pk, text, strlen(text));
}

struct map {
    msgpack_packer pk;
    uint16_t n; /* of pairs */
};

static void put_field(void *user, const struct pfdd_field *field)
{
    struct map *map = user;
    put_text(&map->pk, field->name, field->n_name);
    put_text(&map->pk, field->value, field->n);
    map->n++;
}

/* [EventTime, {"message": ..., "severity": ..., fields}]. The number of pairs
 * is set at the end. */
static void put(struct pfd_text *out, const struct pfdd_log_record *log_record)
{
    const uint32_t time[] = { htonl((uint32_t)(log_record->time / 1000000000)),
                              htonl(
                                  (uint32_t)(log_record->time % 1000000000)) };
    struct map map = { .n = 2 };
    msgpack_packer *pk = &map.pk;
    msgpack_packer_init(pk, out, add);
    msgpack_pack_array(pk, 2);
    msgpack_pack_ext(pk, sizeof time, 0);
    msgpack_pack_ext_body(pk, time, sizeof time);
    msgpack_pack_map(pk, UINT16_MAX);
    size_t behind = out->n;
    put_word(pk, "message");
    put_text(pk, log_record->text, log_record->n);
    put_word(pk, "severity");
    put_word(pk, pfdd_severity_name(log_record->severity));
    pfdd_log_record_fields(log_record, put_field, &map);
    uint16_t n = htons(map.n);
    if (!out->failed)
        memcpy(out->data + behind - sizeof n, &n, sizeof n);
}

const struct pfdd_encoding pfdd_forward_encoding = { .put = put };

void pfdd_forward_message(struct pfd_text *out,
                          const struct pfdd_forward_chunk *chunk)
{
    msgpack_packer pk;
    msgpack_packer_init(&pk, out, add);
    msgpack_pack_array(&pk, 3);
    put_word(&pk, chunk->tag);
    msgpack_pack_bin(&pk, chunk->n);
    msgpack_pack_bin_body(&pk, chunk->entries, chunk->n);
    msgpack_pack_map(&pk, chunk->is_gzip ? 3 : 2);
    put_word(&pk, "chunk");
    put_word(&pk, chunk->name);
    put_word(&pk, "size");
    msgpack_pack_uint64(&pk, chunk->n_notes);
    if (chunk->is_gzip) {
        put_word(&pk, "compressed");
        put_word(&pk, "gzip");
    }
}

void pfdd_forward_ping(struct pfd_text *out, const char *host, const char *salt,
                       const char *proof, const char *user,
                       const char *password)
{
    const char *const words[] = { "PING", host, salt, proof, user, password };
    msgpack_packer pk;
    msgpack_packer_init(&pk, out, add);
    msgpack_pack_array(&pk, 6);
    for (size_t i = 0; i < 6; i++)
        put_word(&pk, words[i]);
}
