/* SPDX-License-Identifier: MIT */
/* The list of code objects that `strings --verbose` prints. */
#ifndef CLI_OBJECT_LIST_H
#define CLI_OBJECT_LIST_H

#include <printfdecode/strings.h>

#include "memory/space/process_code.h"
#include "options/options.h"

/* Lists the code objects of the files; skips unreadable ones silently. */
void object_list_print(const struct options *options, bool json);

/* Lists the contents of an object that a program has loaded. Returns like
 * pfd_objects_read(). */
enum pfd_status object_list_print_loaded(
    const struct pfd_process_code_object *loaded, uint64_t max_inflated,
    bool json, pfd_finding_fn tell, void *user, struct pfd_error *err);

/* Prints a line about an object that has no bytes, or is no code object. */
void object_list_print_unknown(const struct pfd_process_code_object *loaded);

#endif
