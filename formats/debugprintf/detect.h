/* SPDX-License-Identifier: MIT */
/*
 * What the records of a buffer say of it as a whole: its layout, how it counts
 * positions, and which modules are its shaders'. Decided once, from the same
 * first bytes however the buffer comes; nothing here depends on how much of it
 * is in view.
 */
#ifndef DEBUGPRINTF_DETECT_H
#define DEBUGPRINTF_DETECT_H

#include "debugprintf.h"

enum {
    /* Bytes that are looked at before anything is decided. */
    DEBUGPRINTF_EVIDENCE_BYTES = 1 << 20,
    /* Shaders of a buffer whose modules are kept in mind. */
    DEBUGPRINTF_BOUNDS_MAX = 64,
    /* The reading that is shown, and others that fit as well. */
    DEBUGPRINTF_READINGS_MAX = 1 + PFD_ALTERNATIVES_MAX,
    /* Dwords: no call has more operands than this takes. */
    DEBUGPRINTF_RECORD_MAX = 1 << 20,
};

/* How the records of one shader are read. */
struct debugprintf_reading {
    const struct pfd_shader *shader;
    enum debugprintf_numbering numbering;
};

enum debugprintf_trust {
    DEBUGPRINTF_UNTOLD,  /* no module can be this shader's */
    DEBUGPRINTF_WRONG,   /* most records are of no call of the module */
    DEBUGPRINTF_DOUBTED, /* some are */
    DEBUGPRINTF_TRUSTED,
};

/* A shader, by the number that records give it, and its modules. */
struct debugprintf_bound {
    uint32_t id;
    enum debugprintf_trust trust;
    bool is_late;   /* met behind the bytes that decide */
    bool is_told;   /* what was decided has been reported */
    bool is_loose;  /* its modules are a choice */
    uint32_t sound; /* records of its calls, of all that were looked at */
    uint32_t n_records;
    size_t n; /* readings that fit equally, the shown one first */
    struct debugprintf_reading readings[DEBUGPRINTF_READINGS_MAX];
};

struct debugprintf_detection {
    const struct debugprintf_shape *shape;
    const char *others[DEBUGPRINTF_N_SHAPES]; /* layouts as likely as this */
    size_t n_others;
    enum debugprintf_numbering numberings[DEBUGPRINTF_N_NUMBERINGS];
    size_t n_numberings; /* that fit equally */
    struct debugprintf_bound bounds[DEBUGPRINTF_BOUNDS_MAX];
    size_t n_bounds;
    struct debugprintf_bound spare; /* of a shader that has no place there */
};

/* The words that all records have, and where one is. */
struct debugprintf_head {
    uint64_t at; /* bytes from the start of the buffer */
    uint32_t size;
    uint32_t shader;
    uint32_t position; /* as it stands there */
    uint32_t format;
};

/* Reads what the view holds at `at`: a whole header. */
struct debugprintf_head debugprintf_head_at(
    const struct pfd_walk *walk, const struct debugprintf_shape *shape,
    uint64_t at);

/* Its masks. */
struct debugprintf_masks debugprintf_masks_at(
    const struct pfd_walk *walk, const struct debugprintf_shape *shape,
    uint64_t at);

/* Its stage word; PFD_STAGE_UNKNOWN, too, where the layout has none. */
uint32_t debugprintf_stage_word(const struct pfd_walk *walk,
                                const struct debugprintf_shape *shape,
                                const struct debugprintf_head *head);

/* The format's probe(). */
int debugprintf_probe(const struct pfd_byte_reader *first, uint64_t n_buffer);

/* The format's find(). */
size_t debugprintf_find(const struct pfd_field *field, size_t from, size_t to,
                        struct pfd_whole *ret);

/* Is a record, of which [left] bytes are there, of a call of any module, by any
 * numbering that can be? */
bool debugprintf_is_of_call(const struct pfd_walk *walk,
                            const struct debugprintf_shape *shape,
                            const struct debugprintf_head *head, uint64_t left);

/* Decides; the view is the buffer's start, with the bytes above or all. */
void debugprintf_decide(const struct pfd_walk *walk,
                        struct debugprintf_detection *ret);

/* The record's shader, looked for now if it was not met before; the record is
 * in view. Valid until the next call. */
struct debugprintf_bound *debugprintf_bound_of(
    const struct pfd_walk *walk, struct debugprintf_detection *evidence,
    const struct debugprintf_head *head);

/*
 * The call that a record is of in one reading, by all that can be known: its
 * position, format id, size, masks, stage and values, of which [left] bytes
 * are there from the record's start on. NULL: it is of none.
 */
const struct pfd_string *debugprintf_call_of(
    const struct pfd_walk *walk, const struct debugprintf_shape *shape,
    const struct debugprintf_head *head,
    const struct debugprintf_reading *reading, uint64_t left);

/* Is it a record of a call of its shader? */
bool debugprintf_is_sound(const struct pfd_walk *walk,
                          struct debugprintf_detection *evidence,
                          const struct debugprintf_head *head, uint64_t left);

/* Could it be a record, by its own words alone? */
bool debugprintf_is_plausible(const struct pfd_walk *walk,
                              const struct debugprintf_shape *shape,
                              const struct debugprintf_head *head);

#endif
