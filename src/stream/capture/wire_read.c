/* SPDX-License-Identifier: MIT */
/*
 * The reader of captures. Bytes gather in one buffer until a frame is whole;
 * its CRC is checked before its map is read.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_reader.h"
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/msgpack.h"
#include "stream/capture/wire.h"

bool pfd_wire_recognise(const void *bytes, size_t n)
{
    return n >= PFD_WIRE_MAGIC_BYTES &&
           !memcmp(bytes, PFD_WIRE_MAGIC, PFD_WIRE_MAGIC_BYTES);
}

bool pfd_wire_may_begin(const void *bytes, size_t n)
{
    return !memcmp(bytes, PFD_WIRE_MAGIC,
                   n < PFD_WIRE_MAGIC_BYTES ? n : PFD_WIRE_MAGIC_BYTES);
}

enum {
    ROOM_FIRST = 65536,
    ROOM_KEPT = 1 << 20,   /* more is freed when the buffer is empty */
    ROOM_BEYOND = 1 << 16, /* beside a frame of the greatest length */
};

struct pfd_wire_reader {
    uint8_t *bytes; /* [n] of [room]; bytes before `from` are consumed */
    size_t n;
    size_t room;
    size_t from;
    uint64_t base; /* of bytes, in the stream */
    size_t max_frame;
    size_t passing; /* bytes to come of a frame that is skipped */
    bool started;   /* a stream has begun */
    bool is_lost;   /* no frame begins at `from`: one is searched */
    bool finished;  /* no more bytes will come */
    bool version_unknown;
    bool gave_up;
    uint64_t skipped;
    uint64_t sought; /* bytes whose CRC was computed in vain while lost */
    bool may_be_cut; /* no more bytes of the frame at `from` will come */
    /* Sums of the stream that began last, to compare with its end. */
    uint64_t start; /* its place */
    uint64_t n_frames;
    uint32_t crc;
    uint64_t features;
    bool unsummed; /* a part of it was skipped */
    bool ended;
    bool told; /* a missing end, or frames behind it, were reported */
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

/* The room that n more bytes need beside n_held. */
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

/* Skips as many of n bytes as are of a frame that is passed over. */
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

/* Consumes the next n bytes, and adds them to the stream's sums. */
static void consume(struct pfd_wire_reader *r, size_t n)
{
    r->crc = pfd_crc32c(r->crc, r->bytes + r->from, n);
    r->from += n;
}

/* ---- frames ---- */

static struct pfd_byte_reader rest(const struct pfd_wire_reader *r)
{
    return pfd_byte_reader(r->n ? r->bytes + r->from : NULL, r->n - r->from);
}

/* No frame begins here: from now on one is searched. */
static enum pfd_status lose(struct pfd_wire_reader *r)
{
    r->is_lost = true;
    return PFD_ERR_CORRUPT;
}

/* More bytes are needed here; the stream is cut if none will come. */
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
    r->told = true;
    r->may_be_cut = true;
    return lose(r);
}

/* Reports, once, that the stream stops before its end frame. */
static enum pfd_status end_early(struct pfd_wire_reader *r,
                                 struct pfd_error *err)
{
    if (!r->started || r->ended || r->told || !(r->features & PFD_WIRE_HAS_END))
        return PFD_OK;
    r->told = true;
    return pfd_fail(err, PFD_ERR_CORRUPT, r->base + r->from,
                    "the stream that began at byte %llu has no end: %llu "
                    "frames of it came, and more may be missing",
                    (unsigned long long)r->start,
                    (unsigned long long)r->n_frames);
}

/* All bytes have been read. */
static enum pfd_status end_all(struct pfd_wire_reader *r, struct pfd_error *err)
{
    enum pfd_status status = r->is_lost ? PFD_OK : end_early(r, err);
    return status == PFD_OK ? PFD_END : status;
}

/* Compares the end frame that was just read with the stream's sums. */
static enum pfd_status check_end(struct pfd_wire_reader *r, uint32_t crc,
                                 const struct pfd_wire_frame *end,
                                 struct pfd_error *err)
{
    uint64_t n_bytes = end->at - r->start;
    uint64_t n_frames = r->n_frames - 1;
    bool again = r->ended;
    r->ended = true;
    if (!again && (r->unsummed || (end->total == n_bytes &&
                                   end->frames == n_frames && end->crc == crc)))
        return PFD_OK;
    return pfd_fail(err, PFD_ERR_CORRUPT, end->at,
                    "the stream's end is of %llu frames and %llu bytes with "
                    "CRC %08llx, and what came are %llu, %llu and %08x%s",
                    (unsigned long long)end->frames,
                    (unsigned long long)end->total,
                    (unsigned long long)end->crc, (unsigned long long)n_frames,
                    (unsigned long long)n_bytes, crc,
                    again ? "; another end was before it" : "");
}

static enum pfd_status read_start(struct pfd_wire_reader *r,
                                  struct pfd_wire_frame *ret,
                                  struct pfd_error *err)
{
    uint64_t at = r->base + r->from;
    struct pfd_byte_reader c = rest(r);
    if (pfd_byte_reader_left(&c) < PFD_WIRE_START_BYTES)
        return cut(r, PFD_WIRE_START_BYTES, err);
    pfd_byte_reader_skip(&c, PFD_WIRE_MAGIC_BYTES);
    uint32_t version = pfd_byte_reader_u32(&c);
    uint32_t features = pfd_byte_reader_u32(&c);
    if (version != PFD_WIRE_VERSION) {
        r->version_unknown = true;
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, at + PFD_WIRE_MAGIC_BYTES,
                        "version %u of the capture format, %d is known",
                        version, PFD_WIRE_VERSION);
    }
    enum pfd_status status = end_early(r, err);
    if (status != PFD_OK)
        return status;
    r->started = true;
    r->is_lost = false;
    r->start = at;
    r->features = features;
    r->n_frames = 0;
    r->crc = 0;
    r->unsummed = r->ended = r->told = false;
    consume(r, PFD_WIRE_START_BYTES);
    *ret = (struct pfd_wire_frame){
        .type = PFD_WIRE_START,
        .at = at,
        .n_bytes = PFD_WIRE_START_BYTES,
        .features = features,
    };
    return PFD_OK;
}

uint64_t pfd_wire_reader_pass(struct pfd_wire_reader *r)
{
    struct pfd_byte_reader c = rest(r);
    size_t held = pfd_byte_reader_left(&c);
    size_t n = PFD_WIRE_HEADER_BYTES + (size_t)pfd_byte_reader_u32(&c);
    if (r->is_lost) {
        n = held;
        r->skipped += held;
    } else if (!r->started || !pfd_byte_reader_ok(&c) ||
               n > PFD_WIRE_HEADER_BYTES + r->max_frame || n <= held) {
        return 0;
    }
    r->unsummed = true;
    r->passing = n - held;
    r->base += r->n;
    r->n = 0;
    r->from = 0;
    free(r->bytes);
    r->bytes = NULL;
    r->room = 0;
    return n;
}

/* Checks the CRC of the frame that begins here; its length was checked
 * before. */
static bool crc_is_right(const struct pfd_byte_reader *frame, uint32_t length)
{
    struct pfd_byte_reader c = *frame;
    const uint8_t *header = pfd_byte_reader_bytes(&c, 4);
    uint32_t wanted = pfd_byte_reader_u32(&c);
    const uint8_t *map = pfd_byte_reader_bytes(&c, length);
    if (!pfd_byte_reader_ok(&c))
        return false;
    return pfd_crc32c(pfd_crc32c(0, header, 4), map, length) == wanted;
}

/* Where the frame's bytes are in the stream. */
static uint64_t place_of(const struct pfd_wire_reader *r,
                         const struct pfd_wire_frame *frame)
{
    const uint8_t *at = (const uint8_t *)frame->bytes.at;
    return at ? r->base + (uint64_t)(at - r->bytes) : 0;
}

/* Reads the next frame's map, whose length and CRC are right. */
static enum pfd_status take_map(struct pfd_wire_reader *r, uint32_t length,
                                struct pfd_wire_frame *ret,
                                struct pfd_error *err)
{
    uint32_t crc = r->crc;
    struct pfd_byte_reader c = rest(r);
    *ret = (struct pfd_wire_frame){
        .at = r->base + r->from,
        .n_bytes = PFD_WIRE_HEADER_BYTES + (uint64_t)length,
    };
    pfd_byte_reader_skip(&c, PFD_WIRE_HEADER_BYTES);
    struct pfd_byte_reader map = pfd_byte_reader_sub(&c, length);
    consume(r, PFD_WIRE_HEADER_BYTES + length);
    r->n_frames++;
    enum pfd_status status = pfd_wire_read_map(
        &map, r->labels, ret->at + PFD_WIRE_HEADER_BYTES, ret, err);
    if (status == PFD_OK)
        ret->bytes_at = place_of(r, ret);
    if (status == PFD_OK && ret->type == PFD_WIRE_END)
        status = check_end(r, crc, ret, err);
    return status;
}

static enum pfd_status read_frame(struct pfd_wire_reader *r,
                                  struct pfd_wire_frame *ret,
                                  struct pfd_error *err)
{
    uint64_t at = r->base + r->from;
    struct pfd_byte_reader c = rest(r);
    uint32_t length = pfd_byte_reader_u32(&c);
    if (!pfd_byte_reader_ok(&c))
        return cut(r, PFD_WIRE_HEADER_BYTES, err);
    if (length > r->max_frame) {
        pfd_fail(err, PFD_ERR_CORRUPT, at,
                 "a frame of %u bytes, at most %zu are taken", length,
                 r->max_frame);
        return lose(r);
    }
    c = rest(r);
    if (pfd_byte_reader_left(&c) < PFD_WIRE_HEADER_BYTES + (size_t)length)
        return cut(r, PFD_WIRE_HEADER_BYTES + (uint64_t)length, err);
    if (!crc_is_right(&c, length)) {
        pfd_fail(err, PFD_ERR_CORRUPT, at,
                 "the CRC of a frame of %u bytes is wrong", length);
        return lose(r);
    }
    if (r->ended && !r->told) {
        r->told = true;
        return pfd_fail(err, PFD_ERR_CORRUPT, at,
                        "a frame behind the end of its stream");
    }
    return take_map(r, length, ret, err);
}

/* Reads the contents of the frame at `from`, of which only the beginning
 * came. */
static bool read_cut(struct pfd_wire_reader *r, struct pfd_wire_frame *ret)
{
    struct pfd_byte_reader c = rest(r);
    *ret = (struct pfd_wire_frame){ .at = r->base + r->from,
                                    .n_bytes = r->n - r->from };
    if (!pfd_wire_read_cut(&c, r->labels, ret))
        return false;
    ret->bytes_at = place_of(r, ret);
    r->is_lost = false;
    consume(r, r->n - r->from);
    return true;
}

/* ---- resynchronization ---- */

/* A hostile stream could make each of its bytes the start of a long frame
 * whose CRC must be computed: this bounds the work. */
static bool is_hopeless(const struct pfd_wire_reader *r)
{
    return r->sought / 8 > r->skipped + r->max_frame;
}

/* Could a frame's map begin here, as far as it arrived? A map header, then the
 * key "type". */
static bool is_map_start(const uint8_t *p, size_t n)
{
    if (n == 0)
        return true;
    size_t n_header = pfd_msgpack_map_header(p[0]);
    if (!n_header)
        return false;
    return n < n_header + PFD_WIRE_KEY_BYTES ||
           !memcmp(p + n_header, PFD_WIRE_FIRST_KEY, PFD_WIRE_KEY_BYTES);
}

/* Is there a sound frame at `from`? PFD_OK, PFD_END (no) or PFD_MORE. */
static enum pfd_status look_for_frame(struct pfd_wire_reader *r)
{
    struct pfd_byte_reader c = rest(r);
    size_t left = pfd_byte_reader_left(&c);
    if (left && c.base &&
        !memcmp(c.base, PFD_WIRE_MAGIC,
                left < PFD_WIRE_MAGIC_BYTES ? left : PFD_WIRE_MAGIC_BYTES)) {
        if (left >= PFD_WIRE_START_BYTES)
            return PFD_OK;
        return r->finished ? PFD_END : PFD_MORE;
    }
    uint32_t length = pfd_byte_reader_u32(&c);
    pfd_byte_reader_skip(&c, 4);
    if (!pfd_byte_reader_ok(&c))
        return r->finished ? PFD_END : PFD_MORE;
    if (length > r->max_frame || length < 1 + PFD_WIRE_KEY_BYTES ||
        !is_map_start(c.base + c.at, pfd_byte_reader_left(&c)))
        return PFD_END;
    if (pfd_byte_reader_left(&c) < length)
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
        consume(r, 1);
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
    if (r->may_be_cut) {
        r->may_be_cut = false;
        if (read_cut(r, ret))
            return PFD_OK;
    }
    if (r->is_lost) {
        enum pfd_status status = seek(r, err);
        if (status != PFD_OK)
            return status;
    }
    struct pfd_byte_reader c = rest(r);
    size_t n = pfd_byte_reader_left(&c);
    if (n == 0) {
        compact(r); /* an idle stream holds little memory */
        return r->finished ? end_all(r, err) : PFD_MORE;
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
