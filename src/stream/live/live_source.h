/* SPDX-License-Identifier: MIT */
/* Sources of live buffers that are not installed: memory of a process. */
#ifndef PFD_LIVE_SOURCE_H
#define PFD_LIVE_SOURCE_H

#include <printfdecode/tail.h>

#include "memory/space/address_space.h"
#include "stream/live/walk_pool.h"

/*
 * Addresses [address, address + n) of a memory, which is borrowed until the
 * source is closed. PFD_OK; PFD_ERR_USAGE: the range leaves the 64-bit
 * addresses; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_source_open_memory(struct pfd_memory *memory,
                                       uint64_t address, uint64_t n,
                                       struct pfd_source **ret,
                                       struct pfd_error *err);

/* For a file: threads that help to read large parts of it, borrowed until the
 * source is closed; NULL: none, the default. */
void pfd_source_set_walk_pool(struct pfd_source *source,
                              struct pfd_walk_pool *walk_pool);

/* Two sources with the same identity are the same bytes. */
struct pfd_source_identity {
    uint64_t kind;   /* 0: a file; 1: memory of a process; 2: of this one */
    uint64_t place;  /* st_dev of a file; id of a process */
    uint64_t number; /* st_ino; ticks from the system's start to the process' */
    uint64_t offset; /* 0; address */
};

/* PFD_OK; PFD_ERR_IO: the system does not tell. */
enum pfd_status pfd_source_identify(const struct pfd_source *source,
                                    struct pfd_source_identity *ret,
                                    struct pfd_error *err);

#endif
