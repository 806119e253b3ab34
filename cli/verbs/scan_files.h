/* SPDX-License-Identifier: MIT */
/* The source files of scan, and the files that they include. */
#ifndef CLI_SCAN_FILES_H
#define CLI_SCAN_FILES_H

#include <sys/types.h>

#include "core/base/input.h"
#include "options/options.h"
#include "writer/scan.h"

struct scan_file {
    char *path; /* owned */
    struct pfd_input *input;
    dev_t dev; /* with ino, identifies the file */
    ino_t ino;
    enum pfd_scan_language language;
};

/* File i is source i of the scan; files of the command line come first. */
struct scan_files {
    const struct options *options;
    const char *language; /* NULL: by each file's name */
    const struct words *include_folders;
    struct pfd_scan *scan;
    struct scan_file *all; /* [n], owned */
    size_t n;
    size_t n_bytes; /* of included files */
    bool is_full;   /* some included files were skipped, because of a limit */
};

/* Adds all files of the command line to the scan, and the files that they
 * include, from their own folders and those of -I. False: an error was
 * printed. */
bool scan_files_read(struct scan_files *files);

void scan_files_free(struct scan_files *files);

/*
 * The path of each file of the command line, relative to their common parent
 * folder: *ret, [n] paths; the caller frees each and the array. False: an error
 * was printed.
 */
bool scan_files_places(const struct scan_files *files, char ***ret);

#endif
