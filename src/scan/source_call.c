/* SPDX-License-Identifier: MIT */
/* A call, rewritten where it stands. */
#include "scan/call.h"
#include "scan/source.h"

enum {
    FORMAT_MAX = 65536,   /* bytes of a format string, texts of %s counted in */
    TABLE_MAX = 256 << 20 /* of all of them */
};

/* The source up to `to`, as it is. */
static void keep(struct pfd_source *f, size_t to)
{
    pfd_text_add(&f->out, f->lexer.text + f->done, to - f->done);
    f->done = to;
}

/* Nothing of the source up to `to` but its line ends. */
static void leave_out(struct pfd_source *f, size_t to, bool in_directive)
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

/* Why argument i does not go with its conversion; NULL: it does. */
static const char *misfit(const struct pfd_source *f,
                          const struct pfd_call *call,
                          const struct pfd_shape *shape, size_t i)
{
    const struct pfd_shape_argument *wants = &shape->arguments[i];
    const struct pfd_call_argument *given = &call->arguments[1 + i];
    if (wants->is_literal && !given->is_literal) {
        return "is for '%s', and no string literal: a device has no other "
               "text";
    }
    if (!wants->is_literal && given->is_literal)
        return "is a string, its conversion is not '%s'";
    if (!wants->is_literal && wants->n > 4 && f->language == PFD_SCAN_GLSL)
        return "is for a vector that GLSL does not have";
    return NULL;
}

static enum pfd_status check_arguments(struct pfd_source *f,
                                       const struct pfd_call *call,
                                       const struct pfd_shape *shape)
{
    if (call->n - 1 != shape->n) {
        return pfd_token_fail(&f->lexer, &call->name,
                              "the format string wants %zu arguments, the call "
                              "has %zu",
                              shape->n, call->n - 1);
    }
    for (size_t i = 0; i < shape->n; i++) {
        const char *why = misfit(f, call, shape, i);
        struct pfd_token at = { .from = call->arguments[1 + i].from,
                                .line = call->arguments[1 + i].line };
        if (why) {
            return pfd_token_fail(&f->lexer, &at, "argument %zu %s", i + 1,
                                  why);
        }
    }
    return PFD_OK;
}

static enum pfd_status too_long(const struct pfd_source *f,
                                const struct pfd_call *call)
{
    return pfd_token_fail(&f->lexer, &call->name,
                          "the format string is longer than %d bytes",
                          FORMAT_MAX);
}

/* The format string with the texts of %s in it. */
static void fill_in(const struct pfd_call *call, const struct pfd_shape *shape,
                    struct pfd_text *ret)
{
    const struct pfd_text *format = &call->arguments[0].text;
    size_t done = 0;
    for (size_t i = 0; i < shape->n && ret->n <= FORMAT_MAX; i++) {
        const struct pfd_shape_argument *a = &shape->arguments[i];
        const struct pfd_text *text = &call->arguments[1 + i].text;
        if (!a->is_literal)
            continue;
        pfd_text_add(ret, format->data + done, a->from - done);
        pfd_shape_put_literal(format->data + a->from, a->to - a->from,
                              text->data, text->n, ret);
        done = a->to;
    }
    if (format->n > done)
        pfd_text_add(ret, format->data + done, format->n - done);
}

/* Adds the call's format string to the table. */
static enum pfd_status find_id(struct pfd_source *f,
                               const struct pfd_call *call,
                               const struct pfd_shape *shape, uint64_t *ret)
{
    struct pfd_text text = { 0 };
    enum pfd_status status = PFD_OK;
    fill_in(call, shape, &text);
    if (text.failed) {
        status = PFD_ERR_NOMEM;
    } else if (text.n > FORMAT_MAX) {
        status = too_long(f, call);
    } else if (f->scan->table.n_bytes > TABLE_MAX) {
        status = pfd_token_fail(&f->lexer, &call->name,
                                "the format strings of all files are longer "
                                "than 256 MiB");
    } else {
        status = pfd_scan_table_add(&f->scan->table, text.data ? text.data : "",
                                    text.n, shape, ret);
        if (status == PFD_ERR_CORRUPT) {
            pfd_token_fail(&f->lexer, &call->name,
                           "another format string has the same id: change one "
                           "of them a little");
        }
    }
    pfd_text_free(&text);
    return status;
}

/* What the device must have for this call. */
static bool note_needs(struct pfd_source *f, const struct pfd_shape *shape,
                       const char *name, size_t n_name)
{
    for (size_t i = 0; i < shape->n; i++) {
        const struct pfd_shape_argument *a = &shape->arguments[i];
        if (!a->is_literal) {
            f->device.takes[a->class] |=
                (uint8_t)(1u << pfd_device_size_index(a->n));
        }
    }
    return pfd_set_add(&f->device.shapes, name, n_name) != SIZE_MAX;
}

/* Each argument in its function's parentheses, those of %s left out. */
static void write_arguments(struct pfd_source *f, const struct pfd_call *call,
                            const struct pfd_shape *shape, bool in_directive)
{
    for (size_t i = 0; i < shape->n; i++) {
        const struct pfd_call_argument *a = &call->arguments[1 + i];
        if (shape->arguments[i].is_literal) {
            leave_out(f, a->to, in_directive);
            continue;
        }
        keep(f, a->from);
        pfd_device_taker(&shape->arguments[i], &f->out);
        pfd_text_add(&f->out, "(", 1);
        keep(f, a->to);
        pfd_text_add(&f->out, ")", 1);
    }
}

static enum pfd_status write_call(struct pfd_source *f,
                                  const struct pfd_call *call,
                                  const struct pfd_shape *shape,
                                  bool in_directive)
{
    struct pfd_text name = { 0 };
    uint64_t id = 0;
    enum pfd_status status = find_id(f, call, shape, &id);
    if (status != PFD_OK)
        return status;
    pfd_shape_name(shape, &name);
    bool ok = !name.failed && note_needs(f, shape, name.data, name.n);
    keep(f, call->name.from);
    if (ok)
        pfd_text_add(&f->out, name.data, name.n);
    pfd_text_free(&name);
    leave_out(f, call->name.to, in_directive);
    keep(f, call->open + 1);
    if (f->language == PFD_SCAN_OPENCL)
        pfd_text_puts(&f->out, "PFD_ARGUMENTS, ");
    keep(f, call->arguments[0].from);
    pfd_text_printf(&f->out, "0x%08xu, 0x%08xu",
                    (unsigned)((id << 16 | shape->n_dwords) & 0xffffffffu),
                    (unsigned)(id >> 16));
    leave_out(f, call->arguments[0].to, in_directive);
    write_arguments(f, call, shape, in_directive);
    keep(f, call->end);
    return ok ? PFD_OK : PFD_ERR_NOMEM;
}

static enum pfd_status read_shape(struct pfd_source *f,
                                  const struct pfd_call *call,
                                  struct pfd_shape *ret)
{
    const struct pfd_text *format = &call->arguments[0].text;
    char why[160];
    if (format->failed)
        return PFD_ERR_NOMEM;
    if (format->n > FORMAT_MAX)
        return too_long(f, call);
    enum pfd_status status =
        pfd_shape_read(ret, format->data ? format->data : "", format->n, why);
    if (status == PFD_ERR_CORRUPT)
        pfd_token_fail(&f->lexer, &call->name, "%s", why);
    return status;
}

enum pfd_status pfd_source_call(struct pfd_source *f,
                                const struct pfd_token *name, bool in_directive)
{
    struct pfd_call call = { .name = *name };
    struct pfd_shape shape = { 0 };
    enum pfd_status status =
        pfd_call_read(&f->lexer, &f->scan->names, in_directive, &call);
    if (status == PFD_OK)
        status = read_shape(f, &call, &shape);
    if (status == PFD_OK)
        status = check_arguments(f, &call, &shape);
    if (status == PFD_OK)
        status = write_call(f, &call, &shape, in_directive);
    f->n_calls++;
    pfd_shape_free(&shape);
    pfd_call_free(&call);
    return status;
}
