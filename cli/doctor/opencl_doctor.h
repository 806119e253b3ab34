/* SPDX-License-Identifier: MIT */
/* What OpenCL has here: platforms and their devices, as the package's program
 * opencl_report asks for them. */
#ifndef CLI_OPENCL_DOCTOR_H
#define CLI_OPENCL_DOCTOR_H

#include <stdbool.h>

#include "diagnosis.h"

/* Shows them, and adds their faults. Without OpenCL's loader nothing is
 * shown. */
void opencl_doctor(bool is_json, struct diagnosis *d);

#endif
