/* SPDX-License-Identifier: MIT */
/*
 * A compiled format string: a checked list of steps, and the text that the
 * steps make of one entry's payload. Knows conversions and values; does not
 * know buffers, ids or the source of a payload.
 *
 * Two stages. pfd_program_compile() reads the format string once: each step is
 * literal text followed by at most one conversion of one scalar (a vector
 * becomes a step for each component, a `*` a step of its own).
 * pfd_program_bind() then assigns each scalar its place in the payload and its
 * type; a conversion that cannot be printed becomes a step that shows it as
 * written. A bound list is immutable, can be shared between threads and never
 * reads outside of the slots it was bound to.
 *
 * The grammar is C99's printf, plus vN (N = 2, 3, 4, 8, 16) before or after
 * the precision and the length modifiers hl, q and Z (an old name of z):
 *   % [-+ #0']* (digits | *)? (. (digits | *)?)? vN? length? conversion
 * Length modifiers other than hh and h never decide a width: the stored scalar
 * does. %s prints a stored string, cut and padded as in C, %lc and %C a
 * character in UTF-8. %s of any other scalar, %n and unknown letters take their
 * scalar and are shown as written; no part of the format string ever reaches
 * the C library.
 */
#ifndef PFD_PROGRAM_H
#define PFD_PROGRAM_H

#include <printfdecode/common.h>

#include "core/print/number.h"

/*
 * How an argument is stored in the payload. Integer or float, signed or not:
 * the conversion decides. A step has four bits for it.
 */
enum pfd_store {
    PFD_STORE_NONE,   /* not there */
    PFD_STORE_DWORD,  /* 4 bytes: integer or binary32 */
    PFD_STORE_QWORD,  /* 8 bytes: integer or binary64 */
    PFD_STORE_BYTE,   /* 1 byte: integer */
    PFD_STORE_WORD,   /* 2 bytes: integer or binary16 */
    PFD_STORE_BYTE32, /* 4 bytes, the lowest of them as BYTE */
    PFD_STORE_WORD32, /* 4 bytes, the lower two of them as WORD */
    PFD_STORE_STRING, /* pfd_slot.n_bytes of text, for %s alone */
    PFD_STORE_BFLOAT, /* 2 bytes: integer or bfloat16 */
    PFD_STORE_E4M3,   /* 1 byte: integer or float8 E4M3 */
    PFD_STORE_E5M2,   /* 1 byte: integer or float8 E5M2 */
};

/* A slot of a null string: prints "(null)", takes no bytes. */
enum {
    PFD_STRING_NULL = (1 << 28) - 1,
    /* The producer of the slot cuts longer strings. */
    PFD_STRING_BYTES_MAX = PFD_STRING_NULL - 1,
};

/* Where one argument is. */
struct pfd_slot {
    uint32_t at;           /* bytes from the start of the payload */
    uint32_t store : 4;    /* enum pfd_store */
    uint32_t n_bytes : 28; /* of a string; of a number that no conversion takes:
                              the letter of its type, or 0: unsigned */
};

/* Bytes that an argument occupies in the payload. */
static inline uint32_t pfd_slot_bytes(const struct pfd_slot *slot)
{
    static const uint8_t bytes[16] = { 0, 4, 8, 1, 2, 4, 4, 0, 2, 1, 1 };
    if (slot->store != PFD_STORE_STRING)
        return bytes[slot->store];
    return slot->n_bytes == PFD_STRING_NULL ? 0 : slot->n_bytes;
}

enum pfd_length {
    PFD_LENGTH_NONE,
    PFD_LENGTH_HH,
    PFD_LENGTH_H,
    PFD_LENGTH_LONG,  /* l ll j z t q: a 64-bit scalar by default */
    PFD_LENGTH_LONGF, /* L: likewise */
    PFD_LENGTH_HL,    /* hl: a 32-bit vector element (OpenCL) */
};

/* Bits of pfd_step.flags above enum pfd_spec_flag. */
enum {
    PFD_STEP_JOIN = 32,           /* component 1.. of a vector */
    PFD_STEP_STAR_WIDTH = 64,     /* width comes from the step before */
    PFD_STEP_STAR_PRECISION = 128 /* likewise the precision */
};

/* A step's operation behind its literal text; program.c chooses it. */
#define PFD_OPS(X) \
    X(END)         \
    X(LITERAL)     \
    X(I32)         \
    X(U32)         \
    X(X32)         \
    X(I64)         \
    X(U64)         \
    X(X64)         \
    X(FIXED32)     \
    X(FIXED64)     \
    X(GENERAL32)   \
    X(GENERAL64)   \
    X(WIDE32)      \
    X(ZEROS_X32)   \
    X(INT)         \
    X(DOUBLE)      \
    X(STAR)        \
    X(STRING)      \
    X(SKIP)        \
    X(VERBATIM)

enum pfd_op {
#define PFD_X(name) PFD_OP_##name,
    PFD_OPS(PFD_X)
#undef PFD_X
};

/* pfd_step.conv of steps without a conversion of their own: `*`, and the length
 * of the string that the next step prints. No conversion has such a letter. */
enum {
    PFD_CONV_STAR = '*',
    PFD_CONV_LENGTH = '#'
};

/* The text of the literals: unchanged, or escaped for JSON. */
enum {
    PFD_RAW,
    PFD_ESCAPED
};

/* 24 bytes, because there are hundreds of thousands of loaded strings. */
struct pfd_step {
    uint32_t literal[2];   /* offset of the literal in the text; escaped */
    uint32_t at;           /* payload offset of the scalar, bytes; of a
                              PFD_CONV_LENGTH: what its slot says */
    uint16_t n_literal[2]; /* bytes; longer literals take several steps */
    uint8_t op;            /* enum pfd_op; LITERAL or VERBATIM until bound */
    char conv;             /* the conversion letter; 0 for a step without one */
    uint8_t flags;
    uint8_t length : 3; /* enum pfd_length */
    uint8_t tight : 1;  /* components are joined by "," and not by ", " */
    uint8_t store : 4;  /* enum pfd_store */
    int16_t width;      /* 0: none */
    int16_t precision;  /* -1: none */
};

/* True: the step takes an argument of the payload, printable or not. */
static inline bool pfd_step_takes(const struct pfd_step *step)
{
    char c = (char)(step->conv | 0x20);
    return step->conv == PFD_CONV_STAR ||
           (c >= 'a' && c <= 'z' && step->conv != 'm');
}

/* True: the payload has that argument. */
static inline bool pfd_step_has_argument(const struct pfd_step *step)
{
    return step->store != PFD_STORE_NONE;
}

/* A step that takes a number which no conversion of the text does. */
static inline struct pfd_step pfd_slot_step(const struct pfd_slot *slot)
{
    return (struct pfd_step){ .at = slot->at,
                              .store = slot->store & 15,
                              .conv = (char)slot->n_bytes };
}

/* The bytes [*n] of a PFD_STORE_STRING step; NULL: a null string. */
const char *pfd_step_string(const struct pfd_step *step, const uint8_t *payload,
                            size_t *n);

/* Properties of a whole format string, found by compile. */
struct pfd_program_facts {
    uint32_t n_scalars;     /* scalars that the conversions take */
    uint32_t n_cut_scalars; /* the same with each vector as one scalar */
    uint64_t findings;      /* bits: 1 << enum pfd_finding_kind */
};

/*
 * Upper bounds for the caller's memory: steps and escaped bytes that a text of
 * [n] bytes can need.
 */
size_t pfd_program_steps_max(const char *text, size_t n);

/*
 * Compiles text [n] into ret [pfd_program_steps_max()]; the last step is END.
 * `escaped offsets` are those of pfd_escape_json() over the same text. Returns
 * the number of steps. Any bytes are a format string: there is no failure.
 */
size_t pfd_program_compile(const char *text, size_t n, struct pfd_step *ret,
                           struct pfd_program_facts *facts);

/* The same for text that is no format string: all of it is literal. ret has
 * room for pfd_program_steps_max(). */
size_t pfd_program_literal(const char *text, size_t n, struct pfd_step *ret);

/* Joins vector components by "," instead of ", ". */
void pfd_program_join_tight(struct pfd_step *steps, size_t n_steps);

/*
 * Binds steps to slots [n_slots], scalar by scalar in order. cut: each vector
 * takes one scalar. Returns finding bits (payload_short, unused_arguments,
 * bad_conversion, width_clamped). room: the bytes that printing raw may need.
 */
uint64_t pfd_program_bind(struct pfd_step *steps, size_t n_steps,
                          const struct pfd_slot *slots, size_t n_slots,
                          bool cut, size_t *room);

/* Finds scalars that are 64 bits wide by their length modifiers, in order: sets
 * the bits of the first `max` of them in ret, which is zeroed. Returns the
 * number of scalars. */
size_t pfd_program_suggest(const struct pfd_step *steps, size_t n_steps,
                           bool cut, uint64_t *ret, size_t max);

/*
 * Printing. out has room for bind()'s result plus the text's own bytes (raw or
 * escaped); payload holds every bound slot. Each returns the end of its output.
 * findings: bits are added (width_clamped, from a `*`). text is followed by
 * PFD_PROGRAM_READ_BEYOND bytes that may be read and that no thread writes.
 *
 * pfd_program_print(): the bytes that the program's printf would have written
 * (mode PFD_RAW, text is the format string), or the same as the inside of a
 * JSON string (PFD_ESCAPED, text is the escaped format string; exact only
 * without %c and %s, whose bytes can need escaping: pfd_program_has_char()
 * tests for them).
 */
enum {
    PFD_PROGRAM_READ_BEYOND = 16
};
char *pfd_program_print(char *out, const struct pfd_step *steps,
                        const char *text, unsigned mode, const uint8_t *payload,
                        uint64_t *findings);

/* One scalar of a bound step as its conversion reads it: integers narrowed and
 * extended to 64 bits. */
bool pfd_step_is_float(const struct pfd_step *step);
bool pfd_step_is_signed(const struct pfd_step *step);
uint64_t pfd_step_integer(const struct pfd_step *step, const uint8_t *payload);
double pfd_step_double(const struct pfd_step *step, const uint8_t *payload);

bool pfd_program_has_char(const struct pfd_step *steps, size_t n_steps);

/*
 * The scalars of the steps as JSON values, each with a comma behind it:
 * integers with the conversion's sign and narrowing, floats in the shortest
 * form that reads back exactly (a 4-byte one as binary32), strings as strings
 * or null. out has room for PFD_ROOM_ARGUMENT bytes for each step, and for
 * PFD_ROOM_BYTE for each byte of strings.
 */
enum {
    PFD_ROOM_ARGUMENT = 72,
    PFD_ROOM_BYTE = 6
};
char *pfd_program_print_arguments(char *out, const struct pfd_step *steps,
                                  const uint8_t *payload);

/* pfd_program_print() and pfd_program_print_arguments() in one pass: the latter
 * writes at *arguments, which moves to the end. */
char *pfd_program_print_both(char *out, const struct pfd_step *steps,
                             const char *text, unsigned mode,
                             const uint8_t *payload, uint64_t *findings,
                             char **arguments);

/* An argument without a conversion, as an unsigned JSON integer or a string,
 * with a comma. */
char *pfd_program_print_slot(char *out, const struct pfd_slot *slot,
                             const uint8_t *payload);

#endif
