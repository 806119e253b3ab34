/* SPDX-License-Identifier: MIT */
/*
 * One generation of one buffer of a capture: first collects the bytes of its
 * frames; once settled, it has only these bytes, however long the buffer is
 * said to be. Of a frame it knows only the members that describe a buffer.
 */
#ifndef PFD_CAPTURE_BUFFER_H
#define PFD_CAPTURE_BUFFER_H

#include <printfdecode/capture.h>
#include <printfdecode/wire.h>

#include "core/base/error.h"
#include "core/base/ranges.h"

/* The bytes of a frame, by their place in the capture. */
struct pfd_captured_part {
    uint64_t offset;
    uint64_t n;
    uint64_t at;
};

struct pfd_captured {
    struct pfd_wire_frame origin; /* the capture owns its texts */
    char *name;                   /* likewise */
    uint64_t time;
    uint64_t stream; /* of the capture, from 1 on */
    bool done;
    bool names_zeros; /* its stream names the bytes that are zero */
    struct pfd_captured_part *parts; /* [n_parts], in order of their frames */
    size_t n_parts;
    size_t parts_room;
    struct pfd_ranges given; /* zero bytes, and, once settled, all received
                                ones */
    struct pfd_chunk_bytes *chunks; /* [n_chunks], owned, bytes and all */
    size_t n_chunks;
    size_t chunks_room;
    uint64_t next_sequence; /* behind the last chunk */
    uint64_t n_missed;      /* items between chunks that are missing */
    /* Once settled. */
    size_t n;
    struct pfd_ranges there;   /* ranges with received bytes */
    uint8_t *bytes;            /* of `there`, one behind the other, owned */
    struct pfd_ranges holes;   /* the ranges between: zeros */
    struct pfd_ranges missing; /* ranges of unknown bytes */
};

/* Adds the data, or the zeros, of a frame. False: out of memory. */
bool pfd_captured_add(struct pfd_captured *b,
                      const struct pfd_wire_frame *frame);

/* Adds a chunk of its entries, copied; a chunk that came before is skipped, and
 * reported. False: out of memory. */
bool pfd_captured_add_chunk(struct pfd_captured *b,
                            const struct pfd_wire_frame *frame,
                            struct pfd_report *report);

/*
 * To be called after all frames: puts the bytes together from the capture's,
 * and reports the missing ones. False: out of memory.
 */
bool pfd_captured_settle(struct pfd_captured *b, const uint8_t *capture,
                         struct pfd_report *report);

/* Drops what it has, once settled. */
void pfd_captured_drop(struct pfd_captured *b);

void pfd_captured_deinit(struct pfd_captured *b);

/* The whole buffer in one piece [n]; PFD_ERR_NOMEM. */
enum pfd_status pfd_captured_map(const struct pfd_captured *b, const void **ret,
                                 struct pfd_error *err);
void pfd_captured_unmap(const struct pfd_captured *b, const void *bytes);

#endif
