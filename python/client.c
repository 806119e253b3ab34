/* SPDX-License-Identifier: MIT */
/*
 * A program that prints, to a daemon: its code objects, and memory that both
 * share. No call blocks, and the GIL keeps threads apart.
 */
#include <string.h>
#include <sys/mman.h>

#include <printfdecode/client.h>

#include "core.h"
#include "held.h"

static PyTypeObject *client_type;
static PyTypeObject *shared_type;

struct client {
    PyObject_HEAD struct pfd_client *client; /* NULL: closed */
    Py_ssize_t n_shared;                     /* buffers that are open */
};

/* Memory with the buffer protocol: numpy.frombuffer(), torch.frombuffer(). */
struct shared {
    PyObject_HEAD struct client *client;
    struct pfd_client_buffer *buffer; /* NULL: closed */
    Py_ssize_t n_views;
    /* [n]: mapped once more, for as long as the object lives: torch's tensors
     * keep the object, and not the view that they were made of. */
    void *memory;
    size_t n;
};

/* ---- memory ---- */

static int shared_view(struct shared *s, Py_buffer *view, int flags)
{
    if (!s->buffer) {
        core_raise_usage("this buffer is closed");
        return -1;
    }
    int ret = PyBuffer_FillInfo(view, (PyObject *)s, s->memory,
                                (Py_ssize_t)s->n, 0, flags);
    s->n_views += ret == 0;
    return ret;
}

static void shared_release(struct shared *s, Py_buffer *view)
{
    s->n_views--;
}

static void end_shared(struct shared *s)
{
    if (!s->buffer)
        return;
    pfd_client_buffer_free(s->buffer);
    s->buffer = NULL;
    s->client->n_shared--;
    pfd_client_poll(s->client->client);
}

/* ring(): tells the daemon that there is something new. */
static PyObject *shared_ring(struct shared *s, PyObject *unused)
{
    if (!s->buffer)
        return core_raise_usage("this buffer is closed");
    pfd_client_buffer_ring(s->buffer);
    pfd_client_poll(s->client->client);
    Py_RETURN_NONE;
}

/* close(): it is complete. */
static PyObject *shared_close(struct shared *s, PyObject *unused)
{
    if (s->n_views) {
        PyErr_SetString(PyExc_BufferError,
                        "arrays or memoryviews of this buffer are in use");
        return NULL;
    }
    end_shared(s);
    Py_RETURN_NONE;
}

static void shared_dealloc(struct shared *s)
{
    end_shared(s);
    if (s->memory)
        munmap(s->memory, s->n);
    Py_XDECREF((PyObject *)s->client);
    core_free(s);
}

/* ---- the client ---- */

static bool check_open(const struct client *c)
{
    if (!c->client)
        core_raise_usage("this client is closed");
    return c->client != NULL;
}

/* The length of a number, or the bytes of an object. False: an exception is
 * set. */
static bool size_of(PyObject *of, struct held *held, uint64_t *ret)
{
    *held = (struct held){ .bytes = "" };
    if (PyLong_Check(of)) {
        *ret = PyLong_AsUnsignedLongLong(of);
        return !PyErr_Occurred();
    }
    if (!held_open(held, of, NULL))
        return false;
    *ret = held->n;
    return true;
}

static bool map_shared(struct shared *s)
{
    (void)pfd_client_buffer_memory(s->buffer, &s->n);
    void *memory = mmap(NULL, s->n, PROT_READ | PROT_WRITE, MAP_SHARED,
                        pfd_client_buffer_fd(s->buffer), 0);
    if (memory != MAP_FAILED)
        s->memory = memory;
    return memory != MAP_FAILED || PyErr_NoMemory();
}

static struct shared *new_shared(struct client *c,
                                 const struct pfd_wire_frame *origin,
                                 const char *name)
{
    struct pfd_error err = { 0 };
    struct shared *s = core_new(shared_type);
    if (!s)
        return NULL;
    s->client = (struct client *)Py_NewRef((PyObject *)c);
    enum pfd_status status =
        pfd_client_buffer_new(c->client, origin, true, &s->buffer, &err);
    if (status == PFD_OK) {
        c->n_shared++;
        if (!map_shared(s))
            Py_CLEAR(s);
    } else {
        core_raise(&err, status, name);
        Py_CLEAR(s);
    }
    return s;
}

/* share(SIZE or DATA, name, format=None): a Shared. */
static PyObject *client_share(struct client *c, PyObject *args, PyObject *words)
{
    static char *names[] = { "memory", "name", "format", NULL };
    PyObject *of;
    const char *name = "python";
    const char *format = NULL;
    struct held held;
    struct pfd_wire_frame origin = { .struct_size = sizeof origin };
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|sz", names, &of, &name,
                                     &format) ||
        !size_of(of, &held, &origin.size))
        return NULL;
    origin.name = (struct pfd_wire_bytes){ .at = name, .n = strlen(name) };
    if (format) {
        origin.format =
            (struct pfd_wire_bytes){ .at = format, .n = strlen(format) };
    }
    /* What it is asked for may run Python, which may have closed the client. */
    struct shared *s = check_open(c) ? new_shared(c, &origin, name) : NULL;
    if (s) {
        memcpy(s->memory, held.bytes, held.n);
        pfd_client_buffer_ring(s->buffer);
        pfd_client_poll(c->client);
    }
    held_close(&held);
    return (PyObject *)s;
}

/* False: an exception is set. */
static bool give_strings(struct client *c, const struct held *held)
{
    struct pfd_error err = { 0 };
    enum pfd_status status = pfd_client_code_object(
        c->client, held->name, held->bytes, held->n, NULL, &err);
    if (status == PFD_OK) {
        pfd_client_poll(c->client);
    } else {
        core_raise(&err, status, held->name);
    }
    return status == PFD_OK;
}

/* strings(FILE, name=None): hands over a file with format strings. */
static PyObject *client_strings(struct client *c, PyObject *args,
                                PyObject *words)
{
    static char *names[] = { "file", "name", NULL };
    PyObject *file;
    const char *name = NULL;
    struct held held;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|z", names, &file, &name) ||
        !held_open(&held, file, name))
        return NULL;
    bool ok = check_open(c) && give_strings(c, &held);
    held_close(&held);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* poll(): connects and sends as far as possible; True: all is sent. */
static PyObject *client_poll(struct client *c, PyObject *unused)
{
    return check_open(c) ? PyBool_FromLong(pfd_client_poll(c->client) == PFD_OK)
                         : NULL;
}

static PyObject *client_close(struct client *c, PyObject *unused)
{
    if (c->n_shared)
        return core_raise_usage("shared buffers of this client are open");
    pfd_client_free(c->client);
    c->client = NULL;
    Py_RETURN_NONE;
}

static PyObject *get_is_connected(struct client *c, void *unused)
{
    return PyBool_FromLong(c->client && pfd_client_fd(c->client) >= 0);
}

/* Client(path=None, process=None) */
static PyObject *client_make(PyTypeObject *type, PyObject *args,
                             PyObject *words)
{
    static char *names[] = { "path", "process", NULL };
    const char *path = NULL;
    const char *process = NULL;
    struct pfd_error err = { 0 };
    if (!PyArg_ParseTupleAndKeywords(args, words, "|zz", names, &path,
                                     &process))
        return NULL;
    struct client *c = core_new(type);
    if (!c)
        return NULL;
    if (path && !strncmp(path, "unix:", 5))
        path += 5;
    enum pfd_status status = pfd_client_new(path, process, 0, &c->client, &err);
    if (status != PFD_OK) {
        core_raise(&err, status, path);
        Py_CLEAR(c);
    }
    return (PyObject *)c;
}

static void client_dealloc(struct client *c)
{
    pfd_client_free(c->client); /* its buffers, which hold it, are gone */
    core_free(c);
}

/* ---- what Python sees ---- */

#define CALL(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef shared_methods[] = {
    { "ring", CALL(shared_ring), METH_NOARGS,
      "Tells the daemon that something is new." },
    { "close", CALL(shared_close), METH_NOARGS, "Ends it as complete." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot shared_slots[] = {
    { Py_tp_dealloc, shared_dealloc },
    { Py_tp_methods, shared_methods },
    { Py_bf_getbuffer, shared_view },
    { Py_bf_releasebuffer, shared_release },
    { Py_tp_doc, "Memory that a daemon reads while this program writes it." },
    { 0, NULL },
};

static PyType_Spec shared_spec = {
    .name = "printfdecode.Shared",
    .basicsize = sizeof(struct shared),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = shared_slots,
};

static PyMethodDef client_methods[] = {
    { "share", CALL(client_share), METH_VARARGS | METH_KEYWORDS,
      "Memory of a size, or with the bytes of an object, that the daemon "
      "reads." },
    { "strings", CALL(client_strings), METH_VARARGS | METH_KEYWORDS,
      "Hands over a file with format strings." },
    { "poll", CALL(client_poll), METH_NOARGS,
      "Connects and sends as far as possible; True: all is sent." },
    { "close", CALL(client_close), METH_NOARGS, "Sends the rest, and closes." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef client_members[] = {
    { "is_connected", (getter)(void (*)(void))get_is_connected, NULL,
      "a daemon listens", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot client_slots[] = {
    { Py_tp_new, client_make },
    { Py_tp_dealloc, client_dealloc },
    { Py_tp_methods, client_methods },
    { Py_tp_getset, client_members },
    { Py_tp_doc, "A program that prints: shares memory with a daemon." },
    { 0, NULL },
};

static PyType_Spec client_spec = {
    .name = "printfdecode.Client",
    .basicsize = sizeof(struct client),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = client_slots,
};

bool core_add_client(PyObject *module)
{
    return core_add_type(module, &client_spec, &client_type) &&
           core_add_type(module, &shared_spec, &shared_type);
}
