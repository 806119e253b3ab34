/* SPDX-License-Identifier: MIT */
#include "writer/print_call.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/device/control.h>

#include "core/base/text.h"
#include "writer/token.h"

/* String literals of shader source, converted to bytes. */

/* The contents of a literal while it is read. */
struct literal_reader {
    const struct pfd_lexer *lexer;
    const struct pfd_token *token;
    size_t at;
    size_t end;
};

static char peek(struct literal_reader *r)
{
    size_t n;
    while ((n = pfd_token_continuation(r->lexer->text, r->end, r->at)) > 0)
        r->at += n;
    return r->at < r->end ? r->lexer->text[r->at] : '\0';
}

/* The value of a digit in this base; -1: none. */
static int digit(char c, int base)
{
    static const char digits[] = "0123456789abcdef";
    char low = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
    const char *found = low ? strchr(digits, low) : NULL;
    return found && found - digits < base ? (int)(found - digits) : -1;
}

/* Reads up to n_max digits; false: there are none, or they exceed a byte. */
static bool read_byte(struct literal_reader *r, int base, int n_max,
                      unsigned *ret)
{
    int n = 0;
    *ret = 0;
    for (; n < n_max && digit(peek(r), base) >= 0 && *ret <= 255; n++) {
        *ret = *ret * (unsigned)base + (unsigned)digit(peek(r), base);
        r->at++;
    }
    return n > 0 && *ret <= 255;
}

/* Reads a character of n hexadecimal digits, as UTF-8: C99 6.4.3. False: it is
 * invalid, or C requires it to be written as it is. */
static bool read_character(struct literal_reader *r, int n,
                           struct pfd_text *ret)
{
    uint32_t code = 0;
    for (int i = 0; i < n; i++, r->at++) {
        int value = digit(peek(r), 16);
        if (value < 0)
            return false;
        code = code << 4 | (uint32_t)value;
    }
    if (code > 0x10ffff || code >> 11 == 0x1b ||
        (code < 0xa0 && code != '$' && code != '@' && code != '`'))
        return false;
    const char bytes[] = { (char)(0xf0 | code >> 18),
                           (char)(0x80 | (code >> 12 & 0x3f)),
                           (char)(0x80 | (code >> 6 & 0x3f)),
                           (char)(0x80 | (code & 0x3f)) };
    if (code < 0x80) {
        pfd_text_add(ret, (char[]){ (char)code }, 1);
    } else if (code < 0x800) {
        pfd_text_add(ret, (char[]){ (char)(0xc0 | code >> 6), bytes[3] }, 2);
    } else if (code < 0x10000) {
        pfd_text_add(ret, (char[]){ (char)(0xe0 | code >> 12) }, 1);
        pfd_text_add(ret, bytes + 2, 2);
    } else {
        pfd_text_add(ret, bytes, 4);
    }
    return true;
}

static enum pfd_status read_escape(struct literal_reader *r,
                                   struct pfd_text *ret)
{
    static const char letters[] = "abfnrtv\\\"'?";
    static const char bytes[] = "\a\b\f\n\r\t\v\\\"'?";
    unsigned value = 0;
    char c = peek(r);
    const char *found = c ? strchr(letters, c) : NULL;
    bool ok = true;
    if (c == 'u' || c == 'U') {
        r->at++;
        if (read_character(r, c == 'u' ? 4 : 8, ret))
            return PFD_OK;
        return pfd_token_fail(r->lexer, r->token,
                              "the string has a \\%c that names no character, "
                              "or one that C does not name so",
                              c);
    }
    if (found) {
        r->at++;
        value = (unsigned char)bytes[found - letters];
    } else if (c == 'x') {
        r->at++;
        ok = read_byte(r, 16, 1 << 20, &value);
    } else {
        ok = read_byte(r, 8, 3, &value);
    }
    if (!ok) {
        return pfd_token_fail(r->lexer, r->token,
                              "the string has an escape sequence that is none "
                              "of C's, or that is no byte");
    }
    if (value == 0)
        return pfd_token_fail(r->lexer, r->token, "the string has a byte 0");
    pfd_text_add(ret, (char[]){ (char)value }, 1);
    return PFD_OK;
}

/* Adds the bytes of the literal to ret. PFD_OK; PFD_ERR_CORRUPT: an invalid
 * escape sequence, or one for a byte 0. */
static enum pfd_status literal_read(const struct pfd_lexer *lexer,
                                    const struct pfd_token *token,
                                    struct pfd_text *ret)
{
    struct literal_reader r = { lexer, token, token->from + 1, token->to - 1 };
    for (char c = peek(&r); r.at < r.end; c = peek(&r)) {
        enum pfd_status status = PFD_OK;
        r.at++;
        if (c == '\\') {
            status = read_escape(&r, ret);
        } else {
            pfd_text_add(ret, &c, 1);
        }
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

void pfd_print_call_free(struct pfd_print_call *print_call)
{
    for (size_t i = 0; i < print_call->n; i++)
        pfd_text_free(&print_call->arguments[i].text);
    free(print_call->arguments);
    *print_call = (struct pfd_print_call){ 0 };
}

bool pfd_print_call_is(const struct pfd_print_call_names *names,
                       const struct pfd_lexer *lexer,
                       const struct pfd_token *token)
{
    if (pfd_token_is(lexer, token, "PFD_PRINTF") ||
        pfd_token_is(lexer, token, "PFD_LOG"))
        return true;
    for (size_t i = 0; i < names->n; i++) {
        if (pfd_token_is(lexer, token, names->names[i]))
            return true;
    }
    return false;
}

bool pfd_print_call_is_in(const struct pfd_print_call_names *names,
                          const struct pfd_lexer *lexer,
                          const struct pfd_token *broken)
{
    struct pfd_lexer inside = *lexer;
    struct pfd_token word;
    inside.n = broken->to;
    for (inside.at = broken->from; inside.at < inside.n;) {
        char c = inside.text[inside.at];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') {
            inside.at++;
        } else if (pfd_token_next(&inside, &word) != PFD_OK ||
                   pfd_print_call_is(names, &inside, &word)) {
            return true;
        }
    }
    return false;
}

static struct pfd_print_call_argument *add_argument(
    struct pfd_print_call *print_call)
{
    if (print_call->n == print_call->n_room) {
        size_t room = print_call->n_room ? 2 * print_call->n_room : 8;
        struct pfd_print_call_argument *arguments =
            realloc(print_call->arguments, room * sizeof *arguments);
        if (!arguments)
            return NULL;
        print_call->arguments = arguments;
        print_call->n_room = room;
    }
    print_call->arguments[print_call->n] =
        (struct pfd_print_call_argument){ 0 };
    return &print_call->arguments[print_call->n++];
}

/* A call while it is read. */
struct reader {
    struct pfd_lexer *lexer;
    const struct pfd_print_call_names *names;
    struct pfd_print_call *print_call;
    const struct pfd_token *macro; /* NULL: in no macro's text */
    bool at_line_start;
    size_t depth; /* of brackets inside the call */
};

static enum pfd_status fail(const struct reader *r,
                            const struct pfd_token *token, const char *why)
{
    return pfd_token_fail(r->lexer, token, "%s", why);
}

/* Fails because the call depends on the expansion of macros. */
static enum pfd_status fail_macro(const struct reader *r, const char *what,
                                  const char *else_what)
{
    const struct pfd_lexer *l = r->lexer;
    const struct pfd_token *macro = r->macro;
    struct pfd_quoted name;
    if (!macro) {
        return pfd_token_fail(l, &r->print_call->name,
                              "%s, and macros are not "
                              "expanded: %s",
                              what, else_what);
    }
    return pfd_token_fail(
        l, &r->print_call->name,
        "%s, and macros are not expanded: with --call %s its calls print what "
        "they say themselves",
        what, pfd_quote(&name, l->text + macro->from, macro->to - macro->from));
}

/* The next token except space; an error if the call cannot continue. */
static enum pfd_status next(struct reader *r, struct pfd_token *ret)
{
    enum pfd_status status;
    do {
        status = pfd_token_solid(r->lexer, false, ret);
        if (ret->kind == PFD_TOKEN_NEWLINE)
            r->at_line_start = true;
    } while (status == PFD_OK && ret->kind == PFD_TOKEN_NEWLINE && !r->macro);
    if (status != PFD_OK)
        return status;
    if (ret->kind == PFD_TOKEN_END || ret->kind == PFD_TOKEN_NEWLINE)
        return fail(r, &r->print_call->name, "the call does not end");
    if (ret->kind == PFD_TOKEN_BROKEN)
        return fail(r, ret, "the string or character does not end on its line");
    if (r->at_line_start && pfd_token_is_mark(r->lexer, ret, '#'))
        return fail(r, ret, "a directive stands inside of a call");
    r->at_line_start = false;
    if (pfd_print_call_is(r->names, r->lexer, ret))
        return fail(r, ret, "a call stands inside of another");
    return PFD_OK;
}

static bool is_any(const struct reader *r, const struct pfd_token *token,
                   const char *marks)
{
    for (; *marks; marks++) {
        if (pfd_token_is_mark(r->lexer, token, *marks))
            return true;
    }
    return false;
}

/* Does the token end the argument? */
static bool ends_argument(struct reader *r, const struct pfd_token *token)
{
    if (r->depth == 0 && is_any(r, token, ",)"))
        return true;
    if (is_any(r, token, "([{")) {
        r->depth++;
    } else if (r->depth > 0 && is_any(r, token, ")]}")) {
        r->depth--;
    }
    return false;
}

/* Reads one argument; *ret: the comma or parenthesis behind it. */
static enum pfd_status read_argument(struct reader *r, struct pfd_token *ret)
{
    struct pfd_print_call_argument *a = add_argument(r->print_call);
    if (!a)
        return PFD_ERR_NOMEM;
    a->is_literal = true;
    for (bool first = true;; first = false) {
        enum pfd_status status = next(r, ret);
        if (status != PFD_OK)
            return status;
        if (ends_argument(r, ret)) {
            if (first)
                return fail(r, ret, "an argument is missing");
            return PFD_OK;
        }
        if (first) {
            a->from = ret->from;
            a->line = ret->line;
        }
        a->to = ret->to;
        if (ret->kind != PFD_TOKEN_STRING) {
            a->is_literal = false;
        } else if (a->is_literal) {
            status = literal_read(r->lexer, ret, &a->text);
            if (status != PFD_OK)
                return status;
        }
    }
}

/* Reads "LEVEL," before the format string. */
static enum pfd_status read_level(struct reader *r)
{
    static const char *const levels[] = { "ERROR", "WARNING", "INFO", "DEBUG",
                                          "TRACE" };
    struct pfd_token word;
    struct pfd_token comma;
    enum pfd_status status = next(r, &word);
    if (status == PFD_OK)
        status = next(r, &comma);
    if (status != PFD_OK)
        return status;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (pfd_token_is(r->lexer, &word, levels[i]) &&
            pfd_token_is_mark(r->lexer, &comma, ','))
            r->print_call->level = (uint8_t)(i + PFD_LEVEL_ERROR);
    }
    return r->print_call->level
               ? PFD_OK
               : fail(r, &word,
                      "PFD_LOG begins with ERROR, WARNING, INFO, "
                      "DEBUG or TRACE");
}

enum pfd_status pfd_print_call_read(struct pfd_lexer *lexer,
                                    const struct pfd_print_call_names *names,
                                    const struct pfd_token *macro,
                                    struct pfd_print_call *print_call)
{
    struct reader r = { lexer, names, print_call, macro, false, 0 };
    struct pfd_token token;
    enum pfd_status status = pfd_token_solid(lexer, !macro, &token);
    if (status != PFD_OK)
        return status;
    if (!pfd_token_is_mark(lexer, &token, '(')) {
        return fail_macro(&r, "the name stands without its arguments",
                          "write them here");
    }
    print_call->open = token.from;
    if (pfd_token_is(lexer, &print_call->name, "PFD_LOG"))
        status = read_level(&r);
    if (status != PFD_OK)
        return status;
    do {
        status = read_argument(&r, &token);
    } while (status == PFD_OK && !pfd_token_is_mark(lexer, &token, ')'));
    print_call->end = token.to;
    if (status == PFD_OK && !print_call->arguments[0].is_literal) {
        return fail_macro(&r, "the format string is no string literal",
                          "write its text here");
    }
    return status;
}
