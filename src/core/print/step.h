/* SPDX-License-Identifier: MIT */
/*
 * A step of a compiled text: literal text, and at most one conversion of one
 * scalar behind it. program.h says what becomes of it.
 */
#ifndef PFD_STEP_H
#define PFD_STEP_H

#include <printfdecode/common.h>

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
    X(BRACE)       \
    X(SKIP)        \
    X(VERBATIM)

enum pfd_op {
#define PFD_X(name) PFD_OP_##name,
    PFD_OPS(PFD_X)
#undef PFD_X
};

/* pfd_step.conv of steps without a conversion of their own: `*`; the length
 * of the string that the next step prints; what a placeholder of {} asks for
 * beyond printf (braces.h). No conversion has such a letter. */
enum {
    PFD_CONV_STAR = '*',
    PFD_CONV_LENGTH = '#',
    PFD_CONV_BRACE = '{',
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

/* True: a step that only serves the conversion behind it. */
static inline bool pfd_step_serves(const struct pfd_step *step)
{
    return step->conv == PFD_CONV_STAR || step->conv == PFD_CONV_LENGTH ||
           step->conv == PFD_CONV_BRACE;
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

/* Properties of a whole format string, found by compile. */
struct pfd_program_facts {
    uint32_t n_scalars;     /* scalars that the conversions take */
    uint32_t n_cut_scalars; /* the same with each vector as one scalar */
    uint64_t findings;      /* bits: 1 << enum pfd_finding_kind */
};

#endif
