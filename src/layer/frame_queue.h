/* SPDX-License-Identifier: MIT */
/*
 * Frames on their way from the threads of a program to a thread of the layer's
 * own, in order. The queue is bounded: a sender waits while it is full. Any
 * thread; all calls but those of the worker are short otherwise.
 */
#ifndef LAYER_FRAME_QUEUE_H
#define LAYER_FRAME_QUEUE_H

#include <printfdecode/wire.h>

struct frame_queue;

/*
 * Makes a queue and its thread, which calls send(user, frame) for each frame:
 * one call at a time. That has to end within a bounded time. Without a thread,
 * callers of frame_queue_put() send. NULL: out of memory.
 */
struct frame_queue *frame_queue_new(void (*send)(void *user,
                                                 struct pfd_wire_frame *frame),
                                    void *user);

/* Adds a frame. Copied are its name, format, device, pipeline_type, labels and
 * bytes; other texts have to be empty. False: out of memory. */
bool frame_queue_put(struct frame_queue *q, const struct pfd_wire_frame *frame);

/* Waits until all frames are sent, for at most ms; UINT_MAX: without limit. */
void frame_queue_settle(struct frame_queue *q, unsigned ms);

/* Sends all frames, and ends the thread. NULL is allowed. */
void frame_queue_free(struct frame_queue *q);

#endif
