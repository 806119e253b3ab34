/* SPDX-License-Identifier: MIT */
/* What all ways to fill an opened object do: they add buffers, and tell findings. */
#include <stdlib.h>

#include "opened.h"

struct buffer *opened_add_buffer(struct opened *o)
{
    struct buffer *buffers = realloc(o->buffers, (o->n + 1) * sizeof *buffers);
    if (!buffers) {
        PyErr_NoMemory();
        return NULL;
    }
    o->buffers = buffers;
    buffers[o->n] = (struct buffer){ .held = { .bytes = "" } };
    return &buffers[o->n++];
}

bool opened_end_step(struct opened *o, enum pfd_status status,
                     const struct pfd_error *err, const char *file,
                     struct finding_list *found)
{
    bool ok = finding_list_give(found, o->findings);
    finding_list_free(found);
    if (status < 0)
        core_raise(err, status, file);
    return ok && status >= 0;
}
