/* SPDX-License-Identifier: MIT */
/* Writes pictures as PNG files, by libpng. */
#ifndef PFD_PNG_H
#define PFD_PNG_H

#include "analysis/plot/raster.h"
#include "core/base/error.h"
#include "core/base/text.h"

/* Appends a whole file. PFD_OK; PFD_ERR_NOMEM; PFD_ERR_UNSUPPORTED: built
 * without libpng. */
enum pfd_status pfd_png_write(struct pfd_text *out,
                              const struct pfd_raster *raster,
                              struct pfd_error *err);

#endif
