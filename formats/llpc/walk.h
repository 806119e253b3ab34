/* SPDX-License-Identifier: MIT */
/*
 * The walk over an LLPC buffer, for the files of this folder that implement it:
 * its state, and reports about places without an entry.
 */
#ifndef LLPC_WALK_H
#define LLPC_WALK_H

#include "layout.h"

enum {
    /* u64 bufferOffset, u32 reserved0, u32 reserved1 (LLPC's
     * docs/DdnDebugPrintf.md, "Buffer"; xgl icd/api/debug_printf.cpp). */
    LLPC_HEADER = 16,
    LLPC_DWORD = 4,
    /* An entry of two dwords has no payload. */
    LLPC_SIZE_MIN = 2,
    /* Real ids are hashes; a smaller id means that the high dword was not
     * written. */
    LLPC_TORN_ID = 0x10000,
};

/* The shader clamps its offset: umin(offset, 1 << 29) dwords
 * (LLPC LowerDebugPrintf.cpp). */
#define LLPC_CLAMP_DWORDS (UINT64_C(1) << 29)

/* The header of an entry, u64: formatStringId << 16 | entrySize. */
struct llpc_header {
    uint64_t id;
    uint64_t n_bytes; /* of the entry */
    uint32_t size;    /* entrySize */
    bool zero;
};

/* Dwords that shaders can ask for before anything stops them. */
#define LLPC_USED_MAX (UINT64_C(1) << 38)

struct llpc_state {
    uint64_t used;   /* bufferOffset, dwords */
    uint64_t end;    /* end of the entries; final once `closed` */
    uint64_t wanted; /* the same, for a buffer of sufficient size */
    bool opened;     /* the header is read */
    bool is_absurd;  /* and cannot be one: what is lost is not known */
    bool closed;     /* the end of the buffer is known */
    bool done;       /* no entries follow */
    /* A search for the next entry beyond doubt, which may wait for bytes. */
    bool is_lost;
    struct llpc_header lost; /* header at the place where it began */
    uint64_t from;           /* where it began */
    uint64_t next;           /* next place to try */
    bool is_inside;          /* next is inside the lost entry */
    uint64_t sought; /* no entry inside the one at `at` begins before this */
};

static inline uint64_t llpc_dword(uint64_t at)
{
    return at / LLPC_DWORD;
}

/* Dwords that the buffer holds after its header; its size is known. */
static inline uint64_t llpc_capacity(const struct pfd_walk *w)
{
    return (pfd_walk_end(w) - LLPC_HEADER) / LLPC_DWORD;
}

/* Reports lost entries, and defects at the end. These are the last findings,
 * since a buffer that is read as a stream shows its size at the end only. */
void llpc_report_end(struct pfd_walk *w, const struct llpc_state *st);

/* bufferOffset is beyond what shaders can have asked for. */
void llpc_report_absurd(struct pfd_walk *w, uint64_t used);

/* bufferOffset is beyond what shaders write. */
void llpc_report_clamp(struct pfd_walk *w, uint64_t used);

/* Takes entries that are exactly as their strings describe, up to the first
 * other one, the walk's end, or a full batch (fast_walk.c). */
void llpc_walk_sound(struct pfd_walk *w, const struct llpc_state *st);

/* Reports why the walk lost its way at st->from, and how many bytes were
 * skipped. */
void llpc_report_gap(struct pfd_walk *w, const struct llpc_state *st,
                     uint64_t to);

#endif
