/* SPDX-License-Identifier: MIT */
/*
 * What a producer says of its buffer, as each of its lines tells it: bounded,
 * as the session keeps it for as long as it lives, and with labels whose names
 * are names (name.h), each of them once.
 */
#ifndef PFDD_ORIGIN_H
#define PFDD_ORIGIN_H

#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

#include "ring/chunk.h"

struct pfdd_origin {
    struct pfd_wire_frame frame;
    struct pfd_wire_label *labels; /* [frame.n_labels], owned */
    char *names;                   /* of them, owned */
};

/* The frame's texts are borrowed. Returns NULL, or why its labels are left
 * out, a constant. */
const char *pfdd_origin_init(struct pfdd_origin *ret,
                             const struct pfd_wire_frame *frame);
void pfdd_origin_deinit(struct pfdd_origin *origin);

/* What the chunks of a buffer say of it; `origin` is made of `frame`. NULL: out
 * of memory. */
struct pfdd_buffer *pfdd_origin_buffer(
    const struct pfdd_buffer_options *options);

#endif
