/* SPDX-License-Identifier: MIT */
/*
 * What a metadata note contains: a document of maps, arrays and scalars. A
 * document borrows the note's bytes for its whole life; values are borrowed
 * from the document. Knows nothing of keys and what they mean.
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

/* Containers within containers; real documents have about eight. */
enum {
    PFD_METADATA_DEPTH = 32
};

enum pfd_value_kind {
    PFD_VALUE_ABSENT, /* no value at all: what pfd_value_kind(NULL) says */
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
 * Reads the document at doc's position, in up to `room` bytes of memory. n_used: its size in bytes; what comes
 * after it is not looked at. Everything is checked before memory is taken,
 * and that is at most 24 bytes for each byte of the document. An error's
 * offset counts from doc's position.
 *
 * PFD_OK; PFD_ERR_CORRUPT: not well-formed; PFD_ERR_UNSUPPORTED: deeper than
 * PFD_METADATA_DEPTH or 4 GiB and more; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_metadata_open(struct pfd_byte_reader doc, size_t room,
                                  struct pfd_metadata **ret, size_t *n_used,
                                  struct pfd_error *err);

/*
 * The same for YAML text, the metadata of code objects V2, with NULs at its end
 * or without. What cannot be read (bad YAML, an anchor, too deep, too long)
 * ends the document there: problem says what and where (its code is PFD_OK
 * otherwise), and what stood before it is kept.
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

/* Where in the document the value, or of a container the first text in it, is
 * written: bytes from its start. PFD_NO_OFFSET where that is not known. */
uint64_t pfd_metadata_offset(const struct pfd_metadata *metadata,
                             const struct pfd_value *value);

/* All of these take NULL (an absent value). */

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

/* What a map has under a text key: the first such pair counts, and twice
 * (may be NULL) says whether there are more. NULL when there is none. */
const struct pfd_value *pfd_value_get(const struct pfd_value *map,
                                      const char *key, bool *twice);

/* An integer of any width; a negative one as two's complement of 64 bits.
 * False for any other value. */
bool pfd_value_int(const struct pfd_value *value, uint64_t *ret,
                   bool *negative);

/* Text or binary: [n] bytes, not NUL-terminated. False for any other. */
bool pfd_value_bytes(const struct pfd_value *value, const char **ret,
                     size_t *n);

#endif
