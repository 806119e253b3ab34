/* SPDX-License-Identifier: MIT */
#include "opencl.h"

#include <stdio.h>

#include "core/base/dynamic_library.h"

#define NAME(name) "cl" #name "\0"

struct opencl cl;

PFD_DYNAMIC_LIBRARY(opencl, "libOpenCL.so.1", OPENCL_CALLS(NAME), &cl,
                    "runs kernels");

bool opencl_load(void)
{
    struct pfd_error err;
    if (pfd_dynamic_library_load(&pfd_library_opencl, &err) == PFD_OK)
        return true;
    fprintf(stderr, "OpenCL: %s (Debian: ocl-icd-libopencl1)\n", err.text);
    return false;
}
