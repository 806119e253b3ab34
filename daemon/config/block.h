/* SPDX-License-Identifier: MIT */
/* Reads mappings of a configuration by tables of keys. */
#ifndef PFDD_BLOCK_H
#define PFDD_BLOCK_H

#include "config/type_class.h"
#include "config/value.h"

/* The value of a key in a mapping; NULL: it is missing. */
const yaml_node_t *pfdd_map_find(const struct pfdd_document *doc,
                                 const yaml_node_t *map, const char *key);

/*
 * Reads a mapping into a struct that has these parts. classes: an error names
 * keys of other classes as such, and `type` names the class; NULL: neither.
 */
void pfdd_map_read(const struct pfdd_document *doc, const yaml_node_t *map,
                   const struct pfdd_part *parts,
                   const struct pfdd_type_class *const *classes, void *base);

/* Reads a block of one of the classes. NULL: an error was reported. */
struct pfdd_block *pfdd_block_read(
    const struct pfdd_document *doc, const yaml_node_t *map,
    const struct pfdd_type_class *const *classes);

#endif
