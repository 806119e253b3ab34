/* SPDX-License-Identifier: MIT */
/* Shared by the parts of rusticl: rusticl.c reads buffers, program.c the
 * messages of a module. */
#ifndef RUSTICL_H
#define RUSTICL_H

#include <string.h>

#include "core/decode/id_buffer.h"

/* The kernels of a module, and the modules, that are told apart. */
enum {
    RUSTICL_KERNELS_MAX = 256,
    RUSTICL_MODULES_MAX = (PFD_ID_SPACE_MAX + 1) / RUSTICL_KERNELS_MAX,
};

/* Member of pfd_format_rusticl. */
enum pfd_status rusticl_shader(const struct pfd_format *self,
                               struct pfd_strings *strings,
                               const struct pfd_shader *shader,
                               struct pfd_report *report,
                               struct pfd_error *err);

#endif
