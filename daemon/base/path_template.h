/* SPDX-License-Identifier: MIT */
/* Paths of output files, with {host}, {pid} and {buffer} in them. Any
 * thread. */
#ifndef PFDD_PATH_TEMPLATE_H
#define PFDD_PATH_TEMPLATE_H

#include <stdbool.h>

/* name stands for {buffer}. The path is allocated; NULL: out of memory. */
char *pfdd_path_template_fill(const char *template, const char *name);

/* The same for a source (NULL: for all), whose name is untrusted. The path
 * stays in the template's folder, and is_taken() is false for it. */
char *pfdd_path_template_choose(const char *template, const char *source,
                                bool (*is_taken)(const void *user,
                                                 const char *path),
                                const void *user);

#endif
