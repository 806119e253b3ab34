/* SPDX-License-Identifier: MIT */
#include "strings.h"

#include <stdlib.h>
#include <string.h>

#include "core/strings/strings.h"
#include "held.h"

PyTypeObject *core_strings_type;

struct strings *strings_new(struct strings *of)
{
    struct strings *s = core_new(core_strings_type);
    if (!s)
        return NULL;
    if (of && !strings_freeze(of)) {
        Py_DECREF(s);
        return NULL;
    }
    s->set = of ? pfd_strings_branch(of->set) : pfd_strings_new();
    s->texts = PyList_New(0);
    s->names = PyList_New(0);
    s->findings = PyList_New(0);
    if (!s->set && !PyErr_Occurred())
        PyErr_NoMemory();
    if (s->set && s->texts && s->names && s->findings)
        return s;
    Py_DECREF(s);
    return NULL;
}

static void strings_dealloc(struct strings *s)
{
    pfd_strings_free(s->set);
    Py_XDECREF(s->texts);
    Py_XDECREF(s->names);
    Py_XDECREF(s->findings);
    core_free(s);
}

static bool fill_none(PyObject *list, size_t n)
{
    bool ok = true;
    while (ok && (size_t)PyList_Size(list) < n)
        ok = PyList_Append(list, Py_None) == 0;
    return ok;
}

/* False: an exception is set. */
static bool check_idle(const struct strings *s)
{
    if (s->is_filled)
        core_raise_usage("another thread is filling this set");
    return !s->is_filled;
}

bool strings_freeze(struct strings *s)
{
    if (!check_idle(s))
        return false;
    size_t n = pfd_strings_count(s->set);
    s->is_frozen = true;
    return fill_none(s->texts, n) && fill_none(s->names, n);
}

/* Item i of a list, made when it is first wanted. */
static PyObject *cached(struct strings *s, PyObject *list, size_t i,
                        PyObject *(*make)(struct strings *s, size_t i))
{
    PyObject *have = PyList_GetItem(list, (Py_ssize_t)i);
    if (!have || have != Py_None)
        return Py_XNewRef(have);
    have = make(s, i);
    if (have && PyList_SetItem(list, (Py_ssize_t)i, Py_NewRef(have)) < 0)
        Py_CLEAR(have);
    return have;
}

static PyObject *make_text(struct strings *s, size_t i)
{
    struct pfd_string_info info = { .struct_size = sizeof info };
    if (pfd_strings_get(s->set, i, &info) != PFD_OK)
        return core_raise_usage("no such string");
    return core_text(info.text, info.n_text);
}

static PyObject *make_names(struct strings *s, size_t i)
{
    size_t n = pfd_strings_columns(s->set, i, NULL, 0);
    struct pfd_column *columns = calloc(n + 1, sizeof *columns);
    PyObject *ret = columns ? PyTuple_New((Py_ssize_t)n) : PyErr_NoMemory();
    pfd_strings_columns(s->set, i, columns, columns ? n : 0);
    for (size_t k = 0; columns && ret && k < n; k++) {
        PyObject *name = core_text(columns[k].name, strlen(columns[k].name));
        core_put(&ret, (Py_ssize_t)k, name);
    }
    free(columns);
    return ret;
}

PyObject *strings_text(struct strings *s, size_t i)
{
    return cached(s, s->texts, i, make_text);
}

PyObject *strings_names(struct strings *s, size_t i)
{
    return cached(s, s->names, i, make_names);
}

/* ---- what Python sees ---- */

static bool check_open(const struct strings *s)
{
    if (s->is_frozen)
        core_raise_usage("buffers are read with this set: it cannot grow");
    return !s->is_frozen && check_idle(s);
}

/* Opens a file for a set that may grow. What the file is asked for may run
 * Python, which may freeze the set. False: an exception is set. */
static bool open_file(const struct strings *s, struct held *held,
                      PyObject *file, const char *name)
{
    if (!held_open(held, file, name))
        return false;
    bool ok = check_open(s);
    if (!ok)
        held_close(held);
    return ok;
}

static PyObject *end_filling(struct strings *s, enum pfd_status status,
                             const struct pfd_error *err, const char *source,
                             struct finding_list *found)
{
    bool ok = finding_list_give(found, s->findings);
    finding_list_free(found);
    if (status < 0)
        return core_raise(err, status, source);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* load(FILE, name=None): a path, or an object that has its bytes. */
static PyObject *strings_load(struct strings *s, PyObject *args,
                              PyObject *words)
{
    static char *names[] = { "file", "name", NULL };
    PyObject *file;
    const char *name = NULL;
    struct held held;
    struct finding_list found = { 0 };
    struct pfd_error err = { 0 };
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|z", names, &file, &name) ||
        !open_file(s, &held, file, name))
        return NULL;
    s->is_filled = true;
    enum pfd_status status;
    PyThreadState *others = PyEval_SaveThread();
    status = pfd_strings_load(s->set, held.bytes, held.n, held.name,
                              finding_list_add, &found, &err);
    PyEval_RestoreThread(others);
    s->is_filled = false;
    PyObject *ret = end_filling(s, status, &err, held.name, &found);
    held_close(&held);
    return ret;
}

/* add(ID, TEXT, arguments, wide=MASK): as a device writer made it. */
static PyObject *strings_add(struct strings *s, PyObject *args, PyObject *words)
{
    static char *names[] = {
        "id", "text", "arguments", "wide", "source", NULL
    };
    uint64_t id;
    uint64_t n_arguments;
    const char *text;
    Py_ssize_t n_text;
    PyObject *wide = NULL;
    const char *source = "added";
    struct finding_list found = { 0 };
    struct pfd_error err = { 0 };
    if (!PyArg_ParseTupleAndKeywords(
            args, words, "O&s#O&|Os", names, core_read_u64, &id, &text, &n_text,
            core_read_u64, &n_arguments, &wide, &source))
        return NULL;
    Py_ssize_t n_mask = wide && wide != Py_None ? PySequence_Size(wide) : 0;
    uint64_t *mask =
        n_mask < 0 ? NULL : calloc((size_t)n_mask + 1, sizeof *mask);
    if (!mask)
        return n_mask < 0 ? NULL : PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n_mask; i++) {
        PyObject *word = PySequence_GetItem(wide, i);
        if (word)
            core_read_u64(word, &mask[i]);
        Py_XDECREF(word);
    }
    struct pfd_string_info info = { .struct_size = sizeof info,
                                    .source = source,
                                    .text = text,
                                    .n_text = (size_t)n_text,
                                    .id = id,
                                    .argument_count = n_arguments };
    enum pfd_status status = PFD_OK;
    if (!PyErr_Occurred() && check_open(s)) {
        status = pfd_strings_add(s->set, &info, mask, (size_t)n_mask,
                                 finding_list_add, &found, &err);
    }
    free(mask);
    if (PyErr_Occurred())
        return NULL;
    return end_filling(s, status, &err, NULL, &found);
}

/* add_shader(FILE, id=None, name=None, handle=0): a module of SPIR-V. */
static PyObject *strings_add_shader(struct strings *s, PyObject *args,
                                    PyObject *words)
{
    static char *names[] = { "file", "id", "name", "handle", NULL };
    PyObject *file;
    uint64_t id = PFD_SHADER_NEXT;
    const char *name = NULL;
    uint64_t handle = 0;
    struct held held;
    struct finding_list found = { 0 };
    struct pfd_error err = { 0 };
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|O&zO&", names, &file,
                                     core_read_u64, &id, &name, core_read_u64,
                                     &handle))
        return NULL;
    if (id > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a shader's id has 32 bits");
        return NULL;
    }
    if (!open_file(s, &held, file, NULL))
        return NULL;
    struct pfd_shader_info info = { .struct_size = sizeof info,
                                    .id = (uint32_t)id,
                                    .bytes = held.bytes,
                                    .n_bytes = held.n,
                                    .source = held.name,
                                    .name = name,
                                    .handle = handle };
    enum pfd_status status =
        pfd_strings_add_shader(s->set, &info, finding_list_add, &found, &err);
    PyObject *ret = end_filling(s, status, &err, held.name, &found);
    held_close(&held);
    return ret;
}

/* set_capture(command_buffer, pipeline, action, index, groups, verbose): what the
 * validation layer knew of a buffer; an object is (name or None, handle), an
 * action a number of enum pfd_vulkan_action. */
static PyObject *strings_set_capture(struct strings *s, PyObject *args)
{
    struct pfd_vulkan_capture c = { .struct_size = sizeof c };
    struct pfd_error err = { 0 };
    uint64_t handles[2];
    int action;
    int verbose;
    if (!PyArg_ParseTuple(args, "(zO&)(zO&)iI(III)p", &c.command_buffer.name,
                          core_read_u64, &handles[0], &c.pipeline.name,
                          core_read_u64, &handles[1], &action, &c.action_index,
                          &c.max_work_groups[0], &c.max_work_groups[1],
                          &c.max_work_groups[2], &verbose) ||
        !check_open(s))
        return NULL;
    c.command_buffer.handle = handles[0];
    c.pipeline.handle = handles[1];
    c.action = (enum pfd_vulkan_action)action;
    c.verbose = verbose;
    enum pfd_status status = pfd_strings_set_capture(s->set, &c, &err);
    return status == PFD_OK ? Py_NewRef(Py_None)
                            : core_raise(&err, status, NULL);
}

static Py_ssize_t strings_size(struct strings *s)
{
    return check_idle(s) ? (Py_ssize_t)pfd_strings_count(s->set) : -1;
}

/* String i as (id, text, source, format, argument_count). */
static PyObject *strings_item(struct strings *s, Py_ssize_t i)
{
    struct pfd_string_info info = { .struct_size = sizeof info };
    if (!check_idle(s))
        return NULL;
    if (i < 0 || pfd_strings_get(s->set, (size_t)i, &info) != PFD_OK) {
        PyErr_SetString(PyExc_IndexError, "no such string");
        return NULL;
    }
    return Py_BuildValue("(KNNsK)", (unsigned long long)info.id,
                         core_text(info.text, info.n_text),
                         core_text(info.source, strlen(info.source)),
                         info.format, (unsigned long long)info.argument_count);
}

static PyObject *strings_findings(struct strings *s, void *unused)
{
    return PyList_AsTuple(s->findings);
}

static PyObject *strings_make(PyTypeObject *type, PyObject *args,
                              PyObject *words)
{
    if (words && PyDict_Size(words)) {
        PyErr_SetString(PyExc_TypeError, "Strings() takes files alone");
        return NULL;
    }
    struct strings *s = strings_new(NULL);
    PyObject *none = NULL;
    Py_ssize_t n = s ? PyTuple_Size(args) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyTuple_Pack(1, PyTuple_GetItem(args, i));
        none = one ? strings_load(s, one, NULL) : NULL;
        Py_XDECREF(one);
        Py_XDECREF(none);
        if (!none)
            Py_CLEAR(s);
        if (!s)
            break;
    }
    return (PyObject *)s;
}

#define CALL(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    { "load", CALL(strings_load), METH_VARARGS | METH_KEYWORDS,
      "Adds the format strings of a file." },
    { "add", CALL(strings_add), METH_VARARGS | METH_KEYWORDS,
      "Adds one format string, as a writer of its own has it." },
    { "add_shader", CALL(strings_add_shader), METH_VARARGS | METH_KEYWORDS,
      "Adds a shader, and the format strings in it." },
    { "_set_capture", CALL(strings_set_capture), METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "findings", (getter)(void *)strings_findings, NULL,
      "what was found while it was filled", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, strings_make },
    { Py_tp_dealloc, strings_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, members },
    { Py_sq_length, strings_size },
    { Py_sq_item, strings_item },
    { Py_tp_doc, "A set of format strings: Strings(FILE...)" },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "printfdecode.Strings",
    .basicsize = sizeof(struct strings),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool core_add_strings(PyObject *module)
{
    return core_add_type(module, &spec, &core_strings_type);
}
