/* SPDX-License-Identifier: MIT */
/* The sources of scan, and what they include. */
#ifndef CLI_SCAN_FILES_H
#define CLI_SCAN_FILES_H

#include <sys/types.h>

#include <printfdecode/input.h>
#include <printfdecode/scan.h>

#include "options.h"

struct scan_file {
    char *path; /* owned */
    struct pfd_input *input;
    dev_t dev; /* with ino, which file it is */
    ino_t ino;
    enum pfd_scan_language language;
};

/* File i is the scan's source i; those of the command line come first. */
struct scan_files {
    const struct options *options;
    struct pfd_scan *scan;
    struct scan_file *all; /* [n], owned */
    size_t n;
    size_t n_bytes; /* of what was not on the command line */
    bool is_full;   /* there is more, which is not looked at */
};

/* Adds all that the command line names to the scan, and what these include,
 * beside themselves and in the folders of -I. False: said what is wrong. */
bool scan_files_read(struct scan_files *files);

void scan_files_free(struct scan_files *files);

/*
 * Where each file of the command line is, seen from the folder that all of them
 * are in: *ret, [n] paths, to be freed with free(), as is the array. False:
 * said why.
 */
bool scan_files_places(const struct scan_files *files, char ***ret);

#endif
