/* SPDX-License-Identifier: MIT */
/*
 * Decoded entries and findings, copied out of a decoder while no GIL is held: a
 * block of records, from which objects are made on demand. A block does not
 * change, so that any thread may read it.
 */
#ifndef PYTHON_BLOCK_H
#define PYTHON_BLOCK_H

#include "core/base/text.h"
#include "error.h"
#include "strings.h"

#define BLOCK_NONE UINT32_MAX

/* Bytes of a record, from its start; at BLOCK_NONE: there are none. */
struct block_part {
    uint32_t at;
    uint32_t n;
};

/* One argument; of a text, bits is where it is in the record, and n its bytes,
 * or BLOCK_NONE for a null string. */
struct block_argument {
    uint64_t bits;
    uint32_t n;
    uint8_t type; /* enum pfd_argument_type */
    uint8_t n_bytes;
    char conversion;
    uint8_t spare;
};

struct block_origin {
    const char *name; /* static storage */
    uint64_t value[3];
    struct block_part text;
    uint32_t type; /* enum pfd_origin_type */
    uint32_t n;
};

/* A record: this, arguments [n_arguments], origins [n_origins], texts, and the
 * records of alternatives [n_alternatives] behind it. */
struct block_record {
    uint32_t n_bytes; /* of the record alone, a multiple of 8 */
    uint32_t string;  /* index in the set; BLOCK_NONE: see format */
    uint64_t index;
    uint64_t offset;
    uint64_t id;
    uint64_t findings; /* bits */
    uint64_t count;    /* of a finding, likewise the next two */
    uint64_t time;     /* nanoseconds since 1970; 0: unknown */
    uint64_t sequence; /* UINT64_MAX: none */
    struct block_part message;
    struct block_part format; /* its text, if it is in no set */
    struct block_part names;  /* of the arguments, each with a NUL, where the
                                 set does not have them */
    uint32_t n_arguments;
    uint16_t n_origins;
    uint8_t n_alternatives;
    uint8_t stream;
    uint32_t size;   /* bytes of the buffer */
    uint8_t kind;    /* of a finding */
    bool is_finding; /* message is its text, format its source */
    bool has_id;
    uint8_t spare;
};

static inline const struct block_argument *block_arguments(
    const struct block_record *r)
{
    return (const struct block_argument *)(const void *)(r + 1);
}

static inline const struct block_origin *block_origins(
    const struct block_record *r)
{
    return (const struct block_origin *)(const void *)(block_arguments(r) +
                                                       r->n_arguments);
}

static inline const char *block_bytes(const struct block_record *r,
                                      struct block_part part)
{
    return (const char *)r + part.at;
}

static inline const struct block_record *block_after(
    const struct block_record *r)
{
    return (const void *)((const char *)r + r->n_bytes);
}

/* When and where an entry was: 0 and UINT64_MAX where that is unknown. */
struct block_place {
    uint64_t time;
    uint64_t sequence;
    bool has_no_set; /* its strings will be gone: their texts are copied */
};

/* Appends the record of an entry, and those of its alternatives; needs no GIL.
 * out->failed: out of memory. */
void block_add_entry(struct pfd_text *out, struct pfd_entry *entry,
                     struct block_place place);
/* The name of its buffer's format; static storage. */
const char *block_format(const struct pfd_entry *entry);

void block_add_finding(struct pfd_text *out, const struct pfd_finding *finding);

/* What the entries of a buffer have in common, as an object. */
struct buffer_info {
    PyObject_HEAD PyObject *name; /* str */
    PyObject *format;     /* of the buffer, such as "llpc"; None: unknown */
    PyObject *origin;     /* dict of its capture, perhaps empty */
    PyObject *generation; /* int or None */
};

struct pfd_wire_frame;

struct buffer_info *buffer_info_new(const char *name);

/* Sets the format, if one is known now that was not before; NULL: none is. False:
 * an exception is set. */
bool buffer_info_set_format(struct buffer_info *info, const char *format);

/* Sets its origin, as JSON has it, and its generation, UINT64_MAX: none. False: an exception is
 * set. */
bool buffer_info_describe(struct buffer_info *info,
                          const struct pfd_wire_frame *origin,
                          uint64_t generation);

/* The format string of an entry's object: its index in the set or, SIZE_MAX, the
 * text that came in the buffer, [*n] bytes, borrowed; NULL: it has none. False:
 * no entry, an exception is set. */
bool block_string(PyObject *entry, size_t *string, const char **text,
                  size_t *n);

/* A block as an object: takes the text's bytes over. strings: NULL where all
 * records have their texts. NULL: an exception is set. */
struct block;
struct block *block_new(struct pfd_text *records, struct strings *strings,
                        struct buffer_info *info);
void block_free(struct block *block);

/* An object of a record: an entry, or a finding. */
PyObject *block_object(struct block *block, const struct block_record *record);

/* Bytes of its records. */
size_t block_size(const struct block *block);

/* The next of the records in a block: moves *at on. NULL: no more. */
const struct block_record *block_next(const struct block *block, size_t *at);

#endif
