/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <stdlib.h>
#include <string.h>

static bool read_text(struct texts *ret, PyObject *one)
{
    const char *text = core_c_text(one);
    if (text)
        ret->all[ret->n++] = text;
    return text != NULL;
}

/* A str, or a sequence of them. */
static bool read_texts(PyObject *words, const char *name, struct texts *ret)
{
    PyObject *value = PyDict_GetItemString(words, name);
    *ret = (struct texts){ 0 };
    if (!value || value == Py_None)
        return true;
    bool is_one = PyUnicode_Check(value);
    PyObject *list = is_one ? PyTuple_Pack(1, value) : PySequence_Tuple(value);
    Py_ssize_t n = list ? PyTuple_Size(list) : -1;
    bool ok = n >= 0;
    if (ok)
        ret->all = calloc((size_t)n + 1, sizeof *ret->all);
    if (ok && !ret->all) {
        PyErr_NoMemory();
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < n; i++)
        ok = read_text(ret, PyTuple_GetItem(list, i));
    /* The dict keeps the texts: the tuple of a sequence takes its place. */
    if (ok && !is_one)
        ok = PyDict_SetItemString(words, name, list) == 0;
    Py_XDECREF(list);
    return ok;
}

static bool read_one(PyObject *words, const char *name, const char **ret)
{
    PyObject *value = PyDict_GetItemString(words, name);
    if (value && value != Py_None)
        *ret = core_c_text(value);
    return !PyErr_Occurred();
}

static bool read_ids(PyObject *words, uint64_t **ret, size_t *n)
{
    PyObject *value = PyDict_GetItemString(words, "ids");
    if (!value || value == Py_None)
        return true;
    PyObject *list = PySequence_Tuple(value);
    Py_ssize_t size = list ? PyTuple_Size(list) : -1;
    *ret = size >= 0 ? calloc((size_t)size + 1, sizeof **ret) : NULL;
    bool ok = *ret != NULL;
    for (Py_ssize_t i = 0; ok && i < size; i++)
        ok = core_read_u64(PyTuple_GetItem(list, i), &(*ret)[i]);
    *n = *ret ? (size_t)size : 0;
    Py_XDECREF(list);
    if (!*ret && !PyErr_Occurred())
        PyErr_NoMemory();
    return !PyErr_Occurred();
}

static bool read_flag(PyObject *words, const char *name)
{
    PyObject *value = PyDict_GetItemString(words, name);
    return value && PyObject_IsTrue(value) == 1;
}

static bool read_count(PyObject *words, const char *name, uint64_t *ret)
{
    PyObject *value = PyDict_GetItemString(words, name);
    return !value || value == Py_None || core_read_u64(value, ret);
}

static bool read_range(PyObject *pair, struct pfd_range *ret, uint64_t least)
{
    uint64_t from;
    uint64_t to;
    PyObject *both = PySequence_Tuple(pair);
    bool ok = both && PyArg_ParseTuple(both, "O&O&", core_read_u64, &from,
                                       core_read_u64, &to);
    Py_XDECREF(both);
    if (!ok)
        return false;
    if (from < least || to < from) {
        core_raise_usage("ranges must be (from, to) in order, and apart");
        return false;
    }
    *ret = (struct pfd_range){ from, to };
    return true;
}

static bool read_ranges(struct selection *ret, PyObject *words)
{
    PyObject *value = PyDict_GetItemString(words, "ranges");
    if (!value || value == Py_None)
        return true;
    PyObject *list = PySequence_Tuple(value);
    Py_ssize_t n = list ? PyTuple_Size(list) : -1;
    bool ok = n >= 0;
    if (ok)
        ret->ranges = calloc((size_t)n + 1, sizeof *ret->ranges);
    if (ok && !ret->ranges) {
        PyErr_NoMemory();
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        ok = read_range(PyTuple_GetItem(list, i), &ret->ranges[i],
                        i ? ret->ranges[i - 1].to : 0);
    }
    if (ok && n == 0)
        n = 1; /* none at all: an empty range */
    ret->n_ranges = ok ? (size_t)n : 0;
    Py_XDECREF(list);
    return ok;
}

bool wanted_read(struct wanted *ret, PyObject *words)
{
    *ret = (struct wanted){ .ignore_case = read_flag(words, "ignore_case"),
                            .invert = read_flag(words, "invert") };
    if (read_texts(words, "match", &ret->patterns) &&
        read_texts(words, "format", &ret->formats) &&
        read_texts(words, "sources", &ret->sources) &&
        read_one(words, "where", &ret->where) &&
        read_one(words, "from", &ret->from) &&
        read_ids(words, &ret->ids, &ret->n_ids))
        return true;
    wanted_free(ret);
    return false;
}

void wanted_free(struct wanted *w)
{
    free(w->patterns.all);
    free(w->formats.all);
    free(w->sources.all);
    free(w->ids);
}

static bool make_filter(struct selection *ret, PyObject *words)
{
    struct wanted wanted;
    struct pfd_error err = { 0 };
    if (!wanted_read(&wanted, words))
        return false;
    const struct pfd_filter_spec spec = {
        .struct_size = sizeof spec,
        .patterns = wanted.patterns.all,
        .n_patterns = wanted.patterns.n,
        .ignore_case = wanted.ignore_case,
        .invert = wanted.invert,
        .ids = wanted.ids,
        .n_ids = wanted.n_ids,
        .format_strings = wanted.formats.all,
        .n_format_strings = wanted.formats.n,
        .sources = wanted.sources.all,
        .n_sources = wanted.sources.n,
        .where = wanted.where,
    };
    bool any = spec.n_patterns || spec.n_format_strings || spec.n_ids ||
               spec.n_sources || spec.where;
    enum pfd_status status =
        any ? pfd_filter_new(&spec, &ret->filter, &err) : PFD_OK;
    wanted_free(&wanted);
    return status == PFD_OK || core_raise(&err, status, NULL);
}

bool selection_read(struct selection *ret, PyObject *words)
{
    *ret = (struct selection){ .limit = UINT64_MAX };
    if (make_filter(ret, words) && read_count(words, "skip", &ret->skip) &&
        read_count(words, "limit", &ret->limit) && read_ranges(ret, words))
        return true;
    selection_free(ret);
    return false;
}

void selection_free(struct selection *s)
{
    pfd_filter_free(s->filter);
    free(s->ranges);
    *s = (struct selection){ 0 };
}

bool selection_has(const struct selection *s, uint64_t index, bool *over)
{
    size_t low = 0;
    size_t high = s->n_ranges;
    while (low < high) { /* the first range that does not end before it */
        size_t middle = low + (high - low) / 2;
        if (s->ranges[middle].to <= index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *over = s->n_ranges && low == s->n_ranges;
    return !s->n_ranges || (!*over && s->ranges[low].from <= index);
}
