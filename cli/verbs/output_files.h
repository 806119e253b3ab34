/* SPDX-License-Identifier: MIT */
/*
 * Files that a verb writes: never one that it reads, and one that is there only
 * with --force. Files are the same by device and inode, whatever they are
 * called; pipes, terminals and other character devices are nobody's file.
 */
#ifndef CLI_OUTPUT_FILES_H
#define CLI_OUTPUT_FILES_H

#include "options.h"

/* Behind the message that a file exists. */
#define FORCE_HINT " (--force overwrites)"

/*
 * Checks all that the command line names: standard output, --to, -o and
 * --strings, against all inputs and each other. Called once, when folders are
 * expanded and before anything is written. False: said why.
 */
bool output_files_check(const struct options *o);

/* Likewise a file of the folder --to or -o, which is open. */
bool output_file_check_at(const struct options *o, int folder,
                          const char *name);

/* Do both paths name one file, which may be missing yet? */
bool output_file_is_one(const char *a, const char *b);

#endif
