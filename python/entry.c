/* SPDX-License-Identifier: MIT */
/* Entries as objects: a place in a block; members are made when they are read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "core/decode/inspect.h"
#include "core/output/lines.h"

static PyTypeObject *block_type;
static PyTypeObject *info_type;
static PyTypeObject *entry_type;

/* ---- what a buffer's entries have in common ---- */

struct buffer_info *buffer_info_new(const char *name)
{
    struct buffer_info *info = core_new(info_type);
    if (!info)
        return NULL;
    info->name = core_text(name, strlen(name));
    info->format = Py_NewRef(Py_None);
    info->generation = Py_NewRef(Py_None);
    info->origin = PyDict_New();
    if (!info->name || !info->origin)
        Py_CLEAR(info);
    return info;
}

bool buffer_info_set_format(struct buffer_info *info, const char *format)
{
    if (!format || info->format != Py_None)
        return true;
    PyObject *name = PyUnicode_FromString(format);
    if (name)
        core_set(&info->format, name);
    return name != NULL;
}

/* "host":"vm","pid":7, as a dict; NULL: an exception is set. */
static PyObject *read_members(const char *members)
{
    size_t n = members ? strlen(members) : 0;
    if (!n)
        return PyDict_New();
    PyObject *json = PyImport_ImportModule("json");
    PyObject *list = core_text(members, n - 1);
    PyObject *text = list ? PyUnicode_FromFormat("{%U}", list) : NULL;
    PyObject *ret =
        json && text ? PyObject_CallMethod(json, "loads", "O", text) : NULL;
    Py_XDECREF(json);
    Py_XDECREF(list);
    Py_XDECREF(text);
    return ret;
}

bool buffer_info_describe(struct buffer_info *info,
                          const struct pfd_wire_frame *origin,
                          uint64_t generation)
{
    struct pfd_lines *lines = NULL;
    PyObject *made = NULL;
    if (pfd_lines_new("json", false, false, &lines, NULL) != PFD_OK ||
        pfd_lines_set_origin(lines, origin) != PFD_OK) {
        PyErr_NoMemory();
    } else {
        made = read_members(pfd_lines_origin_members(lines));
    }
    pfd_lines_free(lines);
    if (!made)
        return false;
    core_set(&info->origin, made);
    core_set(&info->generation, core_number(generation, UINT64_MAX));
    return info->generation != NULL;
}

static void info_dealloc(struct buffer_info *info)
{
    Py_XDECREF(info->name);
    Py_XDECREF(info->format);
    Py_XDECREF(info->origin);
    Py_XDECREF(info->generation);
    core_free(info);
}

/* ---- blocks ---- */

struct block {
    PyObject_HEAD char *bytes; /* [n]; owned */
    size_t n;
    struct strings *strings;
    struct buffer_info *info;
};

struct block *block_new(struct pfd_text *records, struct strings *strings,
                        struct buffer_info *info)
{
    struct block *block = core_new(block_type);
    if (!block)
        return NULL;
    block->bytes = realloc(records->data, records->n + 1); /* no more */
    if (!block->bytes)
        block->bytes = records->data;
    block->n = records->n;
    *records = (struct pfd_text){ 0 };
    block->strings = (struct strings *)Py_XNewRef((PyObject *)strings);
    block->info = (struct buffer_info *)Py_NewRef((PyObject *)info);
    return block;
}

static void block_dealloc(struct block *block)
{
    free(block->bytes);
    Py_XDECREF((PyObject *)block->strings);
    Py_XDECREF((PyObject *)block->info);
    core_free(block);
}

void block_free(struct block *block)
{
    Py_XDECREF((PyObject *)block);
}

size_t block_size(const struct block *block)
{
    return block->n;
}

const struct block_record *block_next(const struct block *block, size_t *at)
{
    if (*at >= block->n)
        return NULL;
    const struct block_record *r = (const void *)(block->bytes + *at);
    const struct block_record *after = block_after(r);
    for (size_t i = 0; i < r->n_alternatives; i++)
        after = block_after(after);
    *at = (size_t)((const char *)after - block->bytes);
    return r;
}

/* ---- entries ---- */

struct entry {
    PyObject_HEAD struct block *block;
    const struct block_record *record;
};

static PyObject *new_entry(struct block *block, const struct block_record *r)
{
    struct entry *e = PyObject_New(struct entry, entry_type);
    if (!e)
        return NULL;
    e->block = (struct block *)Py_NewRef((PyObject *)block);
    e->record = r;
    return (PyObject *)e;
}

static void entry_dealloc(struct entry *e)
{
    PyTypeObject *type = Py_TYPE((PyObject *)e);
    Py_DECREF((PyObject *)e->block);
    PyObject_Free(e);
    Py_DECREF(type);
}

static PyObject *finding_object(const struct block_record *r)
{
    const struct pfd_finding f = {
        .kind = (enum pfd_finding_kind)r->kind,
        .offset = r->offset,
        .index = r->index,
        .source = block_bytes(r, r->format),
        .text = block_bytes(r, r->message),
        .count = r->count,
        .id = r->id,
        .has_id = r->has_id,
    };
    return core_finding(&f);
}

PyObject *block_object(struct block *block, const struct block_record *record)
{
    return record->is_finding ? finding_object(record)
                              : new_entry(block, record);
}

static PyObject *part_text(const struct block_record *r, struct block_part part)
{
    if (part.n == BLOCK_NONE)
        Py_RETURN_NONE;
    return core_text(block_bytes(r, part), part.n);
}

static PyObject *get_message(struct entry *e, void *unused)
{
    return part_text(e->record, e->record->message);
}

static PyObject *get_message_bytes(struct entry *e, void *unused)
{
    const struct block_record *r = e->record;
    if (r->message.n == BLOCK_NONE)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(block_bytes(r, r->message), r->message.n);
}

static PyObject *get_format(struct entry *e, void *unused)
{
    const struct block_record *r = e->record;
    if (r->string != BLOCK_NONE)
        return strings_text(e->block->strings, r->string);
    return part_text(r, r->format);
}

bool block_string(PyObject *of, size_t *string, const char **text, size_t *n)
{
    if (!PyObject_TypeCheck(of, entry_type)) {
        PyErr_SetString(PyExc_TypeError, "it is no Entry");
        return false;
    }
    const struct block_record *r = ((struct entry *)of)->record;
    bool has_text = r->string == BLOCK_NONE && r->format.n != BLOCK_NONE;
    *string = r->string == BLOCK_NONE ? SIZE_MAX : r->string;
    *text = has_text ? block_bytes(r, r->format) : NULL;
    *n = has_text ? r->format.n : 0;
    return true;
}

static PyObject *argument(const struct block_record *r,
                          const struct block_argument *a)
{
    double d;
    switch ((enum pfd_argument_type)a->type) {
    case PFD_ARGUMENT_INT:
        return PyLong_FromLongLong((long long)a->bits);
    case PFD_ARGUMENT_UNSIGNED:
        return PyLong_FromUnsignedLongLong(a->bits);
    case PFD_ARGUMENT_FLOAT:
        memcpy(&d, &a->bits, sizeof d);
        return PyFloat_FromDouble(d);
    case PFD_ARGUMENT_TEXT:
        break;
    }
    return part_text(r, (struct block_part){ (uint32_t)a->bits, a->n });
}

static PyObject *get_args(struct entry *e, void *unused)
{
    const struct block_record *r = e->record;
    const struct block_argument *arguments = block_arguments(r);
    PyObject *ret = PyTuple_New((Py_ssize_t)r->n_arguments);
    for (uint32_t i = 0; ret && i < r->n_arguments; i++) {
        PyObject *value = argument(r, &arguments[i]);
        core_put(&ret, (Py_ssize_t)i, value);
    }
    return ret;
}

/* ---- fields ---- */

/* Gives up the reference to value. */
static bool set_item(PyObject *dict, PyObject *name, PyObject *value)
{
    bool ok = name && value && PyDict_SetItem(dict, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* By names that came with the entry. */
static bool own_fields(const struct block_record *r, PyObject *ret)
{
    const struct block_argument *a = block_arguments(r);
    const char *name = block_bytes(r, r->names);
    const char *end = name + r->names.n;
    bool ok = true;
    for (; ok && name < end; name += strlen(name) + 1, a++) {
        PyObject *key = core_text(name, strlen(name));
        ok = set_item(ret, key, argument(r, a));
        Py_XDECREF(key);
    }
    return ok;
}

/* By those of the set. */
static bool set_fields(const struct entry *e, PyObject *ret)
{
    const struct block_record *r = e->record;
    const struct block_argument *a = block_arguments(r);
    PyObject *names = strings_names(e->block->strings, r->string);
    Py_ssize_t n = names ? PyTuple_Size(names) : 0;
    bool ok = names != NULL;
    for (Py_ssize_t i = 0; ok && i < n && (size_t)i < r->n_arguments; i++)
        ok = set_item(ret, PyTuple_GetItem(names, i), argument(r, &a[i]));
    Py_XDECREF(names);
    return ok;
}

static PyObject *get_fields(struct entry *e, void *unused)
{
    const struct block_record *r = e->record;
    PyObject *ret = PyDict_New();
    bool ok = ret != NULL;
    if (ok && r->names.n != BLOCK_NONE) {
        ok = own_fields(r, ret);
    } else if (ok && r->string != BLOCK_NONE) {
        ok = set_fields(e, ret);
    }
    if (!ok)
        Py_CLEAR(ret);
    return ret;
}

/* ---- circumstances ---- */

static double float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return (double)f;
}

static PyObject *origin_tuple(const struct block_origin *o)
{
    Py_ssize_t n = o->n < 3 ? (Py_ssize_t)o->n : 3;
    PyObject *ret = PyTuple_New(n);
    for (Py_ssize_t i = 0; ret && i < n; i++) {
        PyObject *value = o->type == PFD_ORIGIN_FLOATS
                              ? PyFloat_FromDouble(float_of(o->value[i]))
                              : PyLong_FromUnsignedLongLong(o->value[i]);
        core_put(&ret, i, value);
    }
    return ret;
}

static PyObject *origin_value(const struct block_record *r,
                              const struct block_origin *o)
{
    switch ((enum pfd_origin_type)o->type) {
    case PFD_ORIGIN_NUMBER:
    case PFD_ORIGIN_HEX:
        return PyLong_FromUnsignedLongLong(o->value[0]);
    case PFD_ORIGIN_COORDS:
    case PFD_ORIGIN_FLOATS:
        return origin_tuple(o);
    case PFD_ORIGIN_TEXT:
        break;
    }
    return part_text(r, o->text);
}

static PyObject *get_origin(struct entry *e, void *unused)
{
    const struct block_record *r = e->record;
    const struct block_origin *origins = block_origins(r);
    PyObject *ret = PyDict_Copy(e->block->info->origin);
    for (size_t i = 0; ret && i < r->n_origins; i++) {
        PyObject *name = PyUnicode_FromString(origins[i].name);
        bool ok = set_item(ret, name, origin_value(r, &origins[i]));
        Py_XDECREF(name);
        if (!ok)
            Py_CLEAR(ret);
    }
    return ret;
}

static PyObject *get_findings(struct entry *e, void *unused)
{
    uint64_t findings = e->record->findings;
    Py_ssize_t n = __builtin_popcountll(findings);
    PyObject *ret = PyTuple_New(n);
    for (Py_ssize_t i = 0; ret && i < n; i++, findings &= findings - 1) {
        PyObject *name = PyUnicode_FromString(
            pfd_finding_name((enum pfd_finding_kind)__builtin_ctzll(findings)));
        core_put(&ret, i, name);
    }
    return ret;
}

static PyObject *get_alternatives(struct entry *e, void *unused)
{
    const struct block_record *r = e->record;
    PyObject *ret = PyTuple_New(r->n_alternatives);
    for (Py_ssize_t i = 0; ret && i < e->record->n_alternatives; i++) {
        r = block_after(r);
        PyObject *other = new_entry(e->block, r);
        core_put(&ret, i, other);
    }
    return ret;
}

static PyObject *get_stream(struct entry *e, void *unused)
{
    const char *name = pfd_stream_name((enum pfd_stream)e->record->stream);
    if (!name)
        Py_RETURN_NONE;
    return PyUnicode_FromString(name);
}

static PyObject *get_index(struct entry *e, void *unused)
{
    return PyLong_FromUnsignedLongLong(e->record->index);
}

static PyObject *get_id(struct entry *e, void *unused)
{
    return PyLong_FromUnsignedLongLong(e->record->id);
}

static PyObject *get_offset(struct entry *e, void *unused)
{
    return PyLong_FromUnsignedLongLong(e->record->offset);
}

static PyObject *get_size(struct entry *e, void *unused)
{
    return PyLong_FromUnsignedLong(e->record->size);
}

static PyObject *get_time(struct entry *e, void *unused)
{
    return core_number(e->record->time, 0);
}

static PyObject *get_sequence(struct entry *e, void *unused)
{
    return core_number(e->record->sequence, UINT64_MAX);
}

static PyObject *get_source(struct entry *e, void *unused)
{
    return Py_NewRef(e->block->info->name);
}

static PyObject *get_buffer_format(struct entry *e, void *unused)
{
    return Py_NewRef(e->block->info->format);
}

static PyObject *get_generation(struct entry *e, void *unused)
{
    return Py_NewRef(e->block->info->generation);
}

static PyObject *entry_str(struct entry *e)
{
    if (e->record->message.n != BLOCK_NONE)
        return get_message(e, NULL);
    char text[64]; /* PyUnicode_FromFormat() of 3.11 knows no %llx */
    int n = snprintf(text, sizeof text, "0x%" PRIx64 ": no string has this id",
                     e->record->id);
    return core_text(text, (size_t)n);
}

static PyObject *entry_repr(struct entry *e)
{
    PyObject *text = entry_str(e);
    PyObject *ret =
        text ? PyUnicode_FromFormat("<Entry %llu %R>",
                                    (unsigned long long)e->record->index, text)
             : NULL;
    Py_XDECREF(text);
    return ret;
}

#define MEMBER(name, text)                                          \
    {                                                               \
#name, (getter)(void (*)(void))get_##name, NULL, text, NULL \
    }

static PyGetSetDef members[] = {
    MEMBER(message, "what printf would have written; None: an unknown id"),
    MEMBER(message_bytes, "the same, exactly as it came"),
    MEMBER(format, "the format string, or None"),
    MEMBER(args, "the values of the arguments"),
    MEMBER(fields, "the arguments by their names"),
    MEMBER(origin, "what is known of where it came from"),
    MEMBER(findings, "names of what was found in it"),
    MEMBER(alternatives, "other readings of the same bytes"),
    MEMBER(index, "among the buffer's entries, from 0"),
    MEMBER(offset, "bytes from the start of the buffer"),
    MEMBER(size, "bytes of the buffer that it takes"),
    MEMBER(id, "of the format string"),
    MEMBER(stream, "stdout, stderr or None"),
    MEMBER(time, "nanoseconds since 1970, or None"),
    MEMBER(sequence, "the daemon's number of it, or None"),
    MEMBER(source, "the buffer's name"),
    MEMBER(buffer_format, "the format of its buffer, such as llpc"),
    MEMBER(generation, "how often the buffer was used before, or None"),
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot entry_slots[] = {
    { Py_tp_dealloc, entry_dealloc },
    { Py_tp_getset, members },
    { Py_tp_str, entry_str },
    { Py_tp_repr, entry_repr },
    { Py_tp_doc, "One printf call of one lane. str() is its message." },
    { 0, NULL },
};

static PyType_Spec entry_spec = {
    .name = "printfdecode.Entry",
    .basicsize = sizeof(struct entry),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = entry_slots,
};

static PyType_Slot block_slots[] = {
    { Py_tp_dealloc, block_dealloc },
    { 0, NULL },
};

static PyType_Spec block_spec = {
    .name = "printfdecode._core.Block",
    .basicsize = sizeof(struct block),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = block_slots,
};

static PyType_Slot info_slots[] = {
    { Py_tp_dealloc, info_dealloc },
    { 0, NULL },
};

static PyType_Spec info_spec = {
    .name = "printfdecode._core.BufferInfo",
    .basicsize = sizeof(struct buffer_info),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = info_slots,
};

bool core_add_entry(PyObject *module)
{
    return core_add_type(module, &block_spec, &block_type) &&
           core_add_type(module, &info_spec, &info_type) &&
           core_add_type(module, &entry_spec, &entry_type);
}
