/* SPDX-License-Identifier: MIT */
/*
 * The sets and bindings that a GLSL source declares. Macros are not expanded,
 * but a macro that stands for one number is known; a descriptor with any other
 * expression is skipped.
 */
#ifndef PFD_DESCRIPTOR_H
#define PFD_DESCRIPTOR_H

#include "core/base/text.h"
#include "writer/text_set.h"
#include "writer/token.h"

/* A number, as the source writes it. */
struct pfd_descriptor_number {
    const char *text; /* [n], in the source; NULL: absent */
    size_t n;
};

struct pfd_descriptor {
    struct pfd_descriptor_number set;
    struct pfd_descriptor_number binding;
    struct pfd_token at; /* "layout" */
    const char *name;    /* [n_name], in the source: its name */
    size_t n_name;
    const char *file; /* [n_file], the lexer's */
    size_t n_file;
};

/* All zero is an empty one. Borrows the source. */
struct pfd_descriptors {
    struct pfd_text all;        /* struct pfd_descriptor */
    struct pfd_text_set macros; /* names of macros that stand for a number */
    struct pfd_text values;     /* their values, uint32_t each */
    /* The declaration that is being read. */
    struct pfd_descriptor next;
    int state;
    size_t depth;  /* of parentheses in the layout */
    uint8_t key;   /* the key of the next number */
    bool is_known; /* set and binding are numbers or names */
};

void pfd_descriptors_free(struct pfd_descriptors *d);

/* Takes the next token of code. */
void pfd_descriptors_take(struct pfd_descriptors *d,
                          const struct pfd_lexer *lexer,
                          const struct pfd_token *token);

/* Takes a macro's name, and the one token that it stands for. */
void pfd_descriptors_define(struct pfd_descriptors *d,
                            const struct pfd_lexer *lexer,
                            const struct pfd_token *name,
                            const struct pfd_token *value);

size_t pfd_descriptors_count(const struct pfd_descriptors *d);
const struct pfd_descriptor *pfd_descriptors_at(const struct pfd_descriptors *d,
                                                size_t i);

/* Is the number known, by itself or by d's macros? An absent one is 0. */
bool pfd_descriptors_value(struct pfd_descriptors *d,
                           const struct pfd_descriptor_number *number,
                           uint32_t *ret);

#endif
