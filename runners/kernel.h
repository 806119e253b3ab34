/* SPDX-License-Identifier: MIT */
/* The parameters of an OpenCL kernel, by their names and types. */
#ifndef RUNNERS_KERNEL_H
#define RUNNERS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "opencl.h"

enum {
    KERNEL_ARGUMENTS_MAX = 64,
    KERNEL_NONE = -1
};

/* What the compiler has to keep of parameters. */
#define KERNEL_OPTIONS " -cl-kernel-arg-info"

/* Of PFD_PARAMETERS, which `printfdecode scan` defines; KERNEL_NONE: the kernel
 * has no such parameter. */
struct kernel_places {
    int buffer;
    int size;
    int rules; /* the control block, of --control */
};

/* False: an error was printed. */
bool kernel_places(cl_kernel kernel, struct kernel_places *ret);

/* Sets all other parameters, in their order, by values [n]: numbers, or how
 * many bytes a pointer has, all zero. False: said which is wrong. */
bool kernel_set(cl_kernel kernel, cl_context context,
                const struct kernel_places *places, const char *const *values,
                size_t n);

#endif
