/* SPDX-License-Identifier: MIT */
/*
 * What the reader and the writer of captures share: the start of a stream, the
 * names of types, and one table of keys. A key means the same in each type.
 *
 * To add a key: a member of struct pfd_wire_frame, a row of PFD_WIRE_KEYS, a
 * row in wire.README.md. To add a type: enum pfd_wire_type, pfd_wire_types,
 * the same README.
 */
#ifndef PFD_WIRE_H
#define PFD_WIRE_H

#include <printfdecode/wire.h>

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
    enum pfd_wire_kind kind;
    size_t member; /* offsetof in struct pfd_wire_frame */
};

/* [pfd_wire_n_keys]; "bytes" is the last, so that it can be written apart. */
extern const struct pfd_wire_key pfd_wire_keys[];
extern const size_t pfd_wire_n_keys;

/* By enum pfd_wire_type; NULL where nothing is on the wire. */
extern const char *const pfd_wire_types[PFD_WIRE_GAP + 1];

#endif
