/* SPDX-License-Identifier: MIT */
/* Sources of live buffers that are not installed: memory of a process. */
#ifndef PFD_LIVE_SOURCE_H
#define PFD_LIVE_SOURCE_H

#include <printfdecode/tail.h>

#include "memory/space/address_space.h"

/*
 * Addresses [address, address + n) of a memory, which is borrowed until the
 * source is closed. PFD_OK; PFD_ERR_USAGE: the range leaves the 64-bit
 * addresses; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_source_open_memory(struct pfd_memory *memory,
                                       uint64_t address, uint64_t n,
                                       struct pfd_source **ret,
                                       struct pfd_error *err);

#endif
