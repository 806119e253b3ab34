/* SPDX-License-Identifier: MIT */
/* The files with format strings that the settings name. */
#ifndef LAYER_STRING_FILES_H
#define LAYER_STRING_FILES_H

#include "frame_output.h"

/* All of them, as far as they can be read; what cannot is said. */
void string_files_give(struct frame_output *frame_output);

#endif
