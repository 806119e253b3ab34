/* SPDX-License-Identifier: MIT */
/*
 * Plots: entries reduced into a grid of cells, in one pass and in memory that
 * does not grow with them, then shaded.
 *
 *   pfd_plot_new(), then pfd_convert_*() with pfd_plot_consumer() for each
 *   buffer, then pfd_plot_draw()
 *
 * Thread rule: a plot belongs to one thread at a time.
 */
#ifndef PFD_PLOT_H
#define PFD_PLOT_H

#include "analysis/plot/plot_spec.h"

/* Outputs by number. PFD_OK; PFD_END: there is no i. Any thread. */
enum pfd_status pfd_plot_output_get(size_t i, struct pfd_plot_output *ret);

struct pfd_plot;

/* PFD_OK; PFD_ERR_USAGE: the members do not fit together, or there is no such
 * column (the text lists all columns); PFD_ERR_NOMEM. */
enum pfd_status pfd_plot_new(const struct pfd_plot_spec *spec,
                             struct pfd_plot **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_plot_free(struct pfd_plot *plot);

/* For pfd_convert.consumer; the plot owns it. It stops when out of memory. */
const struct pfd_consumer *pfd_plot_consumer(const struct pfd_plot *plot);

/* The same for one entry, for callers that make entries themselves. time:
 * nanoseconds since 1970; 0: unknown. */
bool pfd_plot_add(struct pfd_plot *plot, struct pfd_entry *entry,
                  uint64_t time);

/*
 * Draws all points so far, in the output of this name; screen may be NULL if
 * the output is no text. May be called again after more points. PFD_OK;
 * PFD_ERR_USAGE: nothing can be drawn, err says why; PFD_ERR_UNSUPPORTED: it
 * would be too large; PFD_ERR_STOPPED: write() returned false; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_plot_draw(struct pfd_plot *plot, const char *output,
                              const struct pfd_plot_screen *screen,
                              pfd_write_fn write, void *write_user,
                              struct pfd_error *err);

void pfd_plot_counts(struct pfd_plot *plot, struct pfd_plot_counts *ret);

#endif
