/* SPDX-License-Identifier: MIT */
/*
 * The extension module `printfdecode._core`: what its files share. All of it is
 * written against CPython's limited API of version 3.11, so that one file serves
 * that version and later ones.
 *
 * Thread rule: the caller holds the GIL, unless a comment says otherwise.
 * References are borrowed where a comment says so, else new.
 */
#ifndef PYTHON_CORE_H
#define PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <printfdecode/printfdecode.h>

/* What pfd_status becomes: printfdecode.Error, with `file`, `offset` and
 * `reason`; MemoryError when memory is exhausted. Always NULL. */
PyObject *core_raise(const struct pfd_error *err, enum pfd_status status,
                     const char *file);

/* The same for wrong arguments, without a file. Always NULL. */
PyObject *core_raise_usage(const char *reason);

/* Text of a program's, [n] bytes: those that are no UTF-8 become \xNN, as the
 * command prints them. */
PyObject *core_text(const char *text, size_t n);

/* An object of a type that PyType_FromSpec() made, all zero; NULL: an exception
 * is set. */
void *core_new(PyTypeObject *type);

/* Replaces *at, which is given up, by a new reference. */
static inline void core_set(PyObject **at, PyObject *value)
{
    PyObject *old = *at;
    *at = value;
    Py_XDECREF(old);
}

/* Puts an item, which is given up, into a new tuple; NULL, an exception is set:
 * gives the tuple up as well, and *tuple is NULL. */
static inline void core_put(PyObject **tuple, Py_ssize_t i, PyObject *item)
{
    if (item) {
        PyTuple_SetItem(*tuple, i, item);
    } else {
        core_set(tuple, NULL);
    }
}

/* The end of tp_dealloc: frees the object and its hold on the type. */
void core_free(void *object);

/* The text of a str as C has it, which the str keeps; NULL: it is none, or has a
 * NUL, behind which C would see nothing; an exception is set. */
const char *core_c_text(PyObject *text);

/* For `O&`: *(uint64_t *)ret is the number of an int, or of what has __index__();
 * never a part of it. 0: an exception is set. */
int core_read_u64(PyObject *from, void *ret);

/* An integer of 64 bits; None for `none`. */
PyObject *core_number(uint64_t value, uint64_t none);

/* Adds the type that a spec makes to the module, and to *ret. False: an
 * exception is set. */
bool core_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **ret);

/* What each file adds to the module. */
bool core_add_errors(PyObject *module);
bool core_add_findings(PyObject *module);
bool core_add_strings(PyObject *module);
bool core_add_entry(PyObject *module);
bool core_add_opened(PyObject *module);
bool core_add_entries(PyObject *module);
bool core_add_table(PyObject *module);
bool core_add_follow(PyObject *module);
bool core_add_client(PyObject *module);
bool core_add_draw(PyObject *module);

#endif
