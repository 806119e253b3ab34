/* SPDX-License-Identifier: MIT */
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

/* Types belong to the process: they cannot serve a second interpreter. */
static bool is_main_interpreter(void)
{
    PyInterpreterState *own = PyInterpreterState_Get();
    return PyInterpreterState_GetID(own) == 0;
}

static int fill(PyObject *module)
{
    if (!is_main_interpreter()) {
        PyErr_SetString(PyExc_ImportError,
                        "printfdecode works in the main interpreter only, not "
                        "in sub-interpreters");
        return -1;
    }
    bool ok = core_add_errors(module) && core_add_findings(module) &&
              core_add_strings(module) && core_add_entry(module) &&
              core_add_opened(module) && core_add_entries(module) &&
              core_add_table(module) && core_add_follow(module) &&
              core_add_client(module) && core_add_draw(module) &&
              PyModule_AddStringConstant(module, "version", pfd_version()) == 0;
    return ok ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, fill },
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "printfdecode._core",
    .m_doc = "The compiled part of printfdecode.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
