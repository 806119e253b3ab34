/* SPDX-License-Identifier: MIT */
/* Tables as objects: their columns without a copy. */
#ifndef PYTHON_TABLE_H
#define PYTHON_TABLE_H

#include "columns.h"
#include "core.h"

struct table {
    PyObject_HEAD struct columns *columns;
};

/* A stream of Arrow's C interface as a capsule: one batch of all columns. NULL:
 * an exception is set. */
PyObject *table_arrow_stream(struct columns *columns);

#endif
