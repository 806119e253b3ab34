/* SPDX-License-Identifier: MIT */
/*
 * Code objects that were found, on their way to the library of strings: one
 * thread finds them, and the loop gives them when that has stopped.
 */
#ifndef PFDD_FOUND_OBJECTS_H
#define PFDD_FOUND_OBJECTS_H

#include <printfdecode/process_code.h>

struct pfdd_found_object;
struct pfdd_string_store;
struct pfdd_producer;

/* All zero: none. */
struct pfdd_found_objects {
    struct pfdd_found_object *first;
};

/* A copy of it, behind the others; of one without bytes nothing. PFD_ERR_NOMEM
 * is the only error. */
enum pfd_status pfdd_found_objects_add(
    struct pfdd_found_objects *found_objects,
    const struct pfd_process_code_object *found);

/* All of them, whose room is the scope's; none is left. On the loop. */
void pfdd_found_objects_give(struct pfdd_found_objects *found_objects,
                             struct pfdd_string_store *string_store,
                             struct pfdd_producer *producer);

void pfdd_found_objects_deinit(struct pfdd_found_objects *found_objects);

#endif
