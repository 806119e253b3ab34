/* SPDX-License-Identifier: MIT */
/* A runtime that loads nothing, and keeps the list that ROCm's keeps. */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdint.h>

/* Adds a code object to the end of the list, by its URI, which is copied. */
void standin_load(const char *uri, uint64_t address);

/* Takes the first one away. */
void standin_unload(void);

#endif
