/* SPDX-License-Identifier: MIT */
/* Products of many entries at once beside tables: pictures and collapsed
 * lines. Both read all buffers on several threads, without the GIL. */
#include <string.h>

#include "analysis/collapse/collapse.h"
#include "analysis/plot/plot.h"
#include "opened.h"
#include "selection.h"

/* Entries of all buffers go to a consumer; needs no GIL. */
struct passing {
    struct opened *opened;
    struct selection selection;
    const char *output;
    const struct pfd_consumer *consumer;
    /* After each buffer; NULL: nothing. */
    enum pfd_status (*after)(void *user);
    void *user;
};

static enum pfd_status pass(const struct passing *p, struct pfd_error *err)
{
    const struct selection *s = &p->selection;
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; status == PFD_OK && i < p->opened->n; i++) {
        struct pfd_summary summary = { 0 };
        struct pfd_convert convert = {
            .struct_size = sizeof convert,
            .strings = p->opened->strings->set,
            .output = p->output,
            .filter = s->filter,
            .skip = s->skip,
            .limit = s->limit == UINT64_MAX ? 0 : s->limit,
            .no_entries = !s->limit,
            .ranges = s->ranges,
            .n_ranges = s->n_ranges,
            .consumer = p->consumer,
        };
        status =
            buffer_convert(&p->opened->buffers[i], &convert, &summary, err);
        if (status == PFD_OK && p->after)
            status = p->after(p->user);
    }
    if (status == PFD_OK && s->filter)
        status = pfd_filter_check(s->filter, p->opened->strings->set, err);
    return status;
}

static bool add_bytes(void *user, const void *bytes, size_t n)
{
    struct pfd_text *text = user;
    pfd_text_add(text, bytes, n);
    return !text->failed;
}

/* The bytes, or an exception. Frees the text. */
static PyObject *give_bytes(struct pfd_text *text, enum pfd_status status,
                            const struct pfd_error *err)
{
    PyObject *ret = NULL;
    if (text->failed) {
        PyErr_NoMemory();
    } else if (status < 0) {
        core_raise(err, status, NULL);
    } else {
        ret = PyBytes_FromStringAndSize(text->data, (Py_ssize_t)text->n);
    }
    pfd_text_free(text);
    return ret;
}

/* ---- collapsed lines ---- */

static enum pfd_status end_lines(void *user)
{
    return pfd_collapse_end(user);
}

/* collapse(OPENED, selection, equal, window): lines of JSON. */
static PyObject *collapse(PyObject *module, PyObject *args)
{
    PyObject *opened;
    PyObject *words;
    int equal;
    uint64_t window;
    struct pfd_text lines = { 0 };
    struct pfd_collapse *made = NULL;
    struct pfd_error err = { 0 };
    struct passing p = { .output = "json", .after = end_lines };
    if (!PyArg_ParseTuple(args, "O!O!pO&", core_opened_type, &opened,
                          &PyDict_Type, &words, &equal, core_read_u64, &window))
        return NULL;
    p.opened = (struct opened *)opened;
    if (!opened_ready(p.opened) || !selection_read(&p.selection, words))
        return NULL;
    const struct pfd_collapse_spec spec = { .output = p.output,
                                            .equal = equal,
                                            .window = window,
                                            .write = add_bytes,
                                            .write_user = &lines };
    enum pfd_status status;
    PyThreadState *others = PyEval_SaveThread();
    status = pfd_collapse_new(&spec, &made, &err);
    if (status == PFD_OK) {
        p.consumer = pfd_collapse_consumer(made);
        p.user = made;
        status = pass(&p, &err);
    }
    pfd_collapse_free(made);
    PyEval_RestoreThread(others);
    selection_free(&p.selection);
    return give_bytes(&lines, status, &err);
}

/* ---- pictures ---- */

/* Words of enumerations, in their order. */
static const char *const kinds[] = { "heat", "hist", "scatter", "line", NULL };
static const char *const reducers[] = { "last", "first", "count", "sum", "min",
                                        "max",  "mean",  "nan",   NULL };
static const char *const scales[] = { "linear", "log", "equal", NULL };

/* The place of a member's word in a list; false: an exception is set. */
static bool read_word(PyObject *dict, const char *name, const char *const *list,
                      int *ret)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    if (!value || value == Py_None)
        return true;
    const char *word = core_c_text(value);
    for (int i = 0; word && list[i]; i++) {
        if (!strcmp(list[i], word)) {
            *ret = i;
            return true;
        }
    }
    if (word)
        PyErr_Format(PyExc_ValueError, "no %s is called %R", name, value);
    return false;
}

static const char *read_text(PyObject *dict, const char *name)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    return value && value != Py_None ? core_c_text(value) : NULL;
}

static uint64_t read_number(PyObject *dict, const char *name, uint64_t none)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    uint64_t ret = none;
    if (value && value != Py_None)
        core_read_u64(value, &ret);
    return ret;
}

/* A set with the string alone, for one that comes in the buffer: the text says
 * which arguments it has. NULL: an exception is set. */
static struct pfd_strings *set_of(const char *text, size_t n)
{
    const struct pfd_string_info info = {
        .struct_size = sizeof info,
        .source = "buffer",
        .text = text,
        .n_text = n,
        .argument_count = n, /* more than its conversions */
    };
    struct pfd_error err = { 0 };
    struct pfd_strings *ret = pfd_strings_new();
    enum pfd_status status =
        ret ? pfd_strings_add(ret, &info, NULL, 0, NULL, NULL, &err)
            : PFD_ERR_NOMEM;
    if (status == PFD_OK)
        return ret;
    core_raise(&err, status, NULL);
    pfd_strings_free(ret);
    return NULL;
}

/* The string that is drawn is the entry's. *made: its set, if it comes in the
 * buffer; the caller frees it. False: an exception is set. */
static bool read_string(PyObject *entry, const struct opened *opened,
                        struct pfd_plot_spec *spec, struct pfd_strings **made)
{
    const char *text;
    size_t n;
    if (!block_string(entry, &spec->string, &text, &n))
        return false;
    *made = text ? set_of(text, n) : NULL;
    spec->any_strings = *made != NULL;
    spec->strings = *made ? *made : opened->strings->set;
    if (*made)
        spec->string = 0;
    return *made || !text;
}

static bool read_spec(PyObject *how, struct pfd_plot_spec *ret)
{
    int kind = PFD_PLOT_HEAT;
    int reducer = PFD_REDUCE_LAST;
    int scale = PFD_SCALE_LINEAR;
    PyObject *dark = PyDict_GetItemString(how, "dark");
    if (!read_word(how, "kind", kinds, &kind) ||
        !read_word(how, "reduce", reducers, &reducer) ||
        !read_word(how, "scale", scales, &scale))
        return false;
    *ret = (struct pfd_plot_spec){
        .kind = (enum pfd_plot_kind)kind,
        .x = read_text(how, "x"),
        .y = read_text(how, "y"),
        .value = read_text(how, "value"),
        .by = read_text(how, "by"),
        .reducer = (enum pfd_reducer)reducer,
        .scale = (enum pfd_plot_scale)scale,
        .x_range = read_text(how, "x_range"),
        .y_range = read_text(how, "y_range"),
        .range = read_text(how, "range"),
        .cells = read_number(how, "cells", 0),
        .pixel = read_number(how, "pixel", 0),
        .dark = dark && PyObject_IsTrue(dark) == 1,
        .map = read_text(how, "map"),
        .title = read_text(how, "title"),
    };
    return !PyErr_Occurred();
}

/* (points, entries of other strings, of unknown ids, without a column). */
static PyObject *give_picture(struct pfd_text *picture, enum pfd_status status,
                              const struct pfd_error *err,
                              const struct pfd_plot_counts *n)
{
    PyObject *bytes = give_bytes(picture, status, err);
    if (!bytes)
        return NULL;
    return Py_BuildValue("(NKKKK)", bytes, (unsigned long long)n->points,
                         (unsigned long long)n->others,
                         (unsigned long long)n->unknown,
                         (unsigned long long)n->without + n->texts);
}

/* plot(OPENED, selection, how, form, ENTRY): the picture of the entries with the
 * ENTRY's format string, and what is not in it. */
static PyObject *plot(PyObject *module, PyObject *args)
{
    PyObject *opened;
    PyObject *words;
    PyObject *how;
    PyObject *entry;
    const char *form;
    struct pfd_strings *own = NULL;
    struct pfd_plot_spec spec;
    struct pfd_plot_counts counts = { 0 };
    struct pfd_text picture = { 0 };
    struct pfd_plot *made = NULL;
    struct pfd_error err = { 0 };
    struct passing p = { 0 };
    if (!PyArg_ParseTuple(args, "O!O!O!sO", core_opened_type, &opened,
                          &PyDict_Type, &words, &PyDict_Type, &how, &form,
                          &entry) ||
        !read_spec(how, &spec))
        return NULL;
    p.opened = (struct opened *)opened;
    if (!opened_ready(p.opened) || !read_string(entry, p.opened, &spec, &own))
        return NULL;
    if (!selection_read(&p.selection, words)) {
        pfd_strings_free(own);
        return NULL;
    }
    enum pfd_status status;
    PyThreadState *others = PyEval_SaveThread();
    status = pfd_plot_new(&spec, &made, &err);
    if (status == PFD_OK) {
        p.consumer = pfd_plot_consumer(made);
        status = pass(&p, &err);
    }
    if (status == PFD_OK) {
        status = pfd_plot_draw(made, form, NULL, add_bytes, &picture, &err);
        pfd_plot_counts(made, &counts);
    }
    pfd_plot_free(made);
    pfd_strings_free(own);
    PyEval_RestoreThread(others);
    selection_free(&p.selection);
    return give_picture(&picture, status, &err, &counts);
}

static PyMethodDef functions[] = {
    { "collapse", collapse, METH_VARARGS, "" },
    { "plot", plot, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

bool core_add_draw(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
