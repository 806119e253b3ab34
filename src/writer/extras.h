/* SPDX-License-Identifier: MIT */
/*
 * Optional parts of the device's source: the control block, which is tested
 * before a call's arguments are evaluated, commit words, and the origin of an
 * entry. printfdecode/device/printf.h has the same parts for CUDA and HIP.
 */
#ifndef PFD_EXTRAS_H
#define PFD_EXTRAS_H

#include "writer/device.h"

/* The source of each part, in one language. */
struct pfd_extras {
    const char *control;
    const char *commit;
    const char *origin;
};

extern const struct pfd_extras pfd_extras_glsl;
extern const struct pfd_extras pfd_extras_opencl;

/* Adds the parts that the device's calls need, behind the source of the
 * buffer. */
void pfd_extras_put(const struct pfd_extras *extras,
                    const struct pfd_device *device, struct pfd_text *ret);

#endif
