/* SPDX-License-Identifier: MIT */
/* Reads directives: line numbers, and places where code may be added. */
#include "writer/scan.h"
#include "writer/shader_source.h"

static bool ends_line(const struct pfd_token *token)
{
    return token->kind == PFD_TOKEN_NEWLINE || token->kind == PFD_TOKEN_END;
}

/* Reads a number of a line or version; false: there is none. */
static bool read_number(const struct pfd_shader_source *f,
                        const struct pfd_token *token, uint32_t *ret)
{
    uint64_t sum = 0;
    if (token->kind != PFD_TOKEN_NUMBER || token->to - token->from > 10)
        return false;
    for (size_t at = token->from; at < token->to; at++) {
        char c = f->lexer.text[at];
        if (c < '0' || c > '9')
            return false;
        sum = sum * 10 + (uint64_t)(c - '0');
    }
    *ret = (uint32_t)sum;
    return sum <= UINT32_MAX;
}

/* Reads "#line 12 "file"" and "# 12 "file" 1": token is the number. */
static enum pfd_status take_line(struct pfd_shader_source *f,
                                 const struct pfd_token *token)
{
    struct pfd_token name;
    uint32_t line;
    if (!read_number(f, token, &line))
        return pfd_token_rest_of_line(&f->lexer);
    enum pfd_status status = pfd_token_solid(&f->lexer, false, &name);
    if (status == PFD_OK && name.kind == PFD_TOKEN_STRING) {
        f->lexer.file = f->lexer.text + name.from + 1;
        f->lexer.n_file = name.to - name.from - 2;
    }
    if (status == PFD_OK && ends_line(&name)) {
        pfd_shader_source_give_back(f, &name);
    } else if (status == PFD_OK) {
        status = pfd_token_rest_of_line(&f->lexer);
    }
    f->lexer.line = pfd_shader_source_line_is_next(f) ? line - 1 : line;
    return status;
}

/* Reads "#version 310 es". */
static enum pfd_status take_version(struct pfd_shader_source *f)
{
    struct pfd_token token;
    enum pfd_status status = pfd_token_solid(&f->lexer, false, &token);
    f->version_at = token;
    if (status == PFD_OK && read_number(f, &token, &f->version))
        status = pfd_token_solid(&f->lexer, false, &token);
    if (status != PFD_OK)
        return status;
    f->is_es = pfd_token_is(&f->lexer, &token, "es");
    if (!ends_line(&token))
        return pfd_token_rest_of_line(&f->lexer);
    pfd_shader_source_give_back(f, &token);
    return PFD_OK;
}

/* Reads a #define, whose text may have calls. If its name is a call's, its uses
 * print and are never expanded: the text is skipped. */
static enum pfd_status take_define(struct pfd_shader_source *f)
{
    struct pfd_token name;
    enum pfd_status status = pfd_token_solid(&f->lexer, false, &name);
    struct pfd_token token = name;
    if (status == PFD_OK &&
        pfd_print_call_is(&f->scan->names, &f->lexer, &name))
        return pfd_token_rest_of_line(&f->lexer);
    bool is_number = true;
    while (status == PFD_OK && !ends_line(&token)) {
        status = pfd_token_solid(&f->lexer, false, &token);
        if (is_number && status == PFD_OK)
            pfd_descriptors_define(&f->descriptors, &f->lexer, &name, &token);
        /* "(1)" counts, too, but not the parameters of a macro */
        is_number &=
            token.from > name.to && pfd_token_is_mark(&f->lexer, &token, '(');
        if (status == PFD_OK && token.kind == PFD_TOKEN_BROKEN)
            status = pfd_shader_source_broken(f, &token);
        if (status == PFD_OK &&
            pfd_print_call_is(&f->scan->names, &f->lexer, &token))
            status = pfd_shader_source_call(f, &token, &name);
    }
    if (status == PFD_OK)
        pfd_shader_source_give_back(f, &token);
    return status;
}

/* Is it "#if 0"? Takes neither it nor the rest of its line from the lexer. */
static bool is_never(const struct pfd_shader_source *f)
{
    struct pfd_lexer l = f->lexer;
    struct pfd_token zero;
    struct pfd_token end;
    return pfd_token_solid(&l, false, &zero) == PFD_OK &&
           zero.kind == PFD_TOKEN_NUMBER && zero.to == zero.from + 1 &&
           l.text[zero.from] == '0' &&
           pfd_token_solid(&l, false, &end) == PFD_OK && ends_line(&end);
}

/* Skips text behind "#if 0", which no compiler reads. */
static void take_dead(struct pfd_shader_source *f, const struct pfd_token *word)
{
    const struct pfd_lexer *l = &f->lexer;
    if (f->conditions.dead) {
        if (f->conditions.dead == f->conditions.depth &&
            (pfd_token_is(l, word, "endif") || pfd_token_is(l, word, "else") ||
             pfd_token_is(l, word, "elif")))
            f->conditions.dead = 0;
    } else if (pfd_token_is(l, word, "if") && is_never(f)) {
        f->conditions.dead = f->conditions.depth + 1;
    }
}

/* Reads "#include "file"" and "#include <file>"; a macro's file is unknown. */
static enum pfd_status take_include(struct pfd_shader_source *f)
{
    const char *text = f->lexer.text;
    struct pfd_token token;
    struct pfd_scan_include include = { 0 };
    enum pfd_status status = pfd_token_solid(&f->lexer, false, &token);
    if (status != PFD_OK)
        return status;
    if (ends_line(&token)) {
        pfd_shader_source_give_back(f, &token);
        return PFD_OK;
    }
    include.line = token.line;
    include.path = text + token.from + 1;
    if (token.kind == PFD_TOKEN_STRING) {
        include.n = token.to - token.from - 2;
    } else if (pfd_token_is_mark(&f->lexer, &token, '<')) {
        include.is_angled = true;
        while (token.to + include.n < f->lexer.n &&
               !pfd_token_newline(text, f->lexer.n, token.to + include.n) &&
               text[token.to + include.n] != '>')
            include.n++;
    }
    if (include.n && !f->conditions.dead)
        pfd_text_add(&f->includes, (const char *)&include, sizeof include);
    /* The name in <> may look like a comment. */
    if (include.is_angled)
        f->lexer.at = token.to + include.n;
    return pfd_token_rest_of_line(&f->lexer);
}

static void take_group(struct pfd_shader_source *f,
                       const struct pfd_token *hash,
                       const struct pfd_token *word)
{
    const struct pfd_lexer *l = &f->lexer;
    take_dead(f, word);
    if (pfd_token_is(l, word, "endif")) {
        f->conditions.depth -= f->conditions.depth > 0;
    } else if (pfd_token_is(l, word, "if") || pfd_token_is(l, word, "ifdef") ||
               pfd_token_is(l, word, "ifndef")) {
        if (f->conditions.depth++ == 0) {
            f->conditions.begin = pfd_shader_source_place(f, hash);
            f->conditions.has_extension = false;
        }
    } else if (pfd_token_is(l, word, "extension")) {
        f->conditions.has_extension = true;
    }
}

enum pfd_status pfd_shader_source_directive(struct pfd_shader_source *f,
                                            const struct pfd_token *hash)
{
    struct pfd_token word;
    enum pfd_status status = pfd_token_solid(&f->lexer, false, &word);
    if (status != PFD_OK)
        return status;
    if (ends_line(&word)) {
        pfd_shader_source_give_back(f, &word);
        return PFD_OK;
    }
    if (pfd_token_is(&f->lexer, &word, "define"))
        return take_define(f);
    if (word.kind == PFD_TOKEN_NUMBER)
        return take_line(f, &word);
    if (pfd_token_is(&f->lexer, &word, "line")) {
        status = pfd_token_solid(&f->lexer, false, &word);
        return status == PFD_OK ? take_line(f, &word) : status;
    }
    if (pfd_token_is(&f->lexer, &word, "version"))
        return take_version(f);
    if (pfd_token_is(&f->lexer, &word, "include"))
        return take_include(f);
    take_group(f, hash, &word);
    return pfd_token_rest_of_line(&f->lexer);
}
