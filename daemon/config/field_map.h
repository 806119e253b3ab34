/* SPDX-License-Identifier: MIT */
/*
 * Renames fields of log records: "time=@timestamp" renames a field (`time`,
 * `severity`, `message`, and names of the daemon's JSON), "NAME=" omits it,
 * "*=PREFIX" adds a prefix to all other fields, "*=" omits these, and "ecs"
 * stands for a list of such words.
 */
#ifndef PFDD_FIELD_MAP_H
#define PFDD_FIELD_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* From words [n]. NULL: out of memory or an invalid word; see err [n_err]. */
struct pfdd_field_map *pfdd_field_map_new(char *const *words, size_t n,
                                          char *err, size_t n_err);
/* NULL is allowed. */
void pfdd_field_map_free(struct pfdd_field_map *map);

/* The new name of a field, in two parts, borrowed. False: the field is
 * omitted. */
bool pfdd_field_map_find(const struct pfdd_field_map *map, const char *name,
                         const char **prefix, const char **ret);

/* True: the field is not omitted, and no other field has its name. */
bool pfdd_field_map_keeps(const struct pfdd_field_map *map, const char *name);

/* The version of the Elastic Common Schema that "ecs" selects; NULL: not
 * selected. */
const char *pfdd_field_map_ecs(const struct pfdd_field_map *map);

#endif
