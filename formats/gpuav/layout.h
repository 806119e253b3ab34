/* SPDX-License-Identifier: MIT */
/* Shared by the parts of gpuav: detect.c detects a buffer's age, gpuav.c walks
 * over its records, faults.c interprets them, groups.c interprets those of SDK
 * 1.3.280 to 1.4.309, place.c finds their origin, words.c names their
 * dwords. */
#ifndef GPUAV_LAYOUT_H
#define GPUAV_LAYOUT_H

#include <string.h>

#include "core/decode/format.h"
#include "core/decode/inspect.h"

enum {
    GPUAV_DWORD = 4,
    /* Size of records in the current layout only. */
    GPUAV_NOW = 12,
    /* Dwords of a record whose size is 0: the layer's own checks write none. */
    GPUAV_OWN_CHECK = 10,
    /* Words before the error; fewer until 2019. */
    GPUAV_HEADER = 7,
    GPUAV_RECORD_MAX = 16,
    /* Parameters of records with groups, of 14 and 16 dwords. */
    GPUAV_PARAMS = 5,
    /* Flag of a record: its codes are numbered from 1; with 16 dwords: its
     * codes are those until SDK 1.3.296. */
    GPUAV_FROM_ONE = PFD_RECORD_OWN,
};

/* How a buffer is read; decided by its records. */
struct gpuav_age {
    uint8_t data;  /* dword of the first record: 1, or 2 since SDK 1.3.236 */
    bool from_one; /* codes are numbered from 1 (June 2023), not from 0 */
    bool is_even;  /* the evidence for both is equal */
    bool earlier;  /* codes of records of 16 dwords are those until 1.3.296 */
    bool either;   /* no decision for the buffer: each record is judged by
                      itself */
};

/* Decides. The view begins at the buffer's start, and has these bytes or
 * all. */
enum {
    GPUAV_EVIDENCE_BYTES = 1 << 19
};
struct gpuav_age gpuav_decide(const struct pfd_walk *walk);

/* The format's find(). */
size_t gpuav_find(const struct pfd_field *field, size_t from, size_t to,
                  struct pfd_whole *ret);

/* The format's probe(). */
int gpuav_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/* Can a record have n dwords? */
bool gpuav_is_size(uint32_t n);

/*
 * Can this be a record of a buffer whose first record is at dword `data`?
 * bytes: [n_bytes], at least 8 dwords. Returns its dwords; 0: no. A check by
 * the layer's own commands has a size of 0, and counts as GPUAV_OWN_CHECK
 * dwords.
 */
uint32_t gpuav_plausible(const uint8_t *bytes, size_t n_bytes, uint8_t data);

/* Does the record of 16 dwords have a group and code that exist in this age
 * (SDK 1.3.283 to 1.4.309)? */
bool gpuav_group_has(const uint8_t *bytes, bool earlier);
/* Can the parameters belong to that error? */
bool gpuav_group_fits(const uint8_t *bytes, bool earlier);

/* Is the record [n] plausible with codes from 0, or from 1? With 16 dwords:
 * with the later codes, or with the earlier ones? */
bool gpuav_codes_fit(const uint8_t *bytes, uint32_t n, bool from_one);

static inline uint32_t gpuav_word(const uint8_t *bytes, size_t i)
{
    uint32_t v;
    memcpy(&v, bytes + GPUAV_DWORD * i, sizeof v);
    return v;
}

/* The kind of fault, the same for all ages. */
enum gpuav_kind {
    GPUAV_BOUNDS,
    GPUAV_UNINITIALIZED,
    GPUAV_DESTROYED,
    GPUAV_ADDRESS,   /* no buffer has the address */
    GPUAV_ALIGNMENT, /* of an address */
    GPUAV_BUFFER,    /* a or b bytes: offset, size */
    GPUAV_TEXEL,     /* the same in texels */
    GPUAV_DRAW,
    GPUAV_DISPATCH, /* a: 1 to 3 for x, y, z; b: the count */
    GPUAV_TRACE_RAYS,
    GPUAV_OTHER, /* of the current layout, by group and code */
};

/* An error of SDK 1.3.280 to 1.4.309. */
struct gpuav_error {
    uint8_t group;
    uint8_t code;
    uint8_t ages; /* private to groups.c */
    enum gpuav_kind kind;
    const char *name;
    const char *text; /* with $ for values; NULL: the kind says everything */
    const char *names[GPUAV_PARAMS];
};

enum {
    GPUAV_WRITES = 2 /* bit of b, for an address */
};

struct gpuav_fault {
    enum gpuav_kind kind;
    const struct gpuav_error *error; /* NULL: of another age, or unknown */
    uint32_t group;                  /* in the current layout; 0: none */
    uint32_t code;
    bool has_set;
    uint32_t set;
    uint32_t binding;
    bool has_index;
    uint32_t index;
    uint32_t a;
    uint32_t b;
    uint64_t address;
    uint32_t opcode; /* of the access to the address; 0: unknown */
    uint32_t params[GPUAV_PARAMS];
    uint32_t n_params;
};

/* A parsed record. */
struct gpuav_record {
    uint32_t size; /* dwords that are examined */
    bool is_now;
    bool is_own; /* a check by the layer's own commands: has no shader */
    uint32_t shader;
    uint32_t stage; /* as stored */
    uint32_t words[3];
    uint32_t position;
    bool has_action; /* since SDK 1.3.283 */
    uint32_t action;
    uint32_t logger;
    struct gpuav_fault fault;
};

/* Parses the record of [n] dwords, at least 8, at bytes; from_one: its flag
 * GPUAV_FROM_ONE. */
void gpuav_read(const uint8_t *bytes, uint32_t n, bool from_one,
                struct gpuav_record *ret);

/* Parses the error of a record of 14 or 16 dwords, after the rest. */
void gpuav_read_grouped(const uint8_t *bytes, uint32_t n, bool earlier,
                        struct gpuav_record *record);

/* The text of an error that has one, and its parameters as origins, at most
 * six. The latter returns their number. */
void gpuav_error_text(struct pfd_text *out, const struct gpuav_record *record);
size_t gpuav_error_origin(const struct gpuav_fault *fault,
                          struct pfd_origin *ret);

/* The origin of a record. */
struct gpuav_place {
    const struct pfd_shader *shader; /* NULL: unknown */
    uint32_t k;    /* the instruction; PFD_SPIRV_NONE: unknown */
    bool is_wrong; /* the module that was given for the shader is a different
                      one */
};

struct gpuav_place gpuav_place_of(const struct pfd_shader_table *shader_table,
                                  const struct gpuav_record *record);

/* A record's id: its error, with its group if it has one. */
uint64_t gpuav_id(const struct gpuav_record *record);

/* The fault in words. as_layer: in the words of the layer of that age. */
void gpuav_fault_text(struct pfd_text *out, const struct gpuav_record *record,
                      const struct pfd_vulkan_capture *capture, bool as_layer);

/* The fault as origins, at most ten; returns their number. */
size_t gpuav_fault_origin(const struct gpuav_fault *fault,
                          struct pfd_origin *ret);

/* The format's entry_word(). */
bool gpuav_entry_word(const struct pfd_record_view *record_view, uint32_t at,
                      struct pfd_word *ret);

#endif
