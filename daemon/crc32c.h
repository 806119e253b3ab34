/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli): 0 begins, and one result goes on with more bytes. */
#ifndef PFDD_CRC32C_H
#define PFDD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t pfdd_crc32c(uint32_t crc, const void *bytes, size_t n);

#endif
