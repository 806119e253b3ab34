/* SPDX-License-Identifier: MIT */
/*
 * Encodes YAML text as the equivalent MessagePack document, the form in which
 * metadata.c stores every document. Does not know the meaning of keys. Used by
 * metadata.c alone.
 *
 * Supported are maps, sequences and scalars in block and flow form; a plain
 * scalar is an integer, a boolean or null where it looks like one. Anchors and
 * aliases are rejected: metadata has none, and expanding them turns a few
 * hundred bytes into gigabytes.
 */
#ifndef PFD_METADATA_YAML_H
#define PFD_METADATA_YAML_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/text.h"

/* Longer text is rejected: a compiler writes some hundred bytes a kernel. */
enum {
    PFD_YAML_MAX = 16 << 20
};

/* The source position of a value of the document; bytes. */
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
 * The first fault ends the document there, with all open containers closed:
 * problem then has the reason and the place (its code is PFD_OK otherwise).
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_yaml_encode(struct pfd_byte_reader doc, size_t depth_max,
                                struct pfd_yaml *ret, struct pfd_error *problem,
                                struct pfd_error *err);

void pfd_yaml_free(struct pfd_yaml *document);

#endif
