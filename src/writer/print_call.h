/* SPDX-License-Identifier: MIT */
/* Parses one call in shader source: finds its format string and its
 * arguments. */
#ifndef PFD_PRINT_CALL_H
#define PFD_PRINT_CALL_H

#include "core/base/text.h"
#include "writer/token.h"

/* Bytes [from, to) of the source, from the begin of its first solid token to
 * the end of its last. */
struct pfd_print_call_argument {
    size_t from;
    size_t to;
    bool is_literal;      /* only string literals */
    struct pfd_text text; /* their bytes */
    uint32_t line;
};

/* All zero is an empty one. */
struct pfd_print_call {
    struct pfd_token name;
    uint8_t level; /* enum pfd_level; of PFD_LOG */
    size_t open;   /* offset of its parenthesis */
    size_t end;    /* offset behind the closing one */
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

/* Is the name of a call in the rest of a line, behind an unterminated quote? */
bool pfd_print_call_is_in(const struct pfd_print_call_names *names,
                          const struct pfd_lexer *lexer,
                          const struct pfd_token *broken);

/*
 * Reads the call behind its name, which is set already. macro: the name of the
 * macro whose text has the call, where a line end ends the call; NULL: no
 * macro's. PFD_OK; PFD_ERR_CORRUPT, with the error in lexer->err;
 * PFD_ERR_NOMEM.
 */
enum pfd_status pfd_print_call_read(struct pfd_lexer *lexer,
                                    const struct pfd_print_call_names *names,
                                    const struct pfd_token *macro,
                                    struct pfd_print_call *print_call);

#endif
