/* SPDX-License-Identifier: MIT */
/*
 * Code objects that were found, on their way to the library of strings: one
 * thread finds them, and the loop gives them when that has stopped.
 */
#ifndef PFDD_FOUND_OBJECTS_H
#define PFDD_FOUND_OBJECTS_H

#include <printfdecode/process_code.h>

struct pfdd_find;
struct pfdd_string_store;
struct pfdd_producer;

/* All zero: none. */
struct pfdd_finds {
    struct pfdd_find *first;
};

/* A copy of it, behind the others; of one without bytes nothing. PFD_ERR_NOMEM
 * is the only error. */
enum pfd_status pfdd_finds_add(struct pfdd_finds *finds,
                               const struct pfd_process_code_object *found);

/* All of them, whose room is the scope's; none is left. On the loop. */
void pfdd_finds_give(struct pfdd_finds *finds,
                     struct pfdd_string_store *string_store,
                     struct pfdd_producer *producer);

void pfdd_finds_deinit(struct pfdd_finds *finds);

#endif
