/* SPDX-License-Identifier: MIT */
/*
 * Sorts rows by one column: in memory as long as they fit, then in sorted runs
 * in a file without a name, which are merged.
 */
#ifndef PFD_SORTER_H
#define PFD_SORTER_H

#include "analysis/table/group.h"
#include "analysis/table/table_target.h"

struct pfd_sorter;

/* Sorts by column `by` of these [n]; top: the number of wanted rows, 0: all;
 * memory: limit of bytes that are sorted at once. NULL: out of memory. Equal
 * rows stay in their order; nulls come last, and NaN before them. */
struct pfd_sorter *pfd_sorter_new(const struct pfd_table_column *columns,
                                  size_t n, size_t by, bool descending,
                                  uint64_t top, size_t memory);
void pfd_sorter_free(struct pfd_sorter *sorter);

/* False: out of memory, or an error of the file. */
bool pfd_sorter_add(struct pfd_sorter *sorter, const struct pfd_columns *batch);
bool pfd_sorter_end(struct pfd_sorter *sorter, pfd_columns_fn take, void *user);

/* The error; code PFD_OK: out of memory. */
const struct pfd_error *pfd_sorter_error(const struct pfd_sorter *sorter);

#endif
