/* SPDX-License-Identifier: MIT */
/*
 * Code objects found in a process, on their way to the string store: one thread
 * adds them, and the loop passes them on when that thread has stopped.
 */
#ifndef PFDD_FOUND_OBJECTS_H
#define PFDD_FOUND_OBJECTS_H

#include "memory/space/process_code.h"

struct pfdd_found_object;
struct pfdd_string_store;
struct pfdd_producer;

/* All zeros: none. */
struct pfdd_found_objects {
    struct pfdd_found_object *first;
};

/* Appends a copy; an object without bytes is skipped. PFD_ERR_NOMEM is the only
 * error. */
enum pfd_status pfdd_found_objects_add(
    struct pfdd_found_objects *found_objects,
    const struct pfd_process_code_object *found);

/* On the loop: passes all of them to the string store, charged to the producer;
 * none is left. */
void pfdd_found_objects_give(struct pfdd_found_objects *found_objects,
                             struct pfdd_string_store *string_store,
                             struct pfdd_producer *producer);

void pfdd_found_objects_deinit(struct pfdd_found_objects *found_objects);

#endif
