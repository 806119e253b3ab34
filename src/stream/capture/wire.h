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

#endif
