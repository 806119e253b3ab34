/* SPDX-License-Identifier: MIT */
/*
 * Groups rows by some columns: one row for each key, with the number of rows
 * and aggregates of the other columns. One pass, in bounded memory.
 */
#ifndef PFD_GROUP_H
#define PFD_GROUP_H

#include "analysis/table/column.h"

struct pfd_group;

/* Takes a batch of results; the columns are those of pfd_group_columns(). */
typedef void (*pfd_columns_fn)(void *user, const struct pfd_columns *batch);

/*
 * Groups a table with these columns [n] by some [n_by] of them, by number.
 * aggregates: words that pfd_group_knows() [n_aggregates]; memory: limit of
 * bytes of all groups, approximate. NULL: out of memory.
 */
struct pfd_group *pfd_group_new(const struct pfd_table_column *columns,
                                size_t n, const size_t *by, size_t n_by,
                                const char *const *aggregates,
                                size_t n_aggregates, size_t memory);
void pfd_group_free(struct pfd_group *group);

/* Is it the name of an aggregate? */
bool pfd_group_knows(const char *aggregate);

/* The columns of the result, [*n]. */
const struct pfd_table_column *pfd_group_columns(const struct pfd_group *group,
                                                 size_t *n);

/* False: out of memory. */
bool pfd_group_add(struct pfd_group *group, const struct pfd_columns *batch);

/* Calls take with all groups, in the order of each group's first row. False:
 * out of memory. */
bool pfd_group_end(struct pfd_group *group, pfd_columns_fn take, void *user,
                   struct pfd_table_counts *counts);

#endif
