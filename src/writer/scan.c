/* SPDX-License-Identifier: MIT */
#include "writer/scan.h"

#include <stdlib.h>
#include <string.h>

#include "writer/shader_source.h"

struct pfd_scan *pfd_scan_new(const struct pfd_scan_options *options)
{
    struct pfd_scan *scan = calloc(1, sizeof *scan);
    if (scan && options) {
        scan->options = *options;
        scan->names =
            (struct pfd_print_call_names){ options->calls, options->n_calls };
    }
    return scan;
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

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name);
    return n >= strlen(end) && !strcmp(name + n - strlen(end), end);
}

/* Hands the output to the caller, who frees it. */
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
        *text = (struct pfd_text){ 0 };
        return PFD_OK;
    }
    pfd_text_free(text);
    if (status == PFD_ERR_NOMEM)
        pfd_fail(err, status, PFD_NO_OFFSET, "out of memory");
    return status;
}

static struct pfd_shader_source *new_source(struct pfd_scan *scan,
                                            enum pfd_scan_language language,
                                            const char *name,
                                            const void *source, size_t n)
{
    const struct pfd_scan_options *o = &scan->options;
    struct pfd_shader_source *f = calloc(1, sizeof *f);
    char *copy = f ? strdup(name) : NULL;
    if (!copy) {
        free(f);
        return NULL;
    }
    *f = (struct pfd_shader_source){
        .scan = scan,
        .language = language,
        .lexer = { .text = n ? source : "",
                   .n = n,
                   .line = 1,
                   .has_characters = language == PFD_SCAN_OPENCL,
                   .name = copy,
                   .err = &f->err },
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
        .name = copy,
        .at_line_start = true,
    };
    return f;
}

static void free_source(struct pfd_shader_source *f)
{
    pfd_text_free(&f->out);
    pfd_text_free(&f->includes);
    pfd_text_free(&f->links);
    pfd_text_set_free(&f->device.shapes);
    pfd_text_set_free(&f->device.arguments);
    pfd_descriptors_free(&f->descriptors);
    free(f->name);
    free(f);
}

void pfd_scan_free(struct pfd_scan *scan)
{
    if (!scan)
        return;
    for (size_t i = 0; i < pfd_scan_n_sources(scan); i++)
        free_source(pfd_scan_at(scan, i));
    pfd_text_free(&scan->sources);
    pfd_scan_table_free(&scan->table);
    free(scan);
}

/* Ends a source with its status, and the first of its errors. */
static enum pfd_status end_source(struct pfd_shader_source *f,
                                  enum pfd_status status, struct pfd_error *err)
{
    if (status == PFD_ERR_CORRUPT && f->n_errors < PFD_SOURCE_ERRORS_MAX) {
        f->conditions.dead = 0; /* the source ends here for any reader */
        pfd_shader_source_error(f);
    }
    if (status == PFD_ERR_NOMEM)
        return pfd_fail(err, status, PFD_NO_OFFSET, "out of memory");
    if (!f->n_errors)
        return PFD_OK;
    if (err)
        *err = f->first;
    return PFD_ERR_CORRUPT;
}

static enum pfd_status add(struct pfd_scan *scan,
                           enum pfd_scan_language language, const char *name,
                           const void *source, size_t n, bool is_foreign,
                           size_t *ret, struct pfd_error *err)
{
    struct pfd_shader_source *f = new_source(scan, language, name, source, n);
    pfd_text_add(&scan->sources, &f,
                 f ? sizeof(struct pfd_shader_source *) : 0);
    if (!f || scan->sources.failed) {
        if (f)
            free_source(f);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    f->is_foreign = is_foreign;
    *ret = pfd_scan_n_sources(scan) - 1;
    enum pfd_status status = end_source(f, pfd_shader_source_take(f), err);
    if (status == PFD_OK && !is_foreign)
        scan->n_calls += f->n_calls;
    return status;
}

enum pfd_status pfd_scan_add(struct pfd_scan *scan,
                             enum pfd_scan_language language, const char *name,
                             const void *source, size_t n, size_t *ret,
                             struct pfd_error *err)
{
    return add(scan, language, name, source, n, false, ret, err);
}

enum pfd_status pfd_scan_add_included(struct pfd_scan *scan,
                                      enum pfd_scan_language language,
                                      const char *name, const void *source,
                                      size_t n, size_t *ret,
                                      struct pfd_error *err)
{
    return add(scan, language, name, source, n, true, ret, err);
}

enum pfd_status pfd_scan_write(struct pfd_scan *scan, size_t i, void **ret,
                               size_t *n_ret, struct pfd_error *err)
{
    struct pfd_shader_source *f = pfd_scan_at(scan, i);
    f->n_errors = 0;
    enum pfd_status status = end_source(f, pfd_shader_source_complete(f), err);
    return hand_over(status, &f->out, ret, n_ret, err);
}

enum pfd_status pfd_scan_source(struct pfd_scan *scan,
                                enum pfd_scan_language language,
                                const char *name, const void *source, size_t n,
                                void **ret, size_t *n_ret,
                                struct pfd_error *err)
{
    size_t i = 0;
    size_t before = pfd_scan_n_sources(scan);
    *ret = NULL;
    *n_ret = 0;
    enum pfd_status status =
        pfd_scan_add(scan, language, name, source, n, &i, err);
    if (status == PFD_OK)
        status = pfd_scan_write(scan, i, ret, n_ret, err);
    /* The source's bytes are no longer borrowed. */
    if (pfd_scan_n_sources(scan) > before) {
        free_source(pfd_scan_at(scan, before));
        scan->sources.n -= sizeof(struct pfd_shader_source *);
    }
    return status;
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
