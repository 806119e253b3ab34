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

#endif
