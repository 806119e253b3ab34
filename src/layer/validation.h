/* SPDX-License-Identifier: MIT */
/* Knowledge of the validation layer, by version. Any thread. */
#ifndef LAYER_VALIDATION_H
#define LAYER_VALIDATION_H

#include "device.h"

/* Is the function the validation layer's? */
bool validation_has(PFN_vkGetInstanceProcAddr function);

/* Is the validation layer in this process? The loader opens all layers before
 * it calls the first. */
bool validation_is_loaded(void);

/* In the form of VK_MAKE_API_VERSION; 0: not loaded, or unknown. */
uint32_t validation_version(void);

/* The contents of the buffer at a binding of validation's own set. Needed where
 * no module names it: checks before a command are in no module of the
 * program. */
enum contents validation_binding(uint32_t version, uint32_t binding);

/* May a buffer of this size at binding 0 of set 0 have errors of checks before
 * a command? */
bool validation_is_errors_size(uint32_t version, VkDeviceSize size);

/* Do the bytes [n] begin like such a buffer's? No other buffer of this size
 * does. */
bool validation_is_errors(uint32_t version, const char *bytes, size_t n);

/* What a buffer's header counts. */
struct validation_count {
    uint64_t end;   /* of the bytes that shaders wanted to write; UINT64_MAX:
                       unknown */
    unsigned dword; /* where the count is */
};

/* head: the first dwords of a buffer with these contents. */
struct validation_count validation_count(uint32_t version,
                                         enum contents contents,
                                         const uint32_t head[2]);

/* Does it leave out debugPrintf calls whose format it rejects? */
bool validation_checks_formats(uint32_t version);

/* Does it support %p? For versions that check formats. */
bool validation_knows_pointers(uint32_t version);

/* Are its checks the ones of pfd_spirv_check()? */
bool validation_is_known(uint32_t version);

#endif
