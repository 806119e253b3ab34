/* SPDX-License-Identifier: MIT */
/*
 * Shared by the parts of described. A description (YAML, read by describe.c)
 * becomes rows: one for the ring, whose layout words are the numbers below, and
 * one for each message, whose layout words are the types of its arguments. Rows
 * travel with strings wherever these go, captures included.
 */
#ifndef DESCRIBED_LAYOUT_H
#define DESCRIBED_LAYOUT_H

#include "core/decode/format.h"

/* The key of the ring's row; no entry has this id. */
#define RING_KEY UINT64_MAX

/* Numbers of a ring. Fields of bits are in a little-endian word of 4 or 8 bytes
 * at a byte; bytes count from the buffer's start or the entry's. */
enum ring_number {
    RING_COUNTER_AT,
    RING_COUNTER_BITS, /* 32 or 64; 0: there is no counter */
    RING_COUNTER_UNIT, /* bytes that one of it is; of slots: not used */
    RING_COUNTER_FROM, /* the byte that it counts from; of slots: not used */
    RING_DATA,         /* the first entry */
    RING_SLOT_BYTES,   /* 0: entries are packed */
    RING_SLOT_EMPTY,   /* the id of a free slot */
    RING_HEADER,       /* bytes of an entry before its arguments */
    RING_ALIGN,        /* of entries */
    RING_ID_AT,
    RING_ID_BITS,
    RING_ID_SHIFT,
    RING_LENGTH_AT,
    RING_LENGTH_BITS, /* 0: the message says it */
    RING_LENGTH_SHIFT,
    RING_LENGTH_UNIT,
    RING_LENGTH_PLUS, /* bytes that the length does not count */
    RING_GRAMMAR,     /* enum described_grammar */
    RING_NUMBERS,
};

enum described_grammar {
    GRAMMAR_PRINTF,
    GRAMMAR_BRACES,
};

/* Bytes before and in the first entry that a ring may have. */
enum {
    RING_DATA_MAX = 1 << 20,
    RING_HEADER_MAX = 64,
    RING_UNIT_MAX = 4096,
};

/* The type of an argument, a layout word: pfd_store, letter of the conversion
 * that prints it, and components. */
struct described_type {
    enum pfd_store store;
    char conv;
    uint32_t n;
};

static inline uint64_t described_pack(const struct described_type *t)
{
    return (uint64_t)t->store | (uint64_t)(uint8_t)t->conv << 8 |
           (uint64_t)t->n << 16;
}

static inline struct described_type described_unpack(uint64_t word)
{
    return (struct described_type){
        .store = (enum pfd_store)(word & 15),
        .conv = (char)(word >> 8),
        .n = (uint32_t)(word >> 16),
    };
}

/* In a message's format string, the end of the conversion of a number that {}
 * prints in its shortest form. No {} may ask for so many digits itself. */
#define SHORTEST ".99g"

/* "u32", "f16x3"; false: no type is called so. */
bool described_type_of(const char *text, size_t n, struct described_type *ret);

/* Appends the format string for a text with {}. NULL, or the reason why not. */
const char *described_translate(const char *text, size_t n,
                                const uint64_t *words, size_t n_types,
                                struct pfd_text *ret);

bool described_has_shortest(const char *text, size_t n);

/* Members of pfd_format_described. */
bool described_is_description(const void *bytes, size_t n);
enum pfd_status described_describe(const struct pfd_format *self,
                                   const void *bytes, size_t n,
                                   struct pfd_strings *strings,
                                   struct pfd_report *report,
                                   struct pfd_error *err);
void described_layout(const struct pfd_string *string,
                      const struct pfd_program_facts *facts,
                      struct pfd_layout *ret);
size_t described_slots(const struct pfd_record_view *record_view,
                       struct pfd_slot *ret, uint64_t *findings);
void described_make(const struct pfd_record_view *record_view,
                    struct pfd_synthesized *ret);

#endif
