/* SPDX-License-Identifier: MIT */
/*
 * Shared by the parts of described. A description (YAML, read by describe.c)
 * becomes rows: one for the ring, whose layout words are the numbers below, one
 * for each enumeration, and one for each message, whose layout words are a word
 * of facts and the types of its arguments. Rows travel with strings wherever
 * these go, captures included.
 */
#ifndef DESCRIBED_LAYOUT_H
#define DESCRIBED_LAYOUT_H

#include <string.h>

#include "core/decode/format.h"

/* Keys of other rows than messages: no entry has such an id. */
#define RING_KEY     UINT64_MAX             /* the ring */
#define COUNTER_KEY  (UINT64_MAX - 1)       /* a counter of another file */
#define RULE_KEY     (UINT64_MAX - 2)       /* messages in other files */
#define ENUM_KEY(i)  (UINT64_MAX - 3 - (i)) /* the names of enumeration i */
#define RESERVED_KEY ENUM_KEY(ENUMS_MAX)

enum {
    ENUMS_MAX = 64,
    TAGS_MAX = 256, /* values of a tag's type */
    TYPES_MAX = 64, /* of one entry with tags */
    ORIGINS_MAX = 8,
};

/* Places of a field's numbers, from its first one on. */
enum {
    FIELD_AT,
    FIELD_BITS, /* 0: there is no such field */
    FIELD_SHIFT,
    FIELD_NUMBERS,
};

#define RING_FIELD(name) \
    name, name##_BITS = name + FIELD_BITS, name##_SHIFT = name + FIELD_SHIFT

/* Numbers of a ring. Fields of bits are in a little-endian word of 4 or 8 bytes
 * at a byte; bytes count from the buffer's start, the entry's or the tag's. */
enum ring_number {
    RING_FIELD(RING_COUNTER),
    RING_COUNTER_UNIT, /* bytes that one of it is; of slots: not used */
    RING_COUNTER_FROM, /* the byte that it counts from; of slots: not used */
    RING_COUNTER_FILE, /* it is in another file */
    RING_DATA,         /* the first entry */
    RING_FIELD(RING_CAPACITY),
    RING_CAPACITY_UNIT,
    RING_CAPACITY_FROM,  /* the byte that it counts from */
    RING_CAPACITY_BYTES, /* of data, where no field says it; 0: up to the end */
    RING_FIELD(RING_WRITE), /* where the program goes on, from data on */
    RING_FIELD(RING_READ),  /* where its reader does */
    RING_POSITION_UNIT,
    RING_POSITION_GROWS, /* positions do not begin anew at the data's end */
    RING_POSITION_WHOLE, /* what stands before the writer's is written */
    RING_FIELD(RING_STALL),
    RING_STALL_VALUE,
    RING_SLOT_BYTES, /* 0: entries are packed */
    RING_SLOT_EMPTY, /* the id of a free slot */
    RING_HEADER,     /* bytes of an entry before its arguments */
    RING_ALIGN,      /* of entries */
    RING_FIELD(RING_ID),
    RING_FIELD(RING_LENGTH),
    RING_LENGTH_UNIT,
    RING_LENGTH_PLUS,       /* bytes that the length does not count */
    RING_FIELD(RING_LANES), /* so many have arguments in an entry, and the
                               length is that of each lane's */
    RING_FIELD(RING_COUNT), /* the number of arguments, where tags state it */
    RING_FIELD(RING_TEXT),  /* bytes of the text that the entry begins with */
    RING_FIELD(RING_WRAP),  /* the next entry is at the data's begin */
    RING_WRAP_VALUE,
    RING_FIELD(RING_FULL), /* a call found no room here */
    RING_FULL_VALUE,
    RING_FIELD(RING_PASS), /* no message, so many bytes */
    RING_PASS_VALUE,
    RING_PASS_BYTES,
    RING_FIELD(RING_PROGRAM), /* likewise, and ids behind are another
                                 program's */
    RING_PROGRAM_VALUE,
    RING_PROGRAM_BYTES,
    RING_GRAMMAR,        /* enum described_grammar */
    RING_ARGUMENT_ALIGN, /* 0: as each argument's size */
    RING_ARGUMENT_ORDER, /* enum described_order */
    RING_VECTORS,        /* enum described_vectors */
    RING_TAG_BYTES,      /* before each argument; 0: there are no tags */
    RING_FIELD(RING_TAG_TYPE),
    RING_FIELD(RING_TAG_ROWS),
    RING_FIELD(RING_TAG_COLUMNS),
    RING_FIELD(RING_TAG_SIZE), /* bytes of the argument, tag included */
    RING_CRC,                  /* of the description's bytes */
    RING_ORIGINS,              /* for each: its name's place, and the field */
    RING_TAGS = RING_ORIGINS + ORIGINS_MAX * (1 + FIELD_NUMBERS),
    /* Behind these: for each tag its value and the type. */
    RING_NUMBERS = RING_TAGS,
};

enum described_grammar {
    GRAMMAR_PRINTF,
    GRAMMAR_BRACES,
    GRAMMAR_NONE, /* values behind the text, joined with blanks */
};

/* Have texts of a grammar {}? Those of GRAMMAR_NONE are made so. */
static inline bool described_has_braces(uint64_t grammar)
{
    return grammar != GRAMMAR_PRINTF;
}

enum described_order {
    ORDER_WRITTEN,
    ORDER_SIZE, /* the largest elements come first */
};

/* How a {} prints vectors. */
enum described_vectors {
    VECTORS_BRACKETS, /* [1, 2], matrices likewise */
    VECTORS_BRACES,   /* {1, 2}, matrices {{1, 2}, {3, 4}} */
};

/* Bytes before and in the first entry that a ring may have. */
enum {
    RING_DATA_MAX = 1 << 20,
    RING_HEADER_MAX = 64,
    RING_UNIT_MAX = 4096,
    RING_TAG_MAX = 16,
};

/* How an argument is a text. */
enum described_text {
    TEXT_NONE,
    TEXT_ENDED,   /* inline, up to a zero byte */
    TEXT_COUNTED, /* inline, behind its length, which has the store's size */
    TEXT_ID,      /* of the message with this id */
    TEXT_OFFSET,  /* at so many bytes of the entry, up to a zero byte */
    TEXT_NAME,    /* the name of a value, or its digits */
};

/* The type of an argument, a layout word: pfd_store, enum described_text, letter
 * of the conversion that prints it, components, and of a text with names the
 * enumeration. */
struct described_type {
    enum pfd_store store;
    char conv;
    uint32_t n; /* components */
    enum described_text text;
    uint32_t names;  /* enumeration; ENUMS_MAX: false and true */
    uint32_t run;    /* components of a vector; n: it is none of a matrix */
    uint32_t stride; /* bytes from vector to vector, or from component to
                        component where run is n; 0: as they are */
};

static inline uint64_t described_pack(const struct described_type *t)
{
    return (uint64_t)t->store | (uint64_t)t->text << 4 |
           (uint64_t)(uint8_t)t->conv << 8 | (uint64_t)t->n << 16 |
           (uint64_t)t->names << 24 | (uint64_t)t->run << 32 |
           (uint64_t)t->stride << 40;
}

static inline struct described_type described_unpack(uint64_t word)
{
    return (struct described_type){
        .store = (enum pfd_store)(word & 15),
        .text = (enum described_text)(word >> 4 & 15),
        .conv = (char)(word >> 8),
        .n = (uint8_t)(word >> 16),
        .names = (uint8_t)(word >> 24),
        .run = (uint8_t)(word >> 32),
        .stride = (uint8_t)(word >> 40),
    };
}

/* The facts of a message, its first layout word. */
enum described_fact {
    FACT_TYPES = 1,     /* the words behind are its types; else its text says */
    FACT_VARIABLE = 2,  /* texts stand inline: each entry has its own size */
    FACT_TEXTS = 4,     /* texts stand elsewhere, or names do */
    FACT_TAGS = 8,      /* each entry states its types */
    FACT_ORDER = 16,    /* ORDER_SIZE */
    FACT_OFFSETS = 32,  /* texts stand at offsets of the entry */
    FACT_NUMBERED = 64, /* its {} take them in another order */
    FACT_BRACED = 128,  /* vectors stand in {} */
    FACT_ALIGN = 8,     /* 32 bits from here on: RING_ARGUMENT_ALIGN */
    FACT_NAMED = 40,    /* bits from here on: the number of types, if names are
                           behind them; else 0 */
};

/* What a type says about its message, and what the ring's numbers say about
 * each. */
uint64_t described_facts_of(const struct described_type *t);
uint64_t described_common_facts(const uint64_t *v, bool has_types);

static inline uint64_t described_facts(const struct pfd_string *s)
{
    return s->n_layout ? pfd_string_layout(s)[0] : 0;
}

/* The number of a message's types. Behind them may be names: of each argument that
 * its steps take, in their order, NUL-terminated. */
static inline size_t described_n_types(const struct pfd_string *s)
{
    size_t n = s->n_layout ? s->n_layout - 1u : 0;
    size_t n_named = (size_t)(described_facts(s) >> FACT_NAMED);
    return n_named && n_named < n ? n_named : n;
}

/* The key of a message, by its id in an entry of the nth program of a ring. Keys of
 * the first program are its ids; of others, which have 32 bits, they are apart. */
#define PROGRAM_UNKNOWN (UINT32_MAX - 1)

static inline uint64_t described_key(uint32_t program, uint64_t id)
{
    return program ? (uint64_t)program << 32 | (uint32_t)id : id;
}

/* Have entries origins, by the ring's numbers? */
static inline bool described_has_origins(const uint64_t *numbers)
{
    return numbers[RING_ORIGINS + 1 + FIELD_BITS] != 0;
}

/* A field of bytes that are there; 0: there is no such field. */
static inline uint64_t described_field(const uint8_t *bytes,
                                       const uint64_t *field)
{
    uint64_t word = 0;
    if (!field[FIELD_BITS])
        return 0;
    memcpy(&word, bytes + field[FIELD_AT],
           (size_t)(field[FIELD_SHIFT] + field[FIELD_BITS] + 7) / 8);
    return word >> field[FIELD_SHIFT] &
           (UINT64_MAX >> (64 - field[FIELD_BITS]));
}

/* "u32", "f16x3", "f32x3x4@16"; false: no type is called so. */
bool described_type_of(const char *text, size_t n, struct described_type *ret);

/* The type of a letter in {0,I}: those of Python's struct, `w` bfloat16, `?` and
 * `s` as one may expect; is_wide: pointers have 64 bits. */
bool described_type_of_letter(char letter, bool is_wide,
                              struct described_type *ret);

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
