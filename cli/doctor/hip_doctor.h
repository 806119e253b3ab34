/* SPDX-License-Identifier: MIT */
/* AMD's devices as its compute driver (KFD) lists them: may this user compute,
 * and can hostcall, by which HIP's printf goes by default, work? */
#ifndef CLI_HIP_DOCTOR_H
#define CLI_HIP_DOCTOR_H

#include <stdbool.h>

#include "diagnosis.h"

/* Shows the devices, and adds their faults. folder: the driver's topology, or a
 * copy of another machine's; NULL: that of this machine. Without such a driver
 * nothing is shown. */
void hip_doctor(const char *folder, bool is_json, struct diagnosis *d);

#endif
