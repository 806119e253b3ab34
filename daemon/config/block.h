/* SPDX-License-Identifier: MIT */
/* Mappings of a configuration, read by the rows of their keys. */
#ifndef PFDD_BLOCK_H
#define PFDD_BLOCK_H

#include "config/type_class.h"
#include "config/value.h"

/* The value of a key in a mapping; NULL: it has none. */
const yaml_node_t *pfdd_map_find(const struct pfdd_document *doc,
                                 const yaml_node_t *map, const char *key);

/*
 * Reads a mapping to a struct that has these parts. classes: whose keys are
 * known all the same, and whose word `type` says; NULL: neither is.
 */
void pfdd_map_read(const struct pfdd_document *doc, const yaml_node_t *map,
                   const struct pfdd_part *parts,
                   const struct pfdd_type_class *const *classes, void *base);

/* Reads a block of one of the classes; NULL: it has no class, and complained. */
struct pfdd_block *pfdd_block_read(
    const struct pfdd_document *doc, const yaml_node_t *map,
    const struct pfdd_type_class *const *classes);

#endif
