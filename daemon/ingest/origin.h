/* SPDX-License-Identifier: MIT */
/*
 * The origin of a buffer's entries, as its producer states it. Texts are
 * bounded, because a follower keeps them as long as it lives. Names of labels
 * are names (name.h), each used once.
 */
#ifndef PFDD_ORIGIN_H
#define PFDD_ORIGIN_H

#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

#include "ring/chunk.h"

struct pfdd_origin {
    struct pfd_wire_frame frame;
    struct pfd_wire_label *labels; /* [frame.n_labels], owned */
    char *names;                   /* of the labels, owned */
};

/* The frame's texts are borrowed. Returns NULL, or a constant text that says
 * why the labels are left out. */
const char *pfdd_origin_init(struct pfdd_origin *ret,
                             const struct pfd_wire_frame *frame);
void pfdd_origin_deinit(struct pfdd_origin *origin);

/* Creates the buffer record that chunks refer to; makes its `origin` from
 * `frame`. NULL: out of memory. */
struct pfdd_buffer *pfdd_origin_buffer(
    const struct pfdd_buffer_options *options);

#endif
