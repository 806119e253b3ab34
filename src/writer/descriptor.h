/* SPDX-License-Identifier: MIT */
/*
 * Which sets and bindings a source of GLSL declares. Macros are not expanded,
 * but one that stands for a number is known; a descriptor that something else
 * numbers is not.
 */
#ifndef PFD_DESCRIPTOR_H
#define PFD_DESCRIPTOR_H

#include "core/base/text.h"
#include "writer/text_set.h"
#include "writer/token.h"

/* A number as the source has it. */
struct pfd_descriptor_number {
    const char *text; /* [n], of the source; NULL: not said */
    size_t n;
};

struct pfd_descriptor {
    struct pfd_descriptor_number set;
    struct pfd_descriptor_number binding;
    struct pfd_token at; /* "layout" */
    const char *name;    /* [n_name], of the source: what it is called */
    size_t n_name;
    const char *file; /* [n_file] as the lexer's */
    size_t n_file;
};

/* All zero is none. Borrows the source. */
struct pfd_descriptors {
    struct pfd_text all;        /* of struct pfd_descriptor */
    struct pfd_text_set macros; /* names of those that stand for a number */
    struct pfd_text values;     /* of those: uint32_t each */
    /* The declaration that is read. */
    struct pfd_descriptor next;
    int state;
    size_t depth;  /* of parentheses in the layout */
    uint8_t key;   /* what the next number is of */
    bool is_known; /* set and binding are numbers or names */
};

void pfd_descriptors_free(struct pfd_descriptors *d);

/* The next token of code. */
void pfd_descriptors_take(struct pfd_descriptors *d,
                          const struct pfd_lexer *lexer,
                          const struct pfd_token *token);

/* A macro's name, and the one token that it stands for. */
void pfd_descriptors_define(struct pfd_descriptors *d,
                            const struct pfd_lexer *lexer,
                            const struct pfd_token *name,
                            const struct pfd_token *value);

size_t pfd_descriptors_count(const struct pfd_descriptors *d);
const struct pfd_descriptor *pfd_descriptors_at(const struct pfd_descriptors *d,
                                                size_t i);

/* Is this number, where what is not said is 0, known by itself or by d's
 * macros? */
bool pfd_descriptors_value(struct pfd_descriptors *d,
                           const struct pfd_descriptor_number *number,
                           uint32_t *ret);

#endif
