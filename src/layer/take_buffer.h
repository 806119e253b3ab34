/* SPDX-License-Identifier: MIT */
/*
 * Turns a buffer that the GPU has finished into frames. The caller holds the
 * device's lock.
 */
#ifndef LAYER_TAKE_BUFFER_H
#define LAYER_TAKE_BUFFER_H

#include "device.h"

/* Takes validation's buffer of one action, unless it is empty. queue: may copy
 * it; NULL: none, since its work may not be finished. */
void take_use(struct device *device, struct own_queue *queue,
              struct buffer *buffer, const struct use *use);

/* Takes the named buffers that have changed. */
void take_named(struct device *device);

/* Takes the remaining bytes of a named buffer, and ends it. */
void take_rest(struct device *device, struct buffer *buffer);

/* Ends the named buffers as they are: the device is lost, or will be
 * destroyed. */
void take_end(struct device *device);

/* Looks for named buffers that the host has restarted since they were taken,
 * before new work is submitted: later that is not visible. */
void take_look(struct device *device);

#endif
