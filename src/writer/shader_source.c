/* SPDX-License-Identifier: MIT */
/* Reads a file from its beginning to its end. */
#include "writer/shader_source.h"

#include <string.h>

enum {
    /* The worst source grows by a factor of some 70. */
    SOURCE_MAX = 16 << 20,
};

/* Chooses the place of the device's source: before the first code, and before
 * the #if around it, which may be false, unless #extension is in that group. */
static void choose_place(struct pfd_shader_source *f,
                         const struct pfd_token *first)
{
    bool before = f->conditions.depth > 0 && !f->conditions.has_extension;
    f->place = before ? f->conditions.begin : pfd_shader_source_place(f, first);
    f->has_place = true;
}

/* Notes code outside of calls. */
static void note_code(struct pfd_shader_source *f,
                      const struct pfd_token *token)
{
    const struct pfd_lexer *l = &f->lexer;
    if (f->conditions.dead)
        return;
    if (f->language == PFD_SCAN_GLSL)
        pfd_descriptors_take(&f->descriptors, l, token);
    if (pfd_token_is_mark(l, token, '{')) {
        f->n_braces++;
    } else if (pfd_token_is_mark(l, token, '}')) {
        f->n_braces -= f->n_braces > 0;
    } else if (!f->other.line && (pfd_token_is(l, token, "printf") ||
                                  pfd_token_is(l, token, "debugPrintfEXT"))) {
        f->other = *token;
    }
}

static enum pfd_status take_code(struct pfd_shader_source *f,
                                 const struct pfd_token *token)
{
    f->at_line_start = false;
    if (!f->has_place)
        choose_place(f, token);
    note_code(f, token);
    if (token->kind == PFD_TOKEN_BROKEN)
        return pfd_shader_source_broken(f, token);
    if (pfd_print_call_is(&f->scan->names, &f->lexer, token))
        return pfd_shader_source_call(f, token, NULL);
    if (pfd_token_is(&f->lexer, token, "PFD_PARAMETERS") ||
        pfd_token_is(&f->lexer, token, "PFD_ARGUMENTS"))
        f->uses_parameters = true;
    return PFD_OK;
}

static enum pfd_status take_all(struct pfd_shader_source *f)
{
    struct pfd_token token;
    enum pfd_status status = PFD_OK;
    do {
        status = pfd_token_solid(&f->lexer, false, &token);
        if (status != PFD_OK || token.kind == PFD_TOKEN_END)
            break;
        if (token.kind == PFD_TOKEN_NEWLINE) {
            f->at_line_start = true;
        } else if (f->at_line_start &&
                   pfd_token_is_mark(&f->lexer, &token, '#')) {
            status = pfd_shader_source_directive(f, &token);
        } else {
            status = take_code(f, &token);
        }
    } while (status == PFD_OK);
    if (status == PFD_OK) {
        pfd_text_add(&f->out, f->lexer.text + f->done, f->lexer.n - f->done);
        f->done = f->lexer.n;
    }
    return status;
}

/* Skips a byte order mark. Compilers accept it only at the very beginning, if
 * at all, and the device's source is added before it. */
static enum pfd_status take_mark(struct pfd_shader_source *f)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *encoding;
    } marks[] = { { "\xff\xfe\0", 4, "UTF-32" },
                  { "\0\0\xfe\xff", 4, "UTF-32" },
                  { "\xff\xfe", 2, "UTF-16" },
                  { "\xfe\xff", 2, "UTF-16" },
                  { "\xef\xbb\xbf", 3, NULL } };
    size_t i = 0;
    while (i < sizeof marks / sizeof *marks &&
           (f->lexer.n < marks[i].n ||
            memcmp(f->lexer.text, marks[i].bytes, marks[i].n) != 0))
        i++;
    if (i == sizeof marks / sizeof *marks)
        return PFD_OK;
    if (marks[i].encoding) {
        return pfd_token_fail(&f->lexer, &(struct pfd_token){ .line = 1 },
                              "the source is %s: compilers take UTF-8",
                              marks[i].encoding);
    }
    f->lexer.at = f->done = marks[i].n;
    if (f->language == PFD_SCAN_GLSL) {
        pfd_shader_source_hint(
            f, f, 1,
            "a byte order mark, which compilers of GLSL refuse, is "
            "left out");
    }
    return PFD_OK;
}

/* Rejects a byte 0, which ends the source for compilers and hides the rest. */
static enum pfd_status check_bytes(struct pfd_shader_source *f)
{
    if (f->lexer.n > SOURCE_MAX) {
        return pfd_token_fail(&f->lexer, &(struct pfd_token){ .line = 1 },
                              "the source is longer than 16 MiB");
    }
    const char *zero = memchr(f->lexer.text, '\0', f->lexer.n);
    struct pfd_token at = { .line = 1 };
    if (!zero)
        return PFD_OK;
    at.from = (size_t)(zero - f->lexer.text);
    for (size_t i = 0; i < at.from; i++)
        at.line += f->lexer.text[i] == '\n';
    return pfd_token_fail(&f->lexer, &at, "a byte 0, which no source has");
}

enum pfd_status pfd_shader_source_take(struct pfd_shader_source *f)
{
    enum pfd_status status = take_mark(f);
    if (status == PFD_OK)
        status = check_bytes(f);
    if (status == PFD_OK)
        status = take_all(f);
    return status;
}
