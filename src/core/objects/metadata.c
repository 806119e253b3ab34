/* SPDX-License-Identifier: MIT */
/*
 * msgpack-c unpacks, but it allocates by the counts that a document states
 * before it has seen the elements, has a limit of 32 levels (and reports a
 * deeper document as out of memory), and gives neither place nor reason of a
 * failure. So a document is first walked without allocation, which checks it
 * and counts its objects; msgpack-c then gets one block of the exact size.
 */
#include "core/objects/metadata.h"

#include <stdlib.h>

#include <msgpack.h>

#include "core/base/msgpack.h"
#include "core/objects/metadata_yaml.h"

struct pfd_metadata {
    struct pfd_byte_reader bytes; /* the document, borrowed (or yaml's) */
    struct pfd_yaml yaml; /* owned; empty: the document is MessagePack */
    msgpack_zone *zone;   /* owned: the objects below root */
    msgpack_object root;
};

/* Values are msgpack-c's objects under another name. */
static const msgpack_object *object(const struct pfd_value *v)
{
    return (const msgpack_object *)(const void *)v;
}

static const struct pfd_value *value(const msgpack_object *o)
{
    return (const struct pfd_value *)(const void *)o;
}

static enum pfd_status ends_within(size_t at, struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_CORRUPT, at,
                    "the document ends within the object at %zu", at);
}

/* Reads one object, without the content of a container. */
static enum pfd_status check_object(struct pfd_byte_reader *c,
                                    struct pfd_msgpack *ret,
                                    struct pfd_error *err)
{
    size_t at = c->at;
    *ret = pfd_msgpack_read(c);
    size_t left = pfd_byte_reader_left(c);
    bool ok = pfd_byte_reader_ok(c);
    if (ok && ret->kind == PFD_MSGPACK_BAD) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at,
                        "byte 0xc1 at %zu of the document, which no "
                        "MessagePack object starts with",
                        at);
    }
    /* An element has at least one byte, so a count above the bytes left is
     * wrong, whatever follows. */
    if (ok && ret->kind == PFD_MSGPACK_ITEMS && ret->n_follow > left) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at,
                        "container of %llu objects at %zu of the document, "
                        "which has %zu bytes left",
                        (unsigned long long)ret->n_follow, at, left);
    }
    if (ret->kind == PFD_MSGPACK_ITEMS)
        return ok ? PFD_OK : ends_within(at, err);
    if (ret->n_follow > left) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at,
                        "object of %llu bytes at %zu of the document, which "
                        "has %zu bytes left",
                        (unsigned long long)ret->n_follow, at, left);
    }
    pfd_byte_reader_skip(c, (size_t)ret->n_follow);
    return ok ? PFD_OK : ends_within(at, err);
}

/*
 * Reads one object with all of its content; n_objects: their number. owed[] is
 * the stack: objects that each open container still needs.
 */
static enum pfd_status check_document(struct pfd_byte_reader *c,
                                      size_t *n_objects, struct pfd_error *err)
{
    uint64_t owed[PFD_METADATA_DEPTH];
    size_t depth = 0;
    size_t n = 0;
    do {
        struct pfd_msgpack object;
        size_t at = c->at;
        enum pfd_status status = check_object(c, &object, err);
        if (status != PFD_OK)
            return status;
        n++;
        bool is_container = object.kind == PFD_MSGPACK_ITEMS;
        if (is_container && depth == PFD_METADATA_DEPTH) {
            return pfd_fail(err, PFD_ERR_UNSUPPORTED, at,
                            "nested deeper than %d levels at %zu of the "
                            "document",
                            PFD_METADATA_DEPTH, at);
        }
        if (is_container && object.n_follow > 0) {
            owed[depth++] = object.n_follow;
        } else {
            while (depth > 0 && --owed[depth - 1] == 0)
                depth--;
        }
    } while (depth > 0);
    *n_objects = n;
    return PFD_OK;
}

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

/* Builds the objects of a document that was checked. */
static enum pfd_status unpack(struct pfd_metadata *metadata, size_t n_objects,
                              struct pfd_error *err)
{
    /* The root is outside of the zone; its share is for alignment. */
    metadata->zone = msgpack_zone_new(n_objects * sizeof(msgpack_object));
    if (!metadata->zone)
        return no_memory(err);
    size_t used = 0;
    msgpack_unpack_return result =
        msgpack_unpack((const char *)metadata->bytes.base, metadata->bytes.n,
                       &used, metadata->zone, &metadata->root);
    /* Only memory can run out here, and it was reserved: should a later
     * msgpack-c be stricter, this is still not a crash. */
    if (result != MSGPACK_UNPACK_SUCCESS) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                        "msgpack-c does not read the document (%d)",
                        (int)result);
    }
    return PFD_OK;
}

static enum pfd_status too_large(size_t n, size_t room, struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET,
                    "metadata of %zu objects, of which %zu bytes of memory "
                    "have no room",
                    n, room);
}

enum pfd_status pfd_metadata_open(struct pfd_byte_reader doc, size_t room,
                                  struct pfd_metadata **ret, size_t *n_used,
                                  struct pfd_error *err)
{
    struct pfd_byte_reader whole =
        pfd_byte_reader_sub(&doc, pfd_byte_reader_left(&doc));
    struct pfd_byte_reader c = whole;
    size_t n_objects = 0;
    if (whole.n > UINT32_MAX) { /* msgpack-c counts some bytes in 32 bits */
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0,
                        "document of %zu bytes, 4 GiB or more", whole.n);
    }
    enum pfd_status status = check_document(&c, &n_objects, err);
    if (status != PFD_OK)
        return status;
    if (n_objects > room / sizeof(msgpack_object))
        return too_large(n_objects, room, err);
    struct pfd_metadata *metadata = calloc(1, sizeof *metadata);
    if (!metadata)
        return no_memory(err);
    metadata->bytes = pfd_byte_reader(whole.base, c.at);
    status = unpack(metadata, n_objects, err);
    if (status != PFD_OK) {
        pfd_metadata_free(metadata);
        return status;
    }
    *ret = metadata;
    *n_used = c.at;
    return PFD_OK;
}

enum pfd_status pfd_metadata_open_yaml(struct pfd_byte_reader doc, size_t room,
                                       struct pfd_metadata **ret,
                                       struct pfd_error *problem,
                                       struct pfd_error *err)
{
    struct pfd_yaml yaml;
    size_t n_used;
    size_t n = pfd_byte_reader_left(&doc);
    if (n > room / sizeof(msgpack_object))
        return too_large(n, room, err);
    enum pfd_status status =
        pfd_yaml_encode(doc, PFD_METADATA_DEPTH, &yaml, problem, err);
    if (status != PFD_OK)
        return status;
    status =
        pfd_metadata_open(pfd_byte_reader(yaml.encoded.data, yaml.encoded.n),
                          room, ret, &n_used, err);
    if (status == PFD_OK) {
        (*ret)->yaml = yaml;
    } else {
        pfd_yaml_free(&yaml);
    }
    return status;
}

void pfd_metadata_free(struct pfd_metadata *metadata)
{
    if (!metadata)
        return;
    pfd_yaml_free(&metadata->yaml);
    if (metadata->zone)
        msgpack_zone_free(metadata->zone);
    free(metadata);
}

const struct pfd_value *pfd_metadata_root(const struct pfd_metadata *metadata)
{
    return value(&metadata->root);
}

/* The place in the YAML of the text at a place of the encoded document. */
static uint64_t yaml_source(const struct pfd_yaml *yaml, size_t encoded)
{
    struct pfd_yaml_place place;
    size_t low = 0;
    size_t high = yaml->places.n / sizeof place;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        memcpy(&place, yaml->places.data + middle * sizeof place, sizeof place);
        if (place.encoded == encoded)
            return place.source;
        if (place.encoded < encoded) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return PFD_NO_OFFSET;
}

uint64_t pfd_metadata_offset(const struct pfd_metadata *metadata,
                             const struct pfd_value *v)
{
    const char *p;
    size_t n;
    while (pfd_value_kind(v) == PFD_VALUE_MAP ||
           pfd_value_kind(v) == PFD_VALUE_ARRAY) {
        const struct pfd_value *key;
        const struct pfd_value *element = pfd_value_at(v, 0);
        v = pfd_value_pair(v, 0, &key, &element) ? key : element;
    }
    if (!pfd_value_bytes(v, &p, &n) || n == 0)
        return PFD_NO_OFFSET;
    size_t at = (size_t)(p - (const char *)metadata->bytes.base);
    return metadata->yaml.encoded.n ? yaml_source(&metadata->yaml, at) : at;
}

enum pfd_value_kind pfd_value_kind(const struct pfd_value *v)
{
    if (!v)
        return PFD_VALUE_ABSENT;
    switch (object(v)->type) {
    case MSGPACK_OBJECT_NIL:
        return PFD_VALUE_NIL;
    case MSGPACK_OBJECT_BOOLEAN:
        return PFD_VALUE_BOOL;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return PFD_VALUE_INT;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return PFD_VALUE_FLOAT;
    case MSGPACK_OBJECT_STR:
    case MSGPACK_OBJECT_BIN:
        return PFD_VALUE_BYTES;
    case MSGPACK_OBJECT_ARRAY:
        return PFD_VALUE_ARRAY;
    case MSGPACK_OBJECT_MAP:
        return PFD_VALUE_MAP;
    case MSGPACK_OBJECT_EXT:
        break;
    }
    return PFD_VALUE_EXT;
}

const char *pfd_value_kind_name(const struct pfd_value *v)
{
    static const char *const names[] = {
        [PFD_VALUE_ABSENT] = "missing",   [PFD_VALUE_NIL] = "nil",
        [PFD_VALUE_BOOL] = "a boolean",   [PFD_VALUE_INT] = "an integer",
        [PFD_VALUE_FLOAT] = "a float",    [PFD_VALUE_BYTES] = "text",
        [PFD_VALUE_ARRAY] = "an array",   [PFD_VALUE_MAP] = "a map",
        [PFD_VALUE_EXT] = "an extension",
    };
    return names[pfd_value_kind(v)];
}

size_t pfd_value_count(const struct pfd_value *v)
{
    switch ((int)pfd_value_kind(v)) {
    case PFD_VALUE_ARRAY:
        return object(v)->via.array.size;
    case PFD_VALUE_MAP:
        return object(v)->via.map.size;
    default:
        return 0;
    }
}

const struct pfd_value *pfd_value_at(const struct pfd_value *array, size_t i)
{
    if (pfd_value_kind(array) != PFD_VALUE_ARRAY ||
        i >= object(array)->via.array.size)
        return NULL;
    return value(&object(array)->via.array.ptr[i]);
}

bool pfd_value_pair(const struct pfd_value *map, size_t i,
                    const struct pfd_value **key, const struct pfd_value **ret)
{
    if (pfd_value_kind(map) != PFD_VALUE_MAP || i >= object(map)->via.map.size)
        return false;
    *key = value(&object(map)->via.map.ptr[i].key);
    *ret = value(&object(map)->via.map.ptr[i].val);
    return true;
}

const struct pfd_value *pfd_value_get(const struct pfd_value *map,
                                      const char *key, bool *twice)
{
    const struct pfd_value *found = NULL;
    const struct pfd_value *k;
    const struct pfd_value *v;
    size_t n_key = strlen(key);
    bool again = false;
    for (size_t i = 0; pfd_value_pair(map, i, &k, &v); i++) {
        const char *p;
        size_t n;
        if (!pfd_value_bytes(k, &p, &n) || n != n_key || memcmp(p, key, n) != 0)
            continue;
        again = found != NULL;
        if (!found)
            found = v;
    }
    if (twice)
        *twice = again;
    return found;
}

bool pfd_value_int(const struct pfd_value *v, uint64_t *ret, bool *negative)
{
    if (pfd_value_kind(v) != PFD_VALUE_INT)
        return false;
    *negative = object(v)->type == MSGPACK_OBJECT_NEGATIVE_INTEGER;
    *ret = *negative ? (uint64_t)object(v)->via.i64 : object(v)->via.u64;
    return true;
}

bool pfd_value_bytes(const struct pfd_value *v, const char **ret, size_t *n)
{
    if (pfd_value_kind(v) != PFD_VALUE_BYTES)
        return false;
    bool text = object(v)->type == MSGPACK_OBJECT_STR;
    size_t size = text ? object(v)->via.str.size : object(v)->via.bin.size;
    /* msgpack-c gives empty text a NULL. */
    *n = size;
    *ret = size == 0 ? ""
           : text    ? object(v)->via.str.ptr
                     : object(v)->via.bin.ptr;
    return true;
}
