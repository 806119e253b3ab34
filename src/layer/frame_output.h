/* SPDX-License-Identifier: MIT */
/*
 * Where frames of a device go: to the service's socket, or into a capture
 * file. A stream is a device's, since validation numbers shaders by device.
 * An outlet belongs to one thread at a time.
 */
#ifndef LAYER_FRAME_OUTPUT_H
#define LAYER_FRAME_OUTPUT_H

#include <printfdecode/wire.h>

struct frame_output;

/* device: 1 is the process' first. NULL: out of memory. */
struct frame_output *frame_output_new(unsigned device);
/* NULL is allowed. */
void frame_output_free(struct frame_output *frame_output);

/* A buffer's number, as no other has it. */
uint64_t frame_output_number(struct frame_output *frame_output);

/* It rises whenever a reader may have missed what went before. */
unsigned frame_output_epoch(const struct frame_output *frame_output);

/* A file with format strings, or a module; [n] bytes, copied where needed. */
void frame_output_code_object(struct frame_output *frame_output,
                              const char *name, const void *bytes, size_t n);

/* Any other frame; the bytes of `data` may be of any length. */
void frame_output_put(struct frame_output *frame_output,
                      const struct pfd_wire_frame *frame);

#endif
