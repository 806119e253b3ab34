/* SPDX-License-Identifier: MIT */
/* The parts of gpuav: gpuav.c finds records, faults.c says what they mean,
 * words.c names their dwords. */
#ifndef GPUAV_H
#define GPUAV_H

#include "format.h"

enum {
    GPUAV_DWORD = 4,
    /* A record of today, and of none before. */
    GPUAV_NOW = 12,
    /* What a record of size 0 has: the layer's own checks wrote no size. */
    GPUAV_OWN_CHECK = 10,
};

/* What went wrong, however old the record is. */
enum gpuav_kind {
    GPUAV_BOUNDS,
    GPUAV_UNINITIALIZED,
    GPUAV_DESTROYED,
    GPUAV_ADDRESS,   /* no buffer is there */
    GPUAV_ALIGNMENT, /* of an address */
    GPUAV_BUFFER,    /* a or b bytes: offset, size */
    GPUAV_TEXEL,     /* the same in texels */
    GPUAV_DRAW,
    GPUAV_DISPATCH, /* a: 1 to 3 for x, y, z; b: the count */
    GPUAV_TRACE_RAYS,
    GPUAV_OTHER, /* of today, by group and code */
};

struct gpuav_fault {
    enum gpuav_kind kind;
    uint32_t group; /* of today; 0: there is none */
    uint32_t code;
    bool has_set;
    uint32_t set;
    uint32_t binding;
    bool has_index;
    uint32_t index;
    uint32_t a;
    uint32_t b;
    uint64_t address;
    uint32_t params[3];
};

/* One record, read. */
struct gpuav_record {
    uint32_t size; /* dwords that are looked at */
    bool is_now;
    bool is_own; /* a check by the layer's own commands: no shader */
    uint32_t shader;
    uint32_t stage; /* as it stands there */
    uint32_t words[3];
    uint32_t position;
    uint32_t action; /* of today */
    uint32_t logger;
    struct gpuav_fault fault;
};

/* Reads the record of [n] dwords, at least 8, at bytes. */
void gpuav_read(const uint8_t *bytes, uint32_t n, struct gpuav_record *ret);

/* A record's id: its error, by group where there are groups. */
uint64_t gpuav_id(const struct gpuav_record *record);

/* The fault in words. as_layer: in the layer's, of its age. */
void gpuav_fault_text(struct pfd_text *out, const struct gpuav_record *record,
                      const struct pfd_vulkan_capture *capture, bool as_layer);

/* The fault as origins, at most ten; returns how many. */
size_t gpuav_fault_origin(const struct gpuav_fault *fault,
                          struct pfd_origin *ret);

/* The format's entry_word(). */
bool gpuav_entry_word(const struct pfd_look *look, uint32_t at,
                      struct pfd_word *ret);

#endif
