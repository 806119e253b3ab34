/* SPDX-License-Identifier: MIT */
/*
 * Folders as operands. A folder stands for the files in it, and in its
 * subfolders, whose first bytes are those of code objects or of a container of
 * them. Each file counts once, even if several links lead to it. Only regular
 * files are opened.
 */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "options/options.h"

/*
 * Replaces folders among the operands by their files, sorted by name. An
 * unreadable file is a finding, counted in options->n_findings. False: a folder
 * has no such file; an error was printed.
 */
bool folders_expand(struct options *options);

#endif
