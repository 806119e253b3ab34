/* SPDX-License-Identifier: MIT */
#include "writer/token.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t pfd_token_newline(const char *text, size_t n, size_t at)
{
    if (at >= n || (text[at] != '\n' && text[at] != '\r'))
        return 0;
    return text[at] == '\r' && at + 1 < n && text[at + 1] == '\n' ? 2 : 1;
}

size_t pfd_token_continuation(const char *text, size_t n, size_t at)
{
    if (at >= n || text[at] != '\\')
        return 0;
    size_t n_newline = pfd_token_newline(text, n, at + 1);
    return n_newline ? 1 + n_newline : 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes above 127 are letters of other languages. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* The byte at lexer->at + ahead; NUL beyond the end. */
static char peek(const struct pfd_lexer *lexer, size_t ahead)
{
    size_t at = lexer->at + ahead;
    return at < lexer->n ? lexer->text[at] : '\0';
}

static bool pass_continuation(struct pfd_lexer *lexer)
{
    size_t n = pfd_token_continuation(lexer->text, lexer->n, lexer->at);
    lexer->at += n;
    lexer->line += n > 0;
    return n > 0;
}

static bool pass_newline(struct pfd_lexer *lexer)
{
    size_t n = pfd_token_newline(lexer->text, lexer->n, lexer->at);
    lexer->at += n;
    lexer->line += n > 0;
    return n > 0;
}

enum pfd_status pfd_token_fail(const struct pfd_lexer *lexer,
                               const struct pfd_token *token, const char *text,
                               ...)
{
    char reason[160];
    struct pfd_quoted name;
    va_list ap;
    va_start(ap, text);
    vsnprintf(reason, sizeof reason, text, ap);
    va_end(ap);
    const char *file = lexer->file ? lexer->file : lexer->name;
    size_t n = lexer->file ? lexer->n_file : strlen(lexer->name);
    return pfd_fail(lexer->err, PFD_ERR_CORRUPT, token->from, "%s:%u: %s",
                    pfd_quote(&name, file, n), token->line, reason);
}

/* Passes a comment up to the end of the line or file. */
static void pass_line_comment(struct pfd_lexer *lexer)
{
    while (lexer->at < lexer->n &&
           !pfd_token_newline(lexer->text, lexer->n, lexer->at)) {
        if (!pass_continuation(lexer))
            lexer->at++;
    }
}

static enum pfd_status pass_comment(struct pfd_lexer *lexer,
                                    const struct pfd_token *token)
{
    for (lexer->at += 2; lexer->at < lexer->n;) {
        if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return PFD_OK;
        }
        if (!pass_newline(lexer))
            lexer->at++;
    }
    return pfd_token_fail(lexer, token, "the comment does not end");
}

static enum pfd_status read_space(struct pfd_lexer *lexer,
                                  const struct pfd_token *token)
{
    while (lexer->at < lexer->n) {
        if (is_blank(peek(lexer, 0))) {
            lexer->at++;
        } else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/') {
            pass_line_comment(lexer);
        } else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') {
            struct pfd_token comment = *token;
            comment.from = lexer->at;
            comment.line = lexer->line;
            enum pfd_status status = pass_comment(lexer, &comment);
            if (status != PFD_OK)
                return status;
        } else if (!pass_continuation(lexer)) {
            break;
        }
    }
    return PFD_OK;
}

static enum pfd_token_kind read_quoted(struct pfd_lexer *lexer)
{
    char quote = peek(lexer, 0);
    lexer->at++;
    while (lexer->at < lexer->n) {
        char c = peek(lexer, 0);
        if (pass_continuation(lexer))
            continue;
        if (pfd_token_newline(lexer->text, lexer->n, lexer->at))
            break;
        /* A newline ends it, unless the backslash continues the line. */
        bool escapes = c == '\\' && lexer->at + 1 < lexer->n;
        lexer->at += escapes ? 2 : 1;
        if (c == quote)
            return c == '"' ? PFD_TOKEN_STRING : PFD_TOKEN_CHARACTER;
    }
    return PFD_TOKEN_BROKEN;
}

static void read_word(struct pfd_lexer *lexer)
{
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)) ||
           pass_continuation(lexer)) {
        if (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
            lexer->at++;
    }
}

/* Reads a number of any language: the rest becomes a word or a mark. */
static void read_number(struct pfd_lexer *lexer)
{
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)) ||
           peek(lexer, 0) == '.') {
        char c = (char)(peek(lexer, 0) | 0x20);
        char next = peek(lexer, 1);
        lexer->at++;
        if ((c == 'e' || c == 'p') && (next == '+' || next == '-'))
            lexer->at++;
    }
}

static bool begins_space(const struct pfd_lexer *lexer)
{
    char c = peek(lexer, 0);
    char next = peek(lexer, 1);
    return is_blank(c) || (c == '/' && (next == '/' || next == '*')) ||
           pfd_token_continuation(lexer->text, lexer->n, lexer->at);
}

static enum pfd_status read_token(struct pfd_lexer *lexer,
                                  struct pfd_token *ret)
{
    char c = peek(lexer, 0);
    if (begins_space(lexer)) {
        ret->kind = PFD_TOKEN_SPACE;
        return read_space(lexer, ret);
    }
    if (pass_newline(lexer)) {
        ret->kind = PFD_TOKEN_NEWLINE;
    } else if (is_letter(c)) {
        ret->kind = PFD_TOKEN_WORD;
        read_word(lexer);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        ret->kind = PFD_TOKEN_NUMBER;
        read_number(lexer);
    } else if (c == '"' || (c == '\'' && lexer->has_characters)) {
        ret->kind = read_quoted(lexer);
    } else {
        ret->kind = PFD_TOKEN_MARK;
        lexer->at++;
    }
    return PFD_OK;
}

enum pfd_status pfd_token_next(struct pfd_lexer *lexer, struct pfd_token *ret)
{
    *ret =
        (struct pfd_token){ PFD_TOKEN_END, lexer->at, lexer->at, lexer->line };
    if (lexer->at >= lexer->n)
        return PFD_OK;
    enum pfd_status status = read_token(lexer, ret);
    ret->to = lexer->at;
    return status;
}

enum pfd_status pfd_token_solid(struct pfd_lexer *lexer, bool pass_newlines,
                                struct pfd_token *ret)
{
    enum pfd_status status;
    do {
        status = pfd_token_next(lexer, ret);
    } while (status == PFD_OK &&
             (ret->kind == PFD_TOKEN_SPACE ||
              (pass_newlines && ret->kind == PFD_TOKEN_NEWLINE)));
    return status;
}

enum pfd_status pfd_token_rest_of_line(struct pfd_lexer *lexer)
{
    while (lexer->at < lexer->n &&
           !pfd_token_newline(lexer->text, lexer->n, lexer->at)) {
        struct pfd_token token = { PFD_TOKEN_SPACE, lexer->at, lexer->at,
                                   lexer->line };
        if (!begins_space(lexer)) {
            lexer->at++;
            continue;
        }
        enum pfd_status status = read_space(lexer, &token);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

bool pfd_token_is(const struct pfd_lexer *lexer, const struct pfd_token *token,
                  const char *word)
{
    if (token->kind != PFD_TOKEN_WORD)
        return false;
    for (size_t at = token->from; at < token->to;) {
        size_t n = pfd_token_continuation(lexer->text, token->to, at);
        if (!n && lexer->text[at] != *word++)
            return false;
        at += n ? n : 1;
    }
    return *word == '\0';
}

bool pfd_token_is_mark(const struct pfd_lexer *lexer,
                       const struct pfd_token *token, char mark)
{
    return token->kind == PFD_TOKEN_MARK && lexer->text[token->from] == mark;
}
