/* SPDX-License-Identifier: MIT */
/*
 * The content of a metadata note: a document of maps, arrays and scalars. A
 * document borrows the note's bytes for its whole life; values are borrowed
 * from the document. Does not know the meaning of keys.
 *
 * Documents are MessagePack or YAML; both become the same values.
 */
#ifndef PFD_METADATA_H
#define PFD_METADATA_H

#include <printfdecode/common.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

struct pfd_metadata;
struct pfd_value;

/* The depth limit of nested containers; real documents have about eight. */
enum {
    PFD_METADATA_DEPTH = 32
};

enum pfd_value_kind {
    PFD_VALUE_ABSENT, /* no value: the kind of NULL */
    PFD_VALUE_NIL,
    PFD_VALUE_BOOL,
    PFD_VALUE_INT,
    PFD_VALUE_FLOAT,
    PFD_VALUE_BYTES, /* str or bin */
    PFD_VALUE_ARRAY,
    PFD_VALUE_MAP,
    PFD_VALUE_EXT,
};

/*
 * Reads the document at doc's position, in up to `room` bytes of memory.
 * n_used: its size in bytes; bytes behind it are not read. Everything is
 * checked before memory is taken, which is at most 24 bytes for each byte of
 * the document. An error's offset counts from doc's position.
 *
 * PFD_OK; PFD_ERR_CORRUPT: not well-formed; PFD_ERR_UNSUPPORTED: deeper than
 * PFD_METADATA_DEPTH or 4 GiB and more; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_metadata_open(struct pfd_byte_reader doc, size_t room,
                                  struct pfd_metadata **ret, size_t *n_used,
                                  struct pfd_error *err);

/*
 * The same for YAML text, the metadata of code objects V2, with or without NULs
 * at its end. The first fault (bad YAML, an anchor, too deep, too long) ends
 * the document there: problem has the reason and the place (its code is PFD_OK
 * otherwise), and the values before it are kept.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_metadata_open_yaml(struct pfd_byte_reader doc, size_t room,
                                       struct pfd_metadata **ret,
                                       struct pfd_error *problem,
                                       struct pfd_error *err);

/* NULL is allowed. */
void pfd_metadata_free(struct pfd_metadata *metadata);

const struct pfd_value *pfd_metadata_root(const struct pfd_metadata *metadata);

/* The offset of a value in the document, for a container that of the first text
 * in it: bytes from the document's start. PFD_NO_OFFSET: unknown. */
uint64_t pfd_metadata_offset(const struct pfd_metadata *metadata,
                             const struct pfd_value *value);

/* All functions below take NULL (an absent value). */

enum pfd_value_kind pfd_value_kind(const struct pfd_value *value);

/* The kind with its article, for messages: "missing", "nil", "an integer". */
const char *pfd_value_kind_name(const struct pfd_value *value);

/* Elements of an array, pairs of a map; 0 for any other value. */
size_t pfd_value_count(const struct pfd_value *value);

/* Element i of an array, NULL when there is none. */
const struct pfd_value *pfd_value_at(const struct pfd_value *array, size_t i);

/* Key and value of pair i of a map; false when there is none. */
bool pfd_value_pair(const struct pfd_value *map, size_t i,
                    const struct pfd_value **key,
                    const struct pfd_value **value);

/* The value under a text key of a map: the first such pair counts, and twice
 * (may be NULL) is true when there are more. NULL when there is none. */
const struct pfd_value *pfd_value_get(const struct pfd_value *map,
                                      const char *key, bool *twice);

/* An integer of any width; a negative one as two's complement of 64 bits.
 * False for any other value. */
bool pfd_value_int(const struct pfd_value *value, uint64_t *ret,
                   bool *negative);

/* Text or binary: [n] bytes, not NUL-terminated. False for any other value. */
bool pfd_value_bytes(const struct pfd_value *value, const char **ret,
                     size_t *n);

#endif
