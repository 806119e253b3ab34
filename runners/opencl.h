/* SPDX-License-Identifier: MIT */
/* The functions of OpenCL that runners call, by cl.NAME, once opencl_load() has
 * loaded them. */
#ifndef RUNNERS_OPENCL_H
#define RUNNERS_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>

#define OPENCL_CALLS(X)        \
    X(BuildProgram)            \
    X(CreateBuffer)            \
    X(CreateCommandQueue)      \
    X(CreateContext)           \
    X(CreateKernel)            \
    X(CreateProgramWithSource) \
    X(EnqueueMapBuffer)        \
    X(EnqueueNDRangeKernel)    \
    X(EnqueueUnmapMemObject)   \
    X(Finish)                  \
    X(GetDeviceIDs)            \
    X(GetDeviceInfo)           \
    X(GetKernelArgInfo)        \
    X(GetKernelInfo)           \
    X(GetPlatformIDs)          \
    X(GetPlatformInfo)         \
    X(GetProgramBuildInfo)     \
    X(GetProgramInfo)          \
    X(ReleaseCommandQueue)     \
    X(ReleaseContext)          \
    X(ReleaseKernel)           \
    X(ReleaseMemObject)        \
    X(ReleaseProgram)          \
    X(SetKernelArg)
#define OPENCL_POINTER(name) __typeof__(cl##name) *name;

struct opencl {
    OPENCL_CALLS(OPENCL_POINTER)
};
extern struct opencl cl;

/* False: there is none, which was said. */
bool opencl_load(void);

#endif
