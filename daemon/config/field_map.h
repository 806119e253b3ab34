/* SPDX-License-Identifier: MIT */
/*
 * Names that others have for what is known of an entry: "time=@timestamp" gives
 * one of ours (`time`, `severity`, `message`, and the names in our JSON) another,
 * "NAME=" leaves it out, "*=PREFIX" puts something before all that have none,
 * "*=" leaves those out, and "ecs" stands for a list of these.
 */
#ifndef PFDD_FIELD_MAP_H
#define PFDD_FIELD_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* Of words [n]. NULL: no memory, or err [n_err] says what is wrong with one. */
struct pfdd_field_map *pfdd_field_map_new(char *const *words, size_t n,
                                          char *err, size_t n_err);
/* NULL is allowed. */
void pfdd_field_map_free(struct pfdd_field_map *map);

/* The name that a field of ours goes by: of these two parts, borrowed. False: it
 * is left out. */
bool pfdd_field_map_find(const struct pfdd_field_map *map, const char *name,
                         const char **prefix, const char **ret);

/* True: there is such a field, and no other one goes by its name. */
bool pfdd_field_map_keeps(const struct pfdd_field_map *map, const char *name);

/* The version of the Elastic Common Schema whose names these are; NULL: they are
 * others. */
const char *pfdd_field_map_ecs(const struct pfdd_field_map *map);

#endif
