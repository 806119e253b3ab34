/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "scan/source.h"

enum {
    /* Some 70 bytes come out for each byte of the worst source. */
    SOURCE_MAX = 16 << 20,
    ERRORS_MAX = 100, /* of a source */
};

struct pfd_scan *pfd_scan_new(const struct pfd_scan_options *options)
{
    struct pfd_scan *scan = calloc(1, sizeof *scan);
    if (scan && options) {
        scan->options = *options;
        scan->names =
            (struct pfd_call_names){ options->calls, options->n_calls };
    }
    return scan;
}

void pfd_scan_free(struct pfd_scan *scan)
{
    if (!scan)
        return;
    pfd_scan_table_free(&scan->table);
    free(scan);
}

bool pfd_scan_language_of(const char *name, enum pfd_scan_language *ret)
{
    static const struct {
        const char *end;
        enum pfd_scan_language language;
    } ends[] = {
        { ".cl", PFD_SCAN_OPENCL },  { ".clc", PFD_SCAN_OPENCL },
        { ".ocl", PFD_SCAN_OPENCL }, { ".glsl", PFD_SCAN_GLSL },
        { ".comp", PFD_SCAN_GLSL },  { ".vert", PFD_SCAN_GLSL },
        { ".frag", PFD_SCAN_GLSL },  { ".geom", PFD_SCAN_GLSL },
        { ".tesc", PFD_SCAN_GLSL },  { ".tese", PFD_SCAN_GLSL },
        { ".mesh", PFD_SCAN_GLSL },  { ".task", PFD_SCAN_GLSL },
        { ".rgen", PFD_SCAN_GLSL },  { ".rchit", PFD_SCAN_GLSL },
        { ".rahit", PFD_SCAN_GLSL }, { ".rmiss", PFD_SCAN_GLSL },
        { ".rint", PFD_SCAN_GLSL },  { ".rcall", PFD_SCAN_GLSL },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++) {
        if (!strcmp(dot, ends[i].end)) {
            *ret = ends[i].language;
            return true;
        }
    }
    return false;
}

/* ---- a file ---- */

static void note(const struct pfd_source *f, bool is_error, const char *text)
{
    const struct pfd_scan_options *o = &f->scan->options;
    if (o->note)
        o->note(o->user, is_error, text);
}

enum pfd_status pfd_source_error(struct pfd_source *f)
{
    if (f->dead)
        return PFD_OK;
    if (f->n_errors++ == 0)
        f->first = f->err;
    note(f, true, f->err.text);
    if (f->n_errors < ERRORS_MAX)
        return PFD_OK;
    note(f, true, "there are more errors in this file");
    return PFD_ERR_CORRUPT;
}

void pfd_source_hint(struct pfd_source *f, const struct pfd_token *token,
                     const char *text)
{
    struct pfd_error err;
    struct pfd_lexer l = f->lexer;
    l.err = &err;
    pfd_token_fail(&l, token, "%s", text);
    note(f, false, err.text);
}

enum pfd_status pfd_source_broken(struct pfd_source *f,
                                  const struct pfd_token *token)
{
    if (!pfd_call_is_in(&f->scan->names, &f->lexer, token))
        return PFD_OK;
    pfd_token_fail(&f->lexer, token,
                   "the %s does not end on its line, and a call is behind it",
                   f->lexer.text[token->from] == '"' ? "string" : "character");
    return pfd_source_error(f);
}

struct pfd_source_place pfd_source_place(const struct pfd_source *f,
                                         const struct pfd_token *token)
{
    return (struct pfd_source_place){
        .at = f->out.n + (token->from - f->done),
        .line = token->line,
        .file = f->lexer.file,
        .n_file = f->lexer.n_file,
    };
}

void pfd_source_give_back(struct pfd_source *f, const struct pfd_token *token)
{
    f->lexer.at = token->from;
    f->lexer.line = token->line;
}

/* The device's source goes before the first code; before the #if that this is
 * in, which may be false, unless #extension stands there. */
static void choose_place(struct pfd_source *f, const struct pfd_token *first)
{
    bool before = f->depth > 0 && !f->group_has_extension;
    f->place = before ? f->group : pfd_source_place(f, first);
    f->has_place = true;
}

static enum pfd_status take_code(struct pfd_source *f,
                                 const struct pfd_token *token)
{
    f->at_line_start = false;
    if (!f->has_place)
        choose_place(f, token);
    if (token->kind == PFD_TOKEN_BROKEN)
        return pfd_source_broken(f, token);
    if (pfd_call_is(&f->scan->names, &f->lexer, token))
        return pfd_source_call(f, token, NULL);
    if (pfd_token_is(&f->lexer, token, "PFD_PARAMETERS") ||
        pfd_token_is(&f->lexer, token, "PFD_ARGUMENTS"))
        f->uses_parameters = true;
    return PFD_OK;
}

static enum pfd_status take_all(struct pfd_source *f)
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
            status = pfd_source_directive(f, &token);
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

/* #line, so that what follows is where the author has it. */
static void add_line(const struct pfd_source *f, struct pfd_text *ret)
{
    const struct pfd_source_place *place = &f->place;
    pfd_text_printf(ret, "#line %u", place->line);
    if (f->language == PFD_SCAN_OPENCL) {
        pfd_text_puts(ret, " \"");
        if (place->file)
            pfd_text_add(ret, place->file, place->n_file);
        for (const char *c = f->lexer.name; !place->file && *c; c++) {
            if (*c == '"' || *c == '\\')
                pfd_text_add(ret, "\\", 1);
            pfd_text_add(ret, (unsigned char)*c < ' ' ? "?" : c, 1);
        }
        pfd_text_add(ret, "\"", 1);
    }
    pfd_text_add(ret, "\n", 1);
}

/* The output with the device's source in its place. */
static void add_device(struct pfd_source *f)
{
    struct pfd_text all = { 0 };
    size_t at = f->has_place ? f->place.at : f->out.n;
    if (f->out.failed || (!f->n_calls && !f->uses_parameters))
        return;
    if (at > 0)
        pfd_text_add(&all, f->out.data, at);
    if (at > 0 && all.data && all.data[all.n - 1] != '\n')
        pfd_text_add(&all, "\n", 1);
    if (f->language == PFD_SCAN_GLSL) {
        pfd_device_glsl(&f->device, &all);
    } else {
        pfd_device_opencl(&f->device, &all);
    }
    if (f->has_place) {
        add_line(f, &all);
        pfd_text_add(&all, f->out.data + at, f->out.n - at);
    }
    pfd_text_free(&f->out);
    f->out = all;
}

/* Storage buffers, and what counts in them, are younger than some versions. */
static enum pfd_status check_version(struct pfd_source *f)
{
    if (!f->n_calls || !f->version || f->version >= (f->is_es ? 310 : 420))
        return PFD_OK;
    pfd_token_fail(&f->lexer, &f->version_at,
                   "GLSL %s%u cannot print: it has no atomic operations on "
                   "buffers. 430 (or 420, or 310 es) is the least",
                   f->is_es ? "ES " : "", f->version);
    return pfd_source_error(f);
}

/* Compilers take a byte order mark at the very beginning, if at all; what is
 * added goes before it, so it is left out. */
static enum pfd_status take_mark(struct pfd_source *f)
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
        pfd_source_hint(f, &(struct pfd_token){ .line = 1 },
                        "a byte order mark, which compilers of GLSL refuse, is "
                        "left out");
    }
    return PFD_OK;
}

/* A byte 0 ends source for compilers, and hides the rest of it. */
static enum pfd_status check_bytes(struct pfd_source *f)
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

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name);
    return n >= strlen(end) && !strcmp(name + n - strlen(end), end);
}

/* What comes out is the caller's, who frees it as any other memory. */
static enum pfd_status hand_over(enum pfd_status status, struct pfd_text *text,
                                 void **ret, size_t *n_ret,
                                 struct pfd_error *err)
{
    *ret = NULL;
    *n_ret = 0;
    if (status == PFD_OK && !text->data)
        pfd_text_reserve(text, 1);
    if (status == PFD_OK && text->failed)
        status = PFD_ERR_NOMEM;
    if (status == PFD_OK) {
        *ret = text->data;
        *n_ret = text->n;
        return PFD_OK;
    }
    pfd_text_free(text);
    if (status == PFD_ERR_NOMEM)
        pfd_fail(err, status, PFD_NO_OFFSET, "out of memory");
    return status;
}

enum pfd_status pfd_scan_source(struct pfd_scan *scan,
                                enum pfd_scan_language language,
                                const char *name, const void *source, size_t n,
                                void **ret, size_t *n_ret,
                                struct pfd_error *err)
{
    const struct pfd_scan_options *o = &scan->options;
    struct pfd_source f = {
        .scan = scan,
        .language = language,
        .lexer = { .text = n ? source : "",
                   .n = n,
                   .line = 1,
                   .has_characters = language == PFD_SCAN_OPENCL,
                   .name = name },
        .device = { .set = o->set,
                    .binding = o->binding,
                    .subgroups = o->subgroups,
                    .wide_atomics = o->wide_atomics,
                    .fragment = ends_in(name, ".frag"),
                    .compute = ends_in(name, ".comp") ||
                               ends_in(name, ".mesh") || ends_in(name, ".task"),
                    .control = o->control,
                    .commit = o->commit,
                    .origin = o->origin },
        .at_line_start = true,
    };
    f.lexer.err = &f.err;
    enum pfd_status status = take_mark(&f);
    if (status == PFD_OK)
        status = check_bytes(&f);
    if (status == PFD_OK)
        status = take_all(&f);
    if (status == PFD_OK)
        status = check_version(&f);
    if (status == PFD_ERR_CORRUPT && f.n_errors < ERRORS_MAX)
        pfd_source_error(&f);
    if (f.n_errors && status != PFD_ERR_NOMEM) {
        status = PFD_ERR_CORRUPT;
        if (err)
            *err = f.first;
    }
    if (status == PFD_OK) {
        add_device(&f);
        scan->n_calls += f.n_calls;
    }
    pfd_set_free(&f.device.shapes);
    return hand_over(status, &f.out, ret, n_ret, err);
}

size_t pfd_scan_n_calls(const struct pfd_scan *scan)
{
    return scan->n_calls;
}

size_t pfd_scan_n_strings(const struct pfd_scan *scan)
{
    return scan->table.texts.n + scan->table.sites.n;
}

enum pfd_status pfd_scan_strings(const struct pfd_scan *scan, void **ret,
                                 size_t *n_ret, struct pfd_error *err)
{
    struct pfd_text text = { 0 };
    pfd_scan_table_write(&scan->table, &text);
    return hand_over(PFD_OK, &text, ret, n_ret, err);
}
