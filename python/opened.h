/* SPDX-License-Identifier: MIT */
/*
 * The buffers of some files, with the strings to read them. While it is filled
 * it belongs to one thread; once it is ready it does not change.
 */
#ifndef PYTHON_OPENED_H
#define PYTHON_OPENED_H

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>

#include "block.h"
#include "held.h"

struct memory_origin;

/* One buffer. */
struct buffer {
    struct held held;          /* its bytes, unless they are in a capture */
    struct pfd_range *missing; /* [n_missing]: unknown bytes; owned */
    size_t n_missing;
    struct pfd_capture *capture; /* NULL: none; the first of its buffers owns
                                    it */
    bool owns_capture;
    bool is_memory; /* of a process or a core: what it is is known */
    size_t i;       /* its number there */
    struct pfd_capture_buffer captured; /* of another: its origin alone */
    struct memory_origin *own_origin;   /* of a core's; owned; or NULL */
    struct buffer_info *info;           /* once it is ready */
    const char *format;                 /* NULL: choose */
    struct pfd_options options;
};

struct opened {
    PyObject_HEAD struct strings *strings;
    struct buffer *buffers; /* [n] */
    size_t n;
    PyObject *findings; /* list: of files and captures */
    char *format;       /* as given; NULL: choose */
    struct pfd_options options;
    uint64_t given; /* bits: which options were given */
    uint64_t max_inflated;
    bool notes;
    bool is_ready;
};

extern PyTypeObject *core_opened_type;

/* The bytes of a buffer, [*n], until buffer_unmap(). Needs no GIL. */
enum pfd_status buffer_map(const struct buffer *buffer, const void **ret,
                           size_t *n, struct pfd_error *err);
void buffer_unmap(const struct buffer *buffer, const void *bytes);

/* Are its entries chunks of a capture? */
static inline bool buffer_is_chunks(const struct buffer *b)
{
    return b->captured.n_chunks > 0;
}

/* Its name, holes, missing bytes and reading, for a conversion. */
void buffer_describe(const struct buffer *buffer, struct pfd_convert *ret,
                     struct pfd_filter_facts *facts);

/* Runs a conversion over a buffer, without the GIL. */
enum pfd_status buffer_convert(const struct buffer *buffer,
                               struct pfd_convert *convert,
                               struct pfd_summary *summary,
                               struct pfd_error *err);

/* An empty buffer more; NULL: an exception is set. */
struct buffer *opened_add_buffer(struct opened *opened);

/* The end of a step: findings become objects, an error an exception. Frees
 * found. False: an exception is set. */
bool opened_end_step(struct opened *opened, enum pfd_status status,
                     const struct pfd_error *err, const char *file,
                     struct finding_list *found);

/* _add_memory(pid, core, address, size, scan), None: not given: the buffers in
 * the memory of a process or of a core and, if there are no strings yet, those
 * of its code objects. */
PyObject *opened_add_memory(struct opened *opened, PyObject *args);

/* Makes it ready, if it is not. False: an exception is set. */
bool opened_ready(struct opened *opened);

#endif
