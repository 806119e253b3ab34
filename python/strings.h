/* SPDX-License-Identifier: MIT */
/*
 * Sets of format strings as objects. A set that buffers are read with is
 * frozen: filling it then is refused.
 */
#ifndef PYTHON_STRINGS_H
#define PYTHON_STRINGS_H

#include "core.h"
#include "error.h"

struct strings {
    PyObject_HEAD struct pfd_strings *set;
    PyObject *texts; /* list: text i as an object, or None until it is needed */
    PyObject *names; /* likewise: a tuple of the names of its arguments */
    PyObject *findings; /* list */
    bool is_frozen;
    bool is_filled; /* by a thread, without the GIL: no other one looks at it */
};

extern PyTypeObject *core_strings_type;

/* An empty set, or one that begins with `of`, which it freezes. NULL: an
 * exception is set. */
struct strings *strings_new(struct strings *of);

/* No more strings will come. False: an exception is set. */
bool strings_freeze(struct strings *strings);

/* Of a frozen set: the text of string i, and the names of its arguments. New
 * references; NULL: an exception is set. */
PyObject *strings_text(struct strings *strings, size_t i);
PyObject *strings_names(struct strings *strings, size_t i);

#endif
