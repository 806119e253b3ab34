/* SPDX-License-Identifier: MIT */
#include "ingest/origin.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/lines.h>

#include "base/name.h"
#include "core/output/lines.h"

enum {
    LABELS_MAX = 64 << 10, /* bytes of a buffer's labels */
};

static void bound_text(struct pfd_wire_bytes *text)
{
    text->n = text->n < NAME_MAX ? text->n : NAME_MAX;
}

static size_t count_bytes(const struct pfd_wire_frame *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_labels; i++)
        n += f->labels[i].key.n + f->labels[i].value.n;
    return n;
}

static bool is_taken(const struct pfdd_origin *o, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(o->labels[i].key.at, name))
            return true;
    }
    return false;
}

static const char *name_labels(struct pfdd_origin *o,
                               const struct pfd_wire_frame *f)
{
    for (size_t i = 0; i < f->n_labels; i++) {
        char *name = o->names + i * PFDD_NAME_ROOM;
        const struct pfd_wire_bytes *key = &f->labels[i].key;
        if (!pfdd_name_put(name, key->at, key->n)) {
            return "a label's name is empty or longer than 255 bytes: the "
                   "labels are left out";
        }
        if (is_taken(o, i, name))
            return "two labels have one name: the labels are left out";
        o->labels[i] =
            (struct pfd_wire_label){ pfd_wire_text(name), f->labels[i].value };
    }
    return NULL;
}

const char *pfdd_origin_init(struct pfdd_origin *ret,
                             const struct pfd_wire_frame *frame)
{
    size_t n = frame->n_labels;
    *ret = (struct pfdd_origin){ .frame = *frame };
    bound_text(&ret->frame.device);
    bound_text(&ret->frame.queue);
    bound_text(&ret->frame.stage);
    bound_text(&ret->frame.pipeline_type);
    ret->frame.labels = NULL;
    ret->frame.n_labels = 0;
    if (n == 0)
        return NULL;
    if (count_bytes(frame) > LABELS_MAX)
        return "labels of more than 64 KiB are left out";
    ret->labels = calloc(n, sizeof *ret->labels);
    ret->names = malloc(n * PFDD_NAME_ROOM);
    if (!ret->labels || !ret->names)
        return "out of memory: the labels are left out";
    const char *why = name_labels(ret, frame);
    if (!why) {
        ret->frame.labels = ret->labels;
        ret->frame.n_labels = n;
    }
    return why;
}

void pfdd_origin_deinit(struct pfdd_origin *origin)
{
    free(origin->labels);
    free(origin->names);
}

struct pfdd_buffer *pfdd_origin_buffer(
    const struct pfdd_buffer_options *options)
{
    struct pfdd_buffer_options said = *options;
    struct pfd_lines *lines = NULL;
    struct pfdd_buffer *ret = NULL;
    if (pfd_lines_new("json", false, true, &lines, NULL) == PFD_OK &&
        (!said.frame || pfd_lines_set_origin(lines, said.frame) == PFD_OK)) {
        said.origin = pfd_lines_origin_members(lines);
        ret = pfdd_buffer_new(&said);
    }
    pfd_lines_free(lines);
    return ret;
}
