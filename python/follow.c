/* SPDX-License-Identifier: MIT */
/*
 * A subscription to a daemon, on a connection that Python made. Waiting,
 * receiving and decoding happen while no GIL is held. One thread at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/subscriber.h>

#include "block.h"
#include "selection.h"

static PyTypeObject *follower_type;

enum {
    RECEIVED = 64 << 10, /* bytes that are received at once */
    REQUEST = 8192,      /* bytes of a request line */
};

struct follower {
    PyObject_HEAD struct pfd_subscriber *subscriber;
    int fd; /* its own: Python's may be closed while a thread reads */
    char bytes[RECEIVED];
    size_t n; /* received, of which `at` are handed over */
    size_t at;
    struct finding_list found;
    struct buffer_info *info; /* of the last batch, likewise the next ones */
    uint64_t buffer;
    uint64_t generation;
    bool is_over;
    bool is_busy;
    uint64_t n_missed; /* items that gaps count */
};

/* ---- without the GIL ---- */

/* Hands over received items; waits for more once all are handed over. PFD_MORE:
 * nothing came in time. */
static enum pfd_status receive(struct follower *f, int timeout_ms,
                               struct pfd_error *err)
{
    size_t taken = 0;
    struct pollfd ready = { .fd = f->fd, .events = POLLIN };
    if (f->at == f->n) {
        int n = poll(&ready, 1, timeout_ms);
        if (n <= 0) /* a signal ends the wait: Python looks at it */
            return PFD_MORE;
        ssize_t got = read(f->fd, f->bytes, sizeof f->bytes);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            return PFD_MORE;
        f->n = got > 0 ? (size_t)got : 0;
        f->at = 0;
        if (!f->n) /* a connection that broke ends the stream, too */
            pfd_subscriber_finish(f->subscriber);
    }
    enum pfd_status status = pfd_subscriber_feed(
        f->subscriber, f->bytes + f->at, f->n - f->at, &taken, err);
    f->at += taken;
    return status;
}

static void report(struct follower *f, enum pfd_finding_kind kind,
                   const char *text)
{
    const struct pfd_finding finding = { .kind = kind,
                                         .offset = PFD_NO_OFFSET,
                                         .index = PFD_NO_INDEX,
                                         .source = "stream",
                                         .text = text };
    finding_list_add(&f->found, &finding);
}

/* The next batch. PFD_MORE: none came in time; PFD_END. */
static enum pfd_status next_batch(struct follower *f, int timeout_ms,
                                  const struct pfd_batch **ret,
                                  struct pfd_error *err)
{
    for (;;) {
        enum pfd_status status = pfd_subscriber_next(f->subscriber, ret, err);
        if (status == PFD_ERR_CORRUPT) {
            report(f, PFD_FINDING_bad_frame, err->text);
            continue;
        }
        if (status == PFD_MORE) {
            status = receive(f, timeout_ms, err);
        } else {
            return status;
        }
        if (status != PFD_OK)
            return status;
    }
}

static void add_gap(struct pfd_text *out, const struct pfd_batch *batch,
                    uint64_t count, const char *why, size_t n)
{
    char text[64];
    size_t k = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, why, k);
    text[k] = '\0';
    const struct pfd_finding finding = {
        .kind = PFD_FINDING_gap,
        .offset = PFD_NO_OFFSET,
        .index = PFD_NO_INDEX,
        .source = batch->source ? batch->source : "stream",
        .text = text,
        .count = count,
    };
    block_add_finding(out, &finding);
}

/* Copies the items of a batch; *format: of its entries. */
static enum pfd_status copy_batch(struct follower *f,
                                  const struct pfd_batch *batch,
                                  struct pfd_text *out, const char **format,
                                  struct pfd_error *err)
{
    struct pfd_chunk_item *item;
    struct block_place place = { .time = batch->time, .has_no_set = true };
    if (batch->type == PFD_BATCH_GAP) {
        f->n_missed += batch->missed;
        add_gap(out, batch, batch->missed, batch->why.at, batch->why.n);
        return PFD_OK;
    }
    for (;;) {
        enum pfd_status status =
            pfd_subscriber_item(f->subscriber, &item, &place.sequence, err);
        if (status == PFD_ERR_CORRUPT)
            report(f, PFD_FINDING_bad_frame, err->text);
        if (status != PFD_OK) {
            return status == PFD_END || status == PFD_ERR_CORRUPT ? PFD_OK
                                                                  : status;
        }
        if (item->type == PFD_CHUNK_ENTRY) {
            *format = block_format(&item->entry);
            block_add_entry(out, &item->entry, place);
        } else if (item->type == PFD_CHUNK_FINDING) {
            block_add_finding(out, &item->finding);
        } else {
            f->n_missed += item->gap.missed;
            add_gap(out, batch, item->gap.missed, item->gap.reason,
                    strlen(item->gap.reason));
        }
    }
}

/* ---- objects ---- */

/* What the batch's entries have in common, made anew for another buffer. */
static struct buffer_info *info_of(struct follower *f,
                                   const struct pfd_batch *batch)
{
    uint64_t number = batch->buffer ? batch->buffer->buffer : 0;
    if (f->info && f->buffer == number && f->generation == batch->generation)
        return f->info;
    Py_XDECREF((PyObject *)f->info);
    f->info = buffer_info_new(batch->source ? batch->source : "-");
    f->buffer = number;
    f->generation = batch->generation;
    if (f->info && batch->buffer &&
        !buffer_info_describe(f->info, batch->buffer, batch->generation))
        Py_CLEAR(f->info);
    return f->info;
}

static PyObject *objects_of(struct block *block)
{
    PyObject *ret = PyList_New(0);
    const struct block_record *r;
    size_t at = 0;
    while (ret && (r = block_next(block, &at))) {
        PyObject *one = block_object(block, r);
        if (!one || PyList_Append(ret, one) < 0)
            Py_CLEAR(ret);
        Py_XDECREF(one);
    }
    return ret;
}

static PyObject *take_batch(struct follower *f, const struct pfd_batch *batch,
                            struct pfd_text *records, const char *format)
{
    struct buffer_info *info = info_of(f, batch);
    if (info && !buffer_info_set_format(info, format))
        info = NULL;
    struct block *block = info ? block_new(records, NULL, info) : NULL;
    PyObject *ret = block ? objects_of(block) : NULL;
    block_free(block);
    return ret;
}

/* take(timeout_ms): a list of entries and findings, empty if none came in time;
 * None: the stream is over. */
static PyObject *take(struct follower *f, int timeout_ms)
{
    const struct pfd_batch *batch = NULL;
    struct pfd_text records = { 0 };
    struct pfd_error err = { 0 };
    const char *format = NULL;
    enum pfd_status status;
    if (f->is_over)
        Py_RETURN_NONE;
    PyThreadState *others = PyEval_SaveThread();
    status = next_batch(f, timeout_ms, &batch, &err);
    if (status == PFD_OK)
        status = copy_batch(f, batch, &records, &format, &err);
    if (records.failed)
        status = PFD_ERR_NOMEM;
    PyEval_RestoreThread(others);
    PyObject *ret = NULL;
    f->is_over = status == PFD_END || status < 0;
    if (status == PFD_OK) {
        ret = take_batch(f, batch, &records, format);
    } else if (status == PFD_MORE) {
        ret = PyErr_CheckSignals() ? NULL : PyList_New(0);
    } else if (status == PFD_END) {
        ret = Py_NewRef(Py_None);
    } else {
        core_raise(&err, status, NULL);
    }
    pfd_text_free(&records);
    return ret;
}

static PyObject *follower_take(struct follower *f, PyObject *args)
{
    int timeout_ms;
    if (!PyArg_ParseTuple(args, "i", &timeout_ms))
        return NULL;
    if (f->is_busy) {
        PyErr_SetString(PyExc_ValueError,
                        "another thread is reading this subscription");
        return NULL;
    }
    f->is_busy = true;
    PyObject *ret = take(f, timeout_ms);
    f->is_busy = false;
    return ret;
}

/* findings(): of the stream itself, since the last call. */
static PyObject *follower_findings(struct follower *f, PyObject *unused)
{
    PyObject *ret = f->is_busy ? NULL : PyList_New(0);
    if (f->is_busy)
        core_raise_usage("another thread is reading this subscription");
    if (ret && !finding_list_give(&f->found, ret))
        Py_CLEAR(ret);
    if (ret)
        finding_list_free(&f->found);
    return ret;
}

static PyObject *get_missed(struct follower *f, void *unused)
{
    return PyLong_FromUnsignedLongLong(f->n_missed);
}

static PyObject *follower_make(PyTypeObject *type, PyObject *args,
                               PyObject *words)
{
    struct follower *f;
    struct pfd_error err = { 0 };
    int fd;
    if (!PyArg_ParseTuple(args, "i", &fd))
        return NULL;
    f = core_new(type);
    if (!f)
        return NULL;
    f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const struct pfd_subscriber_options options = {
        .struct_size = sizeof options,
        .fn = finding_list_add,
        .user = &f->found,
        .source = "stream",
    };
    enum pfd_status status = pfd_subscriber_new(&options, &f->subscriber, &err);
    if (f->fd < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_CLEAR(f);
    } else if (status != PFD_OK) {
        core_raise(&err, status, NULL);
        Py_CLEAR(f);
    }
    return (PyObject *)f;
}

static void follower_dealloc(struct follower *f)
{
    pfd_subscriber_free(f->subscriber);
    if (f->fd >= 0)
        close(f->fd);
    finding_list_free(&f->found);
    Py_XDECREF((PyObject *)f->info);
    core_free(f);
}

/* ---- the request ---- */

/* request(selection): the line that a daemon is sent. */
static PyObject *make_request(PyObject *module, PyObject *args)
{
    PyObject *words;
    struct wanted wanted;
    struct pfd_error err = { 0 };
    char line[REQUEST];
    size_t n = 0;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &words) ||
        !wanted_read(&wanted, words))
        return NULL;
    struct pfd_subscription what = {
        .struct_size = sizeof what,
        .from = wanted.from,
        .ids = wanted.ids,
        .n_ids = wanted.n_ids,
        .where = wanted.where,
        .source = wanted.sources.n ? wanted.sources.all[0] : NULL,
        .ignore_case = wanted.ignore_case,
        .invert = wanted.invert,
        .matches = wanted.patterns.all,
        .n_matches = wanted.patterns.n,
        .format_strings = wanted.formats.all,
        .n_format_strings = wanted.formats.n,
    };
    enum pfd_status status =
        wanted.sources.n > 1
            ? pfd_fail(&err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                       "a subscription has one source; a condition has several")
            : pfd_subscription_line(&what, line, sizeof line, &n, &err);
    wanted_free(&wanted);
    return status == PFD_OK ? PyBytes_FromStringAndSize(line, (Py_ssize_t)n)
                            : core_raise(&err, status, NULL);
}

/* ---- what Python sees ---- */

#define CALL(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    { "request", make_request, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef methods[] = {
    { "take", CALL(follower_take), METH_VARARGS, "" },
    { "findings", CALL(follower_findings), METH_NOARGS, "" },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "missed", (getter)(void (*)(void))get_missed, NULL, "", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, follower_make },
    { Py_tp_dealloc, follower_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, members },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "printfdecode._core.Follower",
    .basicsize = sizeof(struct follower),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool core_add_follow(PyObject *module)
{
    return core_add_type(module, &spec, &follower_type) &&
           PyModule_AddFunctions(module, functions) == 0;
}
