/* SPDX-License-Identifier: MIT */
/*
 * Decides from the records of a buffer: its layout, its numbering of positions,
 * and the modules of its shaders. Decided once, from the same first bytes
 * however the buffer is split; nothing here depends on how much of it is in
 * view.
 */
#ifndef DEBUGPRINTF_DETECT_H
#define DEBUGPRINTF_DETECT_H

#include "layout.h"

enum {
    /* Bytes that are examined before the decision. */
    DEBUGPRINTF_EVIDENCE_BYTES = 1 << 20,
    /* Shaders of a buffer whose modules are remembered. */
    DEBUGPRINTF_BOUNDS_MAX = 64,
    /* The likeliest reading, and others that fit as well. */
    DEBUGPRINTF_READINGS_MAX = 1 + PFD_ALTERNATIVES_MAX,
    /* Dwords: more than the operands of any call take. */
    DEBUGPRINTF_RECORD_MAX = 1 << 20,
};

/* How the records of one shader are read. */
struct debugprintf_reading {
    const struct pfd_shader *shader;
    enum debugprintf_numbering numbering;
};

enum debugprintf_trust {
    DEBUGPRINTF_UNTOLD,  /* no module is a candidate for the shader */
    DEBUGPRINTF_WRONG,   /* most records belong to no call of the module */
    DEBUGPRINTF_DOUBTED, /* some records belong to no call of it */
    DEBUGPRINTF_TRUSTED,
};

/* A shader, by its number in records, and its modules. */
struct debugprintf_bound {
    uint32_t id;
    enum debugprintf_trust trust;
    bool is_late;   /* first seen after the examined bytes */
    bool is_told;   /* the decision was reported */
    bool is_loose;  /* its modules were chosen, not given */
    uint32_t sound; /* records that belong to its calls, of n_records */
    uint32_t n_records;
    size_t n; /* readings that fit equally, the likeliest first */
    struct debugprintf_reading readings[DEBUGPRINTF_READINGS_MAX];
};

struct debugprintf_detection {
    const struct debugprintf_shape *shape;
    const char *others[DEBUGPRINTF_N_SHAPES]; /* layouts that fit as well */
    size_t n_others;
    enum debugprintf_numbering numberings[DEBUGPRINTF_N_NUMBERINGS];
    size_t n_numberings; /* numberings that fit equally */
    struct debugprintf_bound bounds[DEBUGPRINTF_BOUNDS_MAX];
    size_t n_bounds;
    struct debugprintf_bound spare; /* for a shader that does not fit into the
                                       table */
};

/* The words that all records have, and the record's place. */
struct debugprintf_head {
    uint64_t at; /* bytes from the start of the buffer */
    uint32_t size;
    uint32_t shader;
    uint32_t position; /* unchanged, as stored */
    uint32_t format;
};

/* Reads the header at `at`, which is in view. */
struct debugprintf_head debugprintf_head_at(
    const struct pfd_walk *walk, const struct debugprintf_shape *shape,
    uint64_t at);

/* The masks of the record at `at`. */
struct debugprintf_masks debugprintf_masks_at(
    const struct pfd_walk *walk, const struct debugprintf_shape *shape,
    uint64_t at);

/* The record's stage word; PFD_STAGE_UNKNOWN if the layout has none. */
uint32_t debugprintf_stage_word(const struct pfd_walk *walk,
                                const struct debugprintf_shape *shape,
                                const struct debugprintf_head *head);

/* The format's probe(). */
int debugprintf_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/* The format's find(). */
size_t debugprintf_find(const struct pfd_field *field, size_t from, size_t to,
                        struct pfd_whole *ret);

/* Does the record, of which [left] bytes are present, belong to a call of any
 * module in any possible numbering? */
bool debugprintf_is_of_call(const struct pfd_walk *walk,
                            const struct debugprintf_shape *shape,
                            const struct debugprintf_head *head, uint64_t left);

/* Decides. The view begins at the buffer's start, and has
 * DEBUGPRINTF_EVIDENCE_BYTES or all bytes. */
void debugprintf_decide(const struct pfd_walk *walk,
                        struct debugprintf_detection *ret);

/* The record's shader; bound now if it is new. The record is in view. Valid
 * until the next call. */
struct debugprintf_bound *debugprintf_bound_of(
    const struct pfd_walk *walk, struct debugprintf_detection *evidence,
    const struct debugprintf_head *head);

/*
 * The call that a record belongs to in one reading: its position, format id,
 * size, masks, stage and values match. [left] bytes are present from the
 * record's start on. NULL: none.
 */
const struct pfd_string *debugprintf_call_of(
    const struct pfd_walk *walk, const struct debugprintf_shape *shape,
    const struct debugprintf_head *head,
    const struct debugprintf_reading *reading, uint64_t left);

/* Does the record belong to a call of its shader? */
bool debugprintf_is_sound(const struct pfd_walk *walk,
                          struct debugprintf_detection *evidence,
                          const struct debugprintf_head *head, uint64_t left);

/* Can it be a record, judged by its own words alone? */
bool debugprintf_is_plausible(const struct pfd_walk *walk,
                              const struct debugprintf_shape *shape,
                              const struct debugprintf_head *head);

#endif
