/* SPDX-License-Identifier: MIT */
/*
 * Bytes of an input: a path's, which are copied, so that a file which is cut
 * meanwhile does no harm; or those of an object with the buffer protocol, which
 * are copied only if they can change.
 */
#ifndef PYTHON_HELD_H
#define PYTHON_HELD_H

#include "core.h"

struct held {
    const void *bytes; /* [n], never NULL */
    size_t n;
    char *name;              /* of the file, for findings */
    struct pfd_range *holes; /* [n_holes], in order: holes of a sparse file */
    size_t n_holes;
    Py_buffer view; /* of an object */
    void *mapped;   /* [n]: pages for a copy; NULL: none */
    bool is_object;
};

/* Reads a path (str, bytes, os.PathLike) or takes an object's bytes. name: of
 * an object; NULL: "buffer". False: an exception is set, and nothing is held. */
bool held_open(struct held *ret, PyObject *from, const char *name);
void held_close(struct held *held);

/* Replaces the bytes by inflated ones, [n], allocated (free()). */
void held_replace(struct held *held, void *bytes, size_t n);

/* Is it a path? */
bool held_is_path(PyObject *from);

#endif
