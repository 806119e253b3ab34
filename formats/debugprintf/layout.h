/* SPDX-License-Identifier: MIT */
/* Shared by the parts of debugprintf: calls.c makes strings of a shader's
 * calls, layouts.c lists the layouts, record.c matches a record with calls,
 * detect.c decides how a buffer is read, debugprintf.c walks over it, message.c
 * prints, words.c names dwords. */
#ifndef DEBUGPRINTF_LAYOUT_H
#define DEBUGPRINTF_LAYOUT_H

#include <string.h>

#include "core/decode/format.h"
#include "core/decode/inspect.h"
#include "core/spirv/khronos.h"

/* Bits of pfd_record.layout: deviations of a record from the types of its
 * call. */
enum {
    DEBUGPRINTF_NO_16 = 1, /* without 16-bit integers (until 2024) */
    DEBUGPRINTF_CUT = 2,   /* only the values that fit into the payload */
};

/* The meaning of a record's position. */
enum debugprintf_numbering {
    DEBUGPRINTF_BY_OFFSET,  /* dwords from the module's start */
    DEBUGPRINTF_BY_COUNTED, /* instructions, and copies of their lines */
    DEBUGPRINTF_BY_ORDINAL, /* instructions */
    DEBUGPRINTF_N_NUMBERINGS,
};

/* Positions of a layout's words, in dwords; 0: there is no such word. */
struct debugprintf_shape {
    const char *name;
    enum pfd_printf_layout layout;
    uint8_t data;    /* of the first record */
    uint8_t header;  /* of a record */
    uint8_t stage;   /* 0 with is_packed: in the upper bits of the position */
    uint8_t info;    /* the three stage words */
    uint8_t format;  /* id of the format string */
    uint8_t doubles; /* masks */
    uint8_t signed8;
    uint8_t signed16;
    uint8_t flag; /* of the record: distinguishes this layout from one of the
                     same size */
    bool is_packed;
    uint8_t n_numberings; /* numberings of positions that are possible, the
                             likeliest first */
    enum debugprintf_numbering numberings[DEBUGPRINTF_N_NUMBERINGS];
    enum pfd_khronos_age age;
};

enum {
    DEBUGPRINTF_N_SHAPES = 8,
    /* The same in all layouts, dwords. */
    DEBUGPRINTF_AT_SHADER = 1,
    DEBUGPRINTF_AT_POSITION = 2,
    /* Position words also hold the stage since SDK 1.4.350. */
    DEBUGPRINTF_OFFSET_BITS = 27,
};

/* In the order in which they are tried. */
extern const struct debugprintf_shape debugprintf_shapes[DEBUGPRINTF_N_SHAPES];

/* The shape of a record that the walk made. */
const struct debugprintf_shape *debugprintf_shape_of(
    const struct pfd_record *record);

/* A position word without the stage that it may hold. */
uint32_t debugprintf_offset_of(const struct debugprintf_shape *shape,
                               uint32_t position);

/* The index of the call that is instruction k; the number of calls: it is
 * none. */
size_t debugprintf_call_at(const struct pfd_spirv *module, uint32_t k);

static inline uint32_t debugprintf_word(const uint8_t *bytes, size_t i)
{
    uint32_t v = 0;
    if (bytes)
        memcpy(&v, bytes + sizeof v * i, sizeof v);
    return v;
}

/* The key of a call's string: its shader, and its position there. */
static inline uint64_t debugprintf_key(uint32_t shader, uint32_t offset)
{
    return (uint64_t)shader << 32 | offset;
}

/* Adds a string for each debugPrintf call of a shader. */
enum pfd_status debugprintf_shader(const struct pfd_format *self,
                                   struct pfd_strings *strings,
                                   const struct pfd_shader *shader,
                                   struct pfd_report *report,
                                   struct pfd_error *err);

uint64_t debugprintf_adapt(const struct pfd_string_row *row,
                           struct pfd_step *steps, size_t n_steps);
void debugprintf_layout(const struct pfd_string *string,
                        const struct pfd_program_facts *facts,
                        struct pfd_layout *ret);
size_t debugprintf_slots(const struct pfd_record_view *record_view,
                         struct pfd_slot *ret, uint64_t *findings);

/* Would a signed conversion print one of the call's unsigned values as
 * negative? */
bool debugprintf_shows_minus(const struct pfd_string *string, bool no_16,
                             const struct pfd_byte_reader *values);

/* Bytes after a record that the layer's formatter may read. */
enum {
    DEBUGPRINTF_READ_ON_MAX = 1 << 16
};

/* The format's is_record(), make() and origin(). */
bool debugprintf_is_record(const struct pfd_record_view *record_view);
void debugprintf_make(const struct pfd_record_view *record_view,
                      struct pfd_synthesized *ret);
size_t debugprintf_origin(const struct pfd_record_view *record_view,
                          struct pfd_origin *ret);

/* The format's entry_word(). */
bool debugprintf_entry_word(const struct pfd_record_view *record_view,
                            uint32_t at, struct pfd_word *ret);

/* Dwords that the call's values take, with or without 16-bit integers;
 * UINT64_MAX: the layer never writes this call. */
uint64_t debugprintf_dwords(const struct pfd_string *string, bool no_16);

/* The masks of a record; a layout has the first n. */
struct debugprintf_masks {
    uint32_t doubles;
    uint32_t signed8;
    uint32_t signed16;
    unsigned n;
};

/* Can these be the masks of a record of this call? */
bool debugprintf_masks_fit(const struct pfd_string *string,
                           const struct debugprintf_masks *masks);

/* Can the next [n_words] be values of the types of this call? */
bool debugprintf_values_fit(const struct pfd_string *string,
                            struct pfd_byte_reader *values, size_t n_words,
                            bool no_16);

/*
 * Decides from the records of a buffer: its layout, its numbering of positions,
 * and the modules of its shaders. Decided once, from the same first bytes
 * however the buffer is split; nothing here depends on how much of it is in
 * view.
 */

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
