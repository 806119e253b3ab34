/* SPDX-License-Identifier: MIT */
/* A source while it is read: its place, its errors and hints. */
#include <string.h>

#include "writer/shader_source.h"

size_t pfd_scan_n_sources(const struct pfd_scan *scan)
{
    return scan->sources.n / sizeof(struct pfd_shader_source *);
}

struct pfd_shader_source *pfd_scan_at(const struct pfd_scan *scan, size_t i)
{
    struct pfd_shader_source *ret;
    memcpy(&ret, scan->sources.data + i * sizeof(void *), sizeof(void *));
    return ret;
}

struct pfd_shader_source_place pfd_shader_source_place(
    const struct pfd_shader_source *f, const struct pfd_token *token)
{
    return (struct pfd_shader_source_place){
        .at = f->out.n + (token->from - f->done),
        .line = token->line,
        .file = f->lexer.file,
        .n_file = f->lexer.n_file,
    };
}

void pfd_shader_source_give_back(struct pfd_shader_source *f,
                                 const struct pfd_token *token)
{
    f->lexer.at = token->from;
    f->lexer.line = token->line;
}

/* ---- errors ---- */

/* Errors in a file that is not rewritten are left to its compiler. */
static void note(const struct pfd_shader_source *f, bool is_error,
                 const char *text)
{
    const struct pfd_scan_options *o = &f->scan->options;
    if (o->note && !f->is_foreign)
        o->note(o->user, is_error, text);
}

enum pfd_status pfd_shader_source_error(struct pfd_shader_source *f)
{
    if (f->conditions.dead)
        return PFD_OK;
    if (f->n_errors++ == 0)
        f->first = f->err;
    note(f, true, f->err.text);
    if (f->n_errors < PFD_SOURCE_ERRORS_MAX)
        return PFD_OK;
    note(f, true, "there are more errors in this file");
    return PFD_ERR_CORRUPT;
}

void pfd_shader_source_hint(const struct pfd_shader_source *f,
                            const struct pfd_shader_source *of, uint32_t line,
                            const char *text)
{
    struct pfd_error err;
    struct pfd_lexer l = of->lexer;
    l.err = &err;
    pfd_token_fail(&l, &(struct pfd_token){ .line = line }, "%s", text);
    note(f, false, err.text);
}

enum pfd_status pfd_shader_source_broken(struct pfd_shader_source *f,
                                         const struct pfd_token *token)
{
    if (!pfd_print_call_is_in(&f->scan->names, &f->lexer, token))
        return PFD_OK;
    pfd_token_fail(&f->lexer, token,
                   "the %s does not end on its line, and a call is behind it",
                   f->lexer.text[token->from] == '"' ? "string" : "character");
    return pfd_shader_source_error(f);
}
