/* SPDX-License-Identifier: MIT */
#include "opened.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/input.h"
#include "core/decode/inspect.h"

PyTypeObject *core_opened_type;

enum role {
    BY_CONTENT,
    IS_STRINGS,
    IS_BUFFER,
};

static void close_buffer(struct buffer *b)
{
    if (b->owns_capture)
        pfd_capture_free(b->capture);
    Py_XDECREF((PyObject *)b->info);
    held_close(&b->held);
    free(b->missing);
    free(b->own_origin);
}

/* ---- filling ---- */

static bool inflate(struct opened *o, struct held *held)
{
    struct finding_list found = { .notes = o->notes };
    struct pfd_error err = { 0 };
    void *inflated = NULL;
    size_t n = 0;
    enum pfd_status status;
    if (!pfd_input_is_compressed(held->bytes, held->n))
        return true;
    PyThreadState *others = PyEval_SaveThread();
    status =
        pfd_input_inflate(held->bytes, held->n, o->max_inflated, held->name,
                          finding_list_add, &found, &inflated, &n, &err);
    PyEval_RestoreThread(others);
    if (inflated)
        held_replace(held, inflated, n);
    return opened_end_step(o, status, &err, held->name, &found);
}

static bool load_strings(struct opened *o, const struct held *held)
{
    struct finding_list found = { .notes = o->notes };
    struct pfd_error err = { 0 };
    struct pfd_capture *capture = NULL;
    enum pfd_status status;
    if (!held->n) {
        pfd_fail(&err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET, "the file is empty");
        return core_raise(&err, err.code, held->name) != NULL;
    }
    PyThreadState *others = PyEval_SaveThread();
    if (pfd_wire_recognise(held->bytes, held->n)) {
        status =
            pfd_capture_open(held->bytes, held->n, held->name, o->strings->set,
                             finding_list_add, &found, &capture, &err);
        pfd_capture_free(capture);
    } else {
        status = pfd_strings_load(o->strings->set, held->bytes, held->n,
                                  held->name, finding_list_add, &found, &err);
    }
    PyEval_RestoreThread(others);
    return opened_end_step(o, status, &err, held->name, &found);
}

/* add(FILE, role, name): a file of any kind. */
static PyObject *opened_add(struct opened *o, PyObject *args)
{
    PyObject *file;
    int role = BY_CONTENT;
    const char *name = NULL;
    struct held held;
    if (!PyArg_ParseTuple(args, "O|iz", &file, &role, &name))
        return NULL;
    if (o->is_ready)
        return core_raise_usage("it is read already: no file can be added");
    if (!held_open(&held, file, name))
        return NULL;
    bool ok = inflate(o, &held);
    bool is_strings =
        role == IS_STRINGS || (role == BY_CONTENT && held.n &&
                               pfd_strings_recognise(held.bytes, held.n));
    struct buffer *b = ok && !is_strings ? opened_add_buffer(o) : NULL;
    if (ok && is_strings) {
        ok = load_strings(o, &held);
    } else if (b) {
        b->held = held;
        Py_RETURN_NONE;
    }
    held_close(&held);
    return ok && is_strings ? Py_NewRef(Py_None) : NULL;
}

/* ---- captures ---- */

static bool add_captured(struct opened *o, struct pfd_capture *capture)
{
    const struct pfd_capture_buffer *captured;
    size_t i = 0;
    for (; (captured = pfd_capture_get(capture, i)); i++) {
        struct buffer *b = opened_add_buffer(o);
        if (!b) {
            if (!i)
                pfd_capture_free(capture);
            return false;
        }
        b->capture = capture;
        b->owns_capture = i == 0;
        b->i = i;
        b->captured = *captured;
    }
    if (!i)
        pfd_capture_free(capture);
    return true;
}

static bool open_capture(struct opened *o, struct held *held)
{
    struct finding_list found = { .notes = o->notes };
    struct pfd_error err = { 0 };
    struct pfd_capture *capture = NULL;
    enum pfd_status status;
    PyThreadState *others = PyEval_SaveThread();
    status = pfd_capture_open(held->bytes, held->n, held->name, o->strings->set,
                              finding_list_add, &found, &capture, &err);
    PyEval_RestoreThread(others);
    bool ok = opened_end_step(o, status, &err, held->name, &found);
    held_close(held);
    if (!ok) {
        pfd_capture_free(capture);
        return false;
    }
    return add_captured(o, capture);
}

/* Replaces captures in the list by the buffers in them. */
static bool open_captures(struct opened *o)
{
    struct buffer *files = o->buffers;
    size_t n = o->n;
    bool ok = true;
    o->buffers = NULL;
    o->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct held *held = &files[i].held;
        bool is_capture =
            !files[i].is_memory && pfd_wire_recognise(held->bytes, held->n);
        struct buffer *b = ok && !is_capture ? opened_add_buffer(o) : NULL;
        if (b) {
            *b = files[i];
        } else if (ok && is_capture) {
            ok = open_capture(o, held);
        } else {
            ok = false;
            close_buffer(&files[i]);
        }
    }
    free(files);
    return ok;
}

/* ---- facts of a buffer ---- */

static void choose_reading(const struct opened *o, struct buffer *b)
{
    struct pfd_option_info option;
    if (b->capture) /* unknown options were reported when it was opened */
        pfd_capture_reading(b->captured.origin, &b->format, &b->options, NULL);
    for (size_t i = 0; pfd_option_get(i, &option) == PFD_OK; i++) {
        if (o->given >> i & 1) {
            pfd_options_set(&b->options, option.name,
                            pfd_options_word(&o->options, option.name), NULL);
        }
    }
    if (o->format)
        b->format = o->format;
}

static bool ready_buffer(const struct opened *o, struct buffer *b)
{
    choose_reading(o, b);
    b->info = buffer_info_new(b->capture ? b->captured.name : b->held.name);
    return b->info && (!b->captured.origin ||
                       buffer_info_describe(b->info, b->captured.origin,
                                            b->capture ? b->captured.generation
                                                       : UINT64_MAX));
}

bool opened_ready(struct opened *o)
{
    if (o->is_ready)
        return true;
    bool ok = open_captures(o) && strings_freeze(o->strings);
    for (size_t i = 0; ok && i < o->n; i++)
        ok = ready_buffer(o, &o->buffers[i]);
    o->is_ready = ok;
    return ok;
}

enum pfd_status buffer_map(const struct buffer *b, const void **ret, size_t *n,
                           struct pfd_error *err)
{
    if (b->capture) {
        *n = b->captured.n;
        return pfd_capture_map(b->capture, b->i, ret, err);
    }
    *ret = b->held.bytes;
    *n = b->held.n;
    return PFD_OK;
}

void buffer_unmap(const struct buffer *b, const void *bytes)
{
    if (b->capture)
        pfd_capture_unmap(b->capture, b->i, bytes);
}

void buffer_describe(const struct buffer *b, struct pfd_convert *ret,
                     struct pfd_filter_facts *facts)
{
    const struct pfd_capture_buffer *c = &b->captured;
    *facts = (struct pfd_filter_facts){ .time_unix_ns = c->time,
                                        .generation = c->generation,
                                        .buffer = c->origin };
    ret->facts = facts;
    ret->source = b->capture ? c->name : b->held.name;
    ret->format = b->format;
    ret->options = &b->options;
    ret->holes = b->capture ? c->holes : b->held.holes;
    ret->n_holes = b->capture ? c->n_holes : b->held.n_holes;
    ret->missing = b->capture ? c->missing : b->missing;
    ret->n_missing = b->capture ? c->n_missing : b->n_missing;
    ret->row_time = c->time;
}

/* A buffer that a capture names and has no byte of: that was reported. */
static bool is_absent(const struct buffer *b)
{
    const struct pfd_capture_buffer *c = &b->captured;
    return b->capture && !c->n && !c->n_chunks && c->origin->size;
}

enum pfd_status buffer_convert(const struct buffer *b,
                               struct pfd_convert *convert,
                               struct pfd_summary *summary,
                               struct pfd_error *err)
{
    struct pfd_filter_facts facts;
    const void *bytes = NULL;
    size_t n = 0;
    *summary = (struct pfd_summary){ 0 };
    if (is_absent(b))
        return PFD_OK;
    buffer_describe(b, convert, &facts);
    if (buffer_is_chunks(b)) {
        return pfd_convert_chunks(convert, b->captured.chunks,
                                  b->captured.n_chunks, summary, err);
    }
    enum pfd_status status = buffer_map(b, &bytes, &n, err);
    if (status == PFD_OK)
        status = pfd_convert_bytes(convert, bytes, n, summary, err);
    buffer_unmap(b, bytes);
    convert->facts = NULL;
    return status;
}

/* ---- what Python sees ---- */

static bool discard(void *user, const void *bytes, size_t n)
{
    return true;
}

static PyObject *summary_object(const struct buffer *b,
                                const struct pfd_summary *s,
                                const struct finding_list *found)
{
    PyObject *findings = PyList_New(0);
    if (!findings || !finding_list_give(found, findings)) {
        Py_XDECREF(findings);
        return NULL;
    }
    return Py_BuildValue(
        "(OKKKKKKKN)", b->info->name,
        (unsigned long long)(b->capture ? b->captured.n : b->held.n),
        (unsigned long long)s->entries, (unsigned long long)s->unknown,
        (unsigned long long)s->bytes, (unsigned long long)s->lost_bytes,
        (unsigned long long)s->skipped_bytes, (unsigned long long)s->findings,
        findings);
}

/* scan(): reads all of each buffer, and returns what the command's summary
 * says. */
static PyObject *opened_scan(struct opened *o, PyObject *unused)
{
    PyObject *ret = opened_ready(o) ? PyList_New(0) : NULL;
    for (size_t i = 0; ret && i < o->n; i++) {
        struct finding_list found = { .notes = o->notes };
        struct pfd_error err = { 0 };
        struct pfd_summary summary = { 0 };
        struct pfd_convert convert = { .struct_size = sizeof convert,
                                       .strings = o->strings->set,
                                       .output = "raw",
                                       .write = discard,
                                       .notes = o->notes,
                                       .finding = finding_list_add,
                                       .finding_user = &found };
        enum pfd_status status;
        PyThreadState *others = PyEval_SaveThread();
        status = buffer_convert(&o->buffers[i], &convert, &summary, &err);
        PyEval_RestoreThread(others);
        PyObject *one = status < 0
                            ? core_raise(&err, status, convert.source)
                            : summary_object(&o->buffers[i], &summary, &found);
        finding_list_free(&found);
        bool ok = one && PyList_Append(ret, one) == 0;
        Py_XDECREF(one);
        if (!ok)
            Py_CLEAR(ret);
    }
    return ret;
}

static PyObject *opened_finish(struct opened *o, PyObject *unused)
{
    return opened_ready(o) ? Py_NewRef(Py_None) : NULL;
}

static bool set_option(struct opened *o, const char *name, const char *word)
{
    struct pfd_option_info option;
    struct pfd_error err = { 0 };
    enum pfd_status status = pfd_options_set(&o->options, name, word, &err);
    if (status != PFD_OK)
        return core_raise(&err, status, NULL) != NULL;
    for (size_t i = 0; pfd_option_get(i, &option) == PFD_OK; i++) {
        bool is_it = strlen(name) == strlen(option.name);
        for (size_t k = 0; is_it && name[k]; k++) {
            is_it = name[k] == option.name[k] ||
                    (name[k] == '_' && option.name[k] == '-');
        }
        o->given |= (uint64_t)is_it << i;
    }
    return true;
}

static bool set_options(struct opened *o, PyObject *options)
{
    PyObject *name;
    PyObject *word;
    Py_ssize_t at = 0;
    while (PyDict_Next(options, &at, &name, &word)) {
        if (word == Py_None)
            continue;
        const char *n = core_c_text(name);
        const char *w = n ? core_c_text(word) : NULL;
        if (!w || !set_option(o, n, w))
            return false;
    }
    return true;
}

static bool is_format(const char *name)
{
    const struct pfd_format_info *format;
    for (size_t i = 0; (format = pfd_format_get(i)); i++) {
        if (!strcmp(format->name, name))
            return true;
    }
    return false;
}

static bool read_words(struct opened *o, PyObject *args)
{
    PyObject *strings;
    PyObject *options;
    const char *format;
    int notes;
    uint64_t max_inflated;
    if (!PyArg_ParseTuple(args, "OzO!pO&", &strings, &format, &PyDict_Type,
                          &options, &notes, core_read_u64, &max_inflated))
        return false;
    if (strings != Py_None && !PyObject_TypeCheck(strings, core_strings_type)) {
        PyErr_SetString(PyExc_TypeError, "strings must be a Strings");
        return false;
    }
    if (format && !is_format(format)) {
        core_raise_usage("no buffer format has this name");
        return false;
    }
    o->notes = notes;
    o->max_inflated = max_inflated;
    o->format = format ? strdup(format) : NULL;
    o->findings = PyList_New(0);
    o->strings =
        strings_new(strings == Py_None ? NULL : (struct strings *)strings);
    if (format && !o->format)
        PyErr_NoMemory();
    if (!o->findings || !o->strings || (format && !o->format) ||
        !set_options(o, options))
        return false;
    pfd_strings_set_max_inflated(o->strings->set, max_inflated);
    return true;
}

/* Opened(strings, format, options, notes, max_inflated): whole from the
 * start, whatever a class made of it does in its __init__(). */
static PyObject *opened_make(PyTypeObject *type, PyObject *args,
                             PyObject *words)
{
    struct opened *o = core_new(type);
    if (o && !read_words(o, args))
        Py_CLEAR(o);
    return (PyObject *)o;
}

static void opened_dealloc(struct opened *o)
{
    for (size_t i = o->n; i-- > 0;)
        close_buffer(&o->buffers[i]);
    free(o->buffers);
    free(o->format);
    Py_XDECREF((PyObject *)o->strings);
    Py_XDECREF(o->findings);
    core_free(o);
}

static PyObject *get_strings(struct opened *o, void *unused)
{
    return Py_NewRef((PyObject *)o->strings);
}

static PyObject *get_findings(struct opened *o, void *unused)
{
    return PyList_AsTuple(o->findings);
}

#define CALL(function) ((PyCFunction)(void (*)(void))(function))

/* hear(list): findings of files that were read before. */
static PyObject *opened_hear(struct opened *o, PyObject *findings)
{
    int failed =
        PyList_SetSlice(o->findings, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, findings);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    { "_add", CALL(opened_add), METH_VARARGS, "" },
    { "_add_memory", CALL(opened_add_memory), METH_VARARGS, "" },
    { "_finish", CALL(opened_finish), METH_NOARGS, "" },
    { "_hear", CALL(opened_hear), METH_O, "" },
    { "_scan", CALL(opened_scan), METH_NOARGS, "" },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "strings", (getter)(void (*)(void))get_strings, NULL,
      "the format strings", NULL },
    { "_findings", (getter)(void (*)(void))get_findings, NULL, "", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, opened_make },
    { Py_tp_dealloc, opened_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, members },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "printfdecode._core.Opened",
    .basicsize = sizeof(struct opened),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool core_add_opened(PyObject *module)
{
    return core_add_type(module, &spec, &core_opened_type);
}
