/* SPDX-License-Identifier: MIT */
/*
 * YAML text turned into the MessagePack document that says the same: the form
 * in which metadata.c keeps every document. Knows nothing of keys and what
 * they mean. Used by metadata.c alone.
 *
 * Read are maps, sequences and scalars in block and flow form; a plain scalar
 * is an integer, a boolean or null where it looks like one. Anchors and
 * aliases are refused: metadata has none, and expanding them is how a few
 * hundred bytes become gigabytes.
 */
#ifndef PFD_METADATA_YAML_H
#define PFD_METADATA_YAML_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/text.h"

/* Longer text is not read: a compiler writes some hundred bytes a kernel. */
enum {
    PFD_YAML_MAX = 16 << 20
};

/* Where in the text a value of the document came from; bytes. */
struct pfd_yaml_place {
    size_t encoded;
    size_t source;
};

struct pfd_yaml {
    struct pfd_text encoded; /* one MessagePack object */
    struct pfd_text places;  /* struct pfd_yaml_place, rising */
};

/*
 * Reads the document at doc's position; NULs at its end are not part of it.
 * What cannot be read ends the document there, with all open containers
 * closed: problem then says what and where (its code is PFD_OK otherwise).
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_yaml_encode(struct pfd_byte_reader doc, size_t depth_max,
                                struct pfd_yaml *ret, struct pfd_error *problem,
                                struct pfd_error *err);

void pfd_yaml_free(struct pfd_yaml *document);

#endif
