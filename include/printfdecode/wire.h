/* SPDX-License-Identifier: MIT */
/*
 * The capture format: one framing for files and sockets. A stream is a magic
 * and a version, then frames, each with its length, a CRC-32C and a map.
 * src/stream/capture/README.md specifies it byte by byte. Knows no files and no
 * sockets, and nothing of the contents of buffers.
 *
 * Thread rule: a writer belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_WIRE_H
#define PRINTFDECODE_WIRE_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PFD_WIRE_MAGIC_BYTES = 8, /* they identify a capture */
    PFD_WIRE_START_BYTES = 16,
    PFD_WIRE_HEADER_BYTES = 8,
    PFD_WIRE_LABELS_MAX = 64,
    PFD_WIRE_FRAME_MAX = 64 << 20, /* bytes of a map, by default */
    PFD_WIRE_PIECE = 1 << 20,      /* bytes of contents in a writer's frame */
};

/* Properties of a whole stream, in its start; unknown bits mean nothing. */
enum pfd_wire_feature {
    /* It ends in an `end` frame, and says which bytes of buffers are zero. */
    PFD_WIRE_HAS_END = 1,
};

enum pfd_wire_type {
    PFD_WIRE_UNKNOWN,     /* a type of a later version: skip it */
    PFD_WIRE_START,       /* not a frame: a stream begins, all numbers are
                             void */
    PFD_WIRE_HELLO,       /* the sender */
    PFD_WIRE_CODE_OBJECT, /* a file with format strings */
    PFD_WIRE_SHADER,      /* a layer's shader number, and its module */
    PFD_WIRE_BUFFER,      /* a buffer, or a new generation of it */
    PFD_WIRE_DATA,        /* bytes of a buffer */
    PFD_WIRE_DONE,        /* a generation of a buffer is complete */
    PFD_WIRE_GAP,         /* something was lost before this frame */
    PFD_WIRE_END,         /* the stream ends: counts of all before */
    PFD_WIRE_ENTRIES,     /* a chunk of a buffer's entries */
    PFD_WIRE_ERROR,       /* the sender gives up, with its reason */
    PFD_WIRE_N_TYPES
};

/* Text or bytes, not NUL-terminated; at may be NULL when n is 0. */
struct pfd_wire_bytes {
    const char *at;
    size_t n;
};

struct pfd_wire_label {
    struct pfd_wire_bytes key;
    struct pfd_wire_bytes value;
};

/*
 * One frame. All types share these members, each named as its key; members that
 * a type does not have are 0 or empty. Everything in it is borrowed.
 */
struct pfd_wire_frame {
    size_t struct_size; /* as common.h says */
    enum pfd_wire_type type;
    uint64_t at;      /* of its length, bytes from the start of the stream */
    uint64_t n_bytes; /* of the whole frame on the wire */

    /* Numbers. */
    uint64_t code_object; /* the sender's number of it, from 1 */
    uint64_t shader;      /* the layer's shader id */
    uint64_t buffer;      /* the sender's number of it, from 1 */
    uint64_t generation;  /* of the buffer, from 0 */
    uint64_t offset;      /* of bytes, in the buffer or the code object */
    uint64_t total;       /* bytes of a code object that comes in parts, or of
                             the stream before its end frame */
    uint64_t size;        /* bytes of the buffer */
    uint64_t time;        /* nanoseconds since 1970 (CLOCK_REALTIME) */
    uint64_t monotonic;   /* nanoseconds of CLOCK_MONOTONIC, at time */
    uint64_t pid;
    uint64_t fds; /* descriptors that come with a buffer: memory, doorbell */
    uint64_t pipeline; /* hash */
    uint64_t dispatch;
    uint64_t lost_bytes;
    uint64_t lost_frames;
    uint64_t lost_entries; /* and findings: items that were numbered */
    uint64_t scope;        /* owner of these shader numbers; 0: all */
    uint64_t zeros;        /* zero bytes of the buffer, at offset, not sent */
    uint64_t frames;       /* of the stream, before its end frame */
    uint64_t sequence;     /* of the first item of entries, or of the item
                              behind a gap */
    uint64_t crc;          /* CRC-32C of the stream before its end frame */

    /* Text. */
    struct pfd_wire_bytes host;
    struct pfd_wire_bytes process;
    struct pfd_wire_bytes boot_id;
    struct pfd_wire_bytes name; /* of the code object or buffer */
    struct pfd_wire_bytes uri;  /* of a code object without bytes */
    struct pfd_wire_bytes format;
    struct pfd_wire_bytes layout;
    struct pfd_wire_bytes compat;
    struct pfd_wire_bytes opencl_strings;
    struct pfd_wire_bytes device;
    struct pfd_wire_bytes queue;
    struct pfd_wire_bytes pipeline_type;
    struct pfd_wire_bytes stage;
    struct pfd_wire_bytes reason; /* of a gap or an error */

    /* Bytes. */
    struct pfd_wire_bytes uuid; /* of the buffer */
    struct pfd_wire_bytes bytes;

    const struct pfd_wire_label *labels; /* [n_labels] */
    size_t n_labels;

    /* Members without keys. */
    uint64_t features; /* of a START: enum pfd_wire_feature */
    uint64_t bytes_at; /* of bytes, from the start of the stream */
    uint64_t missing;  /* bytes missing behind those, of a frame that is cut:
                          its CRC was not checked */

    struct pfd_wire_bytes kernel; /* text: of a buffer's messages */
};

/* True when bytes [n] begin as a stream does; PFD_WIRE_MAGIC_BYTES decide. */
PFD_API bool pfd_wire_recognise(const void *bytes, size_t n);

/* Takes bytes [n]; false: stop. */
typedef bool (*pfd_wire_write_fn)(void *user, const void *bytes, size_t n);

/*
 * Writes a whole stream: its start, which announces an end, frames of at most
 * PFD_WIRE_PIECE bytes of contents each, and its end. Everything is borrowed
 * for as long as the writer lives. NULL: out of memory.
 */
struct pfd_wire_writer;
PFD_API struct pfd_wire_writer *pfd_wire_writer_new(pfd_wire_write_fn write,
                                                    void *user);

/*
 * Writes one frame; the bytes of a `data` or `code_object` frame are split into
 * as many frames as they need. The start of the stream goes before the first.
 *
 * PFD_OK; PFD_ERR_STOPPED: write returned false; PFD_ERR_USAGE: no such type,
 * too many labels or more than 4 GiB; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_wire_writer_put(struct pfd_wire_writer *writer,
                                            const struct pfd_wire_frame *frame,
                                            struct pfd_error *err);

/* Writes the end; nothing may follow. Status as of pfd_wire_writer_put(). */
PFD_API enum pfd_status pfd_wire_writer_finish(struct pfd_wire_writer *writer,
                                               struct pfd_error *err);

/* NULL is allowed. Without pfd_wire_writer_finish() the stream is cut. */
PFD_API void pfd_wire_writer_free(struct pfd_wire_writer *writer);

/* A C string as text of a frame. */
static inline struct pfd_wire_bytes pfd_wire_text(const char *text)
{
    struct pfd_wire_bytes ret = { text, 0 };
    while (text && text[ret.n])
        ret.n++;
    return ret;
}

#ifdef __cplusplus
}
#endif

#endif
