/* SPDX-License-Identifier: MIT */
#include "writer/print_call.h"

#include <stdlib.h>

#include <printfdecode/device/control.h>

#include "writer/literal.h"

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
            status = pfd_literal_read(r->lexer, ret, &a->text);
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
