/* SPDX-License-Identifier: MIT */
/*
 * What only some sources need of the device: the control block, which is asked
 * before a call's arguments are evaluated, commit words, and where an entry
 * comes from. printfdecode/device/printf.h has the same for CUDA and HIP.
 */
#ifndef PFD_EXTRAS_H
#define PFD_EXTRAS_H

#include "writer/device.h"

/* Source of each, in one language. */
struct pfd_extras {
    const char *control;
    const char *commit;
    const char *origin;
};

extern const struct pfd_extras pfd_extras_glsl;
extern const struct pfd_extras pfd_extras_opencl;

/* Adds what the device's calls want, behind the source of the buffer. */
void pfd_extras_put(const struct pfd_extras *extras,
                    const struct pfd_device *device, struct pfd_text *ret);

#endif
