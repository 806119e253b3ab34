/* SPDX-License-Identifier: MIT */
/*
 * The maps of frames, read in place: nothing is allocated for their contents.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/msgpack.h"
#include "stream/capture/wire.h"

#define ROW(kind, name)                                                      \
    {                                                                        \
#name, sizeof #name - 1, kind, offsetof(struct pfd_wire_frame, name) \
    }

const struct pfd_wire_key pfd_wire_keys[] = {
    ROW(PFD_WIRE_KEY_NUMBER, code_object),
    ROW(PFD_WIRE_KEY_NUMBER, shader),
    ROW(PFD_WIRE_KEY_NUMBER, buffer),
    ROW(PFD_WIRE_KEY_NUMBER, generation),
    ROW(PFD_WIRE_KEY_NUMBER, offset),
    ROW(PFD_WIRE_KEY_NUMBER, total),
    ROW(PFD_WIRE_KEY_NUMBER, size),
    ROW(PFD_WIRE_KEY_NUMBER, time),
    ROW(PFD_WIRE_KEY_NUMBER, monotonic),
    ROW(PFD_WIRE_KEY_NUMBER, pid),
    ROW(PFD_WIRE_KEY_NUMBER, fds),
    ROW(PFD_WIRE_KEY_NUMBER, pipeline),
    ROW(PFD_WIRE_KEY_NUMBER, dispatch),
    ROW(PFD_WIRE_KEY_NUMBER, lost_bytes),
    ROW(PFD_WIRE_KEY_NUMBER, lost_frames),
    ROW(PFD_WIRE_KEY_NUMBER, zeros),
    ROW(PFD_WIRE_KEY_NUMBER, frames),
    ROW(PFD_WIRE_KEY_NUMBER, crc),
    ROW(PFD_WIRE_KEY_NUMBER, lost_entries),
    ROW(PFD_WIRE_KEY_NUMBER, scope),
    ROW(PFD_WIRE_KEY_TEXT, compat),
    ROW(PFD_WIRE_KEY_TEXT, opencl_strings),
    ROW(PFD_WIRE_KEY_TEXT, kernel),
    ROW(PFD_WIRE_KEY_NUMBER, sequence),
    ROW(PFD_WIRE_KEY_TEXT, host),
    ROW(PFD_WIRE_KEY_TEXT, process),
    ROW(PFD_WIRE_KEY_TEXT, boot_id),
    ROW(PFD_WIRE_KEY_TEXT, name),
    ROW(PFD_WIRE_KEY_TEXT, uri),
    ROW(PFD_WIRE_KEY_TEXT, format),
    ROW(PFD_WIRE_KEY_TEXT, layout),
    ROW(PFD_WIRE_KEY_TEXT, device),
    ROW(PFD_WIRE_KEY_TEXT, queue),
    ROW(PFD_WIRE_KEY_TEXT, pipeline_type),
    ROW(PFD_WIRE_KEY_TEXT, stage),
    ROW(PFD_WIRE_KEY_TEXT, reason),
    ROW(PFD_WIRE_KEY_BYTES_, uuid),
    ROW(PFD_WIRE_KEY_BYTES_, bytes),
};
const size_t pfd_wire_n_keys = sizeof pfd_wire_keys / sizeof *pfd_wire_keys;

const char *const pfd_wire_types[PFD_WIRE_N_TYPES] = {
    [PFD_WIRE_HELLO] = "hello",     [PFD_WIRE_CODE_OBJECT] = "code_object",
    [PFD_WIRE_SHADER] = "shader",   [PFD_WIRE_BUFFER] = "buffer",
    [PFD_WIRE_DATA] = "data",       [PFD_WIRE_DONE] = "done",
    [PFD_WIRE_GAP] = "gap",         [PFD_WIRE_END] = "end",
    [PFD_WIRE_ENTRIES] = "entries", [PFD_WIRE_ERROR] = "error",
};

const char *pfd_wire_type_name(enum pfd_wire_type type)
{
    size_t i = (size_t)type;
    return i < PFD_WIRE_N_TYPES && pfd_wire_types[i] ? pfd_wire_types[i] : "?";
}

/* One object without its contents; anything but numbers from 0 on, bytes and
 * containers is skipped. */
struct object {
    unsigned kind; /* of a struct pfd_msgpack */
    bool is_map;
    uint64_t number; /* or how many bytes or objects follow */
};

static struct object read_object(struct pfd_byte_reader *c)
{
    struct pfd_msgpack o = pfd_msgpack_read(c);
    struct object ret = { o.kind, o.is_map, o.n_follow };
    if (o.kind == PFD_MSGPACK_OTHER) {
        pfd_byte_reader_skip(c, (size_t)o.n_follow);
    } else if (o.kind == PFD_MSGPACK_NUMBER) {
        unsigned n = (unsigned)o.n_follow;
        ret.number = n ? pfd_msgpack_big_endian(c, n) : o.small;
        if (o.is_signed && ret.number >> (8 * n - 1) & 1)
            ret.kind = PFD_MSGPACK_OTHER;
    }
    return ret;
}

/* The bytes of an object that has been read. */
static struct pfd_wire_bytes take_bytes(struct pfd_byte_reader *c, uint64_t n)
{
    const uint8_t *at = pfd_byte_reader_bytes(c, (size_t)n);
    return (struct pfd_wire_bytes){ (const char *)at, at ? (size_t)n : 0 };
}

/* Skips the contents of an object, however deep; false: they are not sound. */
static bool skip_rest(struct pfd_byte_reader *c, struct object o)
{
    uint64_t left = 0;
    for (;;) {
        if (o.kind == PFD_MSGPACK_BYTES)
            pfd_byte_reader_skip(c, (size_t)o.number);
        if (o.kind == PFD_MSGPACK_ITEMS)
            left += o.number;
        /* Each object is a byte at least. */
        if (o.kind == PFD_MSGPACK_BAD || !pfd_byte_reader_ok(c) ||
            left > pfd_byte_reader_left(c))
            return false;
        if (left-- == 0)
            return true;
        o = read_object(c);
    }
}

static bool is_text(struct pfd_wire_bytes bytes, const char *text)
{
    return bytes.n == strlen(text) && !memcmp(bytes.at, text, bytes.n);
}

/* A wrong value, and the reason; why NULL: there is none. */
struct bad_value {
    const char *why;
    size_t at; /* in the map */
};

static bool complain(struct bad_value *ret, const char *why, size_t at)
{
    ret->why = why;
    ret->at = at;
    return false;
}

static bool read_labels(struct pfd_wire_label *labels,
                        struct pfd_byte_reader *c, const struct object *map,
                        struct pfd_wire_frame *frame,
                        struct bad_value *complaint)
{
    size_t at = c->at;
    if (map->kind != PFD_MSGPACK_ITEMS || !map->is_map)
        return complain(complaint, "labels are not a map", at);
    if (map->number / 2 > PFD_WIRE_LABELS_MAX)
        return complain(complaint, "more than 64 labels", at);
    for (size_t i = 0; i < map->number / 2; i++) {
        struct pfd_wire_bytes *halves[] = { &labels[i].key, &labels[i].value };
        for (size_t k = 0; k < 2; k++) {
            struct object o = read_object(c);
            if (o.kind != PFD_MSGPACK_BYTES)
                return complain(complaint, "a label is not text", c->at);
            *halves[k] = take_bytes(c, o.number);
        }
    }
    frame->labels = labels;
    frame->n_labels = (size_t)map->number / 2;
    return true;
}

static const struct pfd_wire_key *find_key(struct pfd_wire_bytes name)
{
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        if (name.n == pfd_wire_keys[i].n_name &&
            !memcmp(name.at, pfd_wire_keys[i].name, name.n))
            return &pfd_wire_keys[i];
    }
    return NULL;
}

static enum pfd_wire_type find_type(struct pfd_wire_bytes name)
{
    for (size_t i = 0; i < PFD_WIRE_N_TYPES; i++) {
        if (pfd_wire_types[i] && is_text(name, pfd_wire_types[i]))
            return (enum pfd_wire_type)i;
    }
    return PFD_WIRE_UNKNOWN;
}

static bool read_value(struct pfd_wire_label *labels, struct pfd_byte_reader *c,
                       struct pfd_wire_bytes name, struct pfd_wire_frame *frame,
                       struct bad_value *complaint)
{
    size_t at = c->at;
    struct object o = read_object(c);
    if (is_text(name, "labels"))
        return read_labels(labels, c, &o, frame, complaint);
    if (is_text(name, "type") && o.kind == PFD_MSGPACK_BYTES) {
        frame->type = find_type(take_bytes(c, o.number));
        return true;
    }
    const struct pfd_wire_key *key = find_key(name);
    if (!key)
        return skip_rest(c, o) || complain(complaint, "a bad value", at);
    char *member = (char *)frame + key->member;
    if (key->kind == PFD_WIRE_KEY_NUMBER) {
        if (o.kind != PFD_MSGPACK_NUMBER)
            return complain(complaint, "not a number from 0 on", at);
        memcpy(member, &o.number, sizeof o.number);
        return true;
    }
    if (o.kind != PFD_MSGPACK_BYTES)
        return complain(complaint, "neither text nor bytes", at);
    struct pfd_wire_bytes bytes = take_bytes(c, o.number);
    memcpy(member, &bytes, sizeof bytes);
    return true;
}

/* One key and its value, of the map that begins at `at` in the stream. */
static enum pfd_status read_pair(struct pfd_wire_label *labels,
                                 struct pfd_byte_reader *c, uint64_t at,
                                 struct pfd_wire_frame *frame,
                                 struct pfd_error *err)
{
    struct bad_value bad_value = { NULL, 0 };
    struct pfd_quoted quoted;
    size_t key_at = c->at;
    struct object o = read_object(c);
    if (o.kind != PFD_MSGPACK_BYTES) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at + key_at,
                        "a key that is not text");
    }
    struct pfd_wire_bytes name = take_bytes(c, o.number);
    if (pfd_byte_reader_ok(c))
        read_value(labels, c, name, frame, &bad_value);
    if (bad_value.why) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at + bad_value.at,
                        "key '%s' of a frame: %s",
                        pfd_quote(&quoted, name.at, name.n), bad_value.why);
    }
    if (!pfd_byte_reader_ok(c)) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at + key_at,
                        "a value that runs past the end of its frame");
    }
    return PFD_OK;
}

enum pfd_status pfd_wire_read_map(struct pfd_byte_reader *c,
                                  struct pfd_wire_label *labels, uint64_t at,
                                  struct pfd_wire_frame *frame,
                                  struct pfd_error *err)
{
    struct object map = read_object(c);
    if (map.kind != PFD_MSGPACK_ITEMS || !map.is_map)
        return pfd_fail(err, PFD_ERR_CORRUPT, at, "a frame that is not a map");
    for (uint64_t i = 0; i < map.number / 2; i++) {
        enum pfd_status status = read_pair(labels, c, at, frame, err);
        if (status != PFD_OK)
            return status;
    }
    if (pfd_byte_reader_left(c)) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at + c->at,
                        "%zu bytes behind the map of a frame",
                        pfd_byte_reader_left(c));
    }
    return PFD_OK;
}

bool pfd_wire_read_cut(struct pfd_byte_reader *c, struct pfd_wire_label *labels,
                       struct pfd_wire_frame *ret)
{
    uint32_t length = pfd_byte_reader_u32(c);
    pfd_byte_reader_skip(c, PFD_WIRE_HEADER_BYTES - sizeof length);
    struct object o = read_object(c);
    if (o.kind != PFD_MSGPACK_ITEMS || !o.is_map)
        return false;
    for (uint64_t i = 1; i < o.number / 2; i++) {
        if (read_pair(labels, c, 0, ret, NULL) != PFD_OK)
            return false;
    }
    o = read_object(c);
    if (o.kind != PFD_MSGPACK_BYTES ||
        !is_text(take_bytes(c, o.number), "bytes"))
        return false;
    o = read_object(c);
    uint64_t left = pfd_byte_reader_left(c);
    if (!pfd_byte_reader_ok(c) || o.kind != PFD_MSGPACK_BYTES ||
        o.number <= left ||
        c->at + o.number != PFD_WIRE_HEADER_BYTES + (uint64_t)length)
        return false;
    ret->bytes = take_bytes(c, left);
    ret->missing = o.number - left;
    return ret->type == PFD_WIRE_DATA || ret->type == PFD_WIRE_CODE_OBJECT ||
           ret->type == PFD_WIRE_ENTRIES;
}

/* Copies of frames that outlive their readers. */

static struct pfd_wire_bytes text_of(const struct pfd_wire_frame *frame,
                                     size_t i)
{
    struct pfd_wire_bytes ret = { NULL, 0 };
    if (pfd_wire_keys[i].kind != PFD_WIRE_KEY_NUMBER) {
        memcpy(&ret, (const char *)frame + pfd_wire_keys[i].member, sizeof ret);
    }
    return ret;
}

static size_t count(const struct pfd_wire_frame *frame)
{
    size_t n = sizeof *frame + frame->n_labels * sizeof *frame->labels;
    for (size_t i = 0; i < pfd_wire_n_keys; i++)
        n += text_of(frame, i).n;
    for (size_t i = 0; i < frame->n_labels; i++)
        n += frame->labels[i].key.n + frame->labels[i].value.n;
    return n;
}

static struct pfd_wire_bytes put(char **at, struct pfd_wire_bytes bytes)
{
    struct pfd_wire_bytes ret = { bytes.n ? *at : NULL, bytes.n };
    if (bytes.n)
        memcpy(*at, bytes.at, bytes.n);
    *at += bytes.n;
    return ret;
}

struct pfd_wire_frame *pfd_wire_copy(const struct pfd_wire_frame *frame)
{
    struct pfd_wire_frame *ret = malloc(count(frame));
    if (!ret)
        return NULL;
    struct pfd_wire_label *labels = (struct pfd_wire_label *)(ret + 1);
    char *at = (char *)(labels + frame->n_labels);
    *ret = *frame;
    ret->labels = labels;
    for (size_t i = 0; i < frame->n_labels; i++) {
        labels[i].key = put(&at, frame->labels[i].key);
        labels[i].value = put(&at, frame->labels[i].value);
    }
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        struct pfd_wire_bytes text = put(&at, text_of(frame, i));
        if (pfd_wire_keys[i].kind != PFD_WIRE_KEY_NUMBER)
            memcpy((char *)ret + pfd_wire_keys[i].member, &text, sizeof text);
    }
    return ret;
}
