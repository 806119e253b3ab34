/* SPDX-License-Identifier: MIT */
/* Pictures as PNG files, by libpng. */
#ifndef PFD_PNG_H
#define PFD_PNG_H

#include "base/text.h"
#include "plot/raster.h"

/* Appends a whole file. False: out of memory. */
bool pfd_png_write(struct pfd_text *out, const struct pfd_raster *raster);

#endif
