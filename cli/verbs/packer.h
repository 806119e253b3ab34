/* SPDX-License-Identifier: MIT */
/* Writes one capture: frames, and the code that its buffers need. */
#ifndef CLI_PACKER_H
#define CLI_PACKER_H

#include <stdio.h>

#include <printfdecode/wire.h>

#include "input/convert_inputs.h"
#include "input/input.h"

struct packer {
    const struct options *o;
    struct inputs *in;
    FILE *out;
    struct pfd_wire_writer *writer;
    struct pfd_error err;
    uint64_t n_objects;
    uint64_t n_buffers;
    uint64_t time;     /* time of the buffer that is being written */
    uint64_t sequence; /* sequence number of its next item, when entries are
                          written */
    bool has_chunks;   /* the buffer has some already */
    struct filtering filtering;
    struct pfd_summary total;
    bool failed; /* an error was printed */
};

/* Prints an error. False: the status is one. */
bool packer_check(struct packer *p, enum pfd_status status);

/* False, here and below: an error was printed. */
bool packer_frame(struct packer *p, const struct pfd_wire_frame *frame);

/* Writes the code objects of files, of captures and of the process, and
 * shaders. */
bool packer_write_code(struct packer *p);

#endif
