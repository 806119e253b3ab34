/* SPDX-License-Identifier: MIT */
/* Buffers and code objects in the memory of a process or of a core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/search/search_buffers.h"
#include "memory/space/core.h"
#include "memory/space/process_code.h"
#include "opened.h"

enum {
    GUESSED_MAX = 64 << 20, /* bytes, when the size is not given */
};

/* Where a core's buffer comes from; its texts. */
struct memory_origin {
    struct pfd_wire_frame frame;
    char process[64];
    char device[48];
    char queue[32];
};

struct taking {
    struct opened *opened;
    struct pfd_core *core; /* NULL: a process */
    struct pfd_memory *memory;
    const char *path; /* the core's; NULL: a process */
    unsigned long long pid;
    uint64_t address;
    uint64_t size; /* 0: up to the end of the mapping */
    bool has_address;
    bool scan;
    struct pfd_found_buffers *list;
    struct finding_list found;
    struct pfd_error err;
    PyThreadState *others; /* while they run */
};

static bool end(struct taking *t, enum pfd_status status)
{
    bool ok = opened_end_step(t->opened, status, &t->err,
                              t->path     ? t->path
                              : t->memory ? pfd_memory_name(t->memory)
                                          : NULL, /* the reason has its name */
                              &t->found);
    t->found = (struct finding_list){ .notes = t->opened->notes };
    return ok;
}

static void begin(struct taking *t)
{
    t->others = PyEval_SaveThread();
}

/* ---- opening, and code objects; without the GIL ---- */

static enum pfd_status open_memory(struct taking *t)
{
    if (!t->path)
        return pfd_memory_open_process(t->pid, &t->memory, &t->err);
    enum pfd_status status =
        pfd_core_open(t->path, t->opened->max_inflated, finding_list_add,
                      &t->found, &t->core, &t->err);
    return status == PFD_OK ? pfd_memory_open_core(t->core, &t->memory, &t->err)
                            : status;
}

/* Code without format strings is nothing unusual in a process. */
static void hear_code(void *user, const struct pfd_finding *finding)
{
    if (finding->kind != PFD_FINDING_no_format_strings)
        finding_list_add(user, finding);
}

static enum pfd_status load_code(void *user,
                                 const struct pfd_process_code_object *object)
{
    struct taking *t = user;
    if (!object->bytes)
        return PFD_OK;
    enum pfd_status status =
        pfd_strings_load(t->opened->strings->set, object->bytes, object->n,
                         object->source, hear_code, &t->found, &t->err);
    if (status != PFD_ERR_UNSUPPORTED)
        return status;
    const struct pfd_finding finding = {
        .kind = PFD_FINDING_bad_list,
        .offset = PFD_NO_OFFSET,
        .index = PFD_NO_INDEX,
        .source = object->source,
        .text = "what stands there is no code object",
    };
    finding_list_add(&t->found, &finding);
    return PFD_OK;
}

static enum pfd_status load_all_code(struct taking *t)
{
    struct pfd_process_code *code = NULL;
    enum pfd_status status = pfd_process_code_open(t->memory, &code, &t->err);
    if (status == PFD_OK) {
        status = pfd_process_code_read(code, load_code, t, finding_list_add,
                                       &t->found, NULL, &t->err);
    }
    if (status == PFD_OK && t->scan)
        status = pfd_process_code_scan(t->memory, load_code, t, &t->err);
    pfd_process_code_close(code);
    return status;
}

static bool open_all(struct taking *t)
{
    begin(t);
    enum pfd_status status = open_memory(t);
    if (status == PFD_OK &&
        (t->scan || !pfd_strings_count(t->opened->strings->set)))
        status = load_all_code(t);
    PyEval_RestoreThread(t->others);
    return end(t, status);
}

/* ---- buffers ---- */

static struct pfd_wire_bytes wire_text(const char *text)
{
    return (struct pfd_wire_bytes){ text, strlen(text) };
}

static void name_device(const struct pfd_core *core, uint32_t gpu_id, char *ret,
                        size_t n)
{
    struct pfd_core_agent a;
    snprintf(ret, n, "gpu %u", gpu_id);
    for (size_t i = 0; pfd_core_agent(core, i, &a) == PFD_OK; i++) {
        if (a.gpu_id == gpu_id && *a.target)
            snprintf(ret, n, "%s, gpu %u", a.target, gpu_id);
    }
}

/* The origin of a core's buffer, as the command has it; f: NULL if its address
 * was given. */
static struct memory_origin *make_origin(const struct pfd_core *core,
                                         const struct pfd_found_buffer *f)
{
    const struct pfd_core_info *info = pfd_core_info(core);
    struct memory_origin *ret = calloc(1, sizeof *ret);
    if (!ret)
        return NULL;
    snprintf(ret->process, sizeof ret->process, "%s",
             info->command ? info->command : "");
    ret->frame.process = wire_text(ret->process);
    ret->frame.pid = info->pid;
    if (f && f->has_queue) {
        snprintf(ret->queue, sizeof ret->queue, "%u", f->queue_id);
        name_device(core, f->gpu_id, ret->device, sizeof ret->device);
        ret->frame.queue = wire_text(ret->queue);
        ret->frame.device = wire_text(ret->device);
    }
    return ret;
}

static char *name_buffer(const struct taking *t, uint64_t address, uint64_t n)
{
    char *ret = NULL;
    unsigned long long at = address;
    int done = t->path ? asprintf(&ret, "%s@0x%llx", t->path, at)
                       : asprintf(&ret, "memory://%llu#offset=0x%llx&size=%llu",
                                  t->pid, at, (unsigned long long)n);
    return done < 0 ? NULL : ret;
}

static enum pfd_status copy(struct taking *t, struct buffer *b,
                            uint64_t address, uint64_t n)
{
    struct pfd_memory_copy copied = { 0 };
    enum pfd_status status =
        pfd_memory_copy(t->memory, address, (size_t)n, b->held.name,
                        finding_list_add, &t->found, &copied, &t->err);
    if (status != PFD_OK)
        return status;
    b->missing = copied.missing;
    b->n_missing = copied.n_missing;
    held_replace(&b->held, copied.bytes, copied.n);
    if (b->n_missing == 1 && b->missing[0].to - b->missing[0].from == n) {
        return pfd_fail(&t->err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "nothing of 0x%llx can be read",
                        (unsigned long long)address);
    }
    return PFD_OK;
}

static void hear_end(struct taking *t, const struct buffer *b,
                     const struct pfd_found_buffer *f)
{
    const struct pfd_finding finding = {
        .kind = PFD_FINDING_no_end,
        .offset = f->used,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = b->held.name,
        .text = "the header says no size: the buffer may have ended before "
                "what it counts, and the last entry then has bytes of what "
                "lies behind it",
    };
    if (f->is_end_doubtful)
        finding_list_add(&t->found, &finding);
}

/* f: NULL if its address was given. False: an exception is set. */
static bool take(struct taking *t, uint64_t address, uint64_t n,
                 const struct pfd_found_buffer *f)
{
    struct buffer *b = opened_add_buffer(t->opened);
    if (!b)
        return false;
    b->is_memory = true;
    b->format = f ? f->format : NULL;
    b->held.name = name_buffer(t, address, n);
    b->own_origin = t->core ? make_origin(t->core, f) : NULL;
    if (!b->held.name || (t->core && !b->own_origin))
        return PyErr_NoMemory() != NULL;
    if (b->own_origin)
        b->captured.origin = &b->own_origin->frame;
    begin(t);
    enum pfd_status status = copy(t, b, address, n);
    PyEval_RestoreThread(t->others);
    if (f && status == PFD_OK)
        hear_end(t, b, f);
    return end(t, status);
}

static bool take_one(struct taking *t)
{
    struct pfd_memory_region r;
    uint64_t n = t->size;
    if (n)
        return take(t, t->address, n, NULL);
    if (pfd_memory_find(t->memory, t->address, &r) != PFD_OK ||
        r.address > t->address) {
        return end(t, pfd_fail(&t->err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                               "nothing is mapped at 0x%llx",
                               (unsigned long long)t->address));
    }
    n = r.address + r.size - t->address;
    return take(t, t->address, n < GUESSED_MAX ? n : GUESSED_MAX, NULL);
}

/* Lets Ctrl-C end a search. */
static bool go_on(void *user, uint64_t n_done, uint64_t n_all)
{
    struct taking *t = user;
    PyEval_RestoreThread(t->others);
    bool ok = PyErr_CheckSignals() == 0;
    begin(t);
    return ok;
}

static bool search(struct taking *t)
{
    const struct pfd_buffer_search how = {
        .core = t->core,
        .memory = t->core ? NULL : t->memory,
        .strings = t->opened->strings->set,
        .options = &t->opened->options,
        .progress = go_on,
        .user = t,
    };
    begin(t);
    enum pfd_status status = pfd_search_buffers(&how, &t->list, &t->err);
    PyEval_RestoreThread(t->others);
    return !PyErr_Occurred() && end(t, status);
}

static bool fail_none(struct taking *t)
{
    bool has_strings = pfd_strings_count(t->opened->strings->set) > 0;
    return end(t, pfd_fail(&t->err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                           "no buffer is found in it%s",
                           has_strings
                               ? " with these format strings; address= says "
                                 "where one is"
                               : ": without format strings there is nothing "
                                 "to know one by; give the code objects as "
                                 "well"));
}

static bool take_found(struct taking *t)
{
    const char *format = t->opened->format;
    size_t n_before = t->opened->n;
    bool ok = search(t);
    for (size_t i = 0; ok && i < t->list->n; i++) {
        const struct pfd_found_buffer *f = &t->list->at[i];
        if (!format || !strcmp(format, f->format))
            ok = take(t, f->address, f->size, f);
    }
    return ok && (t->opened->n > n_before || fail_none(t));
}

/* ---- what Python calls ---- */

static bool read_number(PyObject *from, bool *has, uint64_t *ret)
{
    if (from == Py_None)
        return true;
    *has = true;
    *ret = PyLong_AsUnsignedLongLong(from);
    return !PyErr_Occurred();
}

/* *path: the core's, a new reference; NULL: a process. */
static bool read_words(struct taking *t, PyObject *args, PyObject **path)
{
    PyObject *pid;
    PyObject *core;
    PyObject *address;
    PyObject *size;
    int scan;
    bool has_pid = false;
    bool has_size = false;
    uint64_t number = 0;
    if (!PyArg_ParseTuple(args, "OOOOp", &pid, &core, &address, &size, &scan) ||
        !read_number(pid, &has_pid, &number) ||
        !read_number(address, &t->has_address, &t->address) ||
        !read_number(size, &has_size, &t->size) ||
        (core != Py_None && !PyUnicode_FSConverter(core, path)))
        return false;
    t->pid = number;
    t->scan = scan;
    t->path = *path ? PyBytes_AsString(*path) : NULL;
    const char *why = has_pid && t->path ? "pid= or core=: one memory at a time"
                      : !has_pid && !t->path
                          ? "address=, size= and scan= are for pid= or core="
                      : has_size && !t->has_address ? "size= is for address="
                                                    : NULL;
    return !why || core_raise_usage(why) != NULL;
}

PyObject *opened_add_memory(struct opened *o, PyObject *args)
{
    struct taking t = { .opened = o, .found = { .notes = o->notes } };
    PyObject *path = NULL;
    bool ok = false;
    if (o->is_ready)
        return core_raise_usage("it is read already: no memory can be added");
    if (read_words(&t, args, &path) && open_all(&t))
        ok = t.has_address ? take_one(&t) : take_found(&t);
    finding_list_free(&t.found);
    pfd_found_buffers_free(t.list);
    pfd_memory_close(t.memory);
    pfd_core_close(t.core);
    Py_XDECREF(path);
    return ok ? Py_NewRef(Py_None) : NULL;
}
