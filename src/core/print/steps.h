/* SPDX-License-Identifier: MIT */
/*
 * Writes steps over a text, for the compilers of its grammars: program.c and
 * braces.c.
 */
#ifndef PFD_STEPS_H
#define PFD_STEPS_H

#include "core/print/step.h"

struct pfd_steps {
    const char *text; /* [n] */
    size_t n;
    struct pfd_step *steps; /* [n_steps]; the caller has room */
    size_t n_steps;
    size_t done;    /* text is in steps up to here */
    size_t escaped; /* the escaped offset of `done` */
};

enum {
    /* Six bytes at most for each byte in JSON: fits 16 bits escaped, too. */
    PFD_LITERAL_MAX = 10920,
};

/* Adds a step with the literal text up to literal_end, at most
 * PFD_LITERAL_MAX bytes. */
struct pfd_step *pfd_steps_add(struct pfd_steps *steps, size_t literal_end,
                               enum pfd_op op);

/* Moves `done` on without printing the text between. */
void pfd_steps_pass(struct pfd_steps *steps, size_t to);

/* Leaves at most PFD_LITERAL_MAX bytes before `end` for the next step. */
void pfd_steps_add_long_literal(struct pfd_steps *steps, size_t end);

/* Adds the rest of the text, and the last step. Returns the number of all. */
size_t pfd_steps_end(struct pfd_steps *steps);

/* The steps that literals of n bytes need beside those of their conversions. */
static inline size_t pfd_steps_of_literals(size_t n)
{
    return 2 + n / (PFD_LITERAL_MAX - 3);
}

#endif
