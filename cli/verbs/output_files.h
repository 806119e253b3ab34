/* SPDX-License-Identifier: MIT */
/*
 * Checks output files: never an input file, and an existing file only with
 * --force. Files are compared by device and inode. Pipes, terminals and other
 * character devices always pass.
 */
#ifndef CLI_OUTPUT_FILES_H
#define CLI_OUTPUT_FILES_H

#include "options/options.h"

/* Suffix of the message that a file exists. */
#define FORCE_HINT " (--force overwrites)"

/*
 * Checks all outputs of the command line (standard output, --to, -o and
 * --strings) against all inputs and each other. Called once, after folders are
 * expanded and before anything is written. False: an error was printed.
 */
bool output_files_check(const struct options *o);

/* Checks one file of the folder --to or -o, which is open. */
bool output_file_check_at(const struct options *o, int folder,
                          const char *name);

/* Do both paths name the same file, even if it does not exist yet? */
bool output_file_is_one(const char *a, const char *b);

#endif
