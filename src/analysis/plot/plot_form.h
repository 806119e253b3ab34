/* SPDX-License-Identifier: MIT */
/*
 * A form that pictures are drawn in.
 *
 * To add one: src/analysis/plot/form_NAME.c with `const struct pfd_plot_form
 * pfd_plot_form_NAME`, and one word in src/meson.build.
 */
#ifndef PFD_PLOT_PLOT_FORM_H
#define PFD_PLOT_PLOT_FORM_H

#include "analysis/plot/picture.h"

struct pfd_plot_form {
    struct pfd_plot_output info;
    /* Appends a whole picture; an error is in plot->error or in out. */
    void (*draw)(struct pfd_plot *plot, const struct pfd_plot_screen *screen,
                 struct pfd_text *out);
};

/* NULL at the end; written by meson. */
extern const struct pfd_plot_form *const pfd_plot_forms[];

/* Appends a whole PNG file. PFD_OK; PFD_ERR_NOMEM; PFD_ERR_UNSUPPORTED: built
 * without libpng. */
enum pfd_status pfd_png_write(struct pfd_text *out,
                              const struct pfd_raster *raster,
                              struct pfd_error *err);

#endif
