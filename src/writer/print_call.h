/* SPDX-License-Identifier: MIT */
/* One call in shader source, taken apart: where its format string and its
 * arguments are. */
#ifndef PFD_PRINT_CALL_H
#define PFD_PRINT_CALL_H

#include "core/base/text.h"
#include "writer/token.h"

/* Bytes [from, to) of the source, from a solid token's begin to one's end. */
struct pfd_print_call_argument {
    size_t from;
    size_t to;
    bool is_literal;      /* string literals and nothing else */
    struct pfd_text text; /* what they stand for */
    uint32_t line;
};

/* All zero is an empty one. */
struct pfd_print_call {
    struct pfd_token name;
    uint8_t level; /* enum pfd_level; of PFD_LOG */
    size_t open;   /* of its parenthesis */
    size_t end;    /* behind the closing one */
    struct pfd_print_call_argument
        *arguments; /* [n]; the first is the format */
    size_t n;
    size_t n_room;
};

void pfd_print_call_free(struct pfd_print_call *print_call);

/* Names [n] of calls beside PFD_PRINTF and PFD_LOG; borrowed. */
struct pfd_print_call_names {
    const char *const *names;
    size_t n;
};

/* Is this word the name of a call? */
bool pfd_print_call_is(const struct pfd_print_call_names *names,
                       const struct pfd_lexer *lexer,
                       const struct pfd_token *token);

/* Is the name of a call in the rest of a line that a broken quote took? */
bool pfd_print_call_is_in(const struct pfd_print_call_names *names,
                          const struct pfd_lexer *lexer,
                          const struct pfd_token *broken);

/*
 * Reads what follows the name, which is in the call already. macro: the name
 * that is defined where the call stands in a macro's text, which a line end
 * ends; NULL: it stands in none. PFD_OK; PFD_ERR_CORRUPT, said in lexer->err;
 * PFD_ERR_NOMEM.
 */
enum pfd_status pfd_print_call_read(struct pfd_lexer *lexer,
                                    const struct pfd_print_call_names *names,
                                    const struct pfd_token *macro,
                                    struct pfd_print_call *print_call);

#endif
