/* SPDX-License-Identifier: MIT */
/* The files with format strings that the settings name. */
#ifndef LAYER_STRING_FILES_H
#define LAYER_STRING_FILES_H

#include "frame_output.h"

/* Sends all readable files; logs the others. */
void string_files_send(struct frame_output *frame_output);

#endif
