/* SPDX-License-Identifier: MIT */
/*
 * Completes a file that was read: adds the device's source, for the file and
 * for the files that it includes, which may be parts of functions, where
 * nothing can be defined. Also makes the checks that need all of these files.
 */
#include <stdlib.h>
#include <string.h>

#include "writer/scan.h"
#include "writer/shader_source.h"

enum {
    FREE_MAX = 64 /* bindings that are tried before one is suggested */
};

/* A source and all files that it includes, each once. */
struct closure {
    struct pfd_shader_source **all; /* [n]; owned; the first is the source */
    size_t n;
};

static bool find_closure(struct pfd_shader_source *f, struct closure *ret)
{
    struct pfd_scan *scan = f->scan;
    ret->n = 0;
    ret->all =
        malloc(pfd_scan_n_sources(scan) * sizeof(struct pfd_shader_source *));
    if (!ret->all)
        return false;
    uint64_t mark = ++scan->mark;
    f->closure.mark = mark;
    ret->all[ret->n++] = f;
    for (size_t i = 0; i < ret->n; i++) {
        const struct pfd_text *links = &ret->all[i]->links;
        struct pfd_shader_source_link link;
        for (size_t at = 0; at < links->n; at += sizeof link) {
            memcpy(&link, links->data + at, sizeof link);
            struct pfd_shader_source *next = pfd_scan_at(scan, link.of);
            if (next->closure.mark != mark) {
                next->closure.mark = mark;
                next->closure.by = ret->all[i];
                next->closure.by_line = link.line;
                ret->all[ret->n++] = next;
            }
        }
    }
    return true;
}

enum pfd_status pfd_scan_link(struct pfd_scan *scan, size_t i, size_t k,
                              size_t of)
{
    struct pfd_shader_source *f = pfd_scan_at(scan, i);
    struct pfd_shader_source_link link = { .of = of };
    struct pfd_scan_include include;
    if (pfd_scan_get_include(scan, i, k, &include))
        link.line = include.line;
    pfd_text_add(&f->links, (const char *)&link, sizeof link);
    pfd_scan_at(scan, of)->is_included = true;
    return f->links.failed ? PFD_ERR_NOMEM : PFD_OK;
}

bool pfd_scan_get_include(const struct pfd_scan *scan, size_t i, size_t k,
                          struct pfd_scan_include *ret)
{
    const struct pfd_text *all = &pfd_scan_at(scan, i)->includes;
    if (k >= all->n / sizeof *ret)
        return false;
    memcpy(ret, all->data + k * sizeof *ret, sizeof *ret);
    return true;
}

/* ---- checks ---- */

/* Storage buffers, and atomic counters in them, need a minimum version; 64-bit
 * counters a later one. */
static enum pfd_status check_version(struct pfd_shader_source *f)
{
    bool prints = f->version >= (f->is_es ? 310 : 420);
    bool counts_wide = f->version >= 440 && !f->is_es;
    if (!f->version || (prints && (counts_wide || !f->device.wide_atomics)))
        return PFD_OK;
    pfd_token_fail(&f->lexer, &f->version_at,
                   prints ? "GLSL %s%u has no atomic operations on 64 bits, "
                            "which --wide-atomics needs: 440 is the least"
                          : "GLSL %s%u cannot print: it has no atomic "
                            "operations on buffers. 430 (or 420, or 310 es) is "
                            "the least",
                   f->is_es ? "ES " : "", f->version);
    return pfd_shader_source_error(f);
}

/* The value of a number, which a macro of any of these files may define. */
static bool value_of(const struct closure *c,
                     const struct pfd_descriptor_number *number, uint32_t *ret)
{
    for (size_t i = 0; i < c->n; i++) {
        if (pfd_descriptors_value(&c->all[i]->descriptors, number, ret))
            return true;
    }
    return false;
}

/* The descriptor of this set and binding, and its file; NULL: none. */
static const struct pfd_descriptor *find_taken(const struct closure *c,
                                               uint32_t set, uint32_t binding,
                                               struct pfd_shader_source **ret)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct pfd_descriptors *d = &c->all[i]->descriptors;
        for (size_t k = 0; k < pfd_descriptors_count(d); k++) {
            const struct pfd_descriptor *one = pfd_descriptors_at(d, k);
            uint32_t number[2];
            *ret = c->all[i];
            if (value_of(c, &one->set, &number[0]) && number[0] == set &&
                value_of(c, &one->binding, &number[1]) && number[1] == binding)
                return one;
        }
    }
    return NULL;
}

/* A free binding, with the next one free, too, where rules need it. */
static uint32_t find_free(const struct closure *c, const struct pfd_device *d)
{
    struct pfd_shader_source *of;
    uint32_t ret = 0;
    while (ret < FREE_MAX &&
           (find_taken(c, d->set, ret, &of) ||
            (d->control && find_taken(c, d->set, ret + 1, &of))))
        ret++;
    return ret;
}

static enum pfd_status check_binding(struct pfd_shader_source *f,
                                     const struct closure *c, bool is_control)
{
    const struct pfd_device *d = &f->device;
    struct pfd_shader_source *of = NULL;
    uint32_t binding = d->binding + is_control;
    const struct pfd_descriptor *by = find_taken(c, d->set, binding, &of);
    struct pfd_quoted name;
    if (!by)
        return PFD_OK;
    struct pfd_lexer at = of->lexer;
    at.file = by->file;
    at.n_file = by->n_file;
    at.err = &f->err;
    pfd_token_fail(
        &at, &by->at,
        "set %u, binding %u is taken by '%s'%s: --binding %u is free", d->set,
        binding, pfd_quote(&name, by->name, by->n_name),
        is_control ? ", and --control needs it" : "", find_free(c, d));
    return pfd_shader_source_error(f);
}

static enum pfd_status check(struct pfd_shader_source *f,
                             const struct closure *c)
{
    if (f->language != PFD_SCAN_GLSL)
        return PFD_OK;
    enum pfd_status status = check_version(f);
    if (status == PFD_OK)
        status = check_binding(f, c, false);
    if (status == PFD_OK && f->device.control)
        status = check_binding(f, c, true);
    return status;
}

/* ---- hints ---- */

static void tell_silence(struct pfd_shader_source *f)
{
    const struct pfd_token *other = &f->other;
    struct pfd_text text = { 0 };
    pfd_text_puts(&text, "nothing here is PFD_PRINTF");
    if (other->line) {
        pfd_text_puts(&text, ": --call ");
        pfd_text_add(&text, f->lexer.text + other->from,
                     other->to - other->from);
        pfd_text_puts(&text, "?");
    }
    pfd_text_add(&text, "", 1);
    if (!text.failed)
        pfd_shader_source_hint(f, f, other->line ? other->line : 1, text.data);
    pfd_text_free(&text);
}

static void tell_foreign(struct pfd_shader_source *f,
                         struct pfd_shader_source *included)
{
    struct pfd_text text = { 0 };
    struct pfd_quoted name;
    pfd_text_printf(&text, "%s, which is included, prints: scan it as well",
                    pfd_quote(&name, included->name, strlen(included->name)));
    included->is_reported = true;
    if (!text.failed) {
        pfd_shader_source_hint(f, included->closure.by,
                               included->closure.by_line, text.data);
    }
    pfd_text_free(&text);
}

/* ---- writing ---- */

/* Adds #line: the lines behind it keep the author's numbers. */
static void add_line(const struct pfd_shader_source *f, struct pfd_text *ret)
{
    const struct pfd_shader_source_place *place = &f->place;
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

/* Writes the output, with the device's source in its place. */
static void add_device(struct pfd_shader_source *f)
{
    struct pfd_text all = { 0 };
    size_t at = f->has_place ? f->place.at : f->out.n;
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

static bool take_all(struct pfd_text_set *ret, const struct pfd_text_set *of)
{
    bool ok = true;
    for (size_t i = 0; i < of->n && ok; i++) {
        ok = pfd_text_set_add(ret, of->texts[i].text, of->texts[i].n) !=
             SIZE_MAX;
    }
    return ok;
}

/* Merges the needs of another source. */
static bool take_needs(struct pfd_shader_source *f,
                       const struct pfd_shader_source *of)
{
    for (size_t i = 0; i < PFD_N_SHAPE_CLASSES; i++)
        f->device.takes[i] |= of->device.takes[i];
    return take_all(&f->device.shapes, &of->device.shapes) &&
           take_all(&f->device.arguments, &of->device.arguments);
}

/* Completes a source of its own, or one that others include: the files that it
 * includes need not be in each of them. */
static enum pfd_status complete(struct pfd_shader_source *f,
                                const struct closure *c)
{
    bool prints = f->n_calls > 0;
    bool is_root = !f->is_included;
    bool wants = prints || f->uses_parameters;
    enum pfd_status status = PFD_OK;
    for (size_t i = 1; i < c->n && is_root; i++) {
        struct pfd_shader_source *of = c->all[i];
        prints |= of->n_calls > 0;
        wants |= !of->is_foreign && (of->n_calls > 0 || of->uses_parameters);
        if (of->is_foreign && of->n_calls && !of->is_reported)
            tell_foreign(f, of);
        if (!of->is_foreign && !take_needs(f, of))
            return PFD_ERR_NOMEM;
    }
    if (prints && is_root)
        status = check(f, c);
    if (is_root && !prints && !f->uses_parameters)
        tell_silence(f);
    if (is_root && f->outside.line) {
        pfd_shader_source_hint(
            f, f, f->outside.line,
            "a call outside of all functions: give the file that "
            "includes this one as well");
    }
    if (wants && status == PFD_OK && !f->n_errors && !f->out.failed)
        add_device(f);
    return status;
}

enum pfd_status pfd_shader_source_complete(struct pfd_shader_source *f)
{
    struct closure c = { 0 };
    if (!find_closure(f, &c))
        return PFD_ERR_NOMEM;
    enum pfd_status status = complete(f, &c);
    free(c.all);
    return status;
}
