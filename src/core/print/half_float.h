/* SPDX-License-Identifier: MIT */
/*
 * Floats of 8 and 16 bits, widened: all their numbers are numbers of binary32.
 */
#ifndef PFD_HALF_FLOAT_H
#define PFD_HALF_FLOAT_H

#include <stdint.h>

/* binary16 as the bits of the same number, infinity or NaN in binary32. */
uint32_t pfd_half_to_float_bits(uint32_t half);

/* float8 E4M3 likewise: it has no infinity, and one NaN (OCP, 2023). */
uint32_t pfd_e4m3_to_float_bits(uint32_t v);

#endif
