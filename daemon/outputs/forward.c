/* SPDX-License-Identifier: MIT */
#include "outputs/forward.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <msgpack.h>

#include "base/name.h"

/* SHA-512, by which peers prove that they know a key. Needs OpenSSL. */

enum {
    SHA512_TEXT = 2 * 64 + 1
};

/* Hashes concatenated pieces [n]; hexadecimal, with a NUL. False: it failed, or
 * OpenSSL is missing. */
#if HAVE_TLS
#include <openssl/evp.h>

static bool sha512(const struct pfdd_piece *pieces, size_t n,
                   char ret[SHA512_TEXT])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context && EVP_DigestInit_ex(context, EVP_sha512(), NULL) == 1;
    for (size_t i = 0; ok && i < n; i++)
        ok = EVP_DigestUpdate(context, pieces[i].at, pieces[i].n) == 1;
    ok = ok && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    for (size_t i = 0; ok && i < SHA512_TEXT / 2; i++)
        sprintf(ret + 2 * i, "%02x", digest[i]);
    return ok;
}

#else

static bool sha512(const struct pfdd_piece *pieces, size_t n,
                   char ret[SHA512_TEXT])
{
    return false;
}

#endif

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

/* ["PING", host, salt, proof, user, proof of the password]; the last two are
 * empty if the peer does not ask for a user. */
static void forward_ping(struct pfd_text *out, const char *host,
                         const char *salt, const char *proof, const char *user,
                         const char *password)
{
    const char *const words[] = { "PING", host, salt, proof, user, password };
    msgpack_packer pk;
    msgpack_packer_init(&pk, out, add);
    msgpack_pack_array(&pk, 6);
    for (size_t i = 0; i < 6; i++)
        put_word(&pk, words[i]);
}

static bool read_secret(struct pfdd_secret *ret, const char *path,
                        const char *what, char *err, size_t n_err)
{
    FILE *in = path ? fopen(path, "re") : NULL;
    ret->n = 0;
    if (!path)
        return true;
    if (in) {
        ret->n = fread(ret->at, 1, sizeof ret->at, in);
        fclose(in);
    }
    while (ret->n && strchr("\r\n", ret->at[ret->n - 1]))
        ret->n--;
    if (ret->n > 0 && ret->n <= PFDD_SECRET_MAX)
        return true;
    snprintf(err, n_err, "%s: no %s can be read there", path, what);
    return false;
}

bool pfdd_forward_auth_read(struct pfdd_forward_auth *g,
                            const struct pfdd_forward_auth_config *config,
                            char *err, size_t n_err)
{
    g->user = config->user;
    return read_secret(&g->key, config->key_file, "shared key", err, n_err) &&
           read_secret(&g->password, config->password_file, "password", err,
                       n_err);
}

bool pfdd_make_random(char *ret, size_t n_bytes)
{
    unsigned char bytes[16];
    if (getrandom(bytes, n_bytes, 0) != (ssize_t)n_bytes)
        return false;
    for (size_t i = 0; i < n_bytes; i++)
        sprintf(ret + 2 * i, "%02x", bytes[i]);
    return true;
}

/* Proves that a host knows the key. */
static bool prove(const struct pfdd_forward_auth *g, const char *host,
                  size_t n_host, char ret[SHA512_TEXT])
{
    const struct pfdd_piece pieces[] = {
        { g->salt, strlen(g->salt) },
        { host, n_host },
        { g->nonce, g->n_nonce },
        { g->key.at, g->key.n },
    };
    return sha512(pieces, 4, ret);
}

/* Proves the password, for a peer that asks for a user. */
static bool prove_user(const struct pfdd_forward_auth *g,
                       struct pfdd_piece salt, char ret[SHA512_TEXT])
{
    const struct pfdd_piece pieces[] = {
        salt,
        { g->user, strlen(g->user) },
        { g->password.at, g->password.n },
    };
    return sha512(pieces, 3, ret);
}

const char *pfdd_forward_auth_answer(struct pfdd_forward_auth *g,
                                     const struct pfdd_forward_said *helo,
                                     struct pfd_text *out)
{
    const struct pfdd_piece *nonce = &helo->nonce;
    char proof[SHA512_TEXT];
    char digest[SHA512_TEXT] = "";
    const char *host = pfdd_host_name();
    bool wants_user = helo->auth.n > 0;
    if (!nonce->n || nonce->n > sizeof g->nonce)
        return "its greeting has no nonce";
    if (wants_user && !g->user)
        return "it wants a user and a password";
    memcpy(g->nonce, nonce->at, nonce->n);
    g->n_nonce = nonce->n;
    if (!pfdd_make_random(g->salt, 16) ||
        !prove(g, host, strlen(host), proof) ||
        (wants_user && !prove_user(g, helo->auth, digest)))
        return "no proof can be made";
    forward_ping(out, host, g->salt, proof, wants_user ? g->user : "", digest);
    return NULL;
}

const char *pfdd_forward_auth_check(const struct pfdd_forward_auth *g,
                                    const struct pfdd_forward_said *pong)
{
    char proof[SHA512_TEXT];
    if (!pong->is_known && g->user)
        return "it refuses our shared key, user or password";
    if (!pong->is_known)
        return "it refuses our shared key";
    if (!prove(g, pong->host.at, pong->host.n, proof) ||
        pong->proof.n != strlen(proof) ||
        memcmp(pong->proof.at, proof, pong->proof.n) != 0)
        return "it does not know the shared key";
    return NULL;
}
