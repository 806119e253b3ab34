/* SPDX-License-Identifier: MIT */
/*
 * One generation of one buffer of a capture: its frames' bytes as they come,
 * then, once settled, only those bytes, however long the buffer is said to be.
 * Knows nothing of frames but what they say of a buffer.
 */
#ifndef PFD_CAPTURE_BUFFER_H
#define PFD_CAPTURE_BUFFER_H

#include <printfdecode/chunk.h>
#include <printfdecode/wire.h>

#include "core/base/error.h"
#include "core/base/ranges.h"

/* Bytes of a frame, where they are in the capture. */
struct pfd_captured_part {
    uint64_t offset;
    uint64_t n;
    uint64_t at;
};

struct pfd_captured {
    struct pfd_wire_frame origin; /* texts are the capture's */
    char *name;                   /* likewise */
    uint64_t time;
    bool done;
    bool says_zeros; /* its stream names the bytes that are zero */
    struct pfd_captured_part *parts; /* [n_parts], in order of their frames */
    size_t n_parts;
    size_t parts_room;
    struct pfd_ranges given; /* bytes that are zero, and, once settled, all
                                that came */
    struct pfd_chunk_bytes *chunks; /* [n_chunks], owned, bytes and all */
    size_t n_chunks;
    size_t chunks_room;
    uint64_t next_sequence; /* behind the last chunk */
    uint64_t n_missed;      /* items between chunks that did not come */
    /* Once settled. */
    size_t n;
    struct pfd_ranges there;   /* stretches of it with bytes that came */
    uint8_t *bytes;            /* of `there`, one behind the other, owned */
    struct pfd_ranges holes;   /* what lies between: zeros */
    struct pfd_ranges missing; /* bytes of it that are not known */
};

/* Bytes of data, or zeros, that a frame brings. False: out of memory. */
bool pfd_captured_add(struct pfd_captured *b,
                      const struct pfd_wire_frame *frame);

/* A chunk of its entries, copied; one that came before is passed over, which is
 * reported. False: out of memory. */
bool pfd_captured_add_chunk(struct pfd_captured *b,
                            const struct pfd_wire_frame *frame,
                            struct pfd_report *report);

/*
 * All frames have come: puts the bytes together, out of those of the capture
 * [n], and reports which are missing. False: out of memory.
 */
bool pfd_captured_settle(struct pfd_captured *b, const uint8_t *capture,
                         struct pfd_report *report);

void pfd_captured_deinit(struct pfd_captured *b);

/* All of the buffer in one piece [n]; PFD_ERR_NOMEM. */
enum pfd_status pfd_captured_map(const struct pfd_captured *b, const void **ret,
                                 struct pfd_error *err);
void pfd_captured_unmap(const struct pfd_captured *b, const void *bytes);

#endif
