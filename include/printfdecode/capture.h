/* SPDX-License-Identifier: MIT */
/*
 * A capture file as a whole: its code objects become one set of strings, its
 * data become buffers to decode. wire.h has the framing.
 *
 * Thread rule: once opened, a capture may be read by any number of threads.
 */
#ifndef PRINTFDECODE_CAPTURE_H
#define PRINTFDECODE_CAPTURE_H

#include <printfdecode/printfdecode.h>
#include <printfdecode/strings.h>
#include <printfdecode/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_capture;

enum {
    PFD_CAPTURE_BUFFERS_MAX = 1 << 20,
};

/* Limit for the bytes of one buffer of a capture. */
#define PFD_CAPTURE_BUFFER_MAX (UINT64_C(4) << 30)

/* One generation of one buffer. Everything is borrowed until the capture is
 * freed. */
struct pfd_capture_buffer {
    const struct pfd_wire_frame *origin; /* its buffer frame, with the host,
                                            process and pid of the hello */
    const char *name; /* of the buffer; "FILE:N" if it has none */
    size_t n;         /* bytes, up to the last that came or is known as zero */
    const struct pfd_range *holes; /* [n_holes], in order: bytes that did not
                                      come, and read as zeros */
    size_t n_holes;
    const struct pfd_range *missing; /* [n_missing], in order: ranges of bytes
                                        [n] that are unknown */
    size_t n_missing;
    const struct pfd_chunk_bytes *chunks; /* [n_chunks], in order: its entries,
                                             where they came instead of its
                                             bytes */
    size_t n_chunks;
    uint64_t generation;
    uint64_t time; /* of its last data, nanoseconds since 1970; 0: unknown */
    bool done;     /* its sender said that it is complete */
};

/*
 * Reads a capture of [n] bytes, borrowed for the call, into memory, and adds
 * its strings and shaders to `strings`, which the caller owns and which may
 * hold others. Damage and losses go to fn (may be NULL) as findings, and the
 * rest is read. source: the capture's name.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not a capture, or of an unknown version;
 * PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_capture_open(const void *bytes, size_t n,
                                         const char *source,
                                         struct pfd_strings *strings,
                                         pfd_finding_fn fn, void *user,
                                         struct pfd_capture **ret,
                                         struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_capture_free(struct pfd_capture *capture);

/* Buffer i, in the order of the file; the capture's. NULL: there is no i. */
PFD_API const struct pfd_capture_buffer *pfd_capture_get(
    const struct pfd_capture *capture, size_t i);

/*
 * The bytes [n] of buffer i in one piece, until pfd_capture_unmap(); holes take
 * addresses and no memory. PFD_OK; PFD_END: there is no i; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_capture_map(const struct pfd_capture *capture,
                                        size_t i, const void **ret,
                                        struct pfd_error *err);

/* bytes may be NULL. */
PFD_API void pfd_capture_unmap(const struct pfd_capture *capture, size_t i,
                               const void *bytes);

/*
 * How to read a buffer, by its `buffer` frame. *format: the name of a format
 * (static storage), or NULL if the frame names none that is known. options: set
 * as the frame says; members that it does not mention stay as they are. Any
 * thread.
 *
 * PFD_OK; PFD_ERR_USAGE: the frame names an unknown format or layout, which
 * pfd_capture_open() reports as bad_frame; known ones before it are set.
 */
PFD_API enum pfd_status pfd_capture_reading(const struct pfd_wire_frame *buffer,
                                            const char **format,
                                            struct pfd_options *options,
                                            struct pfd_error *err);

/*
 * Chunks: settled entries and findings of one buffer, as bytes that can be
 * stored, sent and read again. An entry in a chunk is its raw bytes and the
 * decoder's decisions about them; pfd_convert_chunks() renders their text, with
 * the same format strings. src/stream/capture/README.md has every byte: a chunk
 * is the `bytes` of an `entries` frame.
 */

/* One of several chunks of a buffer, in order. */
struct pfd_chunk_bytes {
    const void *bytes; /* [n] */
    size_t n;
    uint64_t sequence; /* of its first item, as its frame has it */
    uint64_t time;     /* nanoseconds since 1970; 0: unknown */
};

/* Entries that were lost on the way, and are not in the chunk. */
struct pfd_gap {
    uint64_t missed;    /* entries; 0: an unknown number */
    const char *reason; /* a few words, NUL-terminated; borrowed */
};

enum pfd_chunk_item_type {
    PFD_CHUNK_ENTRY,
    PFD_CHUNK_FINDING,
    PFD_CHUNK_GAP,
};

/* An item of a chunk. Everything is borrowed until the next one. */
struct pfd_chunk_item {
    enum pfd_chunk_item_type type;
    union {
        struct pfd_entry entry;
        struct pfd_finding finding;
        struct pfd_gap gap;
    };
};

#ifdef __cplusplus
}
#endif

#endif
