/* SPDX-License-Identifier: MIT */
/*
 * Reads buffers in mapped memory. Memory that the processor does not cache is
 * read by loads that fetch many bytes at once: single loads from a device's
 * memory are a hundred times slower. The caller holds the device's lock.
 */
#ifndef LAYER_MEMORY_READ_H
#define LAYER_MEMORY_READ_H

#include "device.h"

/* Reads the bytes [from, from + n) of a buffer to ret. queue: may copy them, if
 * no unfinished work writes the buffer; NULL: only the processor reads. False:
 * they are not readable. */
bool reading_copy(struct device *device, struct own_queue *queue,
                  const struct buffer *buffer, size_t from, size_t n,
                  char *ret);

#endif
