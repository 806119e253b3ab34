/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <stdlib.h>
#include <string.h>

/* A str, or a sequence of them; words keeps the texts alive. */
struct texts {
    const char **all; /* [n] */
    size_t n;
};

static bool read_text(struct texts *ret, PyObject *one)
{
    const char *text = PyUnicode_AsUTF8AndSize(one, NULL);
    if (text)
        ret->all[ret->n++] = text;
    return text != NULL;
}

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
    if (ok && !ret->all)
        ok = PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++)
        ok = read_text(ret, PyTuple_GetItem(list, i));
    /* The dict keeps the texts: the tuple of a sequence takes its place. */
    if (ok && !is_one)
        ok = PyDict_SetItemString(words, name, list) == 0;
    Py_XDECREF(list);
    return ok;
}

static bool read_where(PyObject *words, const char **ret)
{
    PyObject *value = PyDict_GetItemString(words, "where");
    if (value && value != Py_None)
        *ret = PyUnicode_AsUTF8AndSize(value, NULL);
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
    for (Py_ssize_t i = 0; *ret && i < size; i++)
        (*ret)[i] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(list, i));
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
    if (value && value != Py_None)
        *ret = PyLong_AsUnsignedLongLong(value);
    return !PyErr_Occurred();
}

static bool read_range(PyObject *pair, struct pfd_range *ret, uint64_t least)
{
    unsigned long long from;
    unsigned long long to;
    if (!PyArg_ParseTuple(pair, "KK", &from, &to))
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
    if (ok && !ret->ranges)
        ok = PyErr_NoMemory() != NULL;
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

static bool make_filter(struct selection *ret, PyObject *words,
                        const struct pfd_filter_spec *spec)
{
    struct pfd_error err = { 0 };
    bool any = spec->n_patterns || spec->n_format_strings || spec->n_ids ||
               spec->n_sources || spec->where;
    enum pfd_status status =
        any ? pfd_filter_new(spec, &ret->filter, &err) : PFD_OK;
    return status == PFD_OK || core_raise(&err, status, NULL);
}

bool selection_read(struct selection *ret, PyObject *words)
{
    struct texts patterns = { 0 };
    struct texts formats = { 0 };
    struct texts sources = { 0 };
    const char *where = NULL;
    uint64_t *ids = NULL;
    size_t n_ids = 0;
    *ret = (struct selection){ .limit = UINT64_MAX };
    bool ok = read_texts(words, "match", &patterns) &&
              read_texts(words, "format", &formats) &&
              read_texts(words, "sources", &sources) &&
              read_where(words, &where) && read_ids(words, &ids, &n_ids) &&
              read_count(words, "skip", &ret->skip) &&
              read_count(words, "limit", &ret->limit) &&
              read_ranges(ret, words);
    const struct pfd_filter_spec spec = {
        .struct_size = sizeof spec,
        .patterns = patterns.all,
        .n_patterns = patterns.n,
        .ignore_case = read_flag(words, "ignore_case"),
        .invert = read_flag(words, "invert"),
        .ids = ids,
        .n_ids = n_ids,
        .format_strings = formats.all,
        .n_format_strings = formats.n,
        .sources = sources.all,
        .n_sources = sources.n,
        .where = where,
    };
    ok = ok && make_filter(ret, words, &spec);
    free(patterns.all);
    free(formats.all);
    free(sources.all);
    free(ids);
    if (!ok)
        selection_free(ret);
    return ok;
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
