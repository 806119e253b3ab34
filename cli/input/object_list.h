/* SPDX-License-Identifier: MIT */
/* Code objects as `strings --verbose` lists them. */
#ifndef CLI_OBJECT_LIST_H
#define CLI_OBJECT_LIST_H

#include <printfdecode/objects.h>
#include <printfdecode/process_code.h>

#include "options.h"

/* Lists what code objects the files have; those that cannot be read are left
 * out without a word. */
void object_list_print(const struct options *options, bool json);

/* Lists what is in one that a program has loaded. As pfd_objects_read(). */
enum pfd_status object_list_print_loaded(
    const struct pfd_process_code_object *loaded, uint64_t max_inflated,
    bool json, pfd_finding_fn tell, void *user, struct pfd_error *err);

/* A line about one whose bytes are not there, or no code object. */
void object_list_print_unknown(const struct pfd_process_code_object *loaded);

#endif
