/* SPDX-License-Identifier: MIT */
/*
 * The preamble of a stream of entries that are read from the spool
 * (spool_reader.h), like preamble.h for the ring. The stream is a capture: code
 * objects and buffers precede the entries that need them, each once. Each
 * manifest (manifest.h) becomes a scope of its own, with its number. A buffer
 * whose entries need several manifests becomes several buffers. Objects that
 * were added to a manifest are sent before the next entries.
 *
 * Frames are written by preamble.h's functions. The accounts of what was sent are
 * two, because they have no key in common: the ring's has the last change that was
 * sent of each scope of live string sets; this one has the number of sent items of
 * each manifest on disk, and a copy of each buffer for each manifest.
 *
 * One thread at a time.
 */
#ifndef PFDD_SPOOL_PREAMBLE_H
#define PFDD_SPOOL_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/text.h"
#include "ring/chunk.h"
#include "spool/manifest.h"
#include "spool/spool_frame.h"

/* All zeros: nothing was sent. */
struct pfdd_spool_preamble {
    bool has_begun;
    bool is_telling;    /* the preamble of some chunks, not complete yet */
    uint64_t n_objects; /* numbers given to code objects */
    uint64_t n_sent;    /* bytes of code objects that were sent */
    struct pfdd_spool_preamble_manifest {
        uint64_t number;
        uint32_t n; /* of its items, which were sent */
    } * manifests;  /* [n_stocks] */
    size_t n_manifests;
    struct pfdd_spool_preamble_buffer {
        uint64_t number; /* as read from disk */
        uint64_t manifest;
        uint64_t generation;
        struct pfdd_buffer *sent; /* a reference */
    } * buffers;                  /* [n_buffers] */
    size_t n_buffers;
    /* The manifest that is being sent. */
    struct pfdd_manifest_list list;
    char *bytes; /* [n], a code object; NULL: none */
    size_t n;
    size_t at;
};

void pfdd_spool_preamble_deinit(struct pfdd_spool_preamble *b);

/* Chunks read from disk that need the same manifest. */
struct pfdd_spool_preamble_of {
    const char *dir; /* the state folder */
    struct pfdd_manifest manifest;
    size_t n_max; /* bytes of a code object; a larger one is skipped */
    struct pfdd_chunk **chunks; /* [n] */
    size_t n;
};

/*
 * Appends the next part of the chunks' preamble. *done: it is complete, and the
 * chunks have the buffers that were sent. False: out of memory; a new stream
 * begins with the next call.
 */
bool pfdd_spool_preamble_write(struct pfdd_spool_preamble *spool_preamble,
                               const struct pfdd_spool_preamble_of *of,
                               struct pfd_text *out, bool *done);

/* True: all code objects of the manifest were sent. */
bool pfdd_spool_preamble_has(const struct pfdd_spool_preamble *spool_preamble,
                             const struct pfdd_manifest *manifest);

/* Bytes of memory. */
size_t pfdd_spool_preamble_memory(const struct pfdd_spool_preamble *b);

#endif
