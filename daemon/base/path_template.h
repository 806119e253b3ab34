/* SPDX-License-Identifier: MIT */
/* Paths of output files, with {host}, {pid} and {buffer} in them. Any
 * thread. */
#ifndef PFDD_PATH_TEMPLATE_H
#define PFDD_PATH_TEMPLATE_H

#include <stdbool.h>

/* name stands for {buffer}, and host for {host}; NULL: this machine. The path is allocated; NULL: out of memory. */
char *pfdd_path_template_fill(const char *template, const char *name,
                              const char *host);

/* The same for a source (NULL: for all) on a host ("": this machine), whose names
 * are untrusted. The path
 * stays in the template's folder, and is_taken() is false for it. */
char *pfdd_path_template_choose(
    const char *template, const char *source, const char *host,
    bool (*is_taken)(const void *user, const char *path), const void *user);

#endif
