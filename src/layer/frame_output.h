/* SPDX-License-Identifier: MIT */
/*
 * Where frames of a device go: to the service's socket, or into a capture
 * file. A stream is a device's, since validation numbers shaders by device.
 * An outlet belongs to one thread at a time.
 */
#ifndef LAYER_FRAME_OUTPUT_H
#define LAYER_FRAME_OUTPUT_H

#include <printfdecode/wire.h>

struct outlet;

/* device: 1 is the process' first. NULL: out of memory. */
struct outlet *outlet_new(unsigned device);
/* NULL is allowed. */
void outlet_free(struct outlet *outlet);

/* A buffer's number, as no other has it. */
uint64_t outlet_number(struct outlet *outlet);

/* It rises whenever a reader may have missed what went before. */
unsigned outlet_epoch(const struct outlet *outlet);

/* A file with format strings, or a module; [n] bytes, copied where needed. */
void outlet_code_object(struct outlet *outlet, const char *name,
                        const void *bytes, size_t n);

/* Any other frame; the bytes of `data` may be of any length. */
void outlet_put(struct outlet *outlet, const struct pfd_wire_frame *frame);

#endif
