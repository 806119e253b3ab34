/* SPDX-License-Identifier: MIT */
/*
 * The reader of captures. Bytes gather in one buffer until a frame is whole;
 * its CRC is checked before its map is looked at. Maps are read in place:
 * nothing is allocated by what they say.
 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "cursor.h"
#include "error.h"

#define ROW(kind, name)                                    \
    {                                                      \
#name, kind, offsetof(struct pfd_wire_frame, name) \
    }

const struct pfd_wire_key pfd_wire_keys[] = {
    ROW(PFD_WIRE_KEY_NUMBER, code_object), ROW(PFD_WIRE_KEY_NUMBER, shader),
    ROW(PFD_WIRE_KEY_NUMBER, buffer),      ROW(PFD_WIRE_KEY_NUMBER, generation),
    ROW(PFD_WIRE_KEY_NUMBER, offset),      ROW(PFD_WIRE_KEY_NUMBER, total),
    ROW(PFD_WIRE_KEY_NUMBER, size),        ROW(PFD_WIRE_KEY_NUMBER, time),
    ROW(PFD_WIRE_KEY_NUMBER, monotonic),   ROW(PFD_WIRE_KEY_NUMBER, pid),
    ROW(PFD_WIRE_KEY_NUMBER, fds),         ROW(PFD_WIRE_KEY_NUMBER, pipeline),
    ROW(PFD_WIRE_KEY_NUMBER, dispatch),    ROW(PFD_WIRE_KEY_NUMBER, lost_bytes),
    ROW(PFD_WIRE_KEY_NUMBER, lost_frames), ROW(PFD_WIRE_KEY_TEXT, host),
    ROW(PFD_WIRE_KEY_TEXT, process),       ROW(PFD_WIRE_KEY_TEXT, boot_id),
    ROW(PFD_WIRE_KEY_TEXT, name),          ROW(PFD_WIRE_KEY_TEXT, uri),
    ROW(PFD_WIRE_KEY_TEXT, format),        ROW(PFD_WIRE_KEY_TEXT, layout),
    ROW(PFD_WIRE_KEY_TEXT, device),        ROW(PFD_WIRE_KEY_TEXT, queue),
    ROW(PFD_WIRE_KEY_TEXT, pipeline_type), ROW(PFD_WIRE_KEY_TEXT, stage),
    ROW(PFD_WIRE_KEY_TEXT, reason),        ROW(PFD_WIRE_KEY_BYTES_, uuid),
    ROW(PFD_WIRE_KEY_BYTES_, bytes),
};
const size_t pfd_wire_n_keys = sizeof pfd_wire_keys / sizeof *pfd_wire_keys;

const char *const pfd_wire_types[PFD_WIRE_GAP + 1] = {
    [PFD_WIRE_HELLO] = "hello",   [PFD_WIRE_CODE_OBJECT] = "code_object",
    [PFD_WIRE_SHADER] = "shader", [PFD_WIRE_BUFFER] = "buffer",
    [PFD_WIRE_DATA] = "data",     [PFD_WIRE_DONE] = "done",
    [PFD_WIRE_GAP] = "gap",
};

const char *pfd_wire_type_name(enum pfd_wire_type type)
{
    size_t i = (size_t)type;
    return i <= PFD_WIRE_GAP && pfd_wire_types[i] ? pfd_wire_types[i] : "?";
}

bool pfd_wire_recognise(const void *bytes, size_t n)
{
    return n >= PFD_WIRE_MAGIC_BYTES &&
           !memcmp(bytes, PFD_WIRE_MAGIC, PFD_WIRE_MAGIC_BYTES);
}

enum {
    ROOM_FIRST = 65536,
    ROOM_KEPT = 1 << 20,   /* more is given back when the buffer is empty */
    ROOM_BEYOND = 1 << 16, /* taken beside a frame of the longest kind */
};

struct pfd_wire_reader {
    uint8_t *bytes; /* [n] of [room], those before `from` are done with */
    size_t n;
    size_t room;
    size_t from;
    uint64_t base; /* of bytes, in the stream */
    size_t max_frame;
    size_t passing; /* bytes to come of a frame that is passed over */
    bool started;   /* a stream has begun */
    bool is_lost;   /* no frame begins at `from`: one is sought */
    bool finished;  /* no more bytes will come */
    bool version_unknown;
    bool gave_up;
    uint64_t skipped;
    uint64_t sought; /* bytes whose CRC was computed in vain while lost */
    struct pfd_wire_label labels[PFD_WIRE_LABELS_MAX];
};

struct pfd_wire_reader *pfd_wire_reader_new(size_t max_frame)
{
    struct pfd_wire_reader *r = calloc(1, sizeof *r);
    if (r)
        r->max_frame = max_frame ? max_frame : PFD_WIRE_FRAME_MAX;
    return r;
}

void pfd_wire_reader_free(struct pfd_wire_reader *r)
{
    if (!r)
        return;
    free(r->bytes);
    free(r);
}

uint64_t pfd_wire_reader_skipped(const struct pfd_wire_reader *r)
{
    return r->skipped;
}

void pfd_wire_reader_finish(struct pfd_wire_reader *r)
{
    r->finished = true;
}

/* ---- the buffer ---- */

static void compact(struct pfd_wire_reader *r)
{
    if (r->from == 0)
        return;
    r->n -= r->from;
    if (r->n)
        memmove(r->bytes, r->bytes + r->from, r->n);
    r->base += r->from;
    r->from = 0;
    if (r->n == 0 && r->room > ROOM_KEPT) {
        free(r->bytes);
        r->bytes = NULL;
        r->room = 0;
    }
}

static size_t most_of(const struct pfd_wire_reader *r)
{
    return r->max_frame + PFD_WIRE_HEADER_BYTES + ROOM_BEYOND;
}

/* The room that n bytes need, in which n_held of them stand by now. */
static size_t room_for(const struct pfd_wire_reader *r, size_t n_held, size_t n)
{
    size_t room = r->room ? r->room : ROOM_FIRST;
    if (r->room - n_held >= n)
        return r->room;
    while (room - n_held < n && room < most_of(r))
        room *= 2;
    return room < most_of(r) ? room : most_of(r);
}

static bool make_room(struct pfd_wire_reader *r, size_t n)
{
    size_t room = room_for(r, r->n, n);
    uint8_t *bytes = room > r->room ? realloc(r->bytes, room) : r->bytes;
    if (!bytes)
        return false;
    r->bytes = bytes;
    r->room = room;
    return true;
}

/* Some of n bytes may be of a frame that is passed over. */
static size_t pass_some(struct pfd_wire_reader *r, size_t n)
{
    n = n < r->passing ? n : r->passing;
    r->passing -= n;
    r->base += n;
    return n;
}

enum pfd_status pfd_wire_reader_feed(struct pfd_wire_reader *r,
                                     const void *bytes, size_t n, size_t *taken,
                                     struct pfd_error *err)
{
    *taken = 0;
    if (n == 0 || r->gave_up || r->version_unknown) {
        *taken = n;
        return PFD_OK;
    }
    if (r->passing) {
        *taken = pass_some(r, n);
        return PFD_OK;
    }
    if (r->n + n > r->room)
        compact(r);
    if (n > most_of(r) - r->n)
        n = most_of(r) - r->n;
    if (!make_room(r, n))
        return pfd_fail(err, PFD_ERR_NOMEM, r->base + r->n, "out of memory");
    if (n)
        memcpy(r->bytes + r->n, bytes, n);
    r->n += n;
    *taken = n;
    return PFD_OK;
}

size_t pfd_wire_reader_memory(const struct pfd_wire_reader *r, size_t n)
{
    size_t held = r->n - r->from;
    if (n == 0 || r->passing || r->gave_up || r->version_unknown)
        return sizeof *r + r->room;
    if (n > most_of(r) - held)
        n = most_of(r) - held;
    return sizeof *r + room_for(r, held, n);
}

/* ---- maps, in place ---- */

static uint64_t big_endian(struct pfd_cursor *c, size_t n)
{
    const uint8_t *p = pfd_cursor_bytes(c, n);
    uint64_t number = 0;
    for (size_t i = 0; p && i < n; i++)
        number = number << 8 | p[i];
    return number;
}

/* One MessagePack object without what it contains. */
struct object {
    enum {
        OBJECT_OTHER, /* nil, bool, float, ext, a negative integer */
        OBJECT_NUMBER,
        OBJECT_BYTES, /* str or bin */
        OBJECT_ITEMS, /* array or map: so many objects follow */
        OBJECT_BAD,
    } kind;
    bool is_map;
    uint64_t number; /* or how many bytes or objects */
};

/* First bytes 0xc0 to 0xdf: how many bytes of number or length follow, and
 * how many more; github.com/msgpack/msgpack/blob/master/spec.md */
static const struct {
    uint8_t kind;
    uint8_t n_number;
    uint8_t n_more;
} forms[32] = {
    [0x01] = { OBJECT_BAD, 0, 0 },    [0x04] = { OBJECT_BYTES, 1, 0 },
    [0x05] = { OBJECT_BYTES, 2, 0 },  [0x06] = { OBJECT_BYTES, 4, 0 },
    [0x07] = { OBJECT_OTHER, 1, 1 },  [0x08] = { OBJECT_OTHER, 2, 1 },
    [0x09] = { OBJECT_OTHER, 4, 1 },  [0x0a] = { OBJECT_OTHER, 0, 4 },
    [0x0b] = { OBJECT_OTHER, 0, 8 },  [0x0c] = { OBJECT_NUMBER, 1, 0 },
    [0x0d] = { OBJECT_NUMBER, 2, 0 }, [0x0e] = { OBJECT_NUMBER, 4, 0 },
    [0x0f] = { OBJECT_NUMBER, 8, 0 }, [0x10] = { OBJECT_NUMBER, 1, 0 },
    [0x11] = { OBJECT_NUMBER, 2, 0 }, [0x12] = { OBJECT_NUMBER, 4, 0 },
    [0x13] = { OBJECT_NUMBER, 8, 0 }, [0x14] = { OBJECT_OTHER, 0, 2 },
    [0x15] = { OBJECT_OTHER, 0, 3 },  [0x16] = { OBJECT_OTHER, 0, 5 },
    [0x17] = { OBJECT_OTHER, 0, 9 },  [0x18] = { OBJECT_OTHER, 0, 17 },
    [0x19] = { OBJECT_BYTES, 1, 0 },  [0x1a] = { OBJECT_BYTES, 2, 0 },
    [0x1b] = { OBJECT_BYTES, 4, 0 },  [0x1c] = { OBJECT_ITEMS, 2, 0 },
    [0x1d] = { OBJECT_ITEMS, 4, 0 },  [0x1e] = { OBJECT_ITEMS, 2, 0 },
    [0x1f] = { OBJECT_ITEMS, 4, 0 },
};

static struct object object_of(int kind, bool is_map, uint64_t number)
{
    struct object ret = { .is_map = is_map, .number = number };
    ret.kind = (unsigned)kind;
    return ret;
}

static struct object read_form(struct pfd_cursor *c, uint8_t first)
{
    unsigned form = first - 0xc0u;
    unsigned n = forms[form].n_number;
    uint64_t number = big_endian(c, n);
    struct object ret = object_of(forms[form].kind, form >= 0x1e, number);
    pfd_cursor_skip(c, forms[form].n_more);
    if (ret.kind == OBJECT_OTHER && n)
        pfd_cursor_skip(c, (size_t)number); /* ext */
    if (form >= 0x10 && form <= 0x13 && number >> (8 * n - 1) & 1)
        ret.kind = OBJECT_OTHER;
    if (ret.is_map)
        ret.number *= 2;
    return ret;
}

static struct object read_object(struct pfd_cursor *c)
{
    uint8_t first = pfd_cursor_u8(c);
    if (!pfd_cursor_ok(c))
        return object_of(OBJECT_BAD, false, 0);
    if (first < 0x80)
        return object_of(OBJECT_NUMBER, false, first);
    if (first < 0x90)
        return object_of(OBJECT_ITEMS, true, 2 * (first & 15u));
    if (first < 0xa0)
        return object_of(OBJECT_ITEMS, false, first & 15u);
    if (first < 0xc0)
        return object_of(OBJECT_BYTES, false, first & 31u);
    if (first >= 0xe0)
        return object_of(OBJECT_OTHER, false, 0);
    return read_form(c, first);
}

/* The bytes of an object that has been read. */
static struct pfd_wire_bytes take_bytes(struct pfd_cursor *c, uint64_t n)
{
    const uint8_t *at = pfd_cursor_bytes(c, (size_t)n);
    return (struct pfd_wire_bytes){ (const char *)at, at ? (size_t)n : 0 };
}

/* What an object contains, however deep; false: it is not sound. */
static bool skip_rest(struct pfd_cursor *c, struct object o)
{
    uint64_t left = 0;
    for (;;) {
        if (o.kind == OBJECT_BYTES)
            pfd_cursor_skip(c, (size_t)o.number);
        if (o.kind == OBJECT_ITEMS)
            left += o.number;
        /* Each object is a byte at least. */
        if (o.kind == OBJECT_BAD || !pfd_cursor_ok(c) ||
            left > pfd_cursor_left(c))
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

/* Where a value is wrong, and why; why NULL: none is. */
struct complaint {
    const char *why;
    size_t at; /* in the map */
};

static bool complain(struct complaint *ret, const char *why, size_t at)
{
    ret->why = why;
    ret->at = at;
    return false;
}

static bool read_labels(struct pfd_wire_reader *r, struct pfd_cursor *c,
                        const struct object *map, struct pfd_wire_frame *frame,
                        struct complaint *complaint)
{
    size_t at = c->at;
    if (map->kind != OBJECT_ITEMS || !map->is_map)
        return complain(complaint, "labels are not a map", at);
    if (map->number / 2 > PFD_WIRE_LABELS_MAX)
        return complain(complaint, "more than 64 labels", at);
    for (size_t i = 0; i < map->number / 2; i++) {
        struct pfd_wire_bytes *halves[] = { &r->labels[i].key,
                                            &r->labels[i].value };
        for (size_t k = 0; k < 2; k++) {
            struct object o = read_object(c);
            if (o.kind != OBJECT_BYTES)
                return complain(complaint, "a label is not text", c->at);
            *halves[k] = take_bytes(c, o.number);
        }
    }
    frame->labels = r->labels;
    frame->n_labels = (size_t)map->number / 2;
    return true;
}

static const struct pfd_wire_key *find_key(struct pfd_wire_bytes name)
{
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        if (is_text(name, pfd_wire_keys[i].name))
            return &pfd_wire_keys[i];
    }
    return NULL;
}

static enum pfd_wire_type find_type(struct pfd_wire_bytes name)
{
    for (size_t i = 0; i <= PFD_WIRE_GAP; i++) {
        if (pfd_wire_types[i] && is_text(name, pfd_wire_types[i]))
            return (enum pfd_wire_type)i;
    }
    return PFD_WIRE_UNKNOWN;
}

static bool read_value(struct pfd_wire_reader *r, struct pfd_cursor *c,
                       struct pfd_wire_bytes name, struct pfd_wire_frame *frame,
                       struct complaint *complaint)
{
    size_t at = c->at;
    struct object o = read_object(c);
    if (is_text(name, "labels"))
        return read_labels(r, c, &o, frame, complaint);
    if (is_text(name, "type") && o.kind == OBJECT_BYTES) {
        frame->type = find_type(take_bytes(c, o.number));
        return true;
    }
    const struct pfd_wire_key *key = find_key(name);
    if (!key)
        return skip_rest(c, o) || complain(complaint, "a bad value", at);
    char *member = (char *)frame + key->member;
    if (key->kind == PFD_WIRE_KEY_NUMBER) {
        if (o.kind != OBJECT_NUMBER)
            return complain(complaint, "not a number from 0 on", at);
        memcpy(member, &o.number, sizeof o.number);
        return true;
    }
    if (o.kind != OBJECT_BYTES)
        return complain(complaint, "neither text nor bytes", at);
    struct pfd_wire_bytes bytes = take_bytes(c, o.number);
    memcpy(member, &bytes, sizeof bytes);
    return true;
}

static enum pfd_status read_map(struct pfd_wire_reader *r, struct pfd_cursor *c,
                                uint64_t at, struct pfd_wire_frame *frame,
                                struct pfd_error *err)
{
    struct complaint complaint = { NULL, 0 };
    struct object map = read_object(c);
    if (map.kind != OBJECT_ITEMS || !map.is_map)
        return pfd_fail(err, PFD_ERR_CORRUPT, at, "a frame that is not a map");
    for (uint64_t i = 0; i < map.number / 2; i++) {
        struct pfd_quoted quoted;
        size_t key_at = c->at;
        struct object o = read_object(c);
        if (o.kind != OBJECT_BYTES) {
            return pfd_fail(err, PFD_ERR_CORRUPT, at + key_at,
                            "a key that is not text");
        }
        struct pfd_wire_bytes name = take_bytes(c, o.number);
        if (pfd_cursor_ok(c))
            read_value(r, c, name, frame, &complaint);
        if (complaint.why) {
            return pfd_fail(err, PFD_ERR_CORRUPT, at + complaint.at,
                            "key '%s' of a frame: %s",
                            pfd_quote(&quoted, name.at, name.n), complaint.why);
        }
        if (!pfd_cursor_ok(c)) {
            return pfd_fail(err, PFD_ERR_CORRUPT, at + key_at,
                            "a value that runs past the end of its frame");
        }
    }
    if (pfd_cursor_left(c)) {
        return pfd_fail(err, PFD_ERR_CORRUPT, at + c->at,
                        "%zu bytes behind the map of a frame",
                        pfd_cursor_left(c));
    }
    return PFD_OK;
}

/* ---- frames ---- */

static struct pfd_cursor rest(const struct pfd_wire_reader *r)
{
    return pfd_cursor(r->n ? r->bytes + r->from : NULL, r->n - r->from);
}

/* No frame begins here: from now on one is sought. */
static enum pfd_status lose(struct pfd_wire_reader *r)
{
    r->is_lost = true;
    return PFD_ERR_CORRUPT;
}

/* At a place where more bytes are needed and none will come. */
static enum pfd_status cut(struct pfd_wire_reader *r, uint64_t needed,
                           struct pfd_error *err)
{
    size_t left = r->n - r->from;
    if (!r->finished)
        return PFD_MORE;
    if (left == 0)
        return PFD_END;
    pfd_fail(err, PFD_ERR_CORRUPT, r->base + r->from,
             "the stream is cut: %llu bytes needed, %zu left",
             (unsigned long long)needed, left);
    return lose(r);
}

static enum pfd_status read_start(struct pfd_wire_reader *r,
                                  struct pfd_wire_frame *ret,
                                  struct pfd_error *err)
{
    uint64_t at = r->base + r->from;
    struct pfd_cursor c = rest(r);
    if (pfd_cursor_left(&c) < PFD_WIRE_START_BYTES)
        return cut(r, PFD_WIRE_START_BYTES, err);
    pfd_cursor_skip(&c, PFD_WIRE_MAGIC_BYTES);
    uint32_t version = pfd_cursor_u32(&c);
    if (version != PFD_WIRE_VERSION) {
        r->version_unknown = true;
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, at + PFD_WIRE_MAGIC_BYTES,
                        "version %u of the capture format, %d is known",
                        version, PFD_WIRE_VERSION);
    }
    r->started = true;
    r->is_lost = false;
    r->from += PFD_WIRE_START_BYTES;
    *ret = (struct pfd_wire_frame){
        .type = PFD_WIRE_START,
        .at = at,
        .n_bytes = PFD_WIRE_START_BYTES,
    };
    return PFD_OK;
}

uint64_t pfd_wire_reader_pass(struct pfd_wire_reader *r)
{
    struct pfd_cursor c = rest(r);
    size_t held = pfd_cursor_left(&c);
    size_t n = PFD_WIRE_HEADER_BYTES + (size_t)pfd_cursor_u32(&c);
    if (r->is_lost) {
        n = held;
        r->skipped += held;
    } else if (!r->started || !pfd_cursor_ok(&c) ||
               n > PFD_WIRE_HEADER_BYTES + r->max_frame || n <= held) {
        return 0;
    }
    r->passing = n - held;
    r->base += r->n;
    r->n = 0;
    r->from = 0;
    free(r->bytes);
    r->bytes = NULL;
    r->room = 0;
    return n;
}

/* The map of the frame that begins here, and its CRC; the length is checked. */
static bool crc_is_right(const struct pfd_cursor *frame, uint32_t length)
{
    struct pfd_cursor c = *frame;
    const uint8_t *header = pfd_cursor_bytes(&c, 4);
    uint32_t wanted = pfd_cursor_u32(&c);
    const uint8_t *map = pfd_cursor_bytes(&c, length);
    if (!pfd_cursor_ok(&c))
        return false;
    return pfd_crc32c(pfd_crc32c(0, header, 4), map, length) == wanted;
}

static enum pfd_status read_frame(struct pfd_wire_reader *r,
                                  struct pfd_wire_frame *ret,
                                  struct pfd_error *err)
{
    uint64_t at = r->base + r->from;
    struct pfd_cursor c = rest(r);
    uint32_t length = pfd_cursor_u32(&c);
    if (!pfd_cursor_ok(&c))
        return cut(r, PFD_WIRE_HEADER_BYTES, err);
    if (length > r->max_frame) {
        pfd_fail(err, PFD_ERR_CORRUPT, at,
                 "a frame of %u bytes, at most %zu are taken", length,
                 r->max_frame);
        return lose(r);
    }
    c = rest(r);
    if (pfd_cursor_left(&c) < PFD_WIRE_HEADER_BYTES + (size_t)length)
        return cut(r, PFD_WIRE_HEADER_BYTES + (uint64_t)length, err);
    if (!crc_is_right(&c, length)) {
        pfd_fail(err, PFD_ERR_CORRUPT, at,
                 "the CRC of a frame of %u bytes is wrong", length);
        return lose(r);
    }
    *ret = (struct pfd_wire_frame){
        .at = at,
        .n_bytes = PFD_WIRE_HEADER_BYTES + (uint64_t)length,
    };
    r->from += PFD_WIRE_HEADER_BYTES + length;
    pfd_cursor_skip(&c, PFD_WIRE_HEADER_BYTES);
    struct pfd_cursor map = pfd_cursor_sub(&c, length);
    return read_map(r, &map, at + PFD_WIRE_HEADER_BYTES, ret, err);
}

/* ---- lost ---- */

/* A hostile stream could make each of its bytes the start of a long frame
 * whose CRC must be computed: this bounds the work. */
static bool is_hopeless(const struct pfd_wire_reader *r)
{
    return r->sought / 8 > r->skipped + r->max_frame;
}

/* Could a frame's map begin here, as far as it has come? A map header, then
 * the key "type". */
static bool is_map_start(const uint8_t *p, size_t n)
{
    size_t n_header = 1;
    if (n == 0)
        return true;
    if (p[0] == 0xde) {
        n_header = 3;
    } else if (p[0] == 0xdf) {
        n_header = 5;
    } else if ((p[0] & 0xf0) != 0x80) {
        return false;
    }
    return n < n_header + PFD_WIRE_KEY_BYTES ||
           !memcmp(p + n_header, PFD_WIRE_FIRST_KEY, PFD_WIRE_KEY_BYTES);
}

/* Is there a sound frame at `from`? PFD_OK, PFD_END (no) or PFD_MORE. */
static enum pfd_status look_for_frame(struct pfd_wire_reader *r)
{
    struct pfd_cursor c = rest(r);
    size_t left = pfd_cursor_left(&c);
    if (left && c.base &&
        !memcmp(c.base, PFD_WIRE_MAGIC,
                left < PFD_WIRE_MAGIC_BYTES ? left : PFD_WIRE_MAGIC_BYTES)) {
        if (left >= PFD_WIRE_START_BYTES)
            return PFD_OK;
        return r->finished ? PFD_END : PFD_MORE;
    }
    uint32_t length = pfd_cursor_u32(&c);
    pfd_cursor_skip(&c, 4);
    if (!pfd_cursor_ok(&c))
        return r->finished ? PFD_END : PFD_MORE;
    if (length > r->max_frame || length < 1 + PFD_WIRE_KEY_BYTES ||
        !is_map_start(c.base + c.at, pfd_cursor_left(&c)))
        return PFD_END;
    if (pfd_cursor_left(&c) < length)
        return r->finished ? PFD_END : PFD_MORE;
    c = rest(r);
    if (crc_is_right(&c, length))
        return PFD_OK;
    r->sought += length;
    return PFD_END;
}

static enum pfd_status seek(struct pfd_wire_reader *r, struct pfd_error *err)
{
    for (;;) {
        if (is_hopeless(r)) {
            r->gave_up = true;
            return pfd_fail(err, PFD_ERR_UNSUPPORTED, r->base + r->from,
                            "no sound frame; the search is given up");
        }
        enum pfd_status status =
            r->from < r->n || !r->finished ? look_for_frame(r) : PFD_MORE;
        if (status == PFD_OK) {
            r->is_lost = false;
            r->started = true;
            return PFD_OK;
        }
        if (status == PFD_MORE)
            return r->finished ? PFD_END : PFD_MORE;
        r->from++;
        r->skipped++;
    }
}

enum pfd_status pfd_wire_reader_next(struct pfd_wire_reader *r,
                                     struct pfd_wire_frame *ret,
                                     struct pfd_error *err)
{
    if (r->version_unknown || r->gave_up) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, r->base + r->from, "%s",
                        r->gave_up ? "no sound frame; the search is given up"
                                   : "an unknown version of the capture "
                                     "format");
    }
    if (r->is_lost) {
        enum pfd_status status = seek(r, err);
        if (status != PFD_OK)
            return status;
    }
    struct pfd_cursor c = rest(r);
    size_t n = pfd_cursor_left(&c);
    if (n == 0) {
        compact(r); /* whoever sends nothing for long holds little */
        return r->finished ? PFD_END : PFD_MORE;
    }
    size_t n_magic = n < PFD_WIRE_MAGIC_BYTES ? n : PFD_WIRE_MAGIC_BYTES;
    /* The magic read as a length is more than any frame has. */
    if (c.base && !memcmp(c.base, PFD_WIRE_MAGIC, n_magic) &&
        (n >= 4 || !r->started))
        return read_start(r, ret, err);
    if (!r->started) {
        pfd_fail(err, PFD_ERR_CORRUPT, r->base + r->from,
                 "no capture: the magic is missing");
        return lose(r);
    }
    return read_frame(r, ret, err);
}
