/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opened.h"
#include "selection.h"

static PyTypeObject *table_type;
static PyTypeObject *column_type;
static PyTypeObject *bytes_type;

/* ---- a column ---- */

/* A column of numbers, for memoryview(). */
struct column {
    PyObject_HEAD struct columns *columns;
    Py_ssize_t n_rows;
    Py_ssize_t n_bytes; /* of a value */
    void *values;
    char format[2]; /* of struct.unpack() */
};

static char format_of(const struct pfd_table_column *c)
{
    static const char letters[][9] = {
        [PFD_VALUE_INT] = { [1] = 'b', [2] = 'h', [4] = 'i', [8] = 'q' },
        [PFD_VALUE_UNSIGNED] = { [1] = 'B', [2] = 'H', [4] = 'I', [8] = 'Q' },
        [PFD_VALUE_FLOAT] = { [2] = 'e', [4] = 'f', [8] = 'd' },
        [PFD_VALUE_TIME] = { [8] = 'q' },
        [PFD_VALUE_TEXT] = { 0 },
    };
    return letters[c->type][c->n_bytes];
}

static int column_view(struct column *c, Py_buffer *view, int flags)
{
    Py_ssize_t n = c->n_rows * c->n_bytes;
    static char none;
    void *values = c->values ? c->values : &none;
    if (PyBuffer_FillInfo(view, (PyObject *)c, values, n, 1, flags) < 0)
        return -1;
    view->itemsize = c->n_bytes;
    view->format = flags & PyBUF_FORMAT ? c->format : NULL;
    if (view->shape)
        view->shape = &c->n_rows;
    if (view->strides)
        view->strides = &c->n_bytes;
    return 0;
}

static void column_dealloc(struct column *c)
{
    columns_drop(c->columns);
    core_free(c);
}

static PyObject *numbers(struct columns *all, size_t i)
{
    const struct pfd_table_column *type = &all->types[i];
    struct column *c = core_new(column_type);
    if (!c)
        return NULL;
    columns_hold(all);
    c->columns = all;
    c->n_rows = (Py_ssize_t)all->all.n_rows;
    c->n_bytes = type->n_bytes;
    c->values = all->all.vectors[i].values.data;
    c->format[0] = format_of(type);
    PyObject *ret = PyMemoryView_FromObject((PyObject *)c);
    Py_DECREF((PyObject *)c);
    return ret;
}

/* A tuple of str, None for nulls. */
static PyObject *texts(const struct columns *all, size_t i)
{
    Py_ssize_t n = (Py_ssize_t)all->all.n_rows;
    PyObject *ret = PyTuple_New(n);
    for (Py_ssize_t row = 0; ret && row < n; row++) {
        size_t n_text = 0;
        const char *text = pfd_columns_text(&all->all, i, (size_t)row, &n_text);
        PyObject *one = pfd_columns_is_null(&all->all, i, (size_t)row)
                            ? Py_NewRef(Py_None)
                            : core_text(text, n_text);
        core_put(&ret, row, one);
    }
    return ret;
}

/* ---- a table ---- */

static bool find(const struct table *t, PyObject *name, size_t *ret)
{
    Py_ssize_t n = 0;
    const char *text = PyUnicode_AsUTF8AndSize(name, &n);
    for (size_t i = 0; text && i < t->columns->all.n_columns; i++) {
        const char *other = t->columns->types[i].name;
        if (strlen(other) == (size_t)n && !memcmp(other, text, (size_t)n)) {
            *ret = i;
            return true;
        }
    }
    if (text)
        PyErr_SetObject(PyExc_KeyError, name);
    return false;
}

static PyObject *table_item(struct table *t, PyObject *name)
{
    size_t i;
    if (!find(t, name, &i))
        return NULL;
    return t->columns->types[i].n_bytes ? numbers(t->columns, i)
                                        : texts(t->columns, i);
}

/* nulls(NAME): a byte for each row, 1: it has no value. */
static PyObject *table_nulls(struct table *t, PyObject *name)
{
    size_t i;
    if (!find(t, name, &i))
        return NULL;
    const struct pfd_text *nulls = &t->columns->all.vectors[i].nulls;
    return PyBytes_FromStringAndSize(nulls->data, (Py_ssize_t)nulls->n);
}

static Py_ssize_t table_size(struct table *t)
{
    return (Py_ssize_t)t->columns->all.n_rows;
}

static PyObject *get_columns(struct table *t, void *unused)
{
    size_t n = t->columns->all.n_columns;
    PyObject *ret = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; ret && i < n; i++) {
        const char *name = t->columns->types[i].name;
        PyObject *one = core_text(name, strlen(name));
        core_put(&ret, (Py_ssize_t)i, one);
    }
    return ret;
}

static PyObject *get_format(struct table *t, void *unused)
{
    return core_text(t->columns->format, t->columns->n_format);
}

static PyObject *get_name(struct table *t, void *unused)
{
    return core_text(t->columns->name, strlen(t->columns->name));
}

static PyObject *table_stream(struct table *t, PyObject *args, PyObject *words)
{
    static char *names[] = { "requested_schema", NULL };
    PyObject *requested = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|O", names, &requested))
        return NULL;
    return table_arrow_stream(t->columns);
}

static void table_dealloc(struct table *t)
{
    columns_drop(t->columns);
    core_free(t);
}

/* ---- making tables ---- */

/* The words of a table's spec, which a dict keeps alive. */
struct words {
    const char **all; /* [n] */
    size_t n;
};

static bool read_words(PyObject *dict, const char *name, struct words *ret)
{
    PyObject *list = PyDict_GetItemString(dict, name);
    Py_ssize_t n = list ? PyTuple_Size(list) : 0;
    if (n <= 0)
        return n == 0;
    ret->all = calloc((size_t)n, sizeof *ret->all);
    if (!ret->all)
        return PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *word = core_c_text(PyTuple_GetItem(list, i));
        if (!word)
            return false;
        ret->all[ret->n++] = word;
    }
    return true;
}

struct making {
    struct opened *opened;
    struct selection selection;
    struct words columns;
    struct words group_by;
    struct words aggregates;
    struct pfd_table_spec spec;
    struct pfd_table_counts counts;
    struct pfd_error err;
};

/* Without the GIL. */
static enum pfd_status fill_tables(struct making *m)
{
    struct pfd_tables *tables = NULL;
    struct opened *o = m->opened;
    enum pfd_status status = pfd_tables_new(&m->spec, &tables, &m->err);
    for (size_t i = 0; status == PFD_OK && i < o->n; i++) {
        struct pfd_summary summary = { 0 };
        struct pfd_convert convert = {
            .struct_size = sizeof convert,
            .strings = o->strings->set,
            .output = pfd_tables_want_messages(tables) ? "raw" : NULL,
            .filter = m->selection.filter,
            .skip = m->selection.skip,
            .limit = m->selection.limit == UINT64_MAX ? 0 : m->selection.limit,
            .no_entries = !m->selection.limit,
            .ranges = m->selection.ranges,
            .n_ranges = m->selection.n_ranges,
            .consumer = pfd_tables_consumer(tables),
        };
        const struct buffer *b = &o->buffers[i];
        pfd_tables_set_source(
            tables, b->capture ? b->captured.name : b->held.name, o->n > 1);
        status = buffer_convert(b, &convert, &summary, &m->err);
    }
    /* A table that failed stops the conversion, and says why at its end. */
    if (status == PFD_OK || (tables && status == PFD_ERR_STOPPED))
        status = pfd_tables_end(tables, &m->counts, &m->err);
    pfd_tables_free(tables);
    if (status == PFD_OK && m->selection.filter) {
        status =
            pfd_filter_check(m->selection.filter, o->strings->set, &m->err);
    }
    return status;
}

static const char *read_text(PyObject *dict, const char *name)
{
    PyObject *text = PyDict_GetItemString(dict, name);
    return text && text != Py_None ? core_c_text(text) : NULL;
}

static void free_making(struct making *m)
{
    selection_free(&m->selection);
    free(m->columns.all);
    free(m->group_by.all);
    free(m->aggregates.all);
}

/* Reads (OPENED, selection, how): how has columns, group_by, aggregates, sort,
 * top, and all. False: an exception is set. */
static bool read_making(struct making *m, PyObject *args)
{
    PyObject *opened;
    PyObject *selection;
    PyObject *how;
    if (!PyArg_ParseTuple(args, "O!O!O!", core_opened_type, &opened,
                          &PyDict_Type, &selection, &PyDict_Type, &how))
        return false;
    *m = (struct making){ .opened = (struct opened *)opened };
    if (!opened_ready(m->opened) || !selection_read(&m->selection, selection))
        return false;
    PyObject *top = PyDict_GetItemString(how, "top");
    PyObject *all = PyDict_GetItemString(how, "all");
    uint64_t n_top = 0;
    bool ok = (!top || top == Py_None || core_read_u64(top, &n_top)) &&
              read_words(how, "columns", &m->columns) &&
              read_words(how, "group_by", &m->group_by) &&
              read_words(how, "aggregates", &m->aggregates);
    m->spec = (struct pfd_table_spec){
        .strings = m->opened->strings->set,
        .columns = m->columns.all,
        .n_columns = m->columns.n,
        .group_by = m->group_by.all,
        .n_group_by = m->group_by.n,
        .aggregates = m->aggregates.all,
        .n_aggregates = m->aggregates.n,
        .sort = read_text(how, "sort"),
        .top = n_top,
        .all = all && PyObject_IsTrue(all) == 1,
    };
    if (ok && !PyErr_Occurred())
        return true;
    free_making(m);
    return false;
}

/* True: there is a table. False: an exception is set. */
static bool check(const struct making *m, enum pfd_status status)
{
    if (status < 0) {
        core_raise(&m->err, status, NULL);
    } else if (m->counts.others) {
        core_raise_usage(
            "the entries are of several format strings: choose one "
            "by a pattern, or take tables()");
    } else {
        return true;
    }
    return false;
}

static PyObject *table_object(struct columns *columns)
{
    struct table *t = core_new(table_type);
    if (t) {
        columns_hold(columns);
        t->columns = columns;
    }
    return (PyObject *)t;
}

static PyObject *table_objects(const struct column_tables *made)
{
    PyObject *ret = PyList_New(0);
    if (made->failed || made->too_large)
        Py_CLEAR(ret);
    if (made->failed) {
        PyErr_NoMemory();
    } else if (made->too_large) {
        PyErr_SetString(PyExc_OverflowError,
                        "a column of texts is above 2 GiB: select fewer rows");
    }
    for (size_t i = 0; ret && i < made->n; i++) {
        PyObject *one = table_object(made->all[i]);
        if (!one || PyList_Append(ret, one) < 0)
            Py_CLEAR(ret);
        Py_XDECREF(one);
    }
    return ret;
}

static bool refuse(void *user, const void *bytes, size_t n)
{
    return false;
}

/* tables(OPENED, selection, how): a list of tables. */
static PyObject *make_tables(PyObject *module, PyObject *args)
{
    struct making m;
    struct column_tables made = { 0 };
    enum pfd_status status;
    if (!read_making(&m, args))
        return NULL;
    m.spec.form = &columns_form;
    m.spec.write = refuse;
    m.spec.write_user = &made;
    PyThreadState *others = PyEval_SaveThread();
    status = fill_tables(&m);
    PyEval_RestoreThread(others);
    PyObject *ret = check(&m, status) ? table_objects(&made) : NULL;
    column_tables_free(&made);
    free_making(&m);
    return ret;
}

/* ---- NumPy's bytes ---- */

/* Bytes that NumPy reads in place. */
struct held_bytes {
    PyObject_HEAD struct pfd_text text;
};

static bool add_bytes(void *user, const void *bytes, size_t n)
{
    struct pfd_text *text = user;
    pfd_text_add(text, bytes, n);
    return !text->failed;
}

static int bytes_view(struct held_bytes *b, Py_buffer *view, int flags)
{
    /* An array of it may be changed: the bytes are its alone. */
    return PyBuffer_FillInfo(view, (PyObject *)b, b->text.data,
                             (Py_ssize_t)b->text.n, 0, flags);
}

static void bytes_dealloc(struct held_bytes *b)
{
    pfd_text_free(&b->text);
    core_free(b);
}

/* npy(OPENED, selection, how): a file of NumPy's, in memory. */
static PyObject *make_npy(PyObject *module, PyObject *args)
{
    struct making m;
    enum pfd_status status;
    if (!read_making(&m, args))
        return NULL;
    struct held_bytes *ret = core_new(bytes_type);
    if (ret) {
        m.spec.output = "npy";
        m.spec.write = add_bytes;
        m.spec.write_user = &ret->text;
        PyThreadState *others = PyEval_SaveThread();
        status = fill_tables(&m);
        PyEval_RestoreThread(others);
        if (!check(&m, status))
            Py_CLEAR(ret);
    }
    free_making(&m);
    return (PyObject *)ret;
}

/* ---- what Python sees ---- */

#define CALL(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    { "tables", make_tables, METH_VARARGS, "" },
    { "npy", make_npy, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef methods[] = {
    { "nulls", CALL(table_nulls), METH_O,
      "A byte for each row: 1 where the column has no value." },
    { "__arrow_c_stream__", CALL(table_stream), METH_VARARGS | METH_KEYWORDS,
      "Arrow's C stream interface, as a capsule." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "columns", (getter)(void (*)(void))get_columns, NULL, "their names",
      NULL },
    { "format", (getter)(void (*)(void))get_format, NULL,
      "the format string of its rows", NULL },
    { "name", (getter)(void (*)(void))get_name, NULL,
      "words of the format string", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot table_slots[] = {
    { Py_tp_dealloc, table_dealloc }, { Py_tp_methods, methods },
    { Py_tp_getset, members },        { Py_mp_length, table_size },
    { Py_mp_subscript, table_item },  { 0, NULL },
};

static PyType_Spec table_spec = {
    .name = "printfdecode._core.Table",
    .basicsize = sizeof(struct table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = table_slots,
};

static PyType_Slot column_slots[] = {
    { Py_tp_dealloc, column_dealloc },
    { Py_bf_getbuffer, column_view },
    { 0, NULL },
};

static PyType_Spec column_spec = {
    .name = "printfdecode._core.Column",
    .basicsize = sizeof(struct column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};

static PyType_Slot bytes_slots[] = {
    { Py_tp_dealloc, bytes_dealloc },
    { Py_bf_getbuffer, bytes_view },
    { 0, NULL },
};

static PyType_Spec bytes_spec = {
    .name = "printfdecode._core.Bytes",
    .basicsize = sizeof(struct held_bytes),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = bytes_slots,
};

bool core_add_table(PyObject *module)
{
    return core_add_type(module, &table_spec, &table_type) &&
           core_add_type(module, &column_spec, &column_type) &&
           core_add_type(module, &bytes_spec, &bytes_type) &&
           PyModule_AddFunctions(module, functions) == 0;
}
