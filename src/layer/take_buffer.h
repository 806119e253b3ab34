/* SPDX-License-Identifier: MIT */
/*
 * Turns a buffer that the GPU has finished into frames. The caller holds the
 * device's lock.
 */
#ifndef LAYER_TAKE_BUFFER_H
#define LAYER_TAKE_BUFFER_H

#include "device.h"

/* Takes validation's buffer of one action, unless it is empty. finished: the
 * queue of the work that wrote it, and no unfinished work writes it; null: some
 * may. */
void take_use(struct device *device, struct buffer *buffer,
              const struct use *use, VkQueue finished);

/* Takes the named buffers that have changed. */
void take_named(struct device *device);

/* Takes the remaining bytes of a named buffer, and ends it. */
void take_rest(struct device *device, struct buffer *buffer);

/* Ends the named buffers as they are: the device is lost, or will be
 * destroyed. */
void take_end(struct device *device);

/* Logs how large a buffer has to be for what did not fit, unless that was
 * reported in a file. */
void take_report(struct device *device);

/* Looks for named buffers that the host has restarted since they were taken,
 * before new work is submitted: later that is not visible. */
void take_look(struct device *device);

#endif
