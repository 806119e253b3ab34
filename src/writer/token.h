/* SPDX-License-Identifier: MIT */
/*
 * The tokens of shader source, the same for GLSL and OpenCL C. Comments and
 * line continuations are space. Nothing is expanded, and every byte is in
 * exactly one token: joined tokens are the source again. The source has no byte
 * 0.
 */
#ifndef PFD_TOKEN_H
#define PFD_TOKEN_H

#include "core/base/error.h"

enum pfd_token_kind {
    PFD_TOKEN_END,
    PFD_TOKEN_SPACE,   /* blanks, comments, continuations */
    PFD_TOKEN_NEWLINE, /* outside of comments and continuations */
    PFD_TOKEN_WORD,    /* a name, a keyword */
    PFD_TOKEN_NUMBER,
    PFD_TOKEN_STRING,    /* with its quotes */
    PFD_TOKEN_CHARACTER, /* with its quotes; GLSL has none */
    PFD_TOKEN_BROKEN,    /* an unterminated quote, and the rest of its line: an
                            error only where compilers read the line */
    PFD_TOKEN_MARK,      /* any other byte */
};

struct pfd_token {
    enum pfd_token_kind kind;
    size_t from; /* bytes [from, to) of the source */
    size_t to;
    uint32_t line; /* where it begins; by line markers, if any */
};

struct pfd_lexer {
    const char *text; /* [n], borrowed */
    size_t n;
    size_t at;
    uint32_t line;       /* of `at` */
    bool has_characters; /* ' begins a literal */
    const char *name;    /* the file's, NUL-terminated, borrowed */
    const char *file;    /* [n_file], the name in a line marker; NULL: name */
    size_t n_file;
    struct pfd_error *err;
};

/* The next token. PFD_OK, an END at the end; PFD_ERR_CORRUPT: an unterminated
 * comment. */
enum pfd_status pfd_token_next(struct pfd_lexer *lexer, struct pfd_token *ret);

/* The next token that is no space; with pass_newlines, no newline either. */
enum pfd_status pfd_token_solid(struct pfd_lexer *lexer, bool pass_newlines,
                                struct pfd_token *ret);

/* Moves to the end of the line, which is not taken: for directives whose text
 * is no code. Comments that begin in it are passed whole. */
enum pfd_status pfd_token_rest_of_line(struct pfd_lexer *lexer);

/* Is it this word? Continuations inside of it are ignored. */
bool pfd_token_is(const struct pfd_lexer *lexer, const struct pfd_token *token,
                  const char *word);

bool pfd_token_is_mark(const struct pfd_lexer *lexer,
                       const struct pfd_token *token, char mark);

/* Bytes of a line end, or of a continuation, at `at`; 0: none. */
size_t pfd_token_newline(const char *text, size_t n, size_t at);
size_t pfd_token_continuation(const char *text, size_t n, size_t at);

/* Sets lexer's err to "file:line: text"; returns PFD_ERR_CORRUPT. */
enum pfd_status pfd_token_fail(const struct pfd_lexer *lexer,
                               const struct pfd_token *token, const char *text,
                               ...) PFD_PRINTF(3, 4);

#endif
