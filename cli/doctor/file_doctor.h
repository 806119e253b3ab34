/* SPDX-License-Identifier: MIT */
/* Files of a command line: are they buffers, what do their headers say, and are
 * the format strings of their entries in the others? */
#ifndef CLI_FILE_DOCTOR_H
#define CLI_FILE_DOCTOR_H

#include <stdbool.h>

#include "diagnosis.h"
#include "input/input.h"

/* Shows the facts of each opened file, and adds its faults. False: an error was
 * printed. */
bool file_doctor(const struct options *options, struct inputs *inputs,
                 bool is_json, struct diagnosis *d);

#endif
