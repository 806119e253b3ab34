/* SPDX-License-Identifier: MIT */
/* The parts of debugprintf: calls.c makes strings of a shader's calls, layouts.c
 * knows the layouts, detect.c decides how a buffer is read, debugprintf.c
 * walks over it, message.c prints, words.c names dwords. */
#ifndef DEBUGPRINTF_H
#define DEBUGPRINTF_H

#include <string.h>

#include "core/decode/format.h"
#include "core/spirv/khronos.h"

/* Bits of pfd_record.layout: how a record departs from its call's types. */
enum {
    DEBUGPRINTF_NO_16 = 1, /* 16-bit integers are not there (until 2024) */
    DEBUGPRINTF_CUT = 2,   /* only as many values as the payload holds */
};

/* What a position means. */
enum debugprintf_numbering {
    DEBUGPRINTF_BY_OFFSET,  /* dwords from the module's start */
    DEBUGPRINTF_BY_COUNTED, /* instructions, and copies of their lines */
    DEBUGPRINTF_BY_ORDINAL, /* instructions */
    DEBUGPRINTF_N_NUMBERINGS,
};

/* Where the words of a layout are, in dwords; 0: there is none. */
struct debugprintf_shape {
    const char *name;
    enum pfd_printf_layout layout;
    uint8_t data;    /* of the first record */
    uint8_t header;  /* of a record */
    uint8_t stage;   /* 0 with is_packed: in the position's upper bits */
    uint8_t info;    /* the three stage words */
    uint8_t format;  /* id of the format string */
    uint8_t doubles; /* masks */
    uint8_t signed8;
    uint8_t signed16;
    uint8_t flag; /* of the record: tells it from another of this size */
    bool is_packed;
    uint8_t n_numberings; /* that positions may have, the likeliest first */
    enum debugprintf_numbering numberings[DEBUGPRINTF_N_NUMBERINGS];
    enum pfd_khronos_age age;
};

enum {
    DEBUGPRINTF_N_SHAPES = 8,
    /* In all layouts, dwords. */
    DEBUGPRINTF_AT_SHADER = 1,
    DEBUGPRINTF_AT_POSITION = 2,
    /* A position word that holds a stage, too (since SDK 1.4.350). */
    DEBUGPRINTF_OFFSET_BITS = 27,
};

/* In the order in which they are tried. */
extern const struct debugprintf_shape debugprintf_shapes[DEBUGPRINTF_N_SHAPES];

/* That of a record which the walk made. */
const struct debugprintf_shape *debugprintf_shape_of(
    const struct pfd_record *record);

/* A position word without the stage that it may hold. */
uint32_t debugprintf_offset_of(const struct debugprintf_shape *shape,
                               uint32_t position);

/* The call that instruction k is; the number of calls: it is none. */
size_t debugprintf_call_at(const struct pfd_spirv *module, uint32_t k);

static inline uint32_t debugprintf_word(const uint8_t *bytes, size_t i)
{
    uint32_t v = 0;
    if (bytes)
        memcpy(&v, bytes + sizeof v * i, sizeof v);
    return v;
}

/* The key of the string of a call: its shader and where it stands there. */
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

/* Does a conversion for signed values show one of an unsigned type, among the
 * values of this call, as negative? */
bool debugprintf_shows_minus(const struct pfd_string *string, bool no_16,
                             const struct pfd_byte_reader *values);

/* Bytes behind a record that the layer's formatter may read. */
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

/* The masks of a record, as far as its layout has them: the first n. */
struct debugprintf_masks {
    uint32_t doubles;
    uint32_t signed8;
    uint32_t signed16;
    unsigned n;
};

/* Are these the masks of a record of this call? */
bool debugprintf_masks_fit(const struct pfd_string *string,
                           const struct debugprintf_masks *masks);

/* Can the next [n_words] be values of the types of this call? */
bool debugprintf_values_fit(const struct pfd_string *string,
                            struct pfd_byte_reader *values, size_t n_words,
                            bool no_16);

#endif
