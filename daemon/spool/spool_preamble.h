/* SPDX-License-Identifier: MIT */
/*
 * What a subscriber that gets entries of the queue on disk (spool_reader.h) has been
 * told, as preamble.h is for those of the ring: the stream is a capture, in which
 * code objects and buffers stand before the entries that need them, each once.
 * What entries may need is a stock (manifest.h): each is a scope of its own, its
 * number is the scope's, and a buffer whose entries need several stocks is as
 * many buffers. What a stock has got since is told before the next entries.
 *
 * One thread at a time.
 */
#ifndef PFDD_SPOOL_PREAMBLE_H
#define PFDD_SPOOL_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/byte_buffer.h"
#include "ring/chunk.h"
#include "spool/manifest.h"
#include "spool/spool_record.h"

/* All zeros: nothing. */
struct pfdd_spool_preamble {
    bool has_begun;
    bool is_telling;    /* what comes before some chunks, and not all yet */
    uint64_t n_objects; /* numbers that code objects have */
    uint64_t n_told;    /* bytes of them */
    struct pfdd_spool_preamble_manifest {
        uint64_t number;
        uint32_t n; /* of its list */
    } * stocks;     /* [n_stocks] */
    size_t n_stocks;
    struct pfdd_spool_preamble_buffer {
        uint64_t number; /* as it was read */
        uint64_t stock;
        uint64_t generation;
        struct pfdd_buffer *told; /* a reference */
    } * buffers;                  /* [n_buffers] */
    size_t n_buffers;
    /* Of the stock that is being told. */
    struct pfdd_manifest_list list;
    char *bytes; /* [n], a code object; NULL: none */
    size_t n;
    size_t at;
};

void pfdd_spool_preamble_deinit(struct pfdd_spool_preamble *spool_preamble);

/* Chunks that are read from disk, which need the same stock. */
struct pfdd_spool_preamble_of {
    const char *dir; /* the state's */
    struct pfdd_manifest manifest;
    size_t n_max; /* bytes of a code object; a larger one is left out */
    struct pfdd_chunk **chunks; /* [n] */
    size_t n;
};

/*
 * Adds the next piece of what has to stand before the chunks; when *done is set,
 * nothing is missing, and their buffers are those that were told. False: out of
 * memory; what was told is forgotten, and another stream begins with the next
 * piece.
 */
bool pfdd_spool_preamble_write(struct pfdd_spool_preamble *spool_preamble,
                               const struct pfdd_spool_preamble_of *of,
                               struct pfdd_byte_buffer *out, bool *done);

/* True: no code object of the stock is missing. */
bool pfdd_spool_preamble_has(const struct pfdd_spool_preamble *spool_preamble,
                             const struct pfdd_manifest *manifest);

/* Bytes that it holds. */
size_t pfdd_spool_preamble_memory(
    const struct pfdd_spool_preamble *spool_preamble);

#endif
