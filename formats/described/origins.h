/* SPDX-License-Identifier: MIT */
/* Fields of an entry's header that say where it comes from. */
#ifndef DESCRIBED_ORIGINS_H
#define DESCRIBED_ORIGINS_H

#include "layout.h"

/* Names that an origin may have, NULL at the end. */
extern const char *const described_origin_names[];

size_t described_origins(const struct pfd_record_view *record_view,
                         struct pfd_origin *ret);

#endif
