/* SPDX-License-Identifier: MIT */
/*
 * The words of shader source: GLSL and OpenCL C fall into the same ones.
 * Comments and line continuations are space; nothing is expanded, and every
 * byte is in exactly one token, so that tokens joined are the source again.
 * The source has no byte 0.
 */
#ifndef PFD_TOKEN_H
#define PFD_TOKEN_H

#include "core/base/error.h"

enum pfd_token_kind {
    PFD_TOKEN_END,
    PFD_TOKEN_SPACE,   /* blanks, comments, continuations */
    PFD_TOKEN_NEWLINE, /* one that no comment and no continuation has */
    PFD_TOKEN_WORD,    /* a name, a keyword */
    PFD_TOKEN_NUMBER,
    PFD_TOKEN_STRING,    /* with its quotes */
    PFD_TOKEN_CHARACTER, /* with its quotes; GLSL has none */
    PFD_TOKEN_BROKEN,    /* a quote that does not end, and the rest of its
                            line: compilers pass it where they pass the line */
    PFD_TOKEN_MARK,      /* any other byte */
};

struct pfd_token {
    enum pfd_token_kind kind;
    size_t from; /* bytes [from, to) of the source */
    size_t to;
    uint32_t line; /* where it begins; as line markers say */
};

struct pfd_lexer {
    const char *text; /* [n], borrowed */
    size_t n;
    size_t at;
    uint32_t line;       /* of `at` */
    bool has_characters; /* ' begins a literal */
    const char *name;    /* the file's, NUL-terminated, borrowed */
    const char *file;    /* [n_file] what a line marker calls it; NULL: name */
    size_t n_file;
    struct pfd_error *err;
};

/* The next token. PFD_OK, an END at the end; PFD_ERR_CORRUPT: a comment that
 * does not end. */
enum pfd_status pfd_token_next(struct pfd_lexer *lexer, struct pfd_token *ret);

/* The next that is no space; nor a newline, where those are passed, too. */
enum pfd_status pfd_token_solid(struct pfd_lexer *lexer, bool pass_newlines,
                                struct pfd_token *ret);

/* Moves to the end of the line, which is not taken: directives whose text is
 * no code. Comments that begin in it are passed whole. */
enum pfd_status pfd_token_rest_of_line(struct pfd_lexer *lexer);

/* Is it this word? Continuations inside of it do not count. */
bool pfd_token_is(const struct pfd_lexer *lexer, const struct pfd_token *token,
                  const char *word);

bool pfd_token_is_mark(const struct pfd_lexer *lexer,
                       const struct pfd_token *token, char mark);

/* Bytes of a line end, or of a continuation, at `at`; 0: none is there. */
size_t pfd_token_newline(const char *text, size_t n, size_t at);
size_t pfd_token_continuation(const char *text, size_t n, size_t at);

/* PFD_ERR_CORRUPT: "file:line: text" in the lexer's err. */
enum pfd_status pfd_token_fail(const struct pfd_lexer *lexer,
                               const struct pfd_token *token, const char *text,
                               ...) PFD_PRINTF(3, 4);

#endif
