/* SPDX-License-Identifier: MIT */
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/input.h"

enum {
    PIECE = 1 << 20, /* bytes of a stream that are read at once */
};

/* All bytes [n] of pages that read as zero; NULL: none, or n is 0. */
static void *new_pages(size_t n)
{
    void *ret = n ? mmap(NULL, n, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                  : MAP_FAILED;
    return ret == MAP_FAILED ? NULL : ret;
}

static bool fail(struct pfd_error *err, int why)
{
    err->code = PFD_ERR_IO;
    err->offset = PFD_NO_OFFSET;
    snprintf(err->text, sizeof err->text, "%s", strerror(why));
    return false;
}

static bool add_hole(struct held *h, uint64_t from, uint64_t to)
{
    struct pfd_range *holes =
        realloc(h->holes, (h->n_holes + 1) * sizeof *holes);
    if (!holes)
        return false;
    h->holes = holes;
    holes[h->n_holes++] = (struct pfd_range){ from, to };
    return true;
}

/* Reads [from, to) to its place. A file that was cut meanwhile ends there. */
static bool read_range(struct held *h, int fd, size_t from, size_t to,
                       struct pfd_error *err)
{
    while (from < to) {
        ssize_t got =
            pread(fd, (char *)h->mapped + from, to - from, (off_t)from);
        if (got < 0 && errno != EINTR)
            return fail(err, errno);
        if (got == 0)
            return fail(err, ENODATA);
        from += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Reads a regular file, but not its holes. */
static bool read_regular(struct held *h, int fd, size_t n,
                         struct pfd_error *err)
{
    h->n = n;
    h->mapped = new_pages(n);
    if (!h->mapped)
        return fail(err, ENOMEM);
    h->bytes = h->mapped;
    for (size_t at = 0; at < n;) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        if (data < 0 && errno != ENXIO) /* unknown to this file system */
            return read_range(h, fd, at, n, err);
        size_t from = data < 0 || (size_t)data > n ? n : (size_t)data;
        if (from > at && !add_hole(h, at, from))
            return fail(err, ENOMEM);
        off_t hole = from < n ? lseek(fd, (off_t)from, SEEK_HOLE) : (off_t)n;
        at = hole < 0 || (size_t)hole > n ? n : (size_t)hole;
        if (!read_range(h, fd, from, at, err))
            return false;
    }
    return true;
}

/* Reads whatever has no size: a pipe, a file of /proc. */
static bool read_stream(struct held *h, int fd, struct pfd_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    for (;;) {
        char *more = realloc(bytes, n + PIECE);
        ssize_t got = more ? read(fd, more + n, PIECE) : -1;
        bytes = more ? more : bytes;
        if (!more || (got < 0 && errno != EINTR)) {
            free(bytes);
            return fail(err, more ? errno : ENOMEM);
        }
        if (got == 0)
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    held_replace(h, bytes, n);
    return true;
}

/* Code object URIs name a part of a file or of a process. */
static bool read_uri(struct held *h, struct pfd_error *err)
{
    struct pfd_input *input = NULL;
    size_t n = 0;
    if (pfd_input_read(h->name, SIZE_MAX, &input, err) != PFD_OK)
        return false;
    const void *bytes = pfd_input_bytes(input, &n);
    void *copy = malloc(n + 1);
    if (copy)
        held_replace(h, memcpy(copy, bytes, n), n);
    pfd_input_close(input);
    return copy || fail(err, ENOMEM);
}

static bool read_path(struct held *h, struct pfd_error *err)
{
    struct stat st;
    if (pfd_input_is_uri(h->name))
        return read_uri(h, err);
    int fd = open(h->name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, errno);
    bool ok = fstat(fd, &st) == 0 || fail(err, errno);
    if (ok && S_ISDIR(st.st_mode))
        ok = fail(err, EISDIR);
    if (ok && S_ISREG(st.st_mode) && st.st_size) {
        ok = read_regular(h, fd, (size_t)st.st_size, err);
    } else if (ok) {
        ok = read_stream(h, fd, err);
    }
    close(fd);
    return ok;
}

static bool open_path(struct held *h, PyObject *from)
{
    struct pfd_error err = { 0 };
    PyObject *path = NULL;
    bool ok = false;
    if (!PyUnicode_FSConverter(from, &path))
        return false;
    h->name = strdup(PyBytes_AsString(path));
    Py_DECREF(path);
    if (!h->name)
        return PyErr_NoMemory() != NULL;
    PyThreadState *others = PyEval_SaveThread();
    ok = read_path(h, &err);
    PyEval_RestoreThread(others);
    if (!ok)
        core_raise(&err, err.code, h->name);
    return ok;
}

/* torch's tensors have no buffer protocol; their numpy() has, and is the same
 * memory. */
static bool get_view(PyObject *from, Py_buffer *ret)
{
    if (PyObject_CheckBuffer(from) || !PyObject_HasAttrString(from, "numpy"))
        return PyObject_GetBuffer(from, ret, PyBUF_SIMPLE) == 0;
    PyObject *array = PyObject_CallMethod(from, "numpy", NULL);
    bool ok = array && PyObject_GetBuffer(array, ret, PyBUF_SIMPLE) == 0;
    Py_XDECREF(array);
    return ok;
}

/* Can nothing change its bytes? A view that cannot be written may be one of
 * bytes that others write. */
static bool is_constant(PyObject *from)
{
    if (PyBytes_CheckExact(from))
        return true;
    PyObject *of =
        PyMemoryView_Check(from) ? PyObject_GetAttrString(from, "obj") : NULL;
    bool ret = of && PyBytes_CheckExact(of);
    Py_XDECREF(of);
    PyErr_Clear();
    return ret;
}

static bool open_object(struct held *h, PyObject *from, const char *name)
{
    h->name = strdup(name ? name : "buffer");
    if (!h->name)
        return PyErr_NoMemory() != NULL;
    if (!get_view(from, &h->view))
        return false;
    h->is_object = true;
    h->n = (size_t)h->view.len;
    h->bytes = h->n ? h->view.buf : "";
    if (is_constant(from) || !h->n)
        return true;
    h->mapped = new_pages(h->n);
    if (!h->mapped)
        return PyErr_NoMemory() != NULL;
    h->bytes = memcpy(h->mapped, h->view.buf, h->n);
    PyBuffer_Release(&h->view);
    h->is_object = false;
    return true;
}

bool held_is_path(PyObject *from)
{
    return PyUnicode_Check(from) || PyObject_HasAttrString(from, "__fspath__");
}

bool held_open(struct held *ret, PyObject *from, const char *name)
{
    *ret = (struct held){ .bytes = "" };
    bool ok = held_is_path(from) ? open_path(ret, from)
                                 : open_object(ret, from, name);
    if (!ok)
        held_close(ret);
    return ok;
}

static void drop_bytes(struct held *h)
{
    if (h->is_object)
        PyBuffer_Release(&h->view);
    if (h->mapped) {
        munmap(h->mapped, h->n);
    } else if (!h->is_object && h->n) {
        free((void *)(uintptr_t)h->bytes);
    }
    h->is_object = false;
    h->mapped = NULL;
    free(h->holes);
    h->holes = NULL;
    h->n_holes = 0;
    h->bytes = "";
    h->n = 0;
}

void held_replace(struct held *h, void *bytes, size_t n)
{
    drop_bytes(h);
    h->n = n;
    h->bytes = n ? bytes : "";
    if (!n)
        free(bytes);
}

void held_close(struct held *h)
{
    drop_bytes(h);
    free(h->name);
    h->name = NULL;
}
