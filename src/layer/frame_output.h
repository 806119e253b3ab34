/* SPDX-License-Identifier: MIT */
/*
 * The destination of a device's frames: the service's socket, or a capture
 * file. A stream belongs to a device, since validation numbers shaders by
 * device. A thread of its own sends and writes; the threads that put frames
 * wait only while too many bytes are queued. A frame output belongs to one
 * thread at a time.
 */
#ifndef LAYER_FRAME_OUTPUT_H
#define LAYER_FRAME_OUTPUT_H

#include <printfdecode/wire.h>

struct frame_output;

/* device: 1 is the first of the process. NULL: out of memory. */
struct frame_output *frame_output_new(unsigned device);
/* Sends the queue. NULL is allowed. */
void frame_output_free(struct frame_output *o);

/* Waits until all is sent, but not long: a program that crashes then has lost
 * little. Any thread. */
void frame_output_settle(struct frame_output *o);

/* Waits until all is sent: the program is about to end. */
void frame_output_finish(struct frame_output *o);

/* A new, unique number for a buffer. */
uint64_t frame_output_number(struct frame_output *o);

/* Is there a reader or a file? */
bool frame_output_is_open(const struct frame_output *o);

/* A counter that rises when a reader may have missed earlier frames. */
unsigned frame_output_epoch(const struct frame_output *o);

/* Sends a file with format strings, or a module; [n] bytes, copied if
 * needed. */
void frame_output_code_object(struct frame_output *o, const char *name,
                              const void *bytes, size_t n);

/* Sends any other frame; `data` may have any length. */
void frame_output_put(struct frame_output *o,
                      const struct pfd_wire_frame *frame);

#endif
