/* SPDX-License-Identifier: MIT */
/* What all types have in common: objects, texts, numbers. */
#include <string.h>

#include "core.h"

void *core_new(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

void core_free(void *object)
{
    PyTypeObject *type = Py_TYPE((PyObject *)object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

PyObject *core_text(const char *text, size_t n)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "backslashreplace");
}

const char *core_c_text(PyObject *text)
{
    Py_ssize_t n = 0;
    const char *ret = PyUnicode_AsUTF8AndSize(text, &n);
    if (!ret || strlen(ret) == (size_t)n)
        return ret;
    PyErr_SetString(PyExc_ValueError, "embedded null character");
    return NULL;
}

int core_read_u64(PyObject *from, void *ret)
{
    PyObject *number = PyNumber_Index(from);
    *(uint64_t *)ret = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    return !PyErr_Occurred();
}

PyObject *core_number(uint64_t value, uint64_t none)
{
    if (value == none)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(value);
}

bool core_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **ret)
{
    if (!*ret)
        *ret = (PyTypeObject *)PyType_FromSpec(spec);
    return *ret && PyModule_AddType(module, *ret) == 0;
}
