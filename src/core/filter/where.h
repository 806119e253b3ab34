/* SPDX-License-Identifier: MIT */
/*
 * A condition on an entry's raw arguments and its origin, such as
 * `t > 0.5 && lane == 3`. Read once; bound to each format string, where names
 * become places; then tested against payloads, without any of them being
 * printed. Immutable once read: any number of threads may share it.
 *
 * Values are integers (exact: 128 bits, so that signed and unsigned ones of 64
 * compare as they are), floats (binary64) and text. What is not there, since
 * the format string has no such argument or a calculation has no result
 * (division by zero, a shift by too much, text less a number), is *nothing*:
 * comparing and calculating with nothing gives nothing, `!` of it as well,
 * `&&` and `||` give what the other side decides alone, and an entry for which
 * the whole is nothing does not fulfil the condition.
 *
 * Precedence, weakest first: || && (== != < <= > >=) | ^ & (<< >>) (+ -)
 * (* / %) and the unary ! and -. Bits bind more tightly than comparisons, so
 * that `flags & 4 == 4` says what it seems to.
 */
#ifndef PFD_WHERE_H
#define PFD_WHERE_H

#include <printfdecode/filter.h>

#include "core/strings/strings.h"

enum {
    PFD_WHERE_TEXT_MAX = 4096, /* bytes of an expression */
    PFD_WHERE_OPS_MAX = 1024,
    PFD_WHERE_NAMES_MAX = 64,
    PFD_WHERE_STACK_MAX = 64, /* values at once: depth of nesting */
};

enum pfd_value_type {
    PFD_VALUE_NOTHING,
    PFD_VALUE_INTEGER,
    PFD_VALUE_FLOAT,
    PFD_VALUE_TEXT,
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
    enum pfd_value_type type;
};

struct pfd_where;

/*
 * Reads an expression. PFD_OK; PFD_ERR_USAGE: it is none, err says where and
 * why (offset: bytes into text); PFD_ERR_NOMEM.
 */
enum pfd_status pfd_where_new(const char *text, struct pfd_where **ret,
                              struct pfd_error *err);

/* NULL is allowed. */
void pfd_where_free(struct pfd_where *where);

/* Bytes that it takes. */
size_t pfd_where_memory(const struct pfd_where *where);

/* Name i of those that it asks for, NUL-terminated; NULL: there is no i. */
const char *pfd_where_name(const struct pfd_where *where, size_t i);

struct pfd_where_range;

/* Where each of its names is in the entries of one string. One block of
 * memory, to be freed with free(). */
struct pfd_where_bound {
    bool is_never;   /* no entry of this string can fulfil it */
    bool asks_entry; /* for more than its arguments */
    /* It is comparisons alone, as ranges: [as many as there are], in order;
     * for entries that are laid out as their string says. NULL: it is not. */
    struct pfd_where_range *ranges;
    uint32_t steps[]; /* [n names]; or one of these: */
};

#define PFD_WHERE_ABSENT UINT32_MAX
#define PFD_WHERE_ORIGIN (UINT32_MAX - 1)
/* And the number of something that every entry has: entry_value.h. */
#define PFD_WHERE_OWN (UINT32_MAX - 255)

/* Bytes that one takes. string: as below. */
size_t pfd_where_bound_memory(const struct pfd_where *where,
                              const struct pfd_string *string);
/* string NULL: of an unknown id, which has no arguments. NULL when out of
 * memory. */
struct pfd_where_bound *pfd_where_bind(const struct pfd_where *where,
                                       const struct pfd_string *string);

/*
 * Does an entry fulfil it? steps: those that the entry was bound to (its
 * string's, or the same at other places). entry and facts are looked at only
 * where bound->asks_entry.
 */
bool pfd_where_test(const struct pfd_where *where,
                    const struct pfd_where_bound *bound,
                    const struct pfd_step *steps, const uint8_t *payload,
                    struct pfd_entry *entry,
                    const struct pfd_filter_facts *facts);

#endif
