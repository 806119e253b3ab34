/* SPDX-License-Identifier: MIT */
/*
 * MD5 (RFC 1321), as far as AMD's tools use it: the first 8 bytes of a digest
 * tell format strings and bundles apart. Not for anything that must be secure.
 */
#ifndef PFD_MD5_H
#define PFD_MD5_H

#include <stddef.h>
#include <stdint.h>

/* The digest of bytes [n]. */
void pfd_md5(const void *bytes, size_t n, uint8_t ret[16]);

/* Its first 8 bytes as a little-endian number. */
uint64_t pfd_md5_u64(const void *bytes, size_t n);

#endif
