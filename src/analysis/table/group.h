/* SPDX-License-Identifier: MIT */
/*
 * Rows of equal values in some columns as one row that says how many there are
 * and what the other columns were: one pass, in bounded memory.
 */
#ifndef PFD_GROUP_H
#define PFD_GROUP_H

#include "analysis/table/column.h"

struct pfd_group;

/* Takes a batch of answers; the columns are those of pfd_group_columns(). */
typedef void (*pfd_columns_fn)(void *user, const struct pfd_columns *batch);

/*
 * Of a table with these columns [n]: groups by some [n_by] of them, by number;
 * aggregates: words that pfd_group_knows() [n_aggregates]; memory: bytes of
 * all groups, by and large. NULL: out of memory.
 */
struct pfd_group *pfd_group_new(const struct pfd_table_column *columns,
                                size_t n, const size_t *by, size_t n_by,
                                const char *const *aggregates,
                                size_t n_aggregates, size_t memory);
void pfd_group_free(struct pfd_group *group);

/* Is it the name of an aggregate? */
bool pfd_group_knows(const char *aggregate);

/* The columns of the answer, [*n]. */
const struct pfd_table_column *pfd_group_columns(const struct pfd_group *group,
                                                 size_t *n);

/* False: out of memory. */
bool pfd_group_add(struct pfd_group *group, const struct pfd_columns *batch);

/* Gives all groups, in the order of the first row of each. False: out of
 * memory. */
bool pfd_group_end(struct pfd_group *group, pfd_columns_fn take, void *user,
                   struct pfd_table_counts *counts);

#endif
