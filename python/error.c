/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PyObject *error_type;
static PyObject *usage_type;
static PyTypeObject *finding_type;

/* ---- exceptions ---- */

/* Gives up the reference to value. */
static bool set_member(PyObject *of, const char *name, PyObject *value)
{
    bool ok = value && PyObject_SetAttrString(of, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

static PyObject *optional_text(const char *text)
{
    if (!text || !*text)
        Py_RETURN_NONE;
    return core_text(text, strlen(text));
}

static PyObject *raise(PyObject *type, const char *file, uint64_t offset,
                       const char *reason)
{
    char line[4096];
    bool has_file = file && *file;
    snprintf(line, sizeof line, "%s%s%s", has_file ? file : "",
             has_file ? ": " : "", reason);
    PyObject *text = core_text(line, strlen(line));
    PyObject *error =
        text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    if (error && set_member(error, "file", optional_text(file)) &&
        set_member(error, "offset", core_number(offset, PFD_NO_OFFSET)) &&
        set_member(error, "reason", core_text(reason, strlen(reason))))
        PyErr_SetObject(type, error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *core_raise(const struct pfd_error *err, enum pfd_status status,
                     const char *file)
{
    if (status == PFD_ERR_NOMEM)
        return PyErr_NoMemory();
    return raise(status == PFD_ERR_USAGE ? usage_type : error_type, file,
                 err->offset, err->text);
}

PyObject *core_raise_usage(const char *reason)
{
    return raise(usage_type, NULL, PFD_NO_OFFSET, reason);
}

bool core_add_errors(PyObject *module)
{
    if (!error_type) {
        error_type = PyErr_NewExceptionWithDoc(
            "printfdecode.Error",
            "An input that cannot be read: its file, the offset in it and the "
            "reason.",
            NULL, NULL);
    }
    if (error_type && !usage_type) {
        PyObject *bases = PyTuple_Pack(2, error_type, PyExc_ValueError);
        usage_type = PyErr_NewExceptionWithDoc(
            "printfdecode.UsageError",
            "Arguments that make no sense: a pattern, a condition, a name.",
            bases, NULL);
        Py_XDECREF(bases);
    }
    return usage_type &&
           PyModule_AddObjectRef(module, "Error", error_type) == 0 &&
           PyModule_AddObjectRef(module, "UsageError", usage_type) == 0;
}

/* ---- findings ---- */

enum {
    N_MEMBERS = 8, /* of a finding */
};

PyObject *core_finding(const struct pfd_finding *f)
{
    const char *name = pfd_finding_name(f->kind);
    PyObject *members[N_MEMBERS] = {
        PyUnicode_FromString(name),
        core_text(f->text, strlen(f->text)),
        core_text(f->source, strlen(f->source)),
        core_number(f->offset, PFD_NO_OFFSET),
        core_number(f->index, PFD_NO_INDEX),
        core_number(f->count, 0),
        f->has_id ? core_number(f->id, UINT64_MAX) : Py_NewRef(Py_None),
        PyBool_FromLong(pfd_finding_is_note(f->kind)),
    };
    PyObject *ret = PyStructSequence_New(finding_type);
    bool ok = ret != NULL;
    for (size_t i = 0; i < N_MEMBERS; i++) {
        ok = ok && members[i];
        if (ret)
            PyStructSequence_SetItem(ret, (Py_ssize_t)i, members[i]);
    }
    if (ok)
        return ret;
    Py_XDECREF(ret);
    return NULL;
}

void finding_list_add(void *user, const struct pfd_finding *finding)
{
    struct finding_list *list = user;
    if (pfd_finding_is_note(finding->kind) && !list->notes)
        return;
    struct pfd_finding *all = realloc(list->all, (list->n + 1) * sizeof *all);
    char *source = strdup(finding->source);
    char *text = strdup(finding->text);
    if (all)
        list->all = all;
    if (!all || !source || !text) {
        list->failed = true;
        free(source);
        free(text);
        return;
    }
    all[list->n] = *finding;
    all[list->n].source = source;
    all[list->n++].text = text;
}

void finding_list_free(struct finding_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free((char *)(uintptr_t)list->all[i].source);
        free((char *)(uintptr_t)list->all[i].text);
    }
    free(list->all);
    list->all = NULL;
    list->n = 0;
}

bool finding_list_give(const struct finding_list *list, PyObject *to)
{
    if (list->failed) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < list->n; i++) {
        PyObject *one = core_finding(&list->all[i]);
        bool ok = one && PyList_Append(to, one) == 0;
        Py_XDECREF(one);
        if (!ok)
            return false;
    }
    return true;
}

static PyStructSequence_Field members[] = {
    { "kind", "its name, such as unknown_id" },
    { "text", "one sentence" },
    { "source", "the file or buffer" },
    { "offset", "bytes from the start of the source, or None" },
    { "index", "of the entry, or None" },
    { "count", "entries that it was found in, or None" },
    { "id", "of their format string, or None" },
    { "is_note", "True: information about sound input" },
    { NULL, NULL },
};

static PyStructSequence_Desc description = {
    "printfdecode.Finding",
    "What a careful reader wants to know about the input.",
    members,
    N_MEMBERS,
};

bool core_add_findings(PyObject *module)
{
    if (!finding_type)
        finding_type = PyStructSequence_NewType(&description);
    return finding_type && PyModule_AddType(module, finding_type) == 0;
}
