/* SPDX-License-Identifier: MIT */
/*
 * A folder as an operand: it stands for the files in it, and in its folders,
 * that begin as code objects or what holds them. Each file counts once, however
 * many links lead to it; what is no file is never opened.
 */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "options.h"

/*
 * Puts the files of folders in their place among the operands, by name. What
 * cannot be read is a finding, counted in options->n_findings. False: a folder
 * has no such file, which was said.
 */
bool folders_expand(struct options *options);

#endif
