/* SPDX-License-Identifier: MIT */
/* The code of a condition, compiled by where_parse.c and run by where_run.c:
 * operations on a stack of values, in order of execution. */
#ifndef PFD_WHERE_CODE_H
#define PFD_WHERE_CODE_H

#include "core/filter/where.h"

/* X(name, text, precedence): text NULL unless it is a binary operator. */
#define PFD_WHERE_CODES(X)                                                    \
    X(OR, "||", 1)                                                            \
    X(AND, "&&", 2)                                                           \
    X(EQ, "==", 3)                                                            \
    X(NE, "!=", 3)                                                            \
    X(LE, "<=", 3)                                                            \
    X(GE, ">=", 3)                                                            \
    X(SHIFT_LEFT, "<<", 7)                                                    \
    X(SHIFT_RIGHT, ">>", 7)                                                   \
    X(LT, "<", 3)                                                             \
    X(GT, ">", 3)                                                             \
    X(BIT_OR, "|", 4)                                                         \
    X(BIT_XOR, "^", 5)                                                        \
    X(BIT_AND, "&", 6)                                                        \
    X(ADD, "+", 8)                                                            \
    X(SUBTRACT, "-", 8)                                                       \
    X(MULTIPLY, "*", 9)                                                       \
    X(DIVIDE, "/", 9)                                                         \
    X(REMAINDER, "%", 9)                                                      \
    X(NOT, NULL, 0)                                                           \
    X(NEGATE, NULL, 0)                                                        \
    X(ISNAN, NULL, 0)                                                         \
    X(ISINF, NULL, 0)                                                         \
    X(ABS, NULL, 0)                                                           \
    X(CONSTANT, NULL, 0)                                                      \
    X(NAME, NULL, 0)                                                          \
    /* Past the other side, when this one decides: values stay as they are */ \
    X(SKIP_FALSE, NULL, 0)                                                    \
    X(SKIP_TRUE, NULL, 0)                                                     \
    /* A name and a constant in one: its comparison is in `code2` */          \
    X(COMPARE, NULL, 0)

enum pfd_where_code {
#define PFD_X(name, text, precedence) PFD_WHERE_##name,
    PFD_WHERE_CODES(PFD_X)
#undef PFD_X
    PFD_WHERE_N_CODES
};

struct pfd_where_op {
    uint8_t code;      /* enum pfd_where_code */
    uint8_t code2;     /* of COMPARE: EQ to GT */
    uint16_t name;     /* of NAME and COMPARE */
    uint16_t number;   /* of COMPARE: among all of them */
    uint16_t constant; /* of CONSTANT and COMPARE; SKIP_*: operation to go to */
};

/* One block of memory; what it points to is behind it. */
struct pfd_where {
    const struct pfd_where_op *ops; /* [n] */
    size_t n;
    const struct pfd_value *constants; /* their texts are behind it, too */
    const char *const *names;          /* [n_names] */
    size_t n_names;
    size_t n_compares;
    size_t n_bytes; /* of the block */
};

#endif
