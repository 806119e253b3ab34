/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli), as iSCSI, ext4 and SSE4.2 compute it: reflected
 * polynomial 0x82f63b78, first and last inverted.
 */
#ifndef PFD_CRC32C_H
#define PFD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The same by tables, on any processor; the tests call it. */
uint32_t pfd_crc32c_tables(uint32_t crc, const void *bytes, size_t n);

/* CRC-32C of bytes [n], continued from the crc of the bytes before them, 0
 * before the first. Any thread. */
uint32_t pfd_crc32c(uint32_t crc, const void *bytes, size_t n);

#endif
