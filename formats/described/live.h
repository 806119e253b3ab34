/* SPDX-License-Identifier: MIT */
/* Described rings that are followed: those with a counter before their data. */
#ifndef DESCRIBED_LIVE_H
#define DESCRIBED_LIVE_H

#include "layout.h"

extern const struct pfd_format_live described_live;

#endif
