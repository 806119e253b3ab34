/* SPDX-License-Identifier: MIT */
/*
 * The host's view of memory with a taken buffer: it is mapped once, as a whole,
 * until it is freed, since nothing can be mapped after the loss of a device.
 * The caller holds the device's lock.
 */
#ifndef LAYER_MAPPING_H
#define LAYER_MAPPING_H

#include "device.h"

/* Maps all memory; if a caller above has a part mapped, later, when that
 * ends. */
void mapping_begin(struct device *device, struct memory *memory);

/* Ends our mapping, if there is one. */
void mapping_end(struct device *device, struct memory *memory);

/* Makes the buffer's bytes readable from now on. False: they are not, which was
 * logged. */
bool mapping_hold(struct device *device, struct buffer *buffer);

/* The bytes, as the device has written them; NULL: not readable. */
const char *mapping_bytes(struct device *device, const struct buffer *buffer);

/* Zeros the bytes [from, from + n), for the device to see. They are mapped. */
void mapping_clear(struct device *device, const struct buffer *buffer,
                   size_t from, size_t n);

#endif
