/* SPDX-License-Identifier: MIT */
/* The service of this user: does it listen, and which programs have connected? */
#ifndef CLI_SERVICE_DOCTOR_H
#define CLI_SERVICE_DOCTOR_H

#include <stdbool.h>

#include "diagnosis.h"

/* Shows the facts of it, and adds its faults. */
void service_doctor(bool is_json, struct diagnosis *d);

#endif
