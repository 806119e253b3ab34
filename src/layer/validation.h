/* SPDX-License-Identifier: MIT */
/* What is known of the validation layer, by its version. Any thread. */
#ifndef LAYER_VALIDATION_H
#define LAYER_VALIDATION_H

#include "device.h"

/* The function is the validation layer's. */
bool validation_has(PFN_vkGetInstanceProcAddr function);

/* It is in this process. The loader opens all layers before it calls the
 * first. */
bool validation_is_loaded(void);

/* As VK_MAKE_API_VERSION makes it; 0: it is not loaded, or does not say it. */
uint32_t validation_version(void);

/* What validation binds to a binding of its own set. It is needed where no
 * module says it: checks before a command are in none of the program's. */
enum contents validation_binding(uint32_t version, uint32_t binding);

/* A buffer of this size at binding 0 of set 0 may have errors that were found
 * before a command. */
bool validation_is_errors_size(uint32_t version, VkDeviceSize size);

/* Its bytes [n] begin as such a buffer's do: no other of this size does. */
bool validation_is_errors(uint32_t version, const char *bytes, size_t n);

/* It leaves debugPrintf calls out whose format it does not like. */
bool validation_checks_formats(uint32_t version);

/* Of those that check, this one knows %p. */
bool validation_knows_pointers(uint32_t version);

/* Its checks are those that pfd_spirv_check() has. */
bool validation_is_known(uint32_t version);

#endif
