/* SPDX-License-Identifier: MIT */
/*
 * A condition on an entry's raw arguments and its origin, such as
 * `t > 0.5 && lane == 3`. Parsed once; bound to each format string, which turns
 * names into places; then tested against payloads, without printing them.
 * Immutable once parsed: any number of threads may share it.
 *
 * Values are integers (exact: 128 bits, so that signed and unsigned ones of 64
 * bits compare correctly), floats (binary64) and text. A missing value, because
 * the format string has no such argument or a calculation has no result
 * (division by zero, a shift by too much, text less a number), is *nothing*.
 * Comparisons and calculations with nothing give nothing, and so does `!`;
 * `&&` and `||` give the result that the other side decides alone. An entry
 * for which the whole condition is nothing does not fulfil it.
 *
 * Precedence, weakest first: || && (== != < <= > >=) | ^ & (<< >>) (+ -)
 * (* / %) and the unary ! and -. Bit operators bind more tightly than
 * comparisons: `flags & 4 == 4` tests a bit.
 */
#ifndef PFD_WHERE_H
#define PFD_WHERE_H

#include <printfdecode/filter.h>

#include "core/strings/strings.h"

enum {
    PFD_WHERE_TEXT_MAX = 4096, /* bytes of an expression */
    PFD_WHERE_OPS_MAX = 1024,
    PFD_WHERE_NAMES_MAX = 64,
    PFD_WHERE_STACK_MAX = 64, /* values at once: limits nesting */
};

enum pfd_operand_type {
    PFD_OPERAND_NOTHING,
    PFD_OPERAND_INTEGER,
    PFD_OPERAND_FLOAT,
    PFD_OPERAND_TEXT,
};

struct pfd_value {
    union {
        __int128 i;
        double f;
        struct {
            const char *text; /* [n] bytes, borrowed */
            size_t n;
        };
    };
    enum pfd_operand_type type;
};

static inline struct pfd_value pfd_value_of_integer(__int128 i)
{
    return (struct pfd_value){ .i = i, .type = PFD_OPERAND_INTEGER };
}

/* Nothing where it is `unknown`. */
static inline struct pfd_value pfd_value_of_known(uint64_t i, uint64_t unknown)
{
    struct pfd_value nothing = { .type = PFD_OPERAND_NOTHING };
    return i == unknown ? nothing : pfd_value_of_integer(i);
}

static inline struct pfd_value pfd_value_of_float(double f)
{
    return (struct pfd_value){ .f = f, .type = PFD_OPERAND_FLOAT };
}

/* text [n], borrowed; NULL: nothing. */
static inline struct pfd_value pfd_value_of_text(const char *text, size_t n)
{
    struct pfd_value ret = { .type = text ? PFD_OPERAND_TEXT
                                          : PFD_OPERAND_NOTHING };
    ret.text = text;
    ret.n = n;
    return ret;
}

struct pfd_where;

/*
 * Parses an expression. PFD_OK; PFD_ERR_USAGE: a fault, err has the place
 * (offset: bytes into text) and the reason; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_where_new(const char *text, struct pfd_where **ret,
                              struct pfd_error *err);

/* NULL is allowed. */
void pfd_where_free(struct pfd_where *where);

/* Bytes that it takes. */
size_t pfd_where_memory(const struct pfd_where *where);

/* Name i that it asks for, NUL-terminated; NULL: there is no i. */
const char *pfd_where_name(const struct pfd_where *where, size_t i);

struct pfd_where_range;

/* The places of a condition's names in the entries of one string. One block of
 * memory; freed with free(). */
struct pfd_where_bound {
    bool is_never;   /* no entry of this string can fulfil it */
    bool asks_entry; /* for values beside its arguments */
    /* A condition of comparisons alone, as ranges: [as many as there are], in
     * order; for entries with the string's layout. NULL: another condition. */
    struct pfd_where_range *ranges;
    uint32_t steps[]; /* [n names]; or one of these: */
};

#define PFD_WHERE_ABSENT UINT32_MAX
#define PFD_WHERE_ORIGIN (UINT32_MAX - 1)
#define PFD_WHERE_GIVEN  (UINT32_MAX - 2)
/* And the number of a value that every entry has: entry_value.h. */
#define PFD_WHERE_OWN (UINT32_MAX - 255)

/* Bytes that one takes. string: as below. */
size_t pfd_where_bound_memory(const struct pfd_where *where,
                              const struct pfd_string *string);
/* string NULL: of an unknown id, which has no arguments. NULL when out of
 * memory. */
struct pfd_where_bound *pfd_where_bind(const struct pfd_where *where,
                                       const struct pfd_string *string);

/*
 * Does an entry fulfil the condition? steps: the entry's bound steps (its
 * string's, or the same with other places). entry and facts are read only where
 * bound->asks_entry.
 */
bool pfd_where_test(const struct pfd_where *where,
                    const struct pfd_where_bound *bound,
                    const struct pfd_step *steps, const uint8_t *payload,
                    struct pfd_entry *entry,
                    const struct pfd_filter_facts *facts);

/* Values of a condition's names, of what is no entry any more. */
struct pfd_where_values {
    struct pfd_value (*value)(void *user, size_t name);
    void *user;
    uint64_t arguments; /* bits: names that are arguments */
};

/* The same for such values. */
bool pfd_where_test_values(const struct pfd_where *where,
                           const struct pfd_where_values *values);

/* The code of a condition, compiled by where_parse.c and run by where_run.c:
 * operations on a stack of values, in order of execution. */

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
