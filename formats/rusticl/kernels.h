/* SPDX-License-Identifier: MIT */
/* The kernels of OpenCL modules, each with the space of its messages' numbers. */
#ifndef RUSTICL_KERNELS_H
#define RUSTICL_KERNELS_H

#include "core/decode/id_buffer.h"

/* The kernels of a module, and the modules, that are told apart. */
enum {
    RUSTICL_KERNELS_MAX = 256,
    RUSTICL_MODULES_MAX = (PFD_ID_SPACE_MAX + 1) / RUSTICL_KERNELS_MAX,
};

/* The space of a module's first kernel; the others follow, in its order. */
uint32_t rusticl_first_space(const struct pfd_shader *shader);

/* Does instruction k declare a kernel whose function is there? */
bool rusticl_is_kernel(const struct pfd_spirv *module, uint32_t k);

/* The spaces of the kernels with this name, [max] at most. */
size_t rusticl_kernels_called(const struct pfd_shader_table *shader_table,
                              const char *name, uint32_t *ret, size_t max);

/* Member of struct pfd_id_buffer_kind: those of the option `kernel`. */
size_t rusticl_chosen(struct pfd_walk *walk, uint32_t *ret, size_t max);

#endif
