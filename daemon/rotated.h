/* SPDX-License-Identifier: MIT */
/* Files that were rotated: output files with a time behind their names. */
#ifndef PFDD_ROTATED_H
#define PFDD_ROTATED_H

#include <stdbool.h>
#include <stdint.h>

/* PATH becomes PATH.zst; false: it stays as it is, errno may say why. */
bool pfdd_rotated_compress(const char *path);

/* Of those of base the newest stay. Nothing else is touched. */
void pfdd_rotated_keep(const char *base, uint64_t keep);

#endif
