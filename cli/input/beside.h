/* SPDX-License-Identifier: MIT */
/*
 * A program whose device code was split off stands for the archives beside it,
 * too (pfd_objects_beside()): they come behind the operands.
 */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include "options/options.h"

/* Marks such programs, and adds those of their archives that are no operands
 * yet. */
void beside_expand(struct options *options);

#endif
