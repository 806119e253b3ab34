/* SPDX-License-Identifier: MIT */
/* Rewrites a call in place. */
#include <string.h>

#include "writer/print_call.h"
#include "writer/shader_source.h"

enum {
    FORMAT_MAX = 65536,   /* bytes of a format string, with the texts of %s */
    TABLE_MAX = 256 << 20 /* of all format strings */
};

/* Copies the source up to `to`. */
static void keep(struct pfd_shader_source *f, size_t to)
{
    pfd_text_add(&f->out, f->lexer.text + f->done, to - f->done);
    f->done = to;
}

/* Skips the source up to `to`, except for its line ends. */
static void leave_out(struct pfd_shader_source *f, size_t to, bool in_directive)
{
    for (size_t at = f->done; at < to;) {
        size_t n = pfd_token_newline(f->lexer.text, to, at);
        if (n && in_directive)
            pfd_text_add(&f->out, "\\", 1);
        pfd_text_add(&f->out, f->lexer.text + at, n);
        at += n ? n : 1;
    }
    f->done = to;
}

/* The reason why argument i does not match its conversion; NULL: it does. */
static const char *misfit(const struct pfd_shader_source *f,
                          const struct pfd_print_call *print_call,
                          const struct pfd_argument_shape *argument_shape,
                          size_t i)
{
    const struct pfd_argument_shape_argument *wants =
        &argument_shape->arguments[i];
    const struct pfd_print_call_argument *given = &print_call->arguments[1 + i];
    if (wants->is_literal && !given->is_literal) {
        return "is for '%s', and no string literal: a device has no other "
               "text";
    }
    if (!wants->is_literal && given->is_literal)
        return "is a string, its conversion is not '%s'";
    if (!wants->is_literal && wants->n > 4 && f->language == PFD_SCAN_GLSL)
        return "is for a vector that GLSL does not have";
    if (f->is_es && wants->class == PFD_ARGUMENT_SHAPE_D)
        return "is for a double, which GLSL ES does not have";
    return NULL;
}

static enum pfd_status check_arguments(
    struct pfd_shader_source *f, const struct pfd_print_call *print_call,
    const struct pfd_argument_shape *argument_shape)
{
    if (print_call->n - 1 != argument_shape->n) {
        return pfd_token_fail(&f->lexer, &print_call->name,
                              "the format string wants %zu arguments, the call "
                              "has %zu",
                              argument_shape->n, print_call->n - 1);
    }
    for (size_t i = 0; i < argument_shape->n; i++) {
        const char *why = misfit(f, print_call, argument_shape, i);
        struct pfd_token at = { .from = print_call->arguments[1 + i].from,
                                .line = print_call->arguments[1 + i].line };
        if (why) {
            return pfd_token_fail(&f->lexer, &at, "argument %zu %s", i + 1,
                                  why);
        }
    }
    return PFD_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Rejects "%ul" without a letter behind it: debugPrintfEXT has it for 64 bits,
 * but in C it is "%u" and the letter l. */
static enum pfd_status check_letters(
    struct pfd_shader_source *f, const struct pfd_print_call *print_call,
    const struct pfd_argument_shape *argument_shape)
{
    const struct pfd_text *format = &print_call->arguments[0].text;
    for (size_t i = 0; i < argument_shape->n && f->language == PFD_SCAN_GLSL;
         i++) {
        const struct pfd_argument_shape_argument *a =
            &argument_shape->arguments[i];
        size_t end = a->to;
        while (end < format->n && format->data[end] == 'l')
            end++;
        if (a->class != PFD_ARGUMENT_SHAPE_U || a->to <= a->from ||
            end == a->to || (end < format->n && is_letter(format->data[end])))
            continue;
        struct pfd_quoted all;
        struct pfd_quoted short_one;
        pfd_quote(&all, format->data + a->from, end - a->from);
        pfd_quote(&short_one, format->data + a->from, a->to - a->from);
        return pfd_token_fail(&f->lexer, &print_call->name,
                              "'%s' is '%s' and the letter l: 64 bits are %%lu "
                              "or %%lx",
                              all.text, short_one.text);
    }
    return PFD_OK;
}

static enum pfd_status too_long(const struct pfd_shader_source *f,
                                const struct pfd_print_call *print_call)
{
    return pfd_token_fail(&f->lexer, &print_call->name,
                          "the format string is longer than %d bytes",
                          FORMAT_MAX);
}

/* Inserts the texts of %s into the format string. */
static void fill_in(const struct pfd_print_call *print_call,
                    const struct pfd_argument_shape *argument_shape,
                    struct pfd_text *ret)
{
    const struct pfd_text *format = &print_call->arguments[0].text;
    size_t done = 0;
    for (size_t i = 0; i < argument_shape->n && ret->n <= FORMAT_MAX; i++) {
        const struct pfd_argument_shape_argument *a =
            &argument_shape->arguments[i];
        const struct pfd_text *text = &print_call->arguments[1 + i].text;
        if (!a->is_literal)
            continue;
        pfd_text_add(ret, format->data + done, a->from - done);
        pfd_argument_shape_put_literal(format->data + a->from, a->to - a->from,
                                       text->data, text->n, ret);
        done = a->to;
    }
    if (format->n > done)
        pfd_text_add(ret, format->data + done, format->n - done);
}

/* The table's result for a call. */
struct entry {
    uint64_t id;
    uint32_t gate; /* of a site */
};

static bool has_sites(const struct pfd_shader_source *f)
{
    const struct pfd_scan_options *o = &f->scan->options;
    return o->sites || o->commit || o->origin || o->control;
}

/* Is it OpenCL's own printf? Its vectors print tight, and it returns 0 or
 * -1. */
static bool is_opencl_printf(const struct pfd_shader_source *f,
                             const struct pfd_print_call *print_call)
{
    return f->language == PFD_SCAN_OPENCL &&
           pfd_token_is(&f->lexer, &print_call->name, "printf");
}

static bool is_tight(const struct pfd_shader_source *f,
                     const struct pfd_print_call *print_call,
                     const struct pfd_argument_shape *argument_shape)
{
    bool has_vectors = false;
    for (size_t i = 0; i < argument_shape->n; i++)
        has_vectors |= argument_shape->arguments[i].n > 1;
    return has_vectors && is_opencl_printf(f, print_call);
}

static enum pfd_status add_site(struct pfd_shader_source *f,
                                const struct pfd_print_call *print_call,
                                const struct pfd_argument_shape *argument_shape,
                                const struct pfd_text *text, struct entry *ret,
                                const char **why)
{
    const struct pfd_lexer *l = &f->lexer;
    const struct pfd_scan_site site = {
        .format = text->data ? text->data : "",
        .n = text->n,
        .argument_shape = argument_shape,
        .file = l->file ? l->file : l->name,
        .n_file = l->file ? l->n_file : strlen(l->name),
        .line = print_call->name.line,
        .level = print_call->level,
        .flags =
            (uint8_t)((f->device.origin ? PFD_ROW_ORIGIN : 0) |
                      (f->device.commit ? PFD_ROW_COMMIT : 0) |
                      (is_tight(f, print_call, argument_shape) ? PFD_ROW_TIGHT
                                                               : 0)),
    };
    return pfd_scan_table_add_site(&f->scan->table, &site, &ret->id, &ret->gate,
                                   why);
}

/* Adds the call's format string to the table. */
static enum pfd_status find_id(struct pfd_shader_source *f,
                               const struct pfd_print_call *print_call,
                               const struct pfd_argument_shape *argument_shape,
                               struct entry *ret)
{
    const char *why = NULL;
    struct pfd_text text = { 0 };
    enum pfd_status status = PFD_OK;
    fill_in(print_call, argument_shape, &text);
    if (text.failed) {
        status = PFD_ERR_NOMEM;
    } else if (text.n > FORMAT_MAX) {
        status = too_long(f, print_call);
    } else if (f->scan->table.n_bytes > TABLE_MAX) {
        status = pfd_token_fail(&f->lexer, &print_call->name,
                                "the format strings of all files are longer "
                                "than 256 MiB");
    } else if (has_sites(f)) {
        status = add_site(f, print_call, argument_shape, &text, ret, &why);
    } else {
        const struct pfd_scan_string string = {
            text.data ? text.data : "", text.n, argument_shape,
            is_tight(f, print_call, argument_shape)
        };
        status = pfd_scan_table_add(&f->scan->table, &string, &ret->id, &why);
    }
    if (why && status == PFD_ERR_CORRUPT)
        pfd_token_fail(&f->lexer, &print_call->name, "%s", why);
    pfd_text_free(&text);
    return status;
}

/* Notes the call's needs of the device. */
static bool note_needs(struct pfd_shader_source *f,
                       const struct pfd_argument_shape *argument_shape,
                       const char *name, size_t n_name)
{
    for (size_t i = 0; i < argument_shape->n; i++) {
        const struct pfd_argument_shape_argument *a =
            &argument_shape->arguments[i];
        if (!a->is_literal) {
            f->device.takes[a->class] |=
                (uint8_t)(1u << pfd_device_size_index(a->n));
        }
    }
    return pfd_text_set_add(&f->device.shapes, name, n_name) != SIZE_MAX;
}

/* Writes the name of the function that takes an argument, and notes it. */
static void put_function(struct pfd_shader_source *f,
                         const struct pfd_print_call *print_call,
                         const struct pfd_argument_shape_argument *argument,
                         size_t i)
{
    struct pfd_text text = { 0 };
    const char *name;
    pfd_device_argument(argument, i, print_call->arguments[0].text.data, &text);
    size_t n = text.n;
    pfd_text_add(&text, "", 1);
    if (text.failed ||
        pfd_text_set_add(&f->device.arguments, text.data, n) == SIZE_MAX) {
        f->out.failed = true;
    } else {
        pfd_device_argument_read(text.data, &name);
        pfd_text_puts(&f->out, name);
    }
    pfd_text_free(&text);
}

/* Writes each argument in its function's parentheses, without those of %s. */
static void write_arguments(struct pfd_shader_source *f,
                            const struct pfd_print_call *print_call,
                            const struct pfd_argument_shape *argument_shape,
                            bool in_directive)
{
    for (size_t i = 0; i < argument_shape->n; i++) {
        const struct pfd_print_call_argument *a = &print_call->arguments[1 + i];
        if (argument_shape->arguments[i].is_literal) {
            leave_out(f, a->to, in_directive);
            continue;
        }
        keep(f, a->from);
        put_function(f, print_call, &argument_shape->arguments[i], i);
        pfd_text_add(&f->out, "(", 1);
        keep(f, a->to);
        pfd_text_add(&f->out, ")", 1);
    }
}

/* Writes the entry's header: size and id. */
static void write_header(struct pfd_shader_source *f, const struct entry *entry,
                         unsigned n_dwords)
{
    pfd_text_printf(&f->out, "0x%08xu, 0x%08xu",
                    (unsigned)((entry->id << 16 | n_dwords) & 0xffffffffu),
                    (unsigned)(entry->id >> 16));
}

/* Writes the test of the site before the call: is it on, and within its rules?
 * A printf that rules suppress returns success. */
static void write_gate(struct pfd_shader_source *f, const struct entry *entry,
                       unsigned n_dwords, bool is_printf)
{
    const char *arguments =
        f->language == PFD_SCAN_OPENCL ? "PFD_ARGUMENTS, " : "";
    pfd_text_printf(&f->out, "%s(pfd_is_on(%s%uu) && pfd_may(%s%uu, ",
                    is_printf ? "!" : "", arguments, entry->gate, arguments,
                    entry->gate);
    write_header(f, entry, n_dwords);
    pfd_text_puts(&f->out, is_printf ? ")) || " : ") && ");
}

static bool name_function(struct pfd_shader_source *f,
                          const struct pfd_argument_shape *argument_shape,
                          struct pfd_text *ret)
{
    const char extras[] = { f->device.commit ? PFD_DEVICE_COMMIT : '\0', '\0' };
    const char origin[] = { PFD_DEVICE_ORIGIN, extras[0], '\0' };
    pfd_argument_shape_name(argument_shape, f->device.origin ? origin : extras,
                            ret);
    size_t n = ret->n;
    pfd_text_add(ret, "", 1);
    return !ret->failed && note_needs(f, argument_shape, ret->data, n);
}

static enum pfd_status write_call(
    struct pfd_shader_source *f, const struct pfd_print_call *print_call,
    const struct pfd_argument_shape *argument_shape, bool in_directive)
{
    struct pfd_text name = { 0 };
    struct entry entry = { 0 };
    enum pfd_status status = find_id(f, print_call, argument_shape, &entry);
    if (status != PFD_OK)
        return status;
    bool ok = name_function(f, argument_shape, &name);
    unsigned n_dwords = ok ? pfd_device_dwords(name.data) : 0;
    bool is_printf = is_opencl_printf(f, print_call);
    keep(f, print_call->name.from);
    if (is_printf)
        pfd_text_puts(&f->out, "pfd_printed(");
    if (f->device.control)
        write_gate(f, &entry, n_dwords, is_printf);
    if (ok)
        pfd_text_puts(&f->out, name.data);
    pfd_text_free(&name);
    leave_out(f, print_call->name.to, in_directive);
    keep(f, print_call->open + 1);
    if (f->language == PFD_SCAN_OPENCL)
        pfd_text_puts(&f->out, "PFD_ARGUMENTS, ");
    if (print_call->level) {
        leave_out(f, print_call->arguments[0].from, in_directive);
    } else {
        keep(f, print_call->arguments[0].from);
    }
    write_header(f, &entry, n_dwords);
    leave_out(f, print_call->arguments[0].to, in_directive);
    write_arguments(f, print_call, argument_shape, in_directive);
    keep(f, print_call->end);
    if (is_printf || f->device.control)
        pfd_text_puts(&f->out, ")");
    return ok ? PFD_OK : PFD_ERR_NOMEM;
}

static enum pfd_status read_shape(struct pfd_shader_source *f,
                                  const struct pfd_print_call *print_call,
                                  struct pfd_argument_shape *ret)
{
    const struct pfd_text *format = &print_call->arguments[0].text;
    char why[160];
    if (format->failed)
        return PFD_ERR_NOMEM;
    if (format->n > FORMAT_MAX)
        return too_long(f, print_call);
    enum pfd_status status = pfd_argument_shape_read(
        ret, format->data ? format->data : "", format->n, why);
    if (status == PFD_ERR_CORRUPT)
        pfd_token_fail(&f->lexer, &print_call->name, "%s", why);
    return status;
}

enum pfd_status pfd_shader_source_call(struct pfd_shader_source *f,
                                       const struct pfd_token *name,
                                       const struct pfd_token *macro)
{
    struct pfd_print_call print_call = { .name = *name };
    f->n_calls++;
    if (!macro && !f->n_braces && !f->conditions.dead && !f->outside.line)
        f->outside = *name;
    if (f->is_foreign)
        return PFD_OK;
    struct pfd_argument_shape argument_shape = { 0 };
    struct pfd_lexer behind = f->lexer;
    enum pfd_status status =
        pfd_print_call_read(&f->lexer, &f->scan->names, macro, &print_call);
    if (status == PFD_ERR_CORRUPT) { /* continues behind the name */
        f->lexer.at = behind.at;
        f->lexer.line = behind.line;
    }
    if (status == PFD_OK && print_call.level && !has_sites(f)) {
        status = pfd_token_fail(&f->lexer, name,
                                "a level goes with --sites, --commit, "
                                "--origin or --control: see there");
    }
    if (status == PFD_OK)
        status = read_shape(f, &print_call, &argument_shape);
    if (status == PFD_OK)
        status = check_letters(f, &print_call, &argument_shape);
    if (status == PFD_OK)
        status = check_arguments(f, &print_call, &argument_shape);
    if (status == PFD_OK)
        status = write_call(f, &print_call, &argument_shape, macro);
    pfd_argument_shape_free(&argument_shape);
    pfd_print_call_free(&print_call);
    if (status != PFD_ERR_CORRUPT)
        return status;
    if (f->conditions.dead) /* stays as it is: no compiler reads it */
        f->n_calls--;
    return pfd_shader_source_error(f);
}
