/* SPDX-License-Identifier: MIT */
/*
 * Shared by the writer and the reader of chunks: the bytes of a chunk, as
 * README.md has them, and the reader that fills batches, on which
 * pfd_chunk_reader and pfd_convert_chunks() are built.
 */
#ifndef PFD_CHUNK_LAYOUT_H
#define PFD_CHUNK_LAYOUT_H

#include <printfdecode/capture.h>

#include "core/decode/format.h"

enum {
    PFD_CHUNK_VERSION = 1,
    PFD_CHUNK_HEADER = 48, /* bytes before the names */
    PFD_CHUNK_STRING = 16, /* bytes of one: its key, its hash */
    PFD_CHUNK_KINDS_MAX = 64,
    /* A record's first dword: its kind, and the number of its bytes. */
    PFD_CHUNK_KIND_BITS = 2,
    PFD_CHUNK_LONG = 1 << PFD_CHUNK_KIND_BITS,
    PFD_CHUNK_BITS = 8,
    PFD_CHUNK_SHORT_MAX = (1 << 24) - 1,
};

enum pfd_chunk_kind {
    PFD_CHUNK_IS_ENTRY,
    PFD_CHUNK_IS_ALTERNATIVE,
    PFD_CHUNK_IS_FINDING,
    PFD_CHUNK_IS_GAP,
};

#define PFD_CHUNK_NO_STRING UINT32_MAX

/* The number of items that a chunk [n] states. */
uint64_t pfd_chunk_item_count(const void *bytes, size_t n);

/* Identifies a string beside its key: a hash of its text and layout. */
uint64_t pfd_chunk_hash(const struct pfd_string *string);

/* A chunk that is being read. All zero before the first; it may be opened
 * again. */
struct pfd_chunk {
    const struct pfd_format *format;    /* NULL: it has no entries */
    struct pfd_record_view record_view; /* to read its entries with */
    struct pfd_byte_reader records;     /* borrowed; at the next record */
    uint64_t lost_bytes;
    uint64_t skipped_bytes;
    uint32_t n_header; /* of entries in short form */
    uint32_t n_kinds;
    uint32_t n_strings;
    uint8_t kinds[PFD_CHUNK_KINDS_MAX]; /* enum pfd_finding_kind */
    struct pfd_chunk_string {
        uint64_t key;
        const struct pfd_string *string; /* NULL: it is not loaded */
        uint64_t n_sound; /* bytes of an entry in short form that was sound;
                             UINT64_MAX: none was seen yet */
    } * strings;          /* [n_strings], owned */
    size_t room;
    uint64_t index; /* of the entry that follows the last one */
    uint64_t offset;
};

/* strings, options: borrowed for as long as records are read. Status as of
 * pfd_chunk_reader_open(). */
enum pfd_status pfd_chunk_open(struct pfd_chunk *chunk,
                               const struct pfd_strings *strings,
                               const struct pfd_options *options,
                               const void *bytes, size_t n,
                               struct pfd_error *err);
void pfd_chunk_close(struct pfd_chunk *chunk);

/*
 * Adds records to a batch with places until it is full (PFD_OK) or the chunk is
 * done (PFD_END); their bytes stay in the chunk. PFD_ERR_CORRUPT: the rest of
 * it cannot be read; the records before are in the batch. A finding of kind
 * `gap` has the number of missed entries in its `findings`, and its reason
 * n_header bytes into its text.
 */
enum pfd_status pfd_chunk_fill(struct pfd_chunk *chunk,
                               struct pfd_record_batch *batch,
                               struct pfd_error *err);

#endif
