/* SPDX-License-Identifier: MIT */
/*
 * Shared by the reader and the writer of captures: the start of a stream, the
 * names of types, and one table of keys. A key means the same in each type.
 *
 * To add a key: a member of struct pfd_wire_frame, a row of pfd_wire_keys, a
 * row in README.md. To add a type: enum pfd_wire_type, pfd_wire_types, the same
 * README.
 */
#ifndef PFD_WIRE_H
#define PFD_WIRE_H

#include <printfdecode/wire.h>

#include "core/base/byte_reader.h"

struct pfd_wire_reader;

enum {
    PFD_WIRE_VERSION = 1,
    /* Each map begins with the text "type" as its first key; a map header is
     * 1, 3 or 5 bytes. */
    PFD_WIRE_KEY_BYTES = 5,
};

#define PFD_WIRE_MAGIC     "\x89PFDCAP\n"
#define PFD_WIRE_FIRST_KEY "\xa4type"

enum pfd_wire_kind {
    PFD_WIRE_KEY_NUMBER,
    PFD_WIRE_KEY_TEXT,
    PFD_WIRE_KEY_BYTES_,
};

struct pfd_wire_key {
    const char *name;
    size_t n_name;
    enum pfd_wire_kind kind;
    size_t member; /* offsetof in struct pfd_wire_frame */
};

/* [pfd_wire_n_keys]; "bytes" is the last, so that it can be written apart. */
extern const struct pfd_wire_key pfd_wire_keys[];
extern const size_t pfd_wire_n_keys;

/* By enum pfd_wire_type; NULL for types that are not on the wire. */
extern const char *const pfd_wire_types[PFD_WIRE_N_TYPES];

/*
 * Reads the map that the byte reader holds, into a frame that is zero except
 * for its place; labels: [PFD_WIRE_LABELS_MAX] for the frame's. at: the map's
 * place in the stream. PFD_OK; PFD_ERR_CORRUPT.
 */
enum pfd_status pfd_wire_read_map(struct pfd_byte_reader *c,
                                  struct pfd_wire_label *labels, uint64_t at,
                                  struct pfd_wire_frame *frame,
                                  struct pfd_error *err);

/*
 * Reads a frame of which only the beginning came, header included. True if
 * exactly the end of its `bytes`, the last key, is missing; nothing else is
 * trusted without its CRC.
 */
bool pfd_wire_read_cut(struct pfd_byte_reader *c, struct pfd_wire_label *labels,
                       struct pfd_wire_frame *ret);

/*
 * The next of the frames into which a long `data` or `code_object` frame is
 * split, of PFD_WIRE_PIECE bytes each. parts: zero at first. False: none is
 * left; there is at least one.
 */
struct pfd_wire_parts {
    size_t at;
    bool any;
};
bool pfd_wire_next_part(const struct pfd_wire_frame *whole,
                        struct pfd_wire_parts *parts,
                        struct pfd_wire_frame *ret);

/* The type's name on the wire, such as "code_object"; "?" for UNKNOWN and
 * START. Static storage. */
const char *pfd_wire_type_name(enum pfd_wire_type type);

/* True when bytes [n] begin as a stream does, or may with more bytes. */
bool pfd_wire_may_begin(const void *bytes, size_t n);

/*
 * Bytes of memory that the reader will hold after n more bytes; n 0: that it
 * holds now. A frame that arrives slowly takes memory as its bytes arrive,
 * doubling, and frees it behind the frame.
 */
size_t pfd_wire_reader_memory(const struct pfd_wire_reader *reader, size_t n);

/*
 * After PFD_MORE: skips the incomplete frame, for want of memory. Its bytes so
 * far are freed, the later ones are taken and dropped, and the frame behind it
 * is the next. Returns the frame's bytes on the wire; 0: none has begun. While
 * the reader searches for a sound frame, it drops the bytes that it has.
 */
uint64_t pfd_wire_reader_pass(struct pfd_wire_reader *reader);

/* A copy, in one piece with everything that it points to; free(). NULL: out of
 * memory. Any thread. */
struct pfd_wire_frame *pfd_wire_copy(const struct pfd_wire_frame *frame);

/* Bytes skipped so far because they were in no sound frame. */
uint64_t pfd_wire_reader_skipped(const struct pfd_wire_reader *reader);

/* Writes the start of a stream without an end frame. PFD_OK; PFD_ERR_STOPPED:
 * write returned false. */
enum pfd_status pfd_wire_write_start(pfd_wire_write_fn write, void *user);

/*
 * Writes one frame; `at` and `n_bytes` are ignored. write is called once or
 * twice, the second time with frame->bytes.
 *
 * PFD_OK; PFD_ERR_STOPPED: write returned false; PFD_ERR_USAGE: no such type,
 * too many labels or more than 4 GiB; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_wire_write(const struct pfd_wire_frame *frame,
                               pfd_wire_write_fn write, void *user,
                               struct pfd_error *err);

/*
 * A reader for one stream. max_frame: limit for the bytes of a map, 0 for
 * PFD_WIRE_FRAME_MAX; memory is bounded by it. NULL: out of memory.
 */
struct pfd_wire_reader *pfd_wire_reader_new(size_t max_frame);

/* NULL is allowed. */
void pfd_wire_reader_free(struct pfd_wire_reader *reader);

/*
 * Hands over more bytes [n], copied, split anywhere; *taken: the number that
 * was taken. If it is below n, take frames first, then hand over the rest.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_wire_reader_feed(struct pfd_wire_reader *reader,
                                     const void *bytes, size_t n, size_t *taken,
                                     struct pfd_error *err);

/* No more bytes will come. */
void pfd_wire_reader_finish(struct pfd_wire_reader *reader);

/*
 * The next frame, in stream order.
 *
 * PFD_OK; PFD_MORE: hand over more bytes; PFD_END: finished, and nothing is
 * left. PFD_ERR_CORRUPT: the bytes at err's offset are wrong (magic, length or
 * CRC, an invalid map, a stream that is cut or lacks its end, an end that
 * contradicts the frames before it). The caller may give up or call again: the
 * reader goes on at the next frame whose CRC is right; of a `data`,
 * `code_object` or `entries` frame that the end of all bytes cuts, it gives the
 * bytes that came. PFD_ERR_UNSUPPORTED: an unknown version of the stream, or
 * searching on would take too long; each later call returns it again.
 */
enum pfd_status pfd_wire_reader_next(struct pfd_wire_reader *reader,
                                     struct pfd_wire_frame *ret,
                                     struct pfd_error *err);

#endif
