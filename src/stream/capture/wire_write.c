/* SPDX-License-Identifier: MIT */
/*
 * The writer of captures: a frame is a head, with everything but the value of
 * "bytes", and then that value, which is not copied.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/base/text.h"
#include "stream/capture/wire.h"

static void put_big_endian(struct pfd_text *out, uint64_t number, size_t n)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(number >> (8 * (n - 1 - i)));
    pfd_text_add(out, bytes, n);
}

static void put_little_endian(struct pfd_text *out, uint32_t number)
{
    put_big_endian(out, __builtin_bswap32(number), sizeof number);
}

static void put_byte(struct pfd_text *out, unsigned byte)
{
    put_big_endian(out, byte, 1);
}

static void put_number(struct pfd_text *out, uint64_t number)
{
    if (number < 0x80) {
        put_byte(out, (unsigned)number);
    } else if (number <= UINT32_MAX) {
        put_byte(out, 0xce);
        put_big_endian(out, number, 4);
    } else {
        put_byte(out, 0xcf);
        put_big_endian(out, number, 8);
    }
}

static void put_map(struct pfd_text *out, size_t n_pairs)
{
    if (n_pairs < 16) {
        put_byte(out, 0x80 | (unsigned)n_pairs);
    } else {
        put_byte(out, 0xde);
        put_big_endian(out, n_pairs, 2);
    }
}

static void put_text(struct pfd_text *out, struct pfd_wire_bytes text)
{
    if (text.n < 32) {
        put_byte(out, 0xa0 | (unsigned)text.n);
    } else {
        put_byte(out, 0xdb);
        put_big_endian(out, text.n, 4);
    }
    pfd_text_add(out, text.at, text.n);
}

static void put_bytes_header(struct pfd_text *out, size_t n)
{
    put_byte(out, 0xc6);
    put_big_endian(out, n, 4);
}

static uint64_t number_of(const struct pfd_wire_frame *frame,
                          const struct pfd_wire_key *key)
{
    uint64_t ret;
    memcpy(&ret, (const char *)frame + key->member, sizeof ret);
    return ret;
}

static struct pfd_wire_bytes bytes_of(const struct pfd_wire_frame *frame,
                                      const struct pfd_wire_key *key)
{
    struct pfd_wire_bytes ret;
    memcpy(&ret, (const char *)frame + key->member, sizeof ret);
    return ret;
}

/* Members that are 0 or empty are left out. */
static bool is_said(const struct pfd_wire_frame *frame,
                    const struct pfd_wire_key *key)
{
    if (key->kind == PFD_WIRE_KEY_NUMBER)
        return number_of(frame, key) != 0;
    return bytes_of(frame, key).n != 0;
}

static void put_labels(struct pfd_text *out, const struct pfd_wire_frame *frame)
{
    put_text(out, pfd_wire_text("labels"));
    put_map(out, frame->n_labels);
    for (size_t i = 0; i < frame->n_labels; i++) {
        put_text(out, frame->labels[i].key);
        put_text(out, frame->labels[i].value);
    }
}

/* The map, up to the value of "bytes". */
static void put_head(struct pfd_text *out, const struct pfd_wire_frame *frame)
{
    size_t n = 1 + (frame->n_labels > 0);
    for (size_t i = 0; i < pfd_wire_n_keys; i++)
        n += is_said(frame, &pfd_wire_keys[i]);
    put_map(out, n);
    put_text(out, pfd_wire_text("type"));
    put_text(out, pfd_wire_text(pfd_wire_types[frame->type]));
    if (frame->n_labels)
        put_labels(out, frame);
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        const struct pfd_wire_key *key = &pfd_wire_keys[i];
        if (!is_said(frame, key))
            continue;
        put_text(out, pfd_wire_text(key->name));
        if (key->kind == PFD_WIRE_KEY_NUMBER) {
            put_number(out, number_of(frame, key));
        } else if (key->kind == PFD_WIRE_KEY_TEXT) {
            put_text(out, bytes_of(frame, key));
        } else {
            put_bytes_header(out, bytes_of(frame, key).n);
            if (i + 1 < pfd_wire_n_keys) {
                pfd_text_add(out, bytes_of(frame, key).at,
                             bytes_of(frame, key).n);
            }
        }
    }
}

static bool is_writable(const struct pfd_wire_frame *frame,
                        struct pfd_error *err)
{
    enum {
        LABEL_MAX = 1 << 20
    };
    uint64_t n = 0;
    if ((size_t)frame->type >= PFD_WIRE_N_TYPES ||
        !pfd_wire_types[frame->type]) {
        pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                 "a frame of type %d cannot be written", (int)frame->type);
        return false;
    }
    if (frame->n_labels > PFD_WIRE_LABELS_MAX) {
        pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET, "%zu labels, at most %d",
                 frame->n_labels, PFD_WIRE_LABELS_MAX);
        return false;
    }
    for (size_t i = 0; i < frame->n_labels; i++)
        n += (uint64_t)frame->labels[i].key.n + frame->labels[i].value.n;
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        if (pfd_wire_keys[i].kind != PFD_WIRE_KEY_NUMBER)
            n += bytes_of(frame, &pfd_wire_keys[i]).n;
    }
    if (n < UINT32_MAX - LABEL_MAX)
        return true;
    pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
             "a frame of %llu bytes, at most 4 GiB", (unsigned long long)n);
    return false;
}

static enum pfd_status write_start(pfd_wire_write_fn write, void *user,
                                   uint8_t features)
{
    uint8_t start[PFD_WIRE_START_BYTES] = { 0 };
    memcpy(start, PFD_WIRE_MAGIC, PFD_WIRE_MAGIC_BYTES);
    start[PFD_WIRE_MAGIC_BYTES] = PFD_WIRE_VERSION;
    start[PFD_WIRE_MAGIC_BYTES + 4] = features;
    return write(user, start, sizeof start) ? PFD_OK : PFD_ERR_STOPPED;
}

enum pfd_status pfd_wire_write_start(pfd_wire_write_fn write, void *user)
{
    return write_start(write, user, 0);
}

enum pfd_status pfd_wire_write(const struct pfd_wire_frame *frame,
                               pfd_wire_write_fn write, void *user,
                               struct pfd_error *err)
{
    struct pfd_text head = { 0 };
    enum pfd_status status = PFD_OK;
    if (!is_writable(frame, err))
        return PFD_ERR_USAGE;
    put_little_endian(&head, 0);
    put_little_endian(&head, 0);
    put_head(&head, frame);
    if (head.failed) {
        pfd_text_free(&head);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    size_t n = head.n;
    uint32_t length = (uint32_t)(n - PFD_WIRE_HEADER_BYTES + frame->bytes.n);
    head.n = 0;
    put_little_endian(&head, length);
    uint32_t crc = pfd_crc32c(0, head.data, 4);
    crc = pfd_crc32c(crc, head.data + PFD_WIRE_HEADER_BYTES,
                     n - PFD_WIRE_HEADER_BYTES);
    put_little_endian(&head, pfd_crc32c(crc, frame->bytes.at, frame->bytes.n));
    if (!write(user, head.data, n) ||
        (frame->bytes.n && !write(user, frame->bytes.at, frame->bytes.n))) {
        status = pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET,
                          "writing was stopped");
    }
    pfd_text_free(&head);
    return status;
}

/* ---- a whole stream ---- */

struct pfd_wire_writer {
    pfd_wire_write_fn write;
    void *user;
    bool started;
    uint64_t n_frames;
    uint64_t n_bytes;
    uint32_t crc;
};

struct pfd_wire_writer *pfd_wire_writer_new(pfd_wire_write_fn write, void *user)
{
    struct pfd_wire_writer *w = calloc(1, sizeof *w);
    if (w)
        *w = (struct pfd_wire_writer){ .write = write, .user = user };
    return w;
}

void pfd_wire_writer_free(struct pfd_wire_writer *w)
{
    free(w);
}

/* Passes bytes on, and adds them to the sums. */
static bool sum_up(void *user, const void *bytes, size_t n)
{
    struct pfd_wire_writer *w = user;
    w->crc = pfd_crc32c(w->crc, bytes, n);
    w->n_bytes += n;
    return w->write(w->user, bytes, n);
}

bool pfd_wire_next_part(const struct pfd_wire_frame *whole,
                        struct pfd_wire_parts *parts,
                        struct pfd_wire_frame *ret)
{
    size_t n = whole->bytes.n;
    bool may_split =
        whole->type == PFD_WIRE_DATA || whole->type == PFD_WIRE_CODE_OBJECT;
    *ret = *whole;
    if (parts->any && parts->at == n)
        return false;
    parts->any = true;
    if (n > PFD_WIRE_PIECE && may_split) {
        size_t left = n - parts->at;
        ret->bytes.at += parts->at;
        ret->bytes.n = left < PFD_WIRE_PIECE ? left : PFD_WIRE_PIECE;
        ret->offset += parts->at;
        if (whole->type == PFD_WIRE_CODE_OBJECT && !whole->total)
            ret->total = n;
    }
    parts->at += ret->bytes.n;
    return true;
}

static enum pfd_status start(struct pfd_wire_writer *w, struct pfd_error *err)
{
    if (!w->started && write_start(sum_up, w, PFD_WIRE_HAS_END) != PFD_OK) {
        return pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET,
                        "writing was stopped");
    }
    w->started = true;
    return PFD_OK;
}

enum pfd_status pfd_wire_writer_put(struct pfd_wire_writer *w,
                                    const struct pfd_wire_frame *frame,
                                    struct pfd_error *err)
{
    struct pfd_wire_frame own;
    if (pfd_sized_take(&own, sizeof own, frame, err) != PFD_OK)
        return PFD_ERR_USAGE;
    frame = &own;
    struct pfd_wire_parts parts = { 0 };
    struct pfd_wire_frame part;
    enum pfd_status status = start(w, err);
    while (status == PFD_OK && pfd_wire_next_part(frame, &parts, &part)) {
        status = pfd_wire_write(&part, sum_up, w, err);
        w->n_frames += status == PFD_OK;
    }
    return status;
}

enum pfd_status pfd_wire_writer_finish(struct pfd_wire_writer *w,
                                       struct pfd_error *err)
{
    enum pfd_status status = start(w, err);
    struct pfd_wire_frame end = { .type = PFD_WIRE_END,
                                  .frames = w->n_frames,
                                  .total = w->n_bytes,
                                  .crc = w->crc };
    return status == PFD_OK ? pfd_wire_write(&end, sum_up, w, err) : status;
}
